//! Profiles as users write them: every mistake is named with its key, and no text whatever makes the program panic.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotbench_engine::{
    ArrivalOverride, Course, Load, LoadModel, Overrides, PlanError, PlanRequest, Planned, Profile, ProfileError,
    Quantity, parse_profile, plan,
};
use iotbench_oracle_server::backend::OracleBackend;
use iotbench_oracle_server::backend::target;
use proptest::prelude::*;
use std::path::Path;

/// Valid, and with every kind of field.
const RAMP: &str = r#"name = "ramp"
summary = "test"
seed = 7
origin = "2026-01-01T00:00:00Z"
devices = "auto"
[dataset]
name = "pmu"
rate = 50
[[groups]]
name = "pmus"
connections = "auto"
load = { model = "closed", users = 10, think_time = "1s" }
operations = [{ kind = "write", datapoints = "since_last", window = "2s", share = 1.0 }]
[phases]
preload = 0
deadline = "10s"
[ramp]
first = 1
growth = 2.0
most = 1000
step = "5s"
resolution = "5%"
trials = 24
[stop]
mean_response = "1s"
errors = "0%"
[backend.oracle]
[full]
step = "60s"
"#;

const OPEN: &str = r#"name = "open"
summary = "test"
[dataset]
name = "machine"
[[groups]]
name = "sensors"
load = { model = "open", rate = "1k", arrival = "poisson", overflow = "drop", in_flight = 50 }
operations = [{ kind = "write" }]
[phases]
duration = "10s"
"#;

fn planned(profile: Profile) -> Result<Planned, PlanError> {
    let request = PlanRequest {
        profile,
        profile_file: "test.toml".into(),
        base: Path::new("."),
        run_id: "test".into(),
        target: target(([127, 0, 0, 1], 1).into()),
        now_ns: 0,
    };
    plan(request, &OracleBackend)
}

fn set(text: &str, assignments: &[&str]) -> Result<Profile, ProfileError> {
    let set = assignments.iter().map(ToString::to_string).collect();
    parse_profile("test.toml", text).unwrap().with(&Overrides { set, ..Overrides::default() })
}

/// The key that planning blames after these assignments.
fn blamed(text: &str, assignments: &[&str]) -> String {
    match planned(set(text, assignments).unwrap()) {
        Err(PlanError::Profile(error)) => error.key.unwrap(),
        other => panic!("{assignments:?}: {other:?}"),
    }
}

#[test]
fn the_examples_of_this_test_are_valid() {
    assert!(planned(set(RAMP, &[]).unwrap()).unwrap().plan.ramp.is_some());
    assert!(planned(set(OPEN, &[]).unwrap()).unwrap().plan.ramp.is_none());
}

#[test]
fn the_last_word_of_a_key_suffices_where_it_is_unique() {
    let profile = set(RAMP, &["step=60s", "think_time=250ms", "ramp.growth=1.5", "seed=9"]).unwrap();
    assert_eq!(profile.ramp.as_ref().unwrap().step.as_ns(), 60_000_000_000);
    assert_eq!(profile.groups[0].load.think_time.as_ns(), 250_000_000);
    assert_eq!((profile.ramp.unwrap().growth, profile.seed.0), (1.5, 9));
}

#[test]
fn a_key_of_several_fields_is_refused_with_all_of_them_unless_it_is_a_whole_path() {
    let error = set(OPEN, &["rate=1", "window=3s"]).unwrap_err();
    assert!(error.message.contains("groups.0.load.window") && error.message.contains("groups.0.operations.0.window"));
    // `devices` alone is also the end of an operation's.
    assert_eq!(set(OPEN, &["devices=4"]).unwrap().devices.set().unwrap().0, 4);
    assert_eq!(set(OPEN, &["name=other"]).unwrap().name, "other");
}

#[test]
fn a_misspelt_key_is_refused_with_what_was_meant() {
    let error = set(RAMP, &["setp=60s"]).unwrap_err();
    assert_eq!(error.suggestion.as_deref(), Some("step"));
    assert!(error.to_string().contains("--set: setp: ") && !error.to_string().contains("60s"), "{error}");
    assert!(set(RAMP, &["no_equals_sign"]).unwrap_err().message.contains("key=value"));
}

