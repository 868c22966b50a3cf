//! Only what carries our marker is ever touched.

use crate::mongodb::server::{OwnDatabase, batch, open, table};
use iotbench_core::{Cause, Layout, OwnedObject, TableSpec};
use mongodb::bson::{Document, doc};

#[tokio::test]
async fn a_strangers_object_of_our_name_is_refused_and_unchanged() {
    let plants: [(&[Document], &str); 4] = [
        (&[doc! { "insert": "points", "documents": [{ "a": 1 }] }], "points"),
        (&[doc! { "create": "points", "viewOn": "other", "pipeline": [] }], "points"),
        (&[doc! { "insert": "points.iotbench", "documents": [{ "a": 1 }] }], "points.iotbench"),
        // A marker of ours, beside a collection that it is not of.
        (
            &[
                doc! { "insert": "points", "documents": [{ "a": 1 }] },
                doc! { "insert": "points.iotbench", "documents": [{
                    "_id": "marker", "run_id": "r", "fingerprint": "f", "created_by": "iotbench 0",
                    "uuid": mongodb::bson::Uuid::from_bytes([1; 16]),
                }] },
            ],
            "points",
        ),
    ];
    for (plant, named) in plants {
        let Some(database) = OwnDatabase::create().await else { return };
        for command in plant {
            database.run(command.clone()).await;
        }
        let before = database.contents().await;
        let ours = open(&database.url(), "{}", table(Layout::Document, "r"));
        assert!(!ours.adopt().await.unwrap(), "{plant:?}");
        let error = ours.create().await.unwrap_err();
        assert_eq!(error.cause, Cause::NotOurs, "{plant:?}: {error}");
        assert!(error.message.contains(named), "{plant:?}: {error}");
        ours.drop_created().await.unwrap();
        assert_eq!(ours.owned().await, Ok(Vec::new()));
        assert_eq!(database.contents().await, before, "{plant:?}");
        database.remove().await;
    }
}

#[tokio::test]
async fn what_a_killed_run_left_is_found_and_dropped_only_while_it_is_marked() {
    for layout in Layout::ALL {
        let Some(database) = OwnDatabase::create().await else { return };
        database.insert("mine", doc! { "a": 1 }).await;
        let killed = open(&database.url(), "{}", table(layout, "killed; run"));
        killed.create().await.unwrap();
        killed.writer().await.unwrap().write(&batch(3)).await.unwrap();
        let mut elsewhere = table(Layout::Document, "now");
        elsewhere.name = iotbench_core::Name::new("elsewhere").unwrap();
        let now = open(&database.url(), "{}", elsewhere);
        let left = OwnedObject { name: table(layout, "").name, run_id: "killed; run".into() };
        assert_eq!(now.owned().await, Ok(vec![left.clone()]));
        let of_another_run = OwnedObject { run_id: "another".into(), ..left.clone() };
        assert_eq!(now.drop_owned(&of_another_run).await.unwrap_err().cause, Cause::NotOurs);
        let strangers = OwnedObject { name: iotbench_core::Name::new("mine").unwrap(), run_id: "x".into() };
        assert_eq!(now.drop_owned(&strangers).await.unwrap_err().cause, Cause::NotOurs);
        now.drop_owned(&left).await.unwrap();
        assert_eq!(now.owned().await, Ok(Vec::new()));
        assert_eq!(now.drop_owned(&left).await.unwrap_err().cause, Cause::NotOurs);
        assert_eq!(database.contents().await.len(), 2, "{layout}");
        database.remove().await;
    }
}

fn of(run_id: &str, fingerprint: &str, layout: Layout) -> TableSpec {
    let mut table = table(layout, run_id);
    table.marker.fingerprint = fingerprint.into();
    table
}

#[tokio::test]
async fn a_collection_is_taken_over_by_a_run_of_the_same_fingerprint_only() {
    for layout in Layout::ALL {
        let Some(database) = OwnDatabase::create().await else { return };
        let of = |run_id, fingerprint| open(&database.url(), "{}", of(run_id, fingerprint, layout));
        let (first, other, same) = (of("run-1", "f"), of("run-2", "g"), of("run-3", "f"));
        assert!(!same.adopt().await.unwrap(), "there is nothing");
        first.create().await.unwrap();
        first.writer().await.unwrap().write(&batch(9)).await.unwrap();
        let before = database.contents().await;
        assert!(!other.adopt().await.unwrap());
        other.drop_created().await.unwrap();
        assert_eq!(database.contents().await, before);
        assert!(same.adopt().await.unwrap());
        first.drop_created().await.unwrap();
        assert_eq!(same.count().await.unwrap().points, 9, "it is no longer the first run's to drop");
        same.drop_created().await.unwrap();
        assert_eq!(database.contents().await, Vec::<String>::new());
        database.remove().await;
    }
}

#[tokio::test]
async fn what_takes_the_place_of_our_collection_is_neither_written_nor_dropped() {
    let Some(database) = OwnDatabase::create().await else { return };
    let ours = open(&database.url(), "{}", table(Layout::Document, "r"));
    ours.create().await.unwrap();
    let mut writer = ours.writer().await.unwrap();
    database.run(doc! { "drop": "points" }).await;
    let error = writer.write(&batch(1)).await.unwrap_err();
    assert_eq!(error.cause, Cause::Server, "{error}");
    assert!(error.message.contains("somebody dropped it"), "{error}");
    database.insert("points", doc! { "a": 1 }).await;
    writer.write(&batch(1)).await.unwrap_err();
    ours.drop_created().await.unwrap();
    assert_eq!(database.database.collection::<Document>("points").count_documents(doc! {}).await.unwrap(), 1);
    database.remove().await;
}
