//! What InfluxDB alone promises: its database, its marker, its errors, the order of many devices.

use crate::influxdb::server::{Scratch, ask, batch, contents, of_database, open, table, url, write};
use iotbench_core::{
    Acknowledgement, Action, Applied, Batch, Cause, Chunk, Counts, Devices, Error, Layout, Name, PromiseLevel,
    PromiseSource, Query, Run, Value,
};

/// Seven days: times this far apart lie in different shards.
const WEEK_NS: u64 = 7 * 86_400 * 1_000_000_000;

#[tokio::test]
async fn it_says_how_it_is_set() {
    let Some(url) = url() else { return };
    let facts = open(&url, of_database("facts"), table(Layout::Wide, "r")).ping().await.unwrap();
    assert!(facts.version.starts_with("1."), "{facts:?}");
    assert_eq!((facts.promise.level, &facts.promise.source), (PromiseLevel::OsCrash, &PromiseSource::ReadBack));
    assert_eq!(facts.acknowledgement, Acknowledgement::Durable);
    assert!(facts.settings.contains_key("wal-fsync-delay"), "{facts:?}");
    assert!(!facts.settings.contains_key("batch-size"), "the listener has no part in this: {facts:?}");
    assert!(contents(&url, "facts").is_empty(), "a look changes nothing");
}

#[tokio::test]
async fn the_database_appears_with_the_first_table_and_goes_with_the_last() {
    let Some(url) = url() else { return };
    let scratch = Scratch::new(&url, "comes_and_goes");
    let names = || ask(&url, &scratch.name, "SHOW DATABASES").to_string();
    let of = |name: &str| {
        let mut table = table(Layout::Wide, "run-1");
        table.name = Name::new(name).unwrap();
        (open(&url, of_database(&scratch.name), table.clone()), table)
    };
    let ((first, table), (second, _)) = (of("one"), of("two"));
    assert!(!names().contains("comes_and_goes"));
    first.create().await.unwrap();
    second.create().await.unwrap();
    first.writer().await.unwrap().write(&batch(&table, 0, 100)).await.unwrap();
    assert_eq!(first.count().await.unwrap(), Counts { points: 100, values: 200 });
    assert!(first.storage_bytes().await.unwrap() > Some(0));
    first.drop_created().await.unwrap();
    assert!(names().contains("comes_and_goes"), "the second table is still there");
    assert_eq!(second.count().await.unwrap(), Counts::default());
    second.drop_created().await.unwrap();
    assert!(!names().contains("comes_and_goes"));
}

#[tokio::test]
async fn somebody_elses_database_is_refused_and_an_empty_one_is_left_behind() {
    let Some(url) = url() else { return };
    let scratch = Scratch::new(&url, "not_ours");
    ask(&url, &scratch.name, "CREATE DATABASE not_ours");
    let database = open(&url, of_database(&scratch.name), table(Layout::Wide, "r"));
    database.create().await.unwrap();
    database.drop_created().await.unwrap();
    assert!(ask(&url, &scratch.name, "SHOW DATABASES").to_string().contains("not_ours"), "we did not make it");
    write(&url, &scratch.name, "theirs a=1 1\n");
    let before = contents(&url, &scratch.name);
    let error = database.create().await.unwrap_err();
    assert_eq!((error.cause, error.action), (Cause::NotOurs, Action::Stop));
    assert!(error.message.contains("not_ours"), "{error}");
    database.drop_created().await.unwrap();
    assert_eq!(contents(&url, &scratch.name), before);
}

#[tokio::test]
async fn a_marker_of_somebody_elses_make_is_not_ours() {
    let Some(url) = url() else { return };
    let scratch = Scratch::new(&url, "false_marker");
    ask(&url, &scratch.name, "CREATE DATABASE false_marker");
    write(&url, &scratch.name, "iotbench_marker,kind=table,table=readings run_id=\"r\" 1\nreadings a=1 1\n");
    let before = contents(&url, &scratch.name);
    let database = open(&url, of_database(&scratch.name), table(Layout::Wide, "r"));
    assert_eq!(database.create().await.unwrap_err().cause, Cause::NotOurs);
    assert_eq!(database.drop_created().await.unwrap_err().cause, Cause::NotOurs);
    assert_eq!(contents(&url, &scratch.name), before);
}

#[tokio::test]
async fn what_killed_runs_left_is_found_and_dropped() {
    let Some(url) = url() else { return };
    let scratch = Scratch::new(&url, "left_behind");
    let killed = open(&url, of_database(&scratch.name), table(Layout::Wide, "killed \"run\""));
    assert_eq!(killed.owned().await.unwrap(), []);
    killed.create().await.unwrap();
    killed.writer().await.unwrap().write(&batch(&table(Layout::Wide, ""), 0, 3)).await.unwrap();
    write(&url, &scratch.name, "theirs a=1 1\n");
    let other = open(&url, of_database(&scratch.name), table(Layout::Narrow, "other"));
    let owned = other.owned().await.unwrap();
    assert_eq!(owned.len(), 1);
    assert_eq!((owned[0].name.as_str(), owned[0].run_id.as_str()), ("readings", "killed \"run\""));
    other.drop_created().await.unwrap();
    assert_eq!(other.owned().await.unwrap(), owned, "it is not the other run's to drop");
    let mut stale = owned[0].clone();
    stale.run_id = "an earlier one".into();
    assert_eq!(other.drop_owned(&stale).await.unwrap_err().cause, Cause::NotOurs);
    other.drop_owned(&owned[0]).await.unwrap();
    assert_eq!(other.owned().await.unwrap(), []);
    assert!(contents(&url, &scratch.name).iter().any(|measurement| measurement.starts_with("theirs")));
}

