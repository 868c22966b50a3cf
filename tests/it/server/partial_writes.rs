//! Batches that InfluxDB drops: what it says is believed, and no more than it says.

use crate::server::{
    on_a_server::{Ended, arguments},
    place::{Place, is_here},
};

/// So many devices get a series; points of any other are dropped from their batch.
const SERIES: &str = "data.max-values-per-tag=3";

#[test]
fn what_the_server_drops_has_failed_and_the_rest_is_stored() {
    if !is_here("influxdb") {
        return;
    }
    let place = Place::new();
    let url = place.started(&["server", "start", "influxdb", "--set", SERIES]);
    let out = place.results();
    // Each batch is of one user's device: it is dropped whole or not at all. One after the other, since of batches that come
    // together InfluxDB lets all in.
    let load = ["--vus", "6", "--connections", "1", "-d", "1s", "--set", "think_time=50ms"];
    let target = ["--url", url.trim(), "--out", out.to_str().unwrap()];
    let ended = Ended::of(&place, &arguments("influxdb", &[load.as_slice(), &target].concat()));
    ended.assert_sound("");
    let count = |pointer| ended.count(pointer);
    let (acked, failed) = (count("/points/acked"), count("/points/failed"));
    assert!(acked > 0 && failed > 0, "{:#}", ended.document["points"]);
    assert_eq!((count("/points/sent"), count("/points/unknown")), (acked + failed, 0));
    assert_eq!(count("/points/stored"), acked);
    let errors = ended.document["errors"].to_string();
    assert!(errors.contains("\"data\"") && errors.contains("partial write: max-values-per-tag"), "{errors}");
    place.out(&["server", "stop", "influxdb"]);
    place.assert_nothing_is_left();
}
