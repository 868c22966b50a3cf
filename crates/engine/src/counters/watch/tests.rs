//! Looks at a server that takes its time, which passes only where its answers and the pauses say so.

use super::*;
use async_trait::async_trait;
use iotbench_core::{Counts, ServerFacts, Writer};
use std::sync::atomic::{AtomicU64, Ordering};

const S: u64 = 1_000_000_000;

/// How long each look takes, in milliseconds, and with what it ends.
type Script = fn(u64) -> (u64, Result<u64, Error>);

/// A database that only counts, and is told to stop after so many looks.
struct Counting {
    script: Script,
    looks: Arc<AtomicU64>,
    readers: AtomicU64,
    most: u64,
    until: watch::Sender<bool>,
}

struct Reading {
    script: Script,
    looks: Arc<AtomicU64>,
    most: u64,
    until: watch::Sender<bool>,
}

fn not_asked<T>() -> Result<T, Error> {
    Err(Error::new(Cause::Client, "only counters are asked for"))
}

#[async_trait]
impl CounterReader for Reading {
    async fn read(&mut self) -> Result<Vec<Counted>, Error> {
        let number = self.looks.fetch_add(1, Ordering::Relaxed);
        if number + 1 == self.most {
            self.until.send_replace(true);
        }
        let (takes_ms, ends) = (self.script)(number);
        tokio::time::sleep(Duration::from_millis(takes_ms)).await;
        Ok(vec![(Counter::RowsWritten, ends?)])
    }
}

#[async_trait]
impl Database for Counting {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        not_asked()
    }
    async fn create(&self) -> Result<(), Error> {
        not_asked()
    }
    async fn count(&self) -> Result<Counts, Error> {
        not_asked()
    }
    async fn drop_created(&self) -> Result<(), Error> {
        not_asked()
    }
    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        not_asked()
    }
    async fn counters(&self) -> Result<Box<dyn CounterReader>, Error> {
        self.readers.fetch_add(1, Ordering::Relaxed);
        let (script, looks, most) = (self.script, Arc::clone(&self.looks), self.most);
        Ok(Box::new(Reading { script, looks, most, until: self.until.clone() }))
    }
}

/// What so many looks came to, and how many connections they took. The run begins 50 ms after the first one.
async fn looks(script: Script, most: u64) -> (Vec<CounterLook>, CountersCost, u64) {
    let (until, stop) = watch::channel(false);
    let database = Counting { script, looks: Arc::default(), readers: AtomicU64::new(0), most, until };
    let seen = Mutex::new(Seen::default());
    let epoch = Instant::now() + Duration::from_millis(50);
    let now_ns = || u64::try_from(Instant::now().saturating_duration_since(epoch).as_nanos()).unwrap();
    look_on(&database, now_ns, &seen, stop).await;
    let seen = seen.into_inner().unwrap();
    (seen.looks, seen.cost, database.readers.load(Ordering::Relaxed))
}

fn times(looks: &[CounterLook]) -> Vec<u64> {
    looks.iter().map(|look| look.at_ns).collect()
}

#[tokio::test(start_paused = true)]
async fn the_first_look_is_before_the_load_and_the_others_are_at_whole_seconds() {
    let (found, cost, readers) = looks(|number| (20, Ok(number)), 4).await;
    assert_eq!(times(&found), [0, S, 2 * S, 3 * S]);
    assert_eq!(found[3].value(Counter::RowsWritten), Some(3));
    assert_eq!((cost.looks, cost.failed, cost.took, readers), (4, 0, Duration::from_millis(80), 1));
}

#[tokio::test(start_paused = true)]
async fn slow_looks_stay_a_small_load() {
    // A tenth of the time at most: 0.35 s are followed by 3.15 s without one, and what is left of the second.
    let (found, ..) = looks(|_| (350, Ok(1)), 3).await;
    assert_eq!(times(&found), [0, 4 * S, 8 * S]);
}

#[tokio::test(start_paused = true)]
async fn a_look_that_fails_is_counted_and_the_next_is_made_on_a_new_connection() {
    let script: Script = |number| (10, if number == 1 { Err(Error::new(Cause::Server, "gone")) } else { Ok(number) });
    let (found, cost, readers) = looks(script, 4).await;
    assert_eq!(times(&found), [0, 2 * S, 3 * S]);
    assert_eq!((cost.looks, cost.failed, readers), (4, 1, 2));
    assert_eq!(cost.failure.unwrap().message, "gone");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_the_server_ended_is_made_anew_within_the_look() {
    let script: Script = |number| (10, if number == 1 { Err(Error::new(Cause::Connect, "gone")) } else { Ok(number) });
    let (found, cost, readers) = looks(script, 4).await;
    assert_eq!(times(&found), [0, S, 2 * S]);
    assert_eq!((cost.looks, cost.failed, readers), (3, 0, 2));
}

#[tokio::test(start_paused = true)]
async fn who_refuses_is_not_asked_again() {
    let refuses: Script = |_| (1, Err(Error::new(Cause::Auth, "no")));
    let counts_nothing: Script = |_| (1, Err(Error::new(Cause::Server, "off").action(Action::Stop)));
    for script in [refuses, counts_nothing] {
        let (found, cost, _) = looks(script, 100).await;
        assert!(found.is_empty());
        assert_eq!((cost.looks, cost.failed), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_is_given_up() {
    let began = Instant::now();
    let (found, cost, _) = looks(|number| (if number == 0 { 3_600_000 } else { 1 }, Ok(1)), 2).await;
    assert_eq!((found.len(), cost.failed, cost.took > DEADLINE), (1, 1, true));
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    // Nor when the load has ended.
    let (_, cost, _) = looks(|_| (3_600_000, Ok(1)), 1).await;
    assert_eq!((cost.looks, cost.failed, cost.took), (1, 1, LAST));
}
