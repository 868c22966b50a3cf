//! Batches of which InfluxDB stores a part: what it says is believed, and no more than it says.

use crate::{
    on_a_server::{Ended, run},
    place::{Place, is_here},
};
use std::fs;
use url::Url;

/// So many devices get a series; points of any other are dropped from their batch.
const SERIES: &str = "data.max-values-per-tag=3";

/// Every batch holds points of six devices.
const OF_SIX_DEVICES: &str = r#"
name = "six"
summary = "six devices in one request"
devices = 6

[dataset]
name = "pmu"

[[groups]]
name = "all"

[groups.load]
model = "closed"
users = 1
think_time = "10ms"

[[groups.operations]]
kind = "write"
datapoints = 5
devices = 6
"#;

fn assert_conserved(ended: &Ended) {
    let count = |pointer| ended.count(pointer);
    let (acked, unknown) = (count("/points/acked"), count("/points/unknown"));
    assert_eq!(count("/points/sent"), acked + unknown + count("/points/failed"));
    assert!((acked..=acked + unknown).contains(&count("/points/stored")), "{:#}", ended.document["points"]);
    let errors = ended.document["errors"].to_string();
    assert!(errors.contains("\"data\"") && errors.contains("partial write: max-values-per-tag"), "{errors}");
}

#[test]
fn a_part_of_a_batch_is_unknown_and_a_whole_one_failed() {
    if !is_here("influxdb") {
        return;
    }
    let place = Place::new();
    let url: Url = place.out(&["server", "start", "influxdb", "--set", SERIES]).trim().parse().unwrap();
    // Each batch is of one device: it is stored whole or not at all.
    let whole = run(&place, "influxdb", &url, 6, &["--set", "think_time=50ms"]);
    assert_eq!(whole.code, 0, "{} {}", whole.reasons(), whole.err);
    assert_conserved(&whole);
    assert!(whole.count("/points/failed") > 0 && whole.count("/points/unknown") == 0);
    assert_eq!(whole.count("/points/stored"), whole.count("/points/acked"));

    let profile = place.root().join("six.toml");
    fs::write(&profile, OF_SIX_DEVICES).unwrap();
    let results = place.results();
    let load = ["run", "-p", profile.to_str().unwrap(), "-b", "influxdb", "-d", "1s", "--output-format", "json"];
    let target = ["--url", url.as_str(), "--out", results.to_str().unwrap()];
    let (code, out, err) = place.call(&[&load[..], &target].concat());
    let part = Ended { code, document: serde_json::from_str(&out).unwrap_or_default(), err };
    // Which of its points were stored is told of no batch.
    assert_eq!(part.code, 11, "{} {}", part.reasons(), part.err);
    assert_conserved(&part);
    assert_eq!(part.count("/points/unknown"), part.count("/points/sent"));
    assert_eq!(2 * part.count("/points/stored"), part.count("/points/sent"));
    place.out(&["server", "stop", "influxdb"]);
    place.assert_nothing_is_left();
}
