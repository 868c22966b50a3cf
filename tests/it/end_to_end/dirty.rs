//! Data that come late, out of order, with gaps and by clocks that are off: stored as sent, and read as they are.

use crate::end_to_end::program::{document, iotbench, said};
use crate::soundness::assert_sound;
use serde_json::Value;

fn run(arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let more = ["--warmup", "0", "--verify", "full", "--output-format", "json"];
    let output = iotbench(folder.path(), &[&["run"], arguments, &more].concat()).output().unwrap();
    let document = document(&output);
    assert_sound(&document, output.status.code().unwrap(), said(&output));
    document
}

#[test]
fn what_is_sent_late_or_not_at_all_is_stored_as_it_was_sent() {
    for key in [
        r#"dataset.late={ share = 0.1, by = "30s" }"#,
        "dataset.out_of_order={ share = 0.5, window = 8 }",
        r#"dataset.gaps={ share = 0.2, length = "5s" }"#,
        r#"dataset.twice={ share = 0.1, after = "30s" }"#,
        r#"dataset.corrected={ share = 0.1, after = "30s" }"#,
        "dataset.added_signals={ signals = 1, after = 20 }",
        "dataset.clock_offset=2m",
    ] {
        let load = ["-p", "compressor_insert", "--arrival", "closed", "--vus", "4", "--operations", "400", "-d", "60s"];
        let document = run(&[&load[..], &["--set", "devices=4", "--set", key]].concat());
        let (acked, right) = (&document["points"]["acked"], &document["audit"]["right"]);
        assert!(acked.as_u64() > Some(0) && acked == right, "{key}: {:#}", document["audit"]);
        let wrong = ["lost", "alien", "duplicate", "corrupt"].map(|what| document["audit"][what].as_u64());
        assert_eq!(wrong, [Some(0); 4], "{key}: {:#}", document["audit"]);
        let again = document["points"]["sent_again"].as_u64();
        assert_eq!(
            again > Some(0),
            key.contains("twice") || key.contains("corrected"),
            "{key}: {:#}",
            document["points"]
        );
    }
}

/// The table is altered once, and it is told when and for how long.
#[test]
fn a_signal_that_is_added_is_there_from_then_on() {
    let key = "dataset.added_signals={ signals = 2, after = 40 }";
    let load = ["-p", "compressor_insert", "--arrival", "closed", "--vus", "4", "--operations", "400", "-d", "60s"];
    for (layout, is_altered) in [("wide", true), ("document", false)] {
        let set = ["--set", "devices=4", "--set", key, "--layout", layout];
        let document = run(&[&load[..], &set].concat());
        let (acked, audit, change) = (&document["points"]["acked"], &document["audit"], &document["schema_change"]);
        assert_eq!((acked, &audit["corrupt"]), (&audit["right"], &0.into()), "{layout}: {audit:#}");
        assert_eq!(change["signals"].as_array().map(Vec::len), Some(2), "{change:#}");
        assert!(change["from_s"].as_f64() > Some(0.0), "{change:#}");
        assert_eq!(change["altered_s"].as_f64().is_some(), is_altered, "{layout}: {change:#}");
    }
}

/// Who only reads sends nothing twice, and a broker doubles by itself.
#[test]
fn what_cannot_be_judged_is_not_sent_twice() {
    let sensors = ["-p", "compressor_insert", "--rate", "10", "--via", "mqtt"];
    let (again, added) = (r#"{ share = 0.1, after = "30s" }"#, "{ signals = 1, after = 1000 }");
    for (key, value, load) in [("twice", again), ("corrected", again), ("added_signals", added)]
        .into_iter()
        .flat_map(|(key, value)| [(key, value, &["-p", "compressor_mean"][..]), (key, value, &sensors)])
    {
        let folder = tempfile::tempdir().unwrap();
        let set = format!("dataset.{key}={value}");
        let output = iotbench(folder.path(), &[&["run"], load, &["--set", &set]].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(key), "{}", said(&output));
    }
}

#[test]
fn buckets_of_late_data_are_the_truth() {
    for key in [r#"dataset.late={ share = 0.1, by = "1h" }"#, r#"dataset.gaps={ share = 0.2, length = "10m" }"#] {
        let load = ["-p", "greenhouse_trends", "--operations", "10", "-d", "60s", "--set", "history=1d"];
        let document = run(&[&load[..], &["--set", key]].concat());
        let answers = &document["answers"];
        assert_eq!((&answers["wrong"], &answers["not_judged"]), (&0.into(), &0.into()), "{key}: {answers:#}");
        assert!(answers["right"].as_u64() > Some(0), "{key}: {answers:#}");
    }
}

/// Also what is asked: popular devices, recent times.
#[test]
fn what_is_asked_more_often_is_answered_as_truly() {
    let draw = ["--set", "groups.0.draw.devices=zipf", "--set", "draw.moments=recent"];
    let load =
        ["-p", "compressor_mean", "--variant", "index none", "--operations", "50", "-d", "60s", "--set", "devices=20"];
    let document = run(&[&load[..], &draw].concat());
    let answers = &document["answers"];
    assert_eq!((&answers["right"], &answers["wrong"]), (&50.into(), &0.into()), "{answers:#}");
    let asks = document["load"]["groups"][0]["operations"][0]["asks"].as_str().unwrap();
    assert!(asks.ends_with(", some devices far more often than others (zipf), mostly of recent times"), "{asks}");
}
