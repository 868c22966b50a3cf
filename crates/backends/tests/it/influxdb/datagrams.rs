//! Over UDP nothing is acknowledged: what was stored is found by counting.

use crate::influxdb::server::{Scratch, batch, open, table, url};
use iotbench_core::{Acknowledgement, Action, Cause, Counts, Database, Layout, PromiseLevel, Settled};
use serde_json::json;

/// Looks until the listener has written everything, or rests.
async fn settled(database: &dyn Database) -> Settled {
    loop {
        match database.settle().await.unwrap() {
            Settled::NotYet => tokio::task::yield_now().await,
            settled => return settled,
        }
    }
}

#[tokio::test]
async fn what_arrives_is_stored_however_it_is_packed() {
    let Some(url) = url() else { return };
    for datagram in ["line", "mtu", "64k"] {
        let scratch = Scratch::new(&url, "iotbench");
        let table = table(Layout::Narrow, "r");
        let settings = json!({"database": scratch.name, "transport": "udp", "datagram": datagram});
        let database = open(&url, settings, table.clone());
        let facts = database.ping().await.unwrap();
        assert_eq!((facts.acknowledgement, facts.promise.level), (Acknowledgement::None, PromiseLevel::Buffered));
        assert!(facts.may_lose_acknowledged() && facts.settings.contains_key("batch-timeout"), "{facts:?}");
        database.create().await.unwrap();
        let mut writer = database.writer().await.unwrap();
        for first in [0, 50, 100] {
            assert_eq!(writer.write(&batch(&table, first, 50)).await.unwrap().points, 50);
        }
        assert_eq!(settled(&*database).await, Settled::Yes, "{datagram}");
        assert_eq!(database.count().await.unwrap(), Counts { points: 150, values: 300 }, "{datagram}");
        database.drop_created().await.unwrap();
    }
}

#[tokio::test]
async fn a_listener_that_is_not_there_or_not_ours_is_told_before_anything_is_sent() {
    let Some(url) = url() else { return };
    for (settings, wrong) in [
        (json!({"transport": "udp", "database": "other"}), "writes to database \"iotbench\""),
        (json!({"transport": "udp", "database": "iotbench", "udp": "127.0.0.1:9"}), "no UDP listener has port 9"),
    ] {
        let mut url: url::Url = url.clone();
        if settings.get("udp").is_some() {
            url.set_query(None);
        }
        let error = open(&url, settings, table(Layout::Wide, "r")).ping().await.unwrap_err();
        assert_eq!((error.cause, error.action), (Cause::Server, Action::Stop));
        assert!(error.message.contains(wrong), "{error}");
    }
}
