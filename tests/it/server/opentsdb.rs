//! OpenTSDB on HBase, which takes a minute to start: in the long set alone.

use crate::server::{
    on_a_server::sound,
    place::{Place, recipe},
};
use iotbench_launcher::Programs;
use serde_json::Value;

const SERVER: [&str; 4] = ["-b", "opentsdb", "--server-memory", "512MiB"];

fn run(place: &Place, more: &[&str]) -> Value {
    let out = place.results();
    let arguments = ["run", "--warmup", "0", "--output-format", "json", "--out", out.to_str().unwrap()];
    sound(place, &[&arguments[..], &SERVER, more].concat())
}

#[test]
#[ignore = "two Java processes for each run: scripts/long opentsdb"]
fn what_opentsdb_acknowledges_is_stored() {
    Programs::find(recipe("opentsdb")).unwrap();
    for (sync, acknowledgement) in [("false", "queued"), ("true", "applied")] {
        let place = Place::new();
        let sync = format!("backend.opentsdb.sync={sync}");
        let document = run(&place, &["-p", "pmu_write", "--vus", "4", "-d", "10s", "--set", &sync]);
        assert_eq!(document["target"]["acknowledgement"], acknowledgement);
        let points = &document["points"];
        assert!(points["acked"].as_u64() > Some(0), "{points:#}");
        assert_eq!(points["stored"], points["acked"], "{points:#}");
        for role in ["hbase", "opentsdb"] {
            let of_role = document["resources"].as_array().unwrap().iter().find(|r| r["role"] == role);
            assert!(of_role.unwrap()["rss_bytes_mean"].as_u64() > Some(1 << 20), "{role}");
        }
        place.assert_nothing_is_left();
    }
}

#[test]
#[ignore = "two Java processes for each run: scripts/long opentsdb"]
fn opentsdb_answers_what_it_can_hold() {
    let place = Place::new();
    // A minute is read.
    let short = ["-p", "pmu_read_single", "--verify", "full", "--vus", "2", "-d", "4s"];
    let document = run(&place, &[&short[..], &["--set", "preload=3100", "--set", "devices=2"]].concat());
    let answers = &document["answers"];
    assert_eq!((&answers["wrong"], &answers["not_judged"]), (&0.into(), &0.into()), "{answers:#}");
    assert!(answers["right"].as_u64() > Some(0) && answers["right"] == answers["requests"], "{answers:#}");
    for (profile, why) in [
        ("machine_write", "opentsdb stores time in Ms and this dataset has finer timestamps"),
        ("compressor_insert", "opentsdb cannot store Text values"),
    ] {
        let (code, _, err) = place.call(&["run", "-p", profile, "-b", "opentsdb", "--dry-run"]);
        assert!(code == 2 && err.contains(why), "{profile}: {code} {err}");
    }
    place.assert_nothing_is_left();
}

/// What the first run left is found again when both processes start on the folder that it kept.
#[test]
#[ignore = "two Java processes for each run: scripts/long opentsdb"]
fn a_kept_opentsdb_is_used_again() {
    let place = Place::new();
    let read = |more: &[&str]| {
        let short = ["-p", "pmu_read_single", "--vus", "2", "-d", "2s", "--set", "preload=3100", "--set", "devices=2"];
        let remarks = run(&place, &[&short[..], more].concat())["remarks"].to_string();
        (remarks.contains("on the folder that an earlier run kept"), remarks.contains("that of an earlier run"))
    };
    assert_eq!(read(&["--keep"]), (false, false));
    assert_eq!(read(&["--keep"]), (true, true));
    assert!(place.out(&["clean"]).starts_with("removed "));
    place.assert_nothing_is_left();
}
