//! Arguments that do not hold end with 2 and say what was probably meant; nothing is created.

use crate::command_line::program::{call, ended, iotbench_in};

/// Anybody's.
const PUBLIC_KEY: &str = "UAB2CB576PHBBPQ5ODORRZ2LYCMWPZGWGCN2KDK7DXOIMZASKUY3RLKK";

/// Calls that must be refused, each with a word that the message must hold.
const REFUSED: &[(&[&str], &str)] = &[
    (&["agent", "--nats", "nats://127.0.0.1:1"], "--trust KEY"),
    (&["agent", "--nats", "nats://127.0.0.1:1", "--trust", "x"], "takes a public key"),
    (&["agent", "--nats", "nats://127.0.0.1:1", "--allow-target", "h"], "is not HOST:PORT"),
    (&["agent", "--nats", "nats://127.0.0.1:1", "--trust", PUBLIC_KEY, "--allow-dir", "/no/such"], "no such folder"),
    (&["agent", "--nats", "nats://broker.example", "--trust", PUBLIC_KEY], "--insecure"),
    (&["run", "-p", "pmu_wirte"], "did you mean pmu_write?"),
    (&["run", "-p", "./nothere.toml"], "nothere.toml"),
    (&["run", "-p", "pmu_write", "-b", "sqlit"], "did you mean sqlite?"),
    (&["run", "-p", "pmu_write", "-b", "sqlite:wid"], "wide"),
    (&["run", "-p", "pmu_write", "--layout", "wid"], "'wide'"),
    (&["run", "-p", "pmu_write", "--vuss", "3"], "'--vus'"),
    (&["run", "-p", "pmu_write", "--users", "3"], "'--vus'"),
    (&["run", "-p", "pmu_write", "--sesions=3"], "'--sessions'"),
    (&["run", "-p", "pmu_write", "--sessions", "0"], "0 is not in 1..=1000"),
    (&["run", "-p", "pmu_write", "--over", "2h"], "--sessions <N>"),
    (&["capacity", "-p", "pmu_write", "--over", "2h"], "--sessions <N>"),
    (&["run", "-p", "pmu_write", "--sessions", "5", "--over", "5m"], "--over 5m is too short for 5 sittings"),
    (&["capacity", "-p", "pmu_write", "--sessions", "5", "--over", "5m"], "--over 5m is too short for 5 sittings"),
    (&["run", "-p", "pmu_write", "--sessions", "1", "--over", "5h"], "--sessions 2"),
    (&["run", "-p", "pmu_write", "--sessions", "2", "--runs", "2"], "--runs does not go with --sessions"),
    (&["run", "-p", "pmu_write", "--sessions", "2", "--keep"], "--keep does not go with --sessions"),
    (&["run", "-p", "pmu_write", "--sessions", "2", "--baseline", "x"], "--baseline does not go with --sessions"),
    (&["run", "-p", "compressor_insert", "--sessions", "2", "--via", "mqtt"], "--via does not go with --sessions"),
    (&["run", "-p", "weather_insert", "--sessions", "2"], "sweep"),
    (&["run", "--resume", "nowhere"], "trials.jsonl"),
    (&["run", "--resume", "nowhere", "-p", "pmu_write"], "cannot be used with"),
    (&["capacity", "--resume", "nowhere", "--width", "3%"], "cannot be used with"),
    (&["run", "-p", "pmu_write", "--time", "3s"], "'--duration'"),
    (&["capacity", "-p", "pmu_write", "--trails", "3"], "'--trials'"),
    (&["server", "stop", "postgres", "--prot", "5432"], "'--port'"),
    (&["run", "-p", "pmu_write", "--output-format", "jsn"], "'json'"),
    (&["run", "-p", "pmu_write", "--set", "stpe=4s"], "did you mean `step`?"),
    (&["run", "-p", "pmu_write", "--set", "step"], "key=value"),
    (&["run", "-p", "pmu_write", "--set", "backend.sqlite.synchronus=OFF"], "did you mean `synchronous`?"),
    (&["run", "-p", "pmu_write", "--vus", "0"], "users"),
    (&["run", "-p", "pmu_write", "--vus", "18446744073709551616"], "no count"),
    (&["run", "-p", "pmu_write", "--vus=-1"], "no count"),
    (&["run", "-p", "pmu_write", "--vus", "-1"], "no count"),
    (&["run", "-p", "pmu_write", "--vus", "1", "-d", "1000000h"], "longer than 100 years"),
    (&["show", "nowhere"], "cannot read nowhere"),
    (&["report", "nowhere"], "cannot read nowhere"),
    (&["score", "nowhere"], "cannot read nowhere"),
    (&["history", "nowhere"], "cannot read nowhere"),
    (&["recover", "nowhere"], "cannot read nowhere"),
    (&["compare", "nowhere", "--", "nowhere"], "cannot read nowhere"),
    (&["run", "-p", "pmu_write", "--vus", "1", "-d", "NaN"], "no duration"),
    (&["run", "-p", "pmu_write", "--vus", "1", "-d", "0s"], "duration"),
    (&["run", "-p", "pmu_write", "--rate", "5"], "--arrival"),
    (&["run", "-p", "pmu_write", "--duration", "5s"], "--vus"),
    (&["run", "-p", "machine_write", "--rate=-1"], "no rate"),
    (&["run", "-p", "machine_write", "--rate", "inf"], "no rate"),
    (&["run", "-p", "machine_write", "--vus", "3"], "--arrival closed, or set groups.0.load.model=closed"),
    (&["run", "-p", "pmu_write", "--vus", "3", "--arrival", "constant", "-r", "5"], "group pmus is open"),
    (&["run", "-p", "pmu_write", "--durration", "3s"], "'--duration'"),
    (&["run", "-p", "pmu_write", "--operatoins", "3"], "'--operations'"),
    (&["suite", "quick", "--rnus", "3"], "'--runs'"),
    (&["suite", "quick", "--sessions", "0"], "0 is not in 1..=1000"),
    (&["suite", "quick", "--over", "2h"], "--sessions <N>"),
    (&["suite", "quick", "--sessions", "5", "--over", "1m"], "--over 1m is too short for 5 sittings"),
    (&["suite", "quick", "--sessions", "1", "--over", "5h"], "--sessions 2"),
    (&["suite", "quick", "--sessions", "2", "--runs", "2"], "cannot be used with"),
    (&["suite", "--resume", "nowhere", "--sessions", "2"], "cannot be used with"),
    (&["run", "-p", "pmu_write", "--set", "ramp.most_disk=1KiB"], "not even a load of 1 has room"),
    (
        &["run", "-p", "pmu_write", "--state", "keep", "--set", "ramp.most_disk=1GiB"],
        "ramp.most_disk: what a search takes",
    ),
    (&["run", "-p", "pmu_write", "--set", "ramp.steps=[2]", "--set", "ramp.most_disk=1GiB"], "the loads are listed"),
    (&["run", "-p", "pmu_write", "--state", "preconditiond"], "preconditioned"),
    (&["run", "-p", "smart_meter_write", "--state", "preconditioned"], "in intervals"),
    (&["capacity", "-p", "pmu_write", "--widht", "3%"], "'--width'"),
    (&["check", "mine.toml", "--fulll"], "'--full'"),
    (&["generate", "--dataset", "pmu", "--devicse", "3"], "'--devices'"),
    (&["run", "-p", "pmu_write", "--set", "ramp.resolution=0"], "ramp.resolution: a search ends when"),
    (&["capacity", "-p", "pmu_write", "--width", "0%"], "--width"),
    (&["run", "-p", "pmu_write", "--set", "phases.deadlin=9s"], "did you mean `phases.deadline`?"),
    (&["run", "-p", "pmu_write", "--set", "backend.sqlit.synchronous=OFF"], "did you mean sqlite?"),
    (&["run", "-p", "machine_write", "--batch", "0"], "count"),
    (&["run", "-p", "machine_write", "--url", "mysql://h/x"], "sqlite:PATH"),
    (&["run", "-p", "machine_write", "-b", "sqlite,blackhole", "--url", "sqlite:x.db"], "one database"),
    (&["run", "-p", "machine_write", "--url", ""], "--url is empty"),
    (&["run", "-p", "machine_write", "--url", "sqlite:a.db", "--url", "sqlite:b.db"], "2 addresses were given"),
    (
        &["run", "-p", "pmu_write", "-b", "influxdb", "--url", "http://a/", "--url", "http://b/"],
        "InfluxDB is loaded by one",
    ),
    (
        &["run", "-p", "pmu_write", "-b", "questdb", "--url", "http://a,b/"],
        "QuestDB is loaded by one address, and 2 are",
    ),
    (
        &["run", "-p", "pmu_write", "-b", "postgres", "--url", "postgres://a,b/d"],
        "one server is loaded, and 2 addresses",
    ),
    (
        &["run", "-p", "pmu_write", "-b", "mongodb", "--url", "mongodb://a/d", "--url", "mongodb://b/e"],
        "the rest alike",
    ),
    (&["run", "-p", "pmu_write", "-b", "mongodb", "--set", "backend.mongodb.shards=9"], "1 to 8 shards"),
    (&["run", "-p", "machine_write", "-c", "2"], "at most 1"),
    (&["run", "-p", "pmu_read_all", "--set", "preload=0"], "--history"),
    (&["run", "-p", "pmu_write", "--strategy", "bulk"], "searches no machine cycles"),
    (&["run", "-p", "pmu_write", "--vus", "1", "--threshold", "3%"], "--threshold says how runs are compared"),
    (&["run", "-p", "pmu_write", "--vus", "1", "--metric", "response_mean_us"], "give --baseline DIR"),
    (&["run", "-p", "pmu_write", "--vus", "1", "--across-plans"], "leave --across-plans out"),
    (&["run", "-p", "pmu_write", "--vus", "1", "--across-durability"], "leave --across-durability out"),
    (&["run", "-p", "pmu_write", "--vus", "1", "--across-machines"], "leave --across-machines out"),
    (&["capacity", "-p", "pmu_write", "--leave-out-invalid"], "leave --leave-out-invalid out"),
    (&["run"], "--profile"),
    (&["run", "-p", "pmu_write", "--ui"], "standard error is none"),
    (&["run", "-p", "pmu_write", "--ui", "--output-format", "quiet"], "leave one out"),
    (&["run", "-p", "pmu_write", "--metrics", "9464"], "write :9464"),
    (&["capacity", "-p", "pmu_write", "--metrics", "192.0.2.1:9464"], "name another address"),
    (&["capacity", "-p", "pmu_write", "--criterion", "p99>50ms"], "wrong direction"),
    (&["capacity", "-p", "pmu_write", "--criterion", "p99"], "write for example p99<50ms"),
    (&["capacity", "-p", "pmu_write", "--criterion", "max<1s"], "write mean"),
    (&["capacity", "-p", "pmu_write", "--criterion", "p99<50"], "no duration"),
    (&["capacity", "-p", "pmu_write", "--width", "150%"], "no share"),
    (&["capacity", "-p", "pmu_write", "--trials", "4"], "from 12 to 300"),
    (&["capacity", "-p", "pmu_write", "--vus", "3"], "--first"),
    (&["capacity", "-p", "pmu_write", "--trial", "1s"], "three times the limit"),
    (&["capacity", "-p", "machine_write"], "--arrival constant"),
    (&["capacity", "-p", "machine_write", "--arrival", "constant"], "--criterion"),
    (&["backends", "sqlit"], "did you mean sqlite?"),
    (&["profiles", "pmu"], "no profile"),
    (&["datasets", "pmuu"], "did you mean pmu?"),
    (&["generate", "--dataset", "wether"], "did you mean weather?"),
    (&["generate", "--dataset", "pmu", "--set", "noisee=1"], "did you mean noise?"),
    (&["generate", "--dataset", "pmu", "--devices", "0"], "--devices"),
    (&["generate", "--dataset", "pmu", "--from", "1999-01-01T00:00:00Z"], "--origin"),
    (&["generate", "--dataset", "pmu", "--from", "yesterday"], "--from"),
    (&["server", "start", "kairosdb", "--with", "stoer=cassandra"], "did you mean store?"),
    (&["server", "start", "kairosdb", "--with", "store=hbase"], "store"),
    (&["server", "start", "mongodb", "--with", "shards=9"], "1 to 8 shards"),
    (&["server", "start", "sqlite", "--with", "synchronous=OFF"], "no server"),
    (&["sample"], "--pid"),
    (&["sample", "--host", "--pid", "1"], "cannot be used with"),
    (&["sample", "--host", "--interval", "0"], "interval"),
    (&["sample", "--pid", "2147483647"], "no process"),
    (&["completions", "bsh"], "bash"),
    (&["man", "rn"], "no command"),
    (&["profile"], "profiles"),
    (&[], "Usage"),
];

