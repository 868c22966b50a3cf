//! Reads on real servers: each answer is the truth, and what an earlier run left is read again.

use crate::server::{
    on_a_server::sound,
    place::{Place, is_here, two_servers},
};
use serde_json::Value;

/// KairosDB, which stores milliseconds, and on H2 some thousand values a second, has a test of its own; VictoriaMetrics
/// stores milliseconds and no text.
fn backends() -> impl Iterator<Item = &'static str> {
    two_servers().filter(|name| !["kairosdb", "victoriametrics"].contains(name))
}

/// Runs with every answer compared.
fn run(place: &Place, backend: &str, more: &[&str]) -> Value {
    let out = place.results();
    let arguments = ["run", "--warmup", "0", "--verify", "full", "--output-format", "json"];
    let target = ["-b", backend, "--out", out.to_str().unwrap()];
    sound(place, &[&arguments[..], &target, more].concat())
}

const MEANS: [&str; 8] = ["-p", "compressor_mean", "--operations", "400", "-d", "60s", "--set", "devices=20"];

fn assert_right(run: &Value, what: &str) {
    let answers = &run["answers"];
    let compared = answers["right"].as_u64().unwrap();
    assert_eq!((&answers["wrong"], &answers["not_judged"]), (&0.into(), &0.into()), "{what}: {answers:#}");
    assert!(compared > 0 && Some(compared) == answers["requests"].as_u64(), "{what}: {answers:#}");
}

#[test]
fn machine_cycles_are_found_by_every_strategy() {
    for backend in backends() {
        let place = Place::new();
        let document = run(&place, backend, &["-p", "machine_read", "--history", "10s", "-d", "2s"]);
        let runs = document["runs"].as_array().unwrap();
        let strategies: Vec<_> = runs.iter().map(|run| run["target"]["strategy"].as_str().unwrap()).collect();
        assert_eq!(strategies, ["individual", "bulk", "bulk1"]);
        for (run, strategy) in runs.iter().zip(strategies) {
            assert_right(run, &format!("{backend} {strategy}"));
            let cycles = &run["answers"]["cycles"];
            assert_eq!((&cycles["right"], &cycles["wrong"]), (&cycles["found"], &0.into()), "{backend}: {cycles:#}");
            assert!(cycles["found"].as_u64() > Some(0) && cycles["not_found"] == 0, "{backend}: {cycles:#}");
            let server = run["resources"].as_array().unwrap().iter().find(|r| r["role"] == "server").unwrap();
            assert!(server["rss_bytes_mean"].as_u64().is_some_and(|bytes| bytes > 1 << 20), "{server:#}");
        }
        place.assert_nothing_is_left();
    }
}

#[test]
fn some_write_while_others_read() {
    for backend in backends() {
        let place = Place::new();
        let load = ["--vus", "10", "-d", "3s", "--set", "preload=3100"];
        let document = run(&place, backend, &[&["-p", "pmu_wrs"], &load[..]].concat());
        assert_right(&document, backend);
        assert!(document["points"]["acked"].as_u64() > Some(0), "{backend}");
        assert_eq!(document["points"]["preloaded"], 50 * 3100, "{backend}");
        assert!(document["freshness"]["lag"]["count"].as_u64() > Some(0), "{backend}: {:#}", document["freshness"]);
        let document = run(&place, backend, &["-p", "liteme", "-d", "3s", "--set", "groups.1.load.rate=5"]);
        assert_right(&document, backend);
        place.assert_nothing_is_left();
    }
}

#[test]
fn a_sweep_reads_ever_more_records() {
    for backend in backends() {
        let place = Place::new();
        for profile in ["weather_select", "weather_max"] {
            let short = ["-p", profile, "--set", "sweep.values=[10, 500]", "--set", "preload=600"];
            let document = run(&place, backend, &short);
            let runs = document["runs"].as_array().unwrap();
            runs.iter().for_each(|run| assert_right(run, &format!("{backend} {profile}")));
            let variants: Vec<_> = runs.iter().map(|run| run["variant"].as_str()).collect();
            match profile {
                "weather_max" => assert_eq!(variants, [Some("text"), Some("text"), Some("typed"), Some("typed")]),
                _ => assert_eq!(variants, [None, None]),
            }
        }
        place.assert_nothing_is_left();
    }
}

