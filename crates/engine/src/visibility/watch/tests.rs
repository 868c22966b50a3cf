//! Counts of a database that takes its time, which passes only where its answers and the pauses say so.

use super::*;
use async_trait::async_trait;
use iotbench_core::{Counts, Query, Reader, Reply, ServerFacts, Sink, Writer};
use std::sync::atomic::AtomicU64;
use tokio::time::Instant;

const DEADLINE: Duration = Duration::from_secs(10);
const S: u64 = 1_000_000_000;

/// How long each count takes, in seconds, and with what it ends.
type Script = fn(u64) -> (u64, Result<u64, Error>);

/// A database that only counts.
struct Counting {
    script: Script,
    counts: Arc<AtomicU64>,
    readers: AtomicU64,
    /// After so many counts it is told to stop.
    most: u64,
    stop: Arc<AtomicBool>,
}

struct Counter {
    script: Script,
    counts: Arc<AtomicU64>,
    most: u64,
    stop: Arc<AtomicBool>,
}

fn not_asked<T>() -> Result<T, Error> {
    Err(Error::new(Cause::Client, "only counts are asked for"))
}

#[async_trait]
impl Reader for Counter {
    async fn query(&mut self, _: &Query, _: &mut dyn Sink) -> Result<Reply, Error> {
        not_asked()
    }
    async fn visible_points(&mut self) -> Result<u64, Error> {
        let number = self.counts.fetch_add(1, Ordering::Relaxed);
        let (takes_s, ends) = (self.script)(number);
        tokio::time::sleep(Duration::from_secs(takes_s)).await;
        if number + 1 == self.most {
            self.stop.store(true, Ordering::Relaxed);
        }
        ends
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
    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        self.readers.fetch_add(1, Ordering::Relaxed);
        let (script, counts, most, stop) = (self.script, Arc::clone(&self.counts), self.most, Arc::clone(&self.stop));
        Ok(Box::new(Counter { script, counts, most, stop }))
    }
}

/// What so many counts saw, on how many connections, and how it ended.
fn watched(script: Script, most: u64, is_unloaded: bool) -> (Vec<Look>, u64, Result<(), Error>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let (stop, unloaded) = (Arc::new(AtomicBool::new(false)), AtomicBool::new(is_unloaded));
    let (counts, readers) = (Arc::default(), AtomicU64::new(0));
    let database = Counting { script, counts, readers, most, stop: Arc::clone(&stop) };
    let looks = Mutex::default();
    let ended = runtime.block_on(async {
        let began = Instant::now();
        let now_ns = || u64::try_from(began.elapsed().as_nanos()).unwrap();
        let ended = look_on(&database, now_ns, DEADLINE, &looks, &stop, &unloaded).await;
        let last_ns = lock(&looks).seen.last().filter(|_| ended.is_ok()).map(|look| look.to_ns);
        assert!(last_ns.is_none_or(|last_ns| now_ns() - last_ns < 8_000_000), "who stops it does not wait for a pause");
        ended
    });
    (std::mem::take(&mut lock(&looks).seen), database.readers.load(Ordering::Relaxed), ended)
}

/// From the end of each count to the beginning of the next.
fn pauses(looks: &[Look]) -> Vec<Duration> {
    looks.windows(2).map(|two| Duration::from_nanos(two[1].from_ns - two[0].to_ns)).collect()
}

/// That they are as long as is meant, to the millisecond that the runtime's timers are exact to, a few of them.
fn are(pauses: &[Duration], meant: impl Fn(u64) -> Duration) {
    for (number, found) in (0..).zip(pauses) {
        assert!(found.abs_diff(meant(number)) <= Duration::from_millis(8), "{number}: {pauses:?} {:?}", meant(number));
    }
}

#[test]
fn each_count_is_a_look_from_its_question_to_its_answer() {
    let (looks, readers, ended) = watched(|number| (number % 3, Ok(100 * number)), 6, false);
    assert_eq!((ended, readers, looks.len()), (Ok(()), 1, 6));
    for (number, look) in (0..).zip(&looks) {
        let took_ns = look.to_ns - look.from_ns;
        assert!((took_ns as i64 - (number % 3 * S) as i64).abs() < 4_000_000, "{look:?}");
        assert_eq!((look.points, look.at_ns()), (100 * number, look.from_ns + took_ns / 2));
    }
    are(&pauses(&looks), |number| pause(number, Duration::from_secs(number % 3)));
}

#[test]
fn of_a_database_that_has_nothing_else_to_do_pauses_are_short() {
    let (looks, ..) = watched(|_| (5, Ok(1)), 5, true);
    are(&pauses(&looks), |number| pause(number, Duration::ZERO));
    let (looks, ..) = watched(|_| (5, Ok(1)), 5, false);
    are(&pauses(&looks), |_| Duration::from_secs(10));
}

#[test]
fn four_counts_in_a_row_that_are_late_are_an_error_and_three_are_none() {
    let (looks, readers, ended) = watched(|_| (11, Ok(1)), 99, false);
    let error = ended.unwrap_err();
    assert_eq!((error.cause, looks.len(), readers), (Cause::TimedOut, 0, 4), "each on a new connection");
    assert_eq!(error.message, "no count within 10 s, 4 times in a row");
    // Three are late, then one is in time, and again.
    let (looks, readers, ended) = watched(|number| (if number % 4 == 3 { 9 } else { 11 }, Ok(number)), 12, false);
    assert_eq!(ended, Ok(()));
    assert_eq!(looks.iter().map(|look| look.points).collect::<Vec<_>>(), [3, 7, 11]);
    assert_eq!(readers, 1 + 9);
}

#[test]
fn an_error_of_a_count_ends_the_watch() {
    let script: Script = |number| (1, if number < 2 { Ok(7) } else { Err(Error::new(Cause::Server, "no more")) });
    let (looks, _, ended) = watched(script, 99, false);
    assert_eq!((looks.len(), ended.unwrap_err().cause), (2, Cause::Server));
}

#[test]
fn looks_are_taken_once_before_the_error_and_no_more_than_half_an_hour_of_them_is_kept() {
    let flags = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let [stop, unloaded] = flags;
    let watch = VisibleWatch { looks: Arc::default(), stop, unloaded, thread: None };
    assert_eq!(watch.take(), Ok(Vec::new()));
    let look = |points| Look { from_ns: points, to_ns: points + 2, points };
    (0..MAX_LOOKS as u64 + 5).for_each(|number| keep(&watch.looks, look(number)));
    lock(&watch.looks).error = Some(Error::new(Cause::Server, "gone"));
    let taken = watch.take().unwrap();
    assert_eq!((taken.len(), taken[0], taken[MAX_LOOKS - 1].points), (MAX_LOOKS, look(0), MAX_LOOKS as u64 - 1));
    assert_eq!(watch.take().unwrap_err().cause, Cause::Server);
    watch.set_unloaded(true);
    assert!(watch.unloaded.load(Ordering::Relaxed));
}