#[test]
fn a_value_of_the_wrong_type_is_refused_with_its_key() {
    for (assignment, key) in
        [("step=yes", "step"), ("growth=fast", "growth"), ("trials=many", "trials"), ("arrival=bursty", "arrival")]
    {
        let error = set(RAMP, &[assignment]).unwrap_err();
        assert!(error.to_string().contains(key), "{error}");
    }
}

#[test]
fn a_backends_setting_needs_no_place_in_the_profile() {
    let profile = set(OPEN, &["backend.sqlite.synchronous=OFF"]).unwrap();
    assert_eq!(profile.backend["sqlite"]["synchronous"].as_str(), Some("OFF"));
    assert_eq!(blamed(OPEN, &["backend.oracle.no_such=1"]), "backend.oracle.no_such");
}

#[test]
fn the_studys_own_lengths_come_before_the_users() {
    let with = |full, assignments: &[&str]| {
        let set = assignments.iter().map(ToString::to_string).collect();
        let profile = parse_profile("test.toml", RAMP).unwrap();
        profile.with(&Overrides { full, set, ..Overrides::default() }).unwrap().ramp.unwrap().step.to_string()
    };
    assert_eq!([with(false, &[]), with(true, &[]), with(true, &["step=30s"])], ["5s", "1m", "30s"]);
}

#[test]
fn options_that_do_not_go_with_the_load_model_are_refused() {
    let with = |text, overrides: Overrides| parse_profile("test.toml", text).unwrap().with(&overrides);
    let rate = || Overrides { rate: "5".parse().ok(), ..Overrides::default() };
    assert_eq!(with(RAMP, rate()).unwrap_err().key.as_deref(), Some("rate"));
    let users = Overrides { users: "5".parse().ok(), ..Overrides::default() };
    assert_eq!(with(OPEN, users.clone()).unwrap_err().key.as_deref(), Some("users"));
    assert!(with(RAMP, users).unwrap().ramp.is_none(), "a number of users is a fixed load");
    let duration = Overrides { duration: "5s".parse().ok(), ..Overrides::default() };
    assert_eq!(with(RAMP, duration).unwrap_err().key.as_deref(), Some("duration"));
    let opened = Overrides { arrival: Some(ArrivalOverride::Open(iotbench_engine::Arrival::Constant)), ..rate() };
    let profile = with(RAMP, opened).unwrap();
    assert_eq!((profile.groups[0].load.model, profile.ramp), (LoadModel::Open, None));
}