#[test]
fn what_does_not_hold_is_refused_with_a_hint_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, hint) in REFUSED {
        let said = ended(&mut iotbench_in(folder.path(), arguments));
        assert_eq!(said.code, 2, "{arguments:?}: {}", said.err);
        assert!(said.err.contains(hint), "{arguments:?} does not say {hint:?}: {}", said.err);
        assert_eq!(said.out, "", "{arguments:?}");
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn no_message_repeats_a_password() {
    for url in ["postgres://me:s3cret@h:x/", "s3cret", "mysql://me:s3cret@h/db", "sqlite://me:s3cret@h/x"] {
        let folder = tempfile::tempdir().unwrap();
        for from_environment in [false, true] {
            let mut command = iotbench_in(folder.path(), &["run", "-p", "pmu_write", "--vus", "1", "-d", "1s"]);
            if from_environment {
                command.env("IOTBENCH_URL", url);
            } else {
                command.args(["--url", url]);
            }
            let said = ended(&mut command);
            assert_eq!(said.code, 2, "{url}: {}", said.err);
            assert!(!said.err.contains("s3cret") && !said.out.contains("s3cret"), "{url}: {}", said.err);
        }
        let said = ended(iotbench_in(folder.path(), &["run", "--help"]).env("IOTBENCH_URL", url));
        assert!(!said.out.contains("s3cret"));
    }
}

#[test]
fn a_flag_comes_before_the_environment_and_that_before_the_profile() {
    let plan = |arguments: &[&str], seed: Option<&str>| {
        let folder = tempfile::tempdir().unwrap();
        let common = ["run", "-p", "pmu_write", "--dry-run", "--output-format", "json"];
        let mut command = iotbench_in(folder.path(), &[&common[..], arguments].concat());
        seed.map(|seed| command.env("IOTBENCH_SEED", seed));
        let said = ended(&mut command);
        let plan: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "a dry run creates nothing");
        plan["seed"].as_u64().unwrap()
    };
    assert_eq!(plan(&[], None), 1);
    assert_eq!(plan(&[], Some("7")), 7);
    assert_eq!(plan(&["--seed", "9"], Some("7")), 9);
}

