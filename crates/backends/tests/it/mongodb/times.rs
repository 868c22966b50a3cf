//! Times are kept to the nanosecond, unless the setting says that they are cut.

use crate::mongodb::server::{OwnDatabase, batch, open, table};
use iotbench_core::{Chunk, Layout, Query};
use mongodb::bson::{Bson, Document, doc};

async fn stored_times(settings: &str, layout: Layout) -> Option<(Vec<i64>, Document, String)> {
    let database = OwnDatabase::create().await?;
    let ours = open(&database.url(), settings, table(layout, "r"));
    ours.create().await.unwrap();
    ours.writer().await.unwrap().write(&batch(3)).await.unwrap();
    let mut times = Vec::new();
    let mut sink = |chunk: &Chunk| {
        times.extend_from_slice(&chunk.timestamps_ns);
        Ok(())
    };
    ours.reader().await.unwrap().query(&Query::Scan, &mut sink).await.unwrap();
    let found = database.database.collection::<Document>("points").find_one(doc! {}).await.unwrap().unwrap();
    let said = ours.ping().await.unwrap().settings["precision"].clone();
    database.remove().await;
    Some((times, found, said))
}

fn times(nanosecond: i64) -> Vec<i64> {
    (0..3).map(|index| 1_700_000_000_000_000_000 + index * (500_000_000 + nanosecond)).collect()
}

#[tokio::test]
async fn every_nanosecond_is_kept() {
    for layout in [Layout::Document, Layout::Bulk, Layout::Wide] {
        let Some((found, ..)) = stored_times("{}", layout).await else { return };
        assert_eq!(found, times(1), "{layout}");
    }
}

#[tokio::test]
async fn milliseconds_are_the_studys_own_listing_and_the_result_says_so() {
    for layout in [Layout::Document, Layout::Bulk, Layout::Wide] {
        let Some((found, _, said)) = stored_times(r#"{"precision": "ms"}"#, layout).await else { return };
        assert_eq!(found, times(0), "{layout}");
        assert!(said.contains("cut off"), "{said}");
    }
    let Some((_, record, _)) = stored_times(r#"{"precision": "ms"}"#, Layout::Bulk).await else { return };
    let fields = |document: &Document| document.keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(fields(&record), "_id device time measurements");
    let measurements = record.get_array("measurements").unwrap();
    assert_eq!(measurements.len(), 2, "those of one second");
    let Bson::Document(first) = &measurements[0] else { panic!("{measurements:?}") };
    assert_eq!(fields(first), "time sensors");
    assert_eq!(first.get_array("sensors").unwrap(), &vec![Bson::Double(0.0)]);
}
