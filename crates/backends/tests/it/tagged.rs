//! What the table of devices must do in every SQL database.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::harness;
use iotbench_core::{
    Aggregate, Batch, BucketWidth, Cause, Chunk, Database, Devices, Layout, Name, OwnedObject, Predicate, Query,
    Reader, Run, TableSpec, Tag, TagValues, Tagged, Tags, TimeRange, Value, ValueType,
};
use std::sync::Arc;

/// A database of a test's own, empty.
#[async_trait::async_trait]
pub(crate) trait Place: Sync {
    fn open(&self, table: TableSpec) -> Arc<dyn Database>;

    /// Runs statements of somebody else's.
    async fn execute(&self, sql: &str);

    /// The rows of somebody else's query, each as text.
    async fn rows(&self, sql: &str) -> Vec<String>;

    /// Whether the server fills a table of devices now, or has begun to.
    async fn is_filling(&self) -> bool;

    /// The names of all tables and views, ascending.
    async fn tables(&self) -> Vec<String>;
}

/// A table of a number. The values of one tag differ in their case alone, and the name of the other is a keyword.
fn table(layout: Layout, devices: u32, run_id: &str) -> TableSpec {
    let site = TagValues::OneOf(["x", "X"].map(Into::into).to_vec());
    let order = TagValues::Numbered { prefix: "r".into(), count: 3 };
    let tag = |name: &str, values| Tag { name: name.into(), values };
    let tags = Tags::new(1, vec![tag("site", site), tag("order", order)]).unwrap();
    let table = untagged(layout, devices, run_id);
    TableSpec { schema: table.schema.with_tags(tags).unwrap(), ..table }
}

fn untagged(layout: Layout, devices: u32, run_id: &str) -> TableSpec {
    TableSpec { devices, ..harness::table("points", layout, &[("a", ValueType::F64)], run_id) }
}

/// Thirty datapoints of each device, ten a second.
fn batch(table: &TableSpec) -> Batch {
    let mut batch = Batch::new(&table.schema);
    for device in 0..table.devices {
        batch.append(Run { device, first: 0, count: 30 }, |times, columns| {
            for index in 0..30_u32 {
                times.push(i64::from(index) * 100_000_000);
                assert!(columns[0].push(Value::F64(f64::from(index * 100 + device))));
            }
        });
    }
    batch
}

fn queries(devices: &Devices) -> Vec<Query> {
    let (signals, range) = (vec![0], TimeRange::half_open(500_000_000, 2_000_000_000));
    let width = BucketWidth::SECOND;
    let totals = vec![Aggregate::Sum, Aggregate::Max];
    let filter = |all_signals| {
        let (devices, predicate) = (devices.clone(), Predicate::Above(900.0));
        Query::Filter { devices, signal: 0, predicate, range, all_signals }
    };
    let top = |aggregate| {
        let devices = devices.clone();
        Query::TopDevices { devices, signal: 0, aggregate, range, limit: 3 }
    };
    vec![
        Query::Range { devices: devices.clone(), signals: signals.clone(), range },
        filter(false),
        filter(true),
        Query::Newest { devices: devices.clone(), limit: 7 },
        Query::LastPoints { devices: devices.clone() },
        Query::Aggregates {
            devices: devices.clone(),
            signals: signals.clone(),
            aggregates: Aggregate::ALL.to_vec(),
            range,
        },
        Query::Aggregates {
            devices: devices.clone(),
            signals: signals.clone(),
            aggregates: vec![Aggregate::Last],
            range,
        },
        Query::Buckets { devices: devices.clone(), signals: signals.clone(), aggregates: totals.clone(), range, width },
        top(Aggregate::Max),
        top(Aggregate::Last),
        Query::TotalBuckets { devices: devices.clone(), signals, aggregates: totals, range, width, newest: None },
    ]
}

async fn answer(reader: &mut dyn Reader, query: &Query) -> Vec<String> {
    let mut rows = Vec::new();
    let mut take = |chunk: &Chunk| {
        let of_row = |row| chunk.columns.iter().map(|column| format!("{:?}", column.get(row))).collect::<Vec<_>>();
        let points = chunk.devices.iter().zip(&chunk.timestamps_ns).enumerate();
        rows.extend(points.map(|(row, (device, time))| format!("{device} {time} {:?}", of_row(row))));
        Ok(())
    };
    reader.query(query, &mut take).await.unwrap();
    rows
}

