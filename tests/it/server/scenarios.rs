//! Processes of a private server are acted on while the load runs.

use crate::server::{
    on_a_server::{Ended, arguments},
    place::{Place, SERVERS, is_here},
};
use serde_json::Value;

/// A closed loop of a quarter of a minute, with what is done to the server meanwhile.
fn run(place: &Place, backend: &str, scenario: &str) -> Ended {
    run_set(place, backend, scenario, &[])
}

fn run_set(place: &Place, backend: &str, scenario: &str, settings: &[&str]) -> Ended {
    let settings: Vec<_> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    run_with(place, backend, scenario, &[&["-d", "15s"][..], &settings].concat())
}

fn run_with(place: &Place, backend: &str, scenario: &str, more: &[&str]) -> Ended {
    let results = place.results();
    let load = ["--vus", "4", "--scenario", scenario, "--out", results.to_str().unwrap()];
    let set = ["--set", "think_time=100ms", "--set", "phases.deadline=10s"];
    Ended::of(place, &arguments(backend, &[&load[..], &set, more].concat()))
}

/// The servers that promise to keep what they acknowledged when their process is killed.
fn servers() -> impl Iterator<Item = &'static str> {
    SERVERS.into_iter().filter(|b| ["mariadb", "postgres", "influxdb"].contains(b) && is_here(b))
}

fn marks(ended: &Ended) -> Vec<(String, bool)> {
    let marks = ended.document["scenario"]["marks"].as_array().unwrap();
    marks.iter().map(|mark| (mark["action"].as_str().unwrap().into(), mark["error"].is_null())).collect()
}

#[test]
fn a_server_that_is_killed_and_started_again_is_an_outage_without_a_loss() {
    std::thread::scope(|scope| {
        for backend in servers() {
            scope.spawn(move || {
                let place = Place::new();
                // At most 160 before it is killed. How long a server takes to be back is for the machine to say.
                let enough = ["--operations", "240", "-d", "120s"];
                let ended = run_with(&place, backend, "4s:kill,6s:restart", &enough);
                let case = format!("{backend}: {} {} {:#}", ended.reasons(), ended.err, ended.document["scenario"]);
                ended.assert_sound(&case);
                assert_eq!(marks(&ended), [("kill".into(), true), ("restart".into(), true)], "{case}");
                assert!(ended.count("/scenario/outage_s") >= 1, "{case}");
                assert_eq!(ended.count("/scenario/missing_points"), 0, "{case}");
                assert!(ended.count("/scenario/during/errors") > 0, "{case}");
                assert!(ended.err.contains("kill server 0") && ended.err.contains("restart server 0"), "{case}");
                let series = series(&place);
                assert!(series.contains(",kill server 0"), "{series}");
                // Whether it is as fast again within the run, `recovery_s`, is for the machine to say.
                assert!(after("restart server 0", "ok", &series).sum::<u64>() > 0, "{case} {series}");
                assert!(after("restart server 0", "server_rss_bytes", &series).any(|b| b > 0), "{case} {series}");
                assert_eq!(ended.of_role("server")["gone_at_s"], Value::Null, "{case}");
                assert_eq!(ended.of_role("client")["processes_max"], 1, "the server is none of its processes: {case}");
                place.assert_nothing_is_left();
            });
        }
    });
}

