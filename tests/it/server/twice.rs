//! Datapoints that are sent twice, the same or corrected, on real servers: what is stored is what each database says that it keeps.

use crate::server::{
    on_a_server::{Ended, arguments},
    place::{Place, is_here, wait_for_acknowledged},
};
use serde_json::Value;

const KEYS: [&str; 2] =
    [r#"dataset.twice={ share = 0.3, after = "200ms" }"#, r#"dataset.corrected={ share = 0.3, after = "200ms" }"#];

/// Each of them with each key.
fn cases() -> impl Iterator<Item = (&'static str, &'static str)> {
    backends().flat_map(|backend| KEYS.map(|key| (backend, key)))
}

/// SQLite needs no server of its own.
fn backends() -> impl Iterator<Item = &'static str> {
    ["sqlite", "postgres", "influxdb"].into_iter().filter(|backend| *backend == "sqlite" || is_here(backend))
}

fn keeps_both(backend: &str) -> bool {
    backend != "influxdb"
}

fn run(place: &Place, backend: &str, key: &str, more: &[&str]) -> Ended {
    let results = place.results();
    let load = ["--vus", "4", "--set", key, "--verify", "full", "--out", results.to_str().unwrap()];
    let ended = Ended::of(place, &arguments(backend, &[&load[..], more].concat()));
    ended.assert_sound(backend);
    ended
}

/// Each send that was acknowledged is there, or each datapoint that has one, and nothing else but what had no answer.
fn assert_exact(ended: &Ended, backend: &str) {
    let [sent, again, acked, unknown, preloaded, replaced, stored] =
        ["sent", "sent_again", "acked", "unknown", "preloaded", "replaced", "stored"]
            .map(|count| ended.count(&format!("/points/{count}")));
    let case = format!("{backend}: {:#} {:#}", ended.document["points"], ended.document["audit"]);
    assert!(again > sent / 10 && again < sent / 3, "{case}");
    assert_eq!(replaced > 0, !keeps_both(backend), "{case}");
    let least = preloaded + acked - replaced;
    assert!((least..=least + unknown).contains(&stored), "{case}");
    assert_eq!(ended.count("/audit/right"), least, "{case}");
    for wrong in ["lost", "corrupt", "alien"] {
        assert_eq!(ended.count(&format!("/audit/{wrong}")), 0, "{case}");
    }
    let duplicate = if keeps_both(backend) { Value::from(0) } else { Value::Null };
    assert_eq!(ended.document["audit"]["duplicate"], duplicate, "{case}");
}

#[test]
fn what_is_sent_twice_is_stored_as_often_as_the_database_keeps_it() {
    for (backend, key) in cases() {
        let place = Place::new();
        let ended = run(&place, backend, key, &["--operations", "60", "-d", "60s", "--set", "phases.preload=50"]);
        assert_exact(&ended, backend);
        let [acked, again, replaced] =
            ["acked", "sent_again", "replaced"].map(|count| ended.count(&format!("/points/{count}")));
        assert_eq!(acked, ended.count("/points/sent"), "{backend}");
        // The first send of a second one may be another request's, which the end of the load leaves out.
        assert!(replaced <= again, "{backend}: {replaced} of {again}");
        place.assert_nothing_is_left();
    }
}

/// Sends without an answer, whose datapoints were sent before or are sent again.
#[test]
fn an_outage_between_the_two_sends_does_not_blur_what_should_be_stored() {
    for (backend, key) in cases().filter(|(backend, _)| *backend != "sqlite") {
        let place = Place::new();
        // At most 320 before it is killed. How long a server takes to be back is for the machine to say.
        let load = ["--operations", "480", "-d", "120s", "--set", "phases.deadline=10s"];
        let scenario = [&load[..], &["--scenario", "4s:kill,6s:restart"]].concat();
        let ended = run(&place, backend, key, &[&scenario[..], &["--set", "think_time=50ms"]].concat());
        assert!(ended.count("/points/unknown") + ended.count("/points/failed") > 0, "{:#}", ended.document["points"]);
        assert_exact(&ended, backend);
        place.assert_nothing_is_left();
    }
}

#[test]
fn two_agents_send_twice_what_one_process_would() {
    for (backend, key) in cases().filter(|(backend, _)| *backend != "sqlite") {
        let place = Place::new();
        let ended = run(&place, backend, key, &["-d", "3s", "--set", "think_time=50ms", "--agents", "2"]);
        assert_exact(&ended, backend);
        place.assert_nothing_is_left();
    }
}

/// What a killed run had sent twice and was not told is unknown, and no loss; what was acknowledged has to be there.
#[test]
fn a_killed_run_is_read_back_by_its_ledger() {
    for (backend, key) in cases() {
        let place = Place::new();
        let url = match backend {
            "sqlite" => format!("sqlite:{}", place.root().join("twice.db").display()),
            _ => place.started(&["server", "start", backend]).trim().to_owned(),
        };
        let results = place.results();
        let load = ["-d", "60s", "--vus", "4", "--set", key, "--set", "phases.preload=50", "--keep", "--url", &url];
        let set = ["--set", "think_time=20ms", "--out", results.to_str().unwrap()];
        let mut child = place.iotbench(&arguments(backend, &[&load[..], &set].concat())).spawn().unwrap();
        wait_for_acknowledged(&place);
        child.kill().unwrap();
        child.wait().unwrap();
        let folder = results.read_dir().unwrap().next().unwrap().unwrap().path();
        let verify = ["verify", folder.to_str().unwrap(), "--full", "--json", "--url", &url];
        let (code, out, err) = place.call(&verify);
        let found: Value = serde_json::from_str(&out).unwrap_or_default();
        assert_eq!((code, &found["clean"]), (0, &true.into()), "{backend}: {found:#} {err}");
        let [least, counted] = ["expected_at_least", "counted"].map(|count| found[count].as_u64().unwrap());
        assert!(least > 200 && counted >= least, "{backend}: {found:#}");
        let (right, lost) = (&found["audit"]["right"], &found["audit"]["lost"]);
        assert_eq!((right, lost), (&least.into(), &0.into()), "{backend}: {found:#}");
        if backend != "sqlite" {
            place.out(&["server", "stop", backend]);
        }
    }
}