/// The client's list is always device 0: what a database answers by it is wrong.
pub(crate) async fn devices_are_found_by_their_value(place: &impl Place) {
    for layout in Layout::ALL {
        for devices in [1, 12] {
            let table = table(layout, devices, "r");
            let database = place.open(table.clone());
            database.create().await.unwrap();
            database.writer().await.unwrap().write(&batch(&table)).await.unwrap();
            database.settle().await.unwrap();
            let mut reader = database.reader().await.unwrap();
            let tags = table.schema.tags();
            for (tag, choice) in [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)] {
                let with_it = (0..devices).filter(|&device| tags.choice(tag, device) == choice).collect();
                let asked = Devices::Tagged(Tagged { tag, choice, devices: vec![0] });
                for (by_value, by_list) in queries(&asked).iter().zip(queries(&Devices::Some(with_it))) {
                    let found = answer(&mut *reader, by_value).await;
                    assert_eq!(found, answer(&mut *reader, &by_list).await, "{layout}, {devices}: {by_list:?}");
                }
            }
            drop(reader);
            database.drop_created().await.unwrap();
        }
    }
}

fn owned(run_id: &str) -> OwnedObject {
    OwnedObject { name: untagged(Layout::Wide, 1, "").name, run_id: run_id.into() }
}

pub(crate) async fn it_is_made_replaced_and_dropped_with_its_table(place: &impl Place) {
    let before = place.tables().await;
    let both = [before.clone(), vec!["points".into(), "points_devices".into()]].concat();
    let of_run = |run_id| place.open(table(Layout::Wide, 12, run_id));
    let first = of_run("first");
    first.create().await.unwrap();
    assert_eq!(place.tables().await, both);
    let sites = place.rows("SELECT site FROM points_devices ORDER BY device").await;
    let tags = table(Layout::Wide, 12, "").schema.tags().clone();
    let expected = (0..12).map(|device| tags.of(device).next().unwrap().1.to_string());
    assert_eq!(sites, expected.collect::<Vec<_>>());
    assert_eq!(first.owned().await, Ok(vec![owned("first")]), "it is no object of its own");
    first.drop_created().await.unwrap();
    assert_eq!(place.tables().await, before);

    // By another run without tags, by one with tags, and by whoever clears up.
    first.create().await.unwrap();
    drop(first);
    let plain = place.open(untagged(Layout::Narrow, 12, "plain"));
    plain.create().await.unwrap();
    assert_eq!(place.tables().await, [before.clone(), vec!["points".into()]].concat());
    drop(plain);
    let second = of_run("second");
    second.create().await.unwrap();
    second.create().await.unwrap();
    assert_eq!(place.tables().await, both);
    drop(second);
    let other = of_run("other");
    other.drop_created().await.unwrap();
    assert_eq!(place.tables().await, both, "it is another run's");
    other.drop_owned(&owned("second")).await.unwrap();
    assert_eq!(place.tables().await, before);
}

pub(crate) async fn a_table_is_taken_over_with_it_and_not_without(place: &impl Place) {
    let before = place.tables().await;
    let of_run = |run_id| place.open(table(Layout::Wide, 12, run_id));
    of_run("first").create().await.unwrap();
    let second = of_run("second");
    assert!(second.adopt().await.unwrap());
    of_run("first").drop_created().await.unwrap();
    assert_eq!(place.rows("SELECT count(*) FROM points_devices").await, ["12"], "it is the second's");
    drop(second);
    place.execute("DROP TABLE points_devices").await;
    let third = of_run("third");
    assert!(!third.adopt().await.unwrap(), "nobody can be found by a tag");
    assert_eq!(third.owned().await, Ok(vec![owned("second")]), "nothing was changed");
    third.create().await.unwrap();
    drop(third);
    // What somebody leaves of ours is ours.
    place.execute("DROP TABLE points").await;
    let fourth = of_run("fourth");
    fourth.create().await.unwrap();
    assert_eq!(place.rows("SELECT count(*) FROM points_devices").await, ["12"]);
    fourth.drop_created().await.unwrap();
    assert_eq!(place.tables().await, before);
}