#[tokio::test]
async fn a_measurement_is_taken_over_by_a_run_of_the_same_fingerprint_only() {
    let Some(url) = url() else { return };
    let scratch = Scratch::new(&url, "adopted");
    let of = |run_id: &str, fingerprint: &str| {
        let mut table = table(Layout::Wide, run_id);
        table.marker.fingerprint = fingerprint.into();
        open(&url, of_database(&scratch.name), table)
    };
    let (first, other, same) = (of("run-1", "\"f\""), of("run-2", "g"), of("run-3", "\"f\""));
    assert!(!same.adopt().await.unwrap(), "there is nothing");
    first.create().await.unwrap();
    first.writer().await.unwrap().write(&batch(&table(Layout::Wide, ""), 0, 9)).await.unwrap();
    let before = contents(&url, &scratch.name);
    assert!(!other.adopt().await.unwrap());
    other.drop_created().await.unwrap();
    assert_eq!(contents(&url, &scratch.name), before);
    assert!(same.adopt().await.unwrap());
    first.drop_created().await.unwrap();
    assert_eq!(same.count().await.unwrap().points, 9, "it is no longer the first run's to drop");
    same.drop_created().await.unwrap();
    assert!(contents(&url, &scratch.name).is_empty());
}

#[tokio::test]
async fn a_strangers_measurement_is_not_taken_over() {
    let Some(url) = url() else { return };
    for planted in [
        "readings a=1 1\n",
        "iotbench_marker,kind=table,table=readings run_id=\"r\" 1\nreadings a=1 1\n",
        // Listed, and without our mark in it: somebody dropped ours and wrote it anew.
        "iotbench_marker,kind=table,table=readings run_id=\"x\",fingerprint=\"f\",created_by=\"iotbench 1\" 0\n\
         readings a=1 1\n",
    ] {
        let scratch = Scratch::new(&url, "not_adopted");
        ask(&url, &scratch.name, "CREATE DATABASE not_adopted");
        write(&url, &scratch.name, planted);
        let before = contents(&url, &scratch.name);
        let ours = open(&url, of_database(&scratch.name), table(Layout::Wide, "r"));
        assert!(!ours.adopt().await.unwrap(), "{planted}");
        assert_eq!(contents(&url, &scratch.name), before, "{planted}");
    }
}

#[tokio::test]
async fn a_database_that_is_dropped_under_the_writer_ends_the_run() {
    let Some(url) = url() else { return };
    let scratch = Scratch::new(&url, "dropped_under");
    let table = table(Layout::Wide, "r");
    let database = open(&url, of_database(&scratch.name), table.clone());
    database.create().await.unwrap();
    let mut writer = database.writer().await.unwrap();
    writer.write(&batch(&table, 0, 3)).await.unwrap();
    ask(&url, &scratch.name, "DROP DATABASE dropped_under");
    let error = writer.write(&batch(&table, 3, 3)).await.unwrap_err();
    assert_eq!((error.cause, error.action, error.applied), (Cause::Server, Action::Stop, Applied::No));
    assert!(error.message.contains("database not found"), "{}", error.message);
    assert_eq!(database.count().await.unwrap_err().cause, Cause::Server);
    database.drop_created().await.unwrap();
}

#[tokio::test]
async fn a_measurement_that_is_dropped_under_the_writer_comes_back_as_somebody_elses() {
    let Some(url) = url() else { return };
    for layout in [Layout::Wide, Layout::Narrow] {
        let scratch = Scratch::new(&url, &format!("replaced_{layout}"));
        let table = table(layout, "r");
        let database = open(&url, of_database(&scratch.name), table.clone());
        database.create().await.unwrap();
        let mut writer = database.writer().await.unwrap();
        writer.write(&batch(&table, 0, 3)).await.unwrap();
        ask(&url, &scratch.name, "DROP MEASUREMENT readings");
        // Nobody writes: it is as empty as it is.
        assert_eq!(database.count().await.unwrap(), Counts::default(), "{layout}");
        writer.write(&batch(&table, 3, 3)).await.unwrap();
        let error = database.count().await.unwrap_err();
        assert!(error.cause == Cause::Server && error.message.contains("came back"), "{layout}: {error}");
        assert_eq!(database.owned().await.unwrap(), [], "{layout}");
        let readings = || contents(&url, &scratch.name).into_iter().find(|m| m.starts_with("readings"));
        let before = readings().unwrap();
        let error = database.drop_created().await.unwrap_err();
        assert!(error.cause == Cause::NotOurs && error.message.contains("readings was dropped"), "{layout}: {error}");
        assert_eq!(readings().unwrap(), before, "{layout}");
        database.drop_created().await.unwrap();
        assert_eq!(database.create().await.unwrap_err().cause, Cause::NotOurs, "{layout}");
        assert_eq!(readings().unwrap(), before, "{layout}");
    }
}