#[test]
fn a_dry_run_prints_what_toml_reads_back() {
    let said = call(&["run", "-p", "machine_write", "-b", "sqlite:bulk", "--dry-run"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let plan: toml::Table = toml::from_str(&said.out).unwrap();
    assert_eq!(plan["backend"].as_str(), Some("sqlite"));
}

/// A profile's name becomes that of a folder and of a table: none leads out of the results folder, and nothing is made.
#[test]
fn no_name_leads_out_of_the_results_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    std::fs::create_dir(&inside).unwrap();
    for name in ["../escaped", "/tmp/escaped", "a/../../escaped", "..", "a\\u0000b", "a/b", "a b"] {
        let text = include_str!("../../../configs/profiles/pmu_write.toml").replacen(
            "\"pmu_write\"",
            &format!("\"{name}\""),
            1,
        );
        std::fs::write(inside.join("profile.toml"), text).unwrap();
        let said = ended(&mut iotbench_in(
            &inside,
            &["run", "-p", "./profile.toml", "--vus", "1", "-d", "1s", "--out", "results"],
        ));
        assert_eq!(said.code, 2, "{name}: {} {}", said.out, said.err);
        assert!(said.err.contains("name"), "{name}: {}", said.err);
    }
    let left = |path: &std::path::Path| path.read_dir().unwrap().map(|e| e.unwrap().file_name()).collect::<Vec<_>>();
    assert_eq!((left(folder.path()), left(&inside)), (vec!["inside".into()], vec!["profile.toml".into()]));
}

#[test]
fn an_mqtt_broker_in_clear_text_elsewhere_is_taken_where_that_is_wanted() {
    let words = ["run", "-p", "compressor_insert", "-b", "sqlite:document", "--dry-run", "--via"];
    for (via, insecure, code) in [
        ("mqtt://broker.example", false, 2),
        ("mqtt://broker.example", true, 0),
        ("mqtt://192.0.2.1:1883", false, 2),
        ("mqtt://127.0.0.1:1883", false, 0),
        ("mqtt://localhost", false, 0),
        ("mqtt", false, 0),
    ] {
        let more: &[&str] = if insecure { &["--insecure"] } else { &[] };
        let said = call(&[&words[..], &[via], more].concat());
        assert_eq!(said.code, code, "{via} {insecure}: {}", said.err);
        assert!(code == 0 || said.err.contains("--insecure") && said.err.contains("clear text"), "{}", said.err);
    }
}