/// What a stranger plants, and how it goes again.
pub(crate) async fn a_strangers_is_refused_and_left_alone(place: &impl Place, plants: &[(&str, &str)]) {
    for &(plant, uproot) in plants {
        place.execute(plant).await;
        let before = place.tables().await;
        let ours = place.open(table(Layout::Wide, 12, "r"));
        assert!(!ours.adopt().await.unwrap(), "{plant}");
        let error = ours.create().await.unwrap_err();
        assert_eq!(error.cause, Cause::NotOurs, "{plant}: {error}");
        assert!(error.message.to_lowercase().contains("points_devices"), "{plant}: {error}");
        ours.drop_created().await.unwrap();
        assert_eq!(place.tables().await, before, "{plant}");
        drop(ours);
        // Who has no tags does not need the name.
        let plain = place.open(untagged(Layout::Wide, 12, "r"));
        plain.create().await.unwrap();
        plain.drop_created().await.unwrap();
        assert_eq!(place.tables().await, before, "{plant}");
        drop(plain);
        // Nor is an earlier run's table harmed by a create that is refused.
        place.open(untagged(Layout::Wide, 12, "earlier")).create().await.unwrap();
        let ours = place.open(table(Layout::Wide, 12, "r"));
        assert_eq!(ours.create().await.unwrap_err().cause, Cause::NotOurs, "{plant}");
        assert_eq!(ours.owned().await, Ok(vec![owned("earlier")]), "{plant}");
        ours.drop_owned(&owned("earlier")).await.unwrap();
        assert_eq!(place.tables().await, before, "{plant}");
        place.execute(uproot).await;
    }
}

/// Its name is another run's for its datapoints, before and after.
pub(crate) async fn a_table_of_datapoints_is_not_taken_for_it(place: &impl Place) {
    let before = place.tables().await;
    let mut of_name = untagged(Layout::Wide, 12, "other");
    of_name.name = Name::new("points_devices").unwrap();
    let (other, ours) = (place.open(of_name.clone()), place.open(table(Layout::Wide, 12, "r")));
    other.create().await.unwrap();
    other.writer().await.unwrap().write(&batch(&of_name)).await.unwrap();
    assert_eq!(ours.create().await.unwrap_err().cause, Cause::NotOurs);
    ours.drop_created().await.unwrap();
    assert_eq!(other.count().await.unwrap().points, 12 * 30);
    other.drop_created().await.unwrap();
    ours.create().await.unwrap();
    assert_eq!(other.create().await.unwrap_err().cause, Cause::NotOurs);
    other.drop_created().await.unwrap();
    assert_eq!(place.rows("SELECT count(*) FROM points_devices").await, ["12"]);
    ours.drop_created().await.unwrap();
    assert_eq!(place.tables().await, before);
}

pub(crate) async fn a_hundred_thousand_devices_have_their_rows(place: &impl Place) {
    const DEVICES: u32 = 100_000;
    let table = table(Layout::Wide, DEVICES, "r");
    let database = place.open(table.clone());
    database.create().await.unwrap();
    assert_eq!(place.rows("SELECT count(*) FROM points_devices").await, [DEVICES.to_string()]);
    let tags = table.schema.tags();
    let with_it = (0..DEVICES).filter(|&device| tags.choice(0, device) == 1).count();
    assert_eq!(place.rows("SELECT count(*) FROM points_devices WHERE site = 'X'").await, [with_it.to_string()]);
    database.drop_created().await.unwrap();
}

/// Ends the client in the middle of a create, and clears up as the next run would.
pub(crate) async fn a_killed_create_leaves_what_is_found_and_goes(place: &impl Place) {
    let before = place.tables().await;
    let of_run = |devices, run_id| place.open(table(Layout::Wide, devices, run_id));
    let killed = of_run(1_000_000, "killed");
    let filling = async { while !place.is_filling().await {} };
    tokio::select! {
        ended = killed.create() => panic!("it was to be ended in its middle: {ended:?}"),
        () = filling => drop(killed),
    }
    let next = of_run(1_000_000, "next");
    assert!(!next.adopt().await.unwrap(), "what is not whole is not taken over");
    for left in next.owned().await.unwrap() {
        assert_eq!(left, owned("killed"));
        next.drop_owned(&left).await.unwrap();
    }
    assert_eq!(place.tables().await, before);
    let smaller = of_run(12, "next");
    smaller.create().await.unwrap();
    smaller.drop_created().await.unwrap();
    assert_eq!(place.tables().await, before);
}

/// What it occupies is part of what the database does.
pub(crate) async fn it_is_weighed_with_its_table(place: &impl Place) {
    let mut bytes = Vec::new();
    for table in [untagged(Layout::Wide, 50_000, "r"), table(Layout::Wide, 50_000, "r")] {
        let database = place.open(table);
        database.create().await.unwrap();
        database.settle().await.unwrap();
        bytes.push(database.storage_bytes().await.unwrap().unwrap());
        database.drop_created().await.unwrap();
    }
    assert!(bytes[1] > bytes[0] + 50_000 * 8, "{bytes:?}");
}