#[tokio::test]
async fn points_of_another_type_are_refused_and_accounted_for() {
    let Some(url) = url() else { return };
    for layout in [Layout::Wide, Layout::Narrow] {
        let scratch = Scratch::new(&url, &format!("conflict_{layout}"));
        let table = table(layout, "r");
        let database = open(&url, of_database(&scratch.name), table.clone());
        database.create().await.unwrap();
        write(&url, &scratch.name, "readings,device=0 select=\"text\",v=\"text\" 1\n");
        let mut writer = database.writer().await.unwrap();
        let error = writer.write(&batch(&table, 0, 50)).await.unwrap_err();
        assert_eq!((error.cause, error.applied), (Cause::Data, Applied::No), "{layout}: {}", error.message);
        // The second half lies in another shard, whose field has no type yet.
        let mut halves = batch(&table, 0, 25);
        let other = batch(&table, 10 * WEEK_NS, 25);
        halves.append(other.runs()[0], |times, columns| {
            times.extend_from_slice(other.timestamps_ns());
            for column in columns {
                for _ in 0..other.len() {
                    assert!(column.push(Value::F64(1.5)));
                }
            }
        });
        let error = writer.write(&halves).await.unwrap_err();
        assert_eq!((error.cause, error.applied), (Cause::Data, Applied::Maybe), "{layout}: {}", error.message);
        writer.write(&batch(&table, 20 * WEEK_NS, 2)).await.unwrap();
    }
}

/// A datapoint of each of twelve devices at each of three times.
fn of_twelve_devices(layout: Layout) -> (iotbench_core::TableSpec, Batch) {
    let mut table = table(layout, "r");
    table.devices = 12;
    let mut batch = Batch::new(&table.schema);
    for device in 0..12 {
        batch.append(Run { device, first: 0, count: 3 }, |times, columns| {
            times.extend([10, 20, 30]);
            for column in columns {
                assert!((0..3).all(|_| column.push(Value::F64(device.into()))));
            }
        });
    }
    (table, batch)
}

#[tokio::test]
async fn many_devices_come_in_the_order_of_their_numbers() {
    let Some(url) = url() else { return };
    for layout in [Layout::Wide, Layout::Narrow] {
        let scratch = Scratch::new(&url, &format!("twelve_{layout}"));
        let (table, batch) = of_twelve_devices(layout);
        let database = open(&url, of_database(&scratch.name), table);
        database.create().await.unwrap();
        database.writer().await.unwrap().write(&batch).await.unwrap();
        let mut reader = database.reader().await.unwrap();
        let mut rows = Vec::new();
        let mut sink = |chunk: &Chunk| {
            assert!(
                (0..chunk.len()).all(|row| chunk.columns[1].get(row) == Some(Value::F64(chunk.devices[row].into())))
            );
            rows.extend(chunk.devices.iter().copied().zip(chunk.timestamps_ns.iter().copied()));
            Ok(())
        };
        reader.query(&Query::Scan, &mut sink).await.unwrap();
        assert!(rows.is_sorted() && rows.len() == 36, "{layout}: {rows:?}");
        rows.clear();
        let mut sink = |chunk: &Chunk| {
            assert!((0..chunk.len()).all(|row| chunk.columns.iter().all(|column| column.get(row).is_some())));
            rows.extend(chunk.devices.iter().copied().zip(chunk.timestamps_ns.iter().copied()));
            Ok(())
        };
        reader.query(&Query::Newest { devices: Devices::All, limit: 17 }, &mut sink).await.unwrap();
        let times: Vec<i64> = rows.iter().map(|row| row.1).collect();
        assert_eq!(times, [vec![30; 12], vec![20; 5]].concat(), "{layout}");
    }
}

#[tokio::test]
async fn a_reader_whose_sink_failed_is_given_up() {
    let Some(url) = url() else { return };
    let scratch = Scratch::new(&url, "sink_fails");
    let table = table(Layout::Wide, "r");
    let database = open(&url, of_database(&scratch.name), table.clone());
    database.create().await.unwrap();
    database.writer().await.unwrap().write(&batch(&table, 0, 5000)).await.unwrap();
    let mut reader = database.reader().await.unwrap();
    let mut sink = |_: &Chunk| -> Result<(), Error> { Err(Error::new(Cause::Client, "enough")) };
    assert_eq!(reader.query(&Query::Scan, &mut sink).await.unwrap_err().message, "enough");
    let error = reader.query(&Query::Count, &mut |_: &Chunk| Ok(())).await.unwrap_err();
    assert_eq!((error.cause, error.action), (Cause::Connect, Action::DiscardWriter));
}