#[test]
fn planning_blames_the_key_that_is_wrong() {
    for (text, assignment, key) in [
        (RAMP, "growth=1", "ramp.growth"),
        (RAMP, "growth=nan", "ramp.growth"),
        (RAMP, "first=0", "ramp.first"),
        (RAMP, "most=18446744073709551615", "ramp.most"),
        (RAMP, "mean_response=auto", "stop"),
        (RAMP, "step=2s", "ramp.step"),
        (RAMP, "step=3500ms", "ramp.step"),
        (RAMP, "steps=[1, 0]", "ramp.steps"),
        (RAMP, "steps=[99999999999]", "ramp.steps"),
        (RAMP, "deadline=1s", "phases.deadline"),
        (RAMP, "origin=yesterday", "origin"),
        (RAMP, "share=-1", "groups.0.operations.0.share"),
        (RAMP, "users=0", "groups.0.load.users"),
        (RAMP, "connections=0", "groups.0.connections"),
        (RAMP, "datapoints=second", "groups.0.operations.0.datapoints"),
        (OPEN, "duration=0s", "phases.duration"),
        (OPEN, "deadline=0s", "phases.deadline"),
        (OPEN, "preload=18446744073709551615", "phases.preload"),
        (OPEN, "rate=auto", "groups.0.load.rate"),
        (OPEN, "devices=0", "devices"),
        (OPEN, "devices=18446744073709551615", "devices"),
        (OPEN, "requests=0", "groups.0.operations.0.requests"),
        (OPEN, "requests=18446744073709551615", "groups.0.operations.0.requests"),
        (OPEN, "groups.0.operations.0.devices=0", "groups.0.operations.0.devices"),
        (OPEN, "groups.0.operations.0.devices=2", "groups.0.operations.0.devices"),
        (RAMP, "requests=2", "groups.0.operations.0.datapoints"),
        (RAMP, "groups.0.operations.0.devices=2", "groups.0.operations.0.devices"),
    ] {
        assert_eq!(blamed(text, &[assignment]), key, "{assignment}");
    }
    let operation = |key: &str| format!("groups.0.operations.0.{key}");
    let thousand_of_each = ["groups.0.operations.0.datapoints=1001", "requests=1000"];
    assert_eq!(blamed(OPEN, &thousand_of_each), operation("requests"));
    assert_eq!(blamed(OPEN, &["requests=4", "pause=20s"]), operation("pause"), "60 s of pauses within 60 s");
    let sensors = ["model=paced", "devices=9", "groups.0.operations.0.devices=3"];
    assert_eq!(blamed(OPEN, &sensors), operation("devices"));
    for (set, key) in [
        (["operations_per_session=0.5"].as_slice(), "groups.0.load.operations_per_session"),
        (&["operations_per_session=nan"], "groups.0.load.operations_per_session"),
        (&["most_sessions=0"], "groups.0.load.most_sessions"),
        (&["most_sessions=1000001"], "groups.0.load.most_sessions"),
        (&["rate=auto"], "groups.0.load.rate"),
        (&["ramp.steps=[5, 6]"], "ramp"),
    ] {
        assert_eq!(blamed(OPEN, &[&["model=partly_open"], set].concat()), key, "{set:?}");
    }
    assert_eq!(blamed(OPEN, &["model=paced", "queue=10", "message=22"]), "groups.0.load.queue");
    assert_eq!(blamed(OPEN, &["model=paced", "queue=10", "message=0"]), "groups.0.load.queue");
}

#[test]
fn a_ramp_changes_what_the_load_model_has() {
    let ramp = |assignments: &[&str]| planned(set(RAMP, assignments).unwrap()).unwrap().plan;
    let users = ramp(&["steps=[4, 2, 8]"]);
    let plan = users.ramp.unwrap();
    assert_eq!((plan.quantity, plan.course), (Quantity::Users, Course::Steps(vec![4, 2, 8])));
    assert_eq!(users.devices, 0..8, "each user is a device");
    let rate = ramp(&["model=open", "first=7"]);
    assert_eq!(rate.ramp.unwrap().quantity, Quantity::OperationsPerSecond);
    assert!(matches!(rate.groups[0].load, Load::Open { rate: 7.0, .. }), "the rate is the first step's");
    assert_eq!(blamed(RAMP, &["model=paced"]), "ramp");
    let given = planned(set(OPEN, &["ramp.steps=[5, 6]"]).unwrap()).unwrap().plan.ramp.unwrap();
    assert_eq!(given.course, Course::Steps(vec![5, 6]), "a profile without a ramp can be given one");
    assert_eq!(set(OPEN, &["ramp.stpes=[5]"]).unwrap_err().suggestion.as_deref(), Some("steps"));
    let steps_without_limit = ramp(&["steps=[4]", "mean_response=auto"]);
    assert_eq!(steps_without_limit.stop.mean_response_ns, None, "a list needs no limit");
}

#[test]
fn operations_of_a_group_that_do_not_go_together_are_refused() {
    let two = |first: &str, second: &str| {
        let one = "{ kind = \"write\" }";
        OPEN.replace(one, &format!("{{ kind = \"write\"{first} }}, {{ kind = \"write\"{second} }}"))
    };
    let closed = ["model=closed", "users=9"];
    for (first, second, set, key) in [
        ("", "", [].as_slice(), "name"),
        ("", ", name = \"b\"", &["model=paced"], "kind"),
        ("", ", name = \"b\", datapoints = \"since_last\"", &closed, "datapoints"),
        (", devices = 2", ", name = \"b\"", &closed, "devices"),
    ] {
        assert_eq!(blamed(&two(first, second), set), format!("groups.0.operations.1.{key}"));
    }
    let plan = planned(set(&two(", share = 2", ", name = \"b\", requests = 2"), &[]).unwrap()).unwrap().plan;
    let operations: Vec<_> = plan.groups[0].operations().map(|o| (o.name.as_str(), o.share, o.requests)).collect();
    assert_eq!(operations, [("sensors/write", 2.0, 1), ("sensors/b", 1.0, 2)]);
}

