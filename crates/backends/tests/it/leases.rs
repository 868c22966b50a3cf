//! A table that a run uses, against another user or another machine, on each server that holds no lock for as long as a connection
//! lasts. Nothing but the server tells one of the other.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::harness::{open, table, url};
use iotbench_core::{Batch, Cause, Database, Layout, OwnedObject, Run, TableSpec, Value, ValueType};
use serde_json::{Value as Json, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use url::Url;

/// Far more often than a run: the looks of these tests are shorter as well.
const RENEWAL: Duration = Duration::from_millis(200);

/// A server, and how its backend is set.
pub(crate) struct Place {
    backend: &'static str,
    url: Url,
    settings: Json,
    /// It takes datapoints.
    stores: bool,
}

impl Place {
    /// A stub of InfluxDB 2 that knows buckets and nothing else.
    pub(crate) fn of_buckets(url: &Url, settings: Json) -> Self {
        Self { backend: "influxdb2", url: url.clone(), settings, stores: false }
    }

    fn at(backend: &'static str, settings: Json) -> Option<Self> {
        let mut url = url(backend)?;
        if backend == "mongodb" {
            url.set_path("iotbench_leases");
        }
        Some(Self { backend, url, settings, stores: true })
    }

    /// One who opens the table, with nothing that another who opened it has.
    fn opened(&self, run_id: &str) -> Arc<dyn Database> {
        open(self.backend, &self.url, self.settings.clone(), in_use(run_id))
    }

    /// What of it carries a run's marker.
    async fn owners(&self) -> Vec<String> {
        let mut owned = self.opened("looks").owned().await.unwrap();
        owned.retain(|object| object.name.as_str().ends_with("in_use"));
        owned.into_iter().map(|object| object.run_id).collect()
    }
}

fn in_use(run_id: &str) -> TableSpec {
    table("in_use", Layout::Wide, &[("a", ValueType::F64)], run_id)
}

fn batch(count: u32) -> Batch {
    let mut batch = Batch::new(&in_use("").schema);
    batch.append(Run { device: 0, first: 0, count }, |times, columns| {
        for index in 0..count {
            times.push(1_700_000_000_000_000_000 + i64::from(index) * 1_000_000_000);
            assert!(columns[0].push(Value::F64(index.into())));
        }
    });
    batch
}

/// Says that a run goes on until it is told to die.
struct Living {
    dies: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<()>,
}

impl Living {
    #[expect(clippy::disallowed_methods, reason = "a run's engine has a thread that does this")]
    fn of(database: &Arc<dyn Database>) -> Self {
        let (database, dies) = (Arc::clone(database), Arc::new(AtomicBool::new(false)));
        let told = Arc::clone(&dies);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            while !told.load(Ordering::Relaxed) {
                runtime.block_on(database.renew()).unwrap();
                std::thread::sleep(RENEWAL);
            }
        });
        Self { dies, thread }
    }

    async fn die(self) {
        self.dies.store(true, Ordering::Relaxed);
        // A stub is served by this thread.
        while !self.thread.is_finished() {
            tokio::task::yield_now().await;
        }
        self.thread.join().unwrap();
    }
}

pub(crate) async fn a_live_table_is_its_runs_and_a_dead_ones_is_cleaned(place: &Place) {
    let (running, other) = (place.opened("running"), place.opened("other"));
    running.create().await.unwrap();
    let living = Living::of(&running);
    if place.stores {
        running.writer().await.unwrap().write(&batch(3)).await.unwrap();
    }
    let its =
        place.opened("looks").owned().await.unwrap().into_iter().find(|object| object.run_id == "running").unwrap();
    let refused = [
        other.create().await.unwrap_err(),
        other.adopt().await.unwrap_err(),
        other.drop_owned(&its).await.unwrap_err(),
        // Who says that he is the same run, such as its agents, is not it.
        place.opened("running").drop_created().await.unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.cause, Cause::NotOurs, "{error}");
        assert!(error.message.contains(" is in use by another run, running (its flag on the server is "), "{error}");
        assert!(error.message.contains(" s by the server's clock, ") || error.message.contains("for 20 s"), "{error}");
    }
    assert_eq!(place.owners().await, ["running"]);
    if place.stores {
        settled(&*running).await;
        assert_eq!(running.count().await.unwrap().points, 3);
    }

    living.die().await;
    other.create().await.unwrap();
    assert_eq!(place.owners().await, ["other"]);
    let late = running.renew().await.unwrap_err();
    assert!(late.cause == Cause::NotOurs && late.message.contains("in use by another run, other"), "{late}");
    running.drop_created().await.unwrap();
    assert_eq!(place.owners().await, ["other"], "who has lost it drops nothing");
    drop(other);
    // What nobody says that he uses any more, whoever cleans up drops.
    let left = OwnedObject { run_id: "other".into(), ..its };
    place.opened("cleaner").drop_owned(&left).await.unwrap();
    assert_eq!(place.owners().await, Vec::<String>::new());
}

async fn what_a_run_has_let_go_of_is_the_next_ones_at_once(place: &Place) {
    let (first, next) = (place.opened("first"), place.opened("next"));
    first.create().await.unwrap();
    let living = Living::of(&first);
    first.release().await.unwrap();
    assert!(next.adopt().await.unwrap());
    living.die().await;
    assert_eq!(place.owners().await, ["next"]);
    next.drop_created().await.unwrap();
    assert_eq!(place.owners().await, Vec::<String>::new());
}

/// Waits until all that was acknowledged is visible.
#[expect(clippy::disallowed_methods, reason = "the engine waits between looks")]
async fn settled(database: &dyn Database) {
    for _ in 0..1000 {
        if database.settle().await.unwrap() != iotbench_core::Settled::NotYet {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it does not settle");
}

async fn held_on(backend: &'static str, settings: Json) {
    let Some(place) = Place::at(backend, settings) else { return };
    a_live_table_is_its_runs_and_a_dead_ones_is_cleaned(&place).await;
    what_a_run_has_let_go_of_is_the_next_ones_at_once(&place).await;
}

#[tokio::test]
async fn influxdb() {
    held_on("influxdb", json!({ "database": "leases" })).await;
}

#[tokio::test]
async fn kairosdb() {
    held_on("kairosdb", json!({})).await;
}

#[tokio::test]
async fn mongodb() {
    held_on("mongodb", json!({})).await;
}

#[tokio::test]
async fn questdb() {
    held_on("questdb", json!({})).await;
}

#[tokio::test]
async fn clickhouse() {
    held_on("clickhouse", json!({})).await;
}

#[tokio::test]
async fn victoriametrics() {
    held_on("victoriametrics", json!({ "database": "leases" })).await;
}