/// The study scans the table; where the database can have an index of the tag, both are run.
#[test]
fn the_compressors_are_read_without_and_with_an_index() {
    for backend in backends() {
        let place = Place::new();
        let document = run(&place, backend, &MEANS);
        let indexed = match backend {
            "mariadb" | "mysql" => Some("time"),
            "postgres" | "mongodb" => Some("tag"),
            _ => None,
        };
        match indexed {
            Some(indexed) => {
                let runs = document["runs"].as_array().unwrap();
                let named = |run: &Value| (run["variant"].clone(), run["target"]["settings"]["indexes"].clone());
                let expected = [("index none", "none"), ("index tag", indexed)];
                let expected = expected.map(|(name, setting)| (Value::from(name), Value::from(setting)));
                assert_eq!(runs.iter().map(named).collect::<Vec<_>>(), expected, "{backend}");
                runs.iter().for_each(|run| assert_right(run, backend));
            }
            None => assert_eq!(document["variant"], Value::Null, "{backend}: it has no such setting"),
        }
        place.assert_nothing_is_left();
    }
}

#[test]
fn kairosdb_answers_what_it_can_hold() {
    if !is_here("kairosdb") {
        return;
    }
    let place = Place::new();
    // A minute is read.
    let short = ["-p", "pmu_read_single", "--vus", "2", "-d", "4s", "--set", "preload=3100", "--set", "devices=2"];
    assert_right(&run(&place, "kairosdb", &short), "pmu_read_single");
    for profile in ["weather_select", "weather_max"] {
        let short = ["-p", profile, "--set", "sweep.values=[10, 300]", "--set", "preload=400"];
        let document = run(&place, "kairosdb", &short);
        document["runs"].as_array().unwrap().iter().for_each(|run| assert_right(run, profile));
    }
    let refused = ["run", "-p", "machine_write", "-b", "kairosdb", "--dry-run"];
    let (code, _, err) = place.call(&refused);
    assert!(code == 2 && err.contains("this dataset has finer timestamps"), "{code} {err}");
    place.assert_nothing_is_left();
}

/// What a run of the same data left is read again; of other data, or of part of it, is not.
#[test]
fn a_history_that_was_left_is_read_again() {
    for backend in backends() {
        let place = Place::new();
        let url = place.started(&["server", "start", backend]);
        let tag = ["--variant", "index tag"];
        let load = [&MEANS[..], &tag, &["--url", &url, "--keep"]].concat();
        let is_taken_over = |more: &[&str]| {
            let document = run(&place, backend, &[&load[..], more].concat());
            assert_right(&document, backend);
            document["remarks"].to_string().contains("that of an earlier run")
        };
        assert!(!is_taken_over(&[]), "{backend}: nothing was there");
        assert!(is_taken_over(&[]), "{backend}");
        assert!(!is_taken_over(&["--seed", "2"]), "{backend}: other data");
        assert!(is_taken_over(&["--seed", "2"]), "{backend}");
        let (code, _, err) = place.call(&["server", "stop", backend]);
        assert_eq!(code, 0, "{err}");
        place.assert_nothing_is_left();
    }
}

/// A run with --keep leaves its server's folder; the next run of that database finds it, with the history in it.
#[test]
fn a_kept_server_is_used_again_until_it_is_cleaned() {
    for backend in backends() {
        let place = Place::new();
        let read = |more: &[&str]| {
            let tag = ["--variant", "index tag"];
            let remarks = run(&place, backend, &[&MEANS[..], &tag, more].concat())["remarks"].to_string();
            (remarks.contains("on the folder that an earlier run kept"), remarks.contains("that of an earlier run"))
        };
        assert_eq!(read(&["--keep"]), (false, false), "{backend}");
        let folders = place.folders();
        assert_eq!(read(&["--keep"]), (true, true), "{backend}");
        assert_eq!(read(&[]), (true, true), "{backend}");
        assert_eq!(read(&["--keep"]), (true, false), "{backend}: a run without --keep has dropped it");
        assert_eq!(place.folders(), folders, "{backend}");
        let listed = place.out(&["clean", "--dry-run"]);
        assert!(listed.contains(folders[0].to_str().unwrap()), "{listed}");
        assert_eq!(place.out(&["clean", "--backend", "sqlite"]), "", "{backend}");
        assert!(place.out(&["clean"]).starts_with("removed "));
        place.assert_nothing_is_left();
        assert_eq!(read(&[]), (false, false), "{backend}");
        place.assert_nothing_is_left();
    }
}