#[test]
fn each_user_has_as_many_devices_as_its_requests_are_over() {
    let devices = |set_: &[&str]| planned(set(OPEN, set_).unwrap()).unwrap().plan.table.devices;
    assert_eq!(devices(&["model=closed", "users=20", "groups.0.operations.0.devices=1000"]), 20_000);
    assert_eq!(devices(&["model=closed", "users=20", "groups.0.operations.0.devices=1000", "devices=5000"]), 5_000);
}

#[test]
fn what_the_dataset_and_the_backend_cannot_do_is_said() {
    assert!(matches!(planned(set(OPEN, &["layout=narrow"]).unwrap()), Err(PlanError::Misfit(_))));
    assert!(matches!(planned(set(OPEN, &["dataset.rate=-1"]).unwrap()), Err(PlanError::Dataset(_))));
    let unknown = OPEN.replace("\"machine\"", "\"machin\"");
    let error = parse_profile("test.toml", &unknown).unwrap_err();
    assert_eq!((error.line, error.message.contains("did you mean machine")), (3, true), "{error}");
}

/// An error from a file names the file and the line.
fn parse(text: &str) -> Option<Profile> {
    match parse_profile("test.toml", text) {
        Ok(profile) => Some(profile),
        Err(error) => {
            let lines = text.lines().count().max(1) + 1;
            assert!((1..=lines).contains(&error.line) && error.column >= 1, "{error}");
            assert!(error.to_string().starts_with(&format!("test.toml:{}:", error.line)), "{error}");
            None
        }
    }
}

#[test]
fn hostile_files_are_refused_with_their_place() {
    let deep = format!("name = {}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let tables = format!("{}\nx = 1\n", (0..2_000).map(|i| format!("[a{i}.b.c.d]")).collect::<Vec<_>>().join("\n"));
    let long = format!("name = \"{}\"", "x".repeat(900_000));
    for text in ["", "\0\0\0", "=", "[[groups]]", "name = 1", "\u{feff}", "#", &deep, &tables, &long] {
        assert!(parse(text).is_none());
    }
    let error = parse_profile("test.toml", &RAMP.replace("think_time", "think_tme")).unwrap_err();
    assert_eq!(
        (error.line, error.key.as_deref(), error.suggestion.as_deref()),
        (12, Some("think_tme"), Some("think_time"))
    );
}

#[test]
fn a_file_that_is_no_text_or_too_large_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile.toml");
    std::fs::write(&path, b"name = \"a\"\nsummary = \"\xff\"\n").unwrap();
    let error = iotbench_engine::read_profile(&path).unwrap_err();
    assert_eq!(error.line, 2);
    std::fs::write(&path, vec![b'#'; 10 << 20]).unwrap();
    assert!(iotbench_engine::read_profile(&path).unwrap_err().message.contains("it has more than 1048576 bytes"));
    assert!(iotbench_engine::read_profile(folder.path()).is_err());
}

/// Reads, changes and plans: nothing of it may panic.
fn exercise(text: &str, assignment: Option<String>) {
    let Some(profile) = parse(text) else { return };
    let overrides = Overrides { set: assignment.into_iter().collect(), ..Overrides::default() };
    match profile.with(&overrides) {
        Ok(profile) => {
            if let Err(PlanError::Profile(error)) = planned(profile) {
                assert!(error.key.is_some() && error.file == "test.toml", "{error}");
            }
        }
        Err(error) => assert!(error.file.contains("--set"), "{error}"),
    }
}

/// Values that break programs.
const HOSTILE: &[&str] = &[
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "0.0",
    "1e308",
    "18446744073709551615",
    "18446744073709551616",
    "\"\"",
    "\"NaN\"",
    "\"-1\"",
    "\"1e308\"",
    "\"18446744073709551616s\"",
    "\"9999999999d\"",
    "\"5%%\"",
    "[]",
    "{}",
    "[[[[]]]]",
    "true",
    "1979-05-27T07:32:00Z",
    "\"\\u0000\"",
    "'''\n'''",
    "\"auto\"",
    "\"second\"",
    "\"since_last\"",
    "{ model = 1 }",
    "9223372036854775807",
    "-9223372036854775808",
    "1e-308",
    "\"1ns\"",
    "\"100%\"",
];