/// What each database promises decides whether what a crash takes may be gone.
#[test]
fn a_crash_is_held_against_the_promise() {
    let cases = [
        ("postgres", "backend.postgres.server.synchronous_commit=off", "buffered"),
        ("mongodb", "backend.mongodb.j=false", "buffered"),
        ("mariadb", "backend.mariadb.server.innodb_flush_log_at_trx_commit=2", "os_crash_within"),
    ];
    std::thread::scope(|scope| {
        for (backend, setting, promise) in cases.into_iter().filter(|(backend, ..)| is_here(backend)) {
            scope.spawn(move || {
                let place = Place::new();
                let ended = run_set(&place, backend, "crash", &[setting]);
                let case = format!("{backend}: {} {} {:#}", ended.reasons(), ended.err, ended.document["scenario"]);
                ended.assert_sound(&case);
                assert_eq!(marks(&ended), [("crash".into(), true)], "{case}");
                assert_eq!(ended.document["target"]["durability"]["promise"], promise, "{case}");
                let at_s = ended.document["scenario"]["marks"][0]["from_s"].as_f64().unwrap();
                assert!((7.5..15.0).contains(&at_s), "in the middle of 15 s, or as soon as it could run: {case}");
                let [acked, unknown, stored] =
                    ["acked", "unknown", "stored"].map(|count| ended.count(&format!("/points/{count}")));
                assert!(acked > 0 && stored <= acked + unknown, "{case}");
                // A promise of nothing may be kept all the same.
                let missing = ended.count("/scenario/missing_points");
                assert!(missing <= acked && (promise == "buffered" || missing == 0), "{case}");
                place.assert_nothing_is_left();
            });
        }
    });
}

#[test]
fn a_server_that_stands_still_for_a_while_is_waited_for() {
    let Some(backend) = servers().next() else { return };
    let place = Place::new();
    let ended = run(&place, backend, "4s:stop,7s:continue");
    ended.assert_sound("");
    assert_eq!(marks(&ended), [("stop".into(), true), ("continue".into(), true)]);
    assert_eq!((ended.count("/load/fail"), ended.count("/load/unknown")), (0, 0), "it only took longer");
    assert!(ended.count("/scenario/outage_s") >= 1, "{:#}", ended.document["scenario"]);
    place.assert_nothing_is_left();
}

/// A server that does not come back leaves nothing behind either.
#[test]
fn a_server_that_stays_away_ends_as_one_that_cannot_be_reached() {
    let Some(backend) = servers().next() else { return };
    let place = Place::new();
    let ended = run(&place, backend, "4s:kill");
    assert_eq!(ended.code, 20, "{} {}", ended.reasons(), ended.err);
    assert_eq!(ended.document["scenario"]["missing_points"], Value::Null, "it could not be counted");
    assert!(ended.count("/points/acked") > 0);
    place.assert_nothing_is_left();
}

#[test]
fn what_cannot_be_acted_on_is_refused_before_anything_starts() {
    let place = Place::new();
    let results = place.results();
    for (rest, says) in [
        (&["-b", "sqlite", "--scenario", "2s:kill"][..], "sqlite has no server of its own"),
        (&["-b", "postgres", "--scenario", "2s:kill:front"], "postgres has no role \"front\": it has server"),
        (&["-b", "postgres", "--scenario", "2s:kill", "--url", "postgres://127.0.0.1:1/x"], "leave one out"),
        (&["-b", "postgres", "--scenario", "7s:kill"], "the load has ended by then"),
        (&["-b", "postgres", "--scenario", "kill"], "write AT:ACTION"),
        (&["-b", "postgres", "--scenario", "crash", "--set", "operations=10"], "no middle that is known before"),
    ] {
        let run = ["run", "-p", "pmu_write", "--vus", "1", "-d", "5s", "--out", results.to_str().unwrap()];
        let (code, _, err) = place.call(&[&run[..], rest].concat());
        assert!(code == 2 && err.contains(says), "{rest:?}: {code} {err}");
    }
    assert!(results.read_dir().is_ok_and(|mut folder| folder.next().is_none()));
    place.assert_nothing_is_left();
}

/// The figures of a column in the seconds after that of an action.
fn after<'a>(action: &'a str, column: &str, series: &'a str) -> impl Iterator<Item = u64> + 'a {
    let mut rows = series.lines();
    let place = rows.next().unwrap().split(',').position(|name| name == column).unwrap();
    let after = rows.skip_while(move |row| !row.split(',').any(|cell| cell == action)).skip(1);
    after.filter_map(move |row| row.split(',').nth(place)?.parse().ok())
}

fn series(place: &Place) -> String {
    let folder = place.results().read_dir().unwrap().next().unwrap().unwrap().path();
    std::fs::read_to_string(folder.join("series.csv")).unwrap()
}