/// Where acknowledged datapoints may be lost, that they are not seen is no wrong answer.
#[test]
fn what_a_promise_does_not_cover_need_not_be_seen() {
    if !is_here("mariadb") {
        return;
    }
    let place = Place::new();
    let myrocks = ["--set", "backend.mariadb.engine=myrocks", "--set", "backend.mariadb.bulk_load=true"];
    let load = ["-p", "liteme", "-d", "3s", "--set", "groups.1.load.rate=2"];
    let document = run(&place, "mariadb", &[&load[..], &myrocks].concat());
    assert_eq!(document["answers"]["wrong"], 0, "{:#}", document["answers"]);
    assert!(document["points"]["stored"].as_u64() <= document["points"]["acked"].as_u64(), "{:#}", document["points"]);
    place.assert_nothing_is_left();
}

/// Every operation of IoT-Benchmark that is asked, while others write.
#[test]
fn what_iot_benchmark_asks_is_answered_right() {
    let of_servers = two_servers().filter(|name| !["kairosdb", "opentsdb"].contains(name));
    for backend in of_servers.chain(["sqlite"]) {
        let place = Place::new();
        let few = ["-p", "iot_benchmark", "--vus", "8", "--set", "devices=8", "--set", "history=10m", "-d", "2s"];
        // VictoriaMetrics stores no text.
        let types = if backend == "victoriametrics" { "1:1:1:1:1:0" } else { "1:1:1:1:1:1" };
        let document = run(&place, backend, &[&few[..], &["--set", &format!("dataset.types={types}")]].concat());
        assert_right(&document, backend);
        assert!(document["points"]["acked"].as_u64() > Some(0), "{backend}: one client writes");
        let all = document["latency"]["kinds"].as_array().unwrap();
        let asked = |kind: &&Value| kind["by_operation"]["response"]["count"].as_u64() > Some(0);
        assert_eq!((all.len(), all.iter().filter(asked).count()), (13, 13), "{backend}: {all:#?}");
        place.assert_nothing_is_left();
    }
}

/// Two windows of a sensor, while its substation's readings are written.
#[test]
fn what_dashboards_of_a_substation_ask_is_answered_right() {
    for backend in backends().filter(|name| *name != "opentsdb").chain(["sqlite"]) {
        let place = Place::new();
        let few = ["-p", "tpcx_iot", "-d", "2s", "--set", "devices=20", "--set", "history=7s"];
        let document = run(&place, backend, &[&few[..], &["--set", "groups.1.load.rate=40"]].concat());
        assert_right(&document, backend);
        assert!(document["points"]["acked"].as_u64() > Some(0), "{backend}");
        // 80 operations of two requests each.
        assert!(document["answers"]["requests"].as_u64() > Some(120), "{backend}: {:#}", document["answers"]);
        place.assert_nothing_is_left();
    }
}

/// Devices that are replaced while they are asked about, where a backend takes such, and tags of each type.
#[test]
fn what_is_asked_about_many_series_is_answered_right() {
    for backend in two_servers().filter(|name| *name != "opentsdb").chain(["sqlite"]) {
        let place = Place::new();
        let few = ["-p", "high_cardinality", "--set", "devices=200", "--set", "history=30s", "-d", "3s"];
        let loads = ["--set", "groups.0.load.rate=6", "--set", "groups.1.load.think_time=10ms"];
        let info = iotbench::Registry::new(iotbench::BACKENDS).find(backend).unwrap().info();
        // Of ten datapoints, so that most are replaced.
        let life = format!("dataset.tags.6.life={}", if info.tags.changing { 10 } else { 0 });
        let document = run(&place, backend, &[&few[..], &loads, &["--set", &life]].concat());
        assert_right(&document, backend);
        let tags = &document["audit"]["tags"];
        assert_eq!((&tags["right"], &tags["wrong"]), (&200.into(), &0.into()), "{backend}: {tags:#}");
        place.assert_nothing_is_left();
    }
}

/// Every query type, of few hosts and trucks, among them those that ask by a tag.
#[test]
fn what_tsbs_asks_is_answered_right() {
    for backend in two_servers().filter(|name| !["kairosdb", "opentsdb"].contains(name)) {
        let place = Place::new();
        for (profile, kinds) in [("tsbs_cpu", 15), ("tsbs_iot", 13)] {
            let few = ["-p", profile, "--set", "devices=8", "--operations", "60", "-d", "120s"];
            let document = run(&place, backend, &few);
            assert_right(&document, &format!("{backend} {profile}"));
            let all = document["latency"]["kinds"].as_array().unwrap();
            assert_eq!(all.len(), kinds, "{backend} {profile}: {all:#?}");
            // Which comes when is drawn: most of them within these few.
            let asked = all.iter().filter(|kind| kind["by_operation"]["response"]["count"].as_u64() > Some(0)).count();
            assert!(2 * asked > kinds, "{backend} {profile}: {all:#?}");
        }
        place.assert_nothing_is_left();
    }
}