fn valid() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![RAMP, OPEN])
}

/// The text with the value of its n-th assignment replaced.
fn with_value(text: &str, number: usize, value: &str) -> String {
    let places: Vec<usize> = text.match_indices("= ").map(|(at, _)| at + 2).collect();
    let from = places[number % places.len()];
    let rest = &text[from..];
    let length = rest.find(['\n', ',', '}']).unwrap_or(rest.len());
    format!("{}{value}{}", &text[..from], &rest[length..])
}

/// `scripts/long` asks for a million.
fn cases() -> u32 {
    std::env::var("IOTBENCH_FUZZ_CASES").map_or(2_000, |text| text.parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn hostile_values_never_panic(text in valid(), number: usize, value in prop::sample::select(HOSTILE)) {
        exercise(&with_value(text, number, value), None);
    }

    #[test]
    fn hostile_assignments_never_panic(
        text in valid(),
        key in prop::sample::select(vec!["users", "rate", "devices", "growth", "most", "first", "step", "queue", "message",
            "deadline", "drain", "warmup", "preload", "duration", "operations", "connections", "in_flight", "window",
            "operations_per_session", "most_sessions",
            "groups.0.operations.0.window", "datapoints", "share", "requests", "pause",
            "transaction", "groups.0.operations.0.devices", "origin", "seed", "dataset.rate", "quantile", "name",
            "layout", "resolution", "groups", "backend.oracle.x", "backend", "", ".", "a.b.c"]),
        value in prop::sample::select(HOSTILE),
    ) {
        exercise(text, Some(format!("{key}={value}")));
    }

    #[test]
    fn damaged_text_never_panics(
        text in valid(),
        cut in any::<prop::sample::Index>(),
        length in 0_usize..40,
        insert in "\\PC{0,20}",
    ) {
        let boundary = |mut at: usize| {
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let from = boundary(cut.index(text.len()));
        let to = boundary((from + length).min(text.len()));
        exercise(&format!("{}{insert}{}", &text[..from], &text[to..]), None);
    }

    #[test]
    fn an_unknown_key_is_never_accepted(text in valid(), key in "[a-z]{3,9}_zz", line: usize) {
        let mut lines: Vec<&str> = text.lines().collect();
        let places: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].contains("= ") && !lines[i].contains("step = \"60s\"")).collect();
        let place = places[line % places.len()];
        let added = format!("{key} = 1");
        lines.insert(place, &added);
        let parsed = parse(&lines.join("\n"));
        // A dataset's own parameters are checked by the dataset, when the run is planned.
        prop_assert!(parsed.is_none_or(|profile| planned(profile).is_err()));
    }

    #[test]
    fn noise_never_panics(noise in prop::collection::vec(any::<u8>(), 0..300)) {
        exercise(&String::from_utf8_lossy(&noise), None);
    }
}

/// A table of a group is set as a whole, whether the profile writes it or not.
#[test]
fn a_table_within_a_group_can_be_set() {
    let with = |assignment: &str| {
        let set = vec![assignment.to_owned()];
        parse_profile("test.toml", OPEN).unwrap().with(&Overrides { set, ..Overrides::default() })
    };
    let written = with("groups.0.draw={ devices = \"zipf\" }");
    let written = written.unwrap_or_else(|error| panic!("{error}"));
    assert_ne!(written.groups[0].draw, parse_profile("test.toml", OPEN).unwrap().groups[0].draw);
    for (assignment, part) in [
        ("groups.0.drw={}", "unknown field `drw`"),
        ("groups.7.draw={}", "there is no such field"),
        ("groups.x.draw={}", "there is no such field"),
        ("groups.0.draw={ devcies = 1 }", "groups[0].draw.devcies"),
    ] {
        let error = with(assignment).unwrap_err().to_string();
        assert!(error.contains(part), "{assignment}: {error}");
    }
}
