//! `docs/run.schema.json`, the documents, and `docs/results.md` say the same.

#![expect(clippy::unwrap_used, reason = "a test that cannot get what it needs has failed")]

use crate::outcomes::{self, json};
use iotbench_engine::{
    Backlog, Bounds, Course, DiskBound, Emptied, GroupPlan, Limit, Load, Move, Outcome, Payload, Purpose, Quantity,
    RampPlan, RampState, SecondOfQueue, Shape, Verdict,
};
use iotbench_report::{Document, SCHEMA, State, Status, render};
use iotbench_session::document_of;
use serde_json::Value;
use std::{collections::BTreeSet, time::Duration};

fn committed(file: &str) -> String {
    std::fs::read_to_string(format!("{}/../../docs/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn schema() -> Value {
    serde_json::from_str(&committed("run.schema.json")).unwrap()
}

fn errors(value: &Value) -> Vec<String> {
    let validator = jsonschema::options().should_validate_formats(true).build(&schema()).unwrap();
    validator.iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

/// A document in which nothing is null or empty that can be otherwise.
fn full() -> Value {
    let ramp = outcomes::queued();
    let mut outcome = Outcome { capacity: ramp.capacity, ..outcomes::fixed(20_000, 1_500, 1_500) };
    (outcome.plan.ramp, outcome.plan.stop) = (ramp.plan.ramp, ramp.plan.stop);
    let growing = [SecondOfQueue { offered: 100, ended: 90 }; 6];
    let capacity = outcome.capacity.as_mut().unwrap();
    capacity.steps[0].backlog = Backlog::of(&growing, 1);
    // A failure below what was sustained, and a limit that moved.
    capacity.steps[3].judgement.passed = false;
    capacity.bounds.estimate.as_mut().unwrap().moved =
        Some(Move { at_trial: 7, before: Some(50.0), after: Some(44.0) });
    let queued = outcomes::queued().measured.and_then(|measured| measured.visibility);
    outcome.measured.as_mut().unwrap().visibility = queued;
    outcome.scenario = outcomes::disturbed().scenario;
    outcomes::with_added_signal(&mut outcome);
    outcome.plan.sweep = Some(outcomes::swept(100));
    outcome.plan.groups[0].shape = Shape::Rise { rise_ns: 1_000_000_000 };
    outcome.empty_transaction_ns = Some(90_000.0);
    outcome.machine.resources[0].gone_at = Some(Duration::from_secs(5));
    outcomes::with_reads(&mut outcome);
    outcome.writes_alone.clone_from(&outcome.measured);
    outcomes::with_audit(&mut outcome);
    outcomes::with_via(&mut outcome);
    outcomes::with_hiccups(&mut outcome);
    outcomes::with_counters(&mut outcome);
    outcomes::with_agents(&mut outcome);
    outcome.verdict = Verdict::of(vec![]);
    let mut full = json(&outcome);
    full["latency"]["kinds"] = json(&outcomes::transactions())["latency"]["kinds"].clone();
    full["latency"]["kinds"].as_array_mut().unwrap().truncate(1);
    full["capacity"]["usl"] = json(&outcomes::past_the_peak())["capacity"]["usl"].clone();
    full["capacity"]["earlier"] = serde_json::json!({
        "count": 3, "least": 2_304.0, "greatest": 3_584.5, "work_us_least": 500.0, "work_us_most": 512.5,
        "append_us_least": 201.5, "append_us_most": 260.0,
    });
    full["steady"] = json(&outcomes::fixed(20_000, 1_500, 1_500))["steady"].clone();
    full["steady"]["operations_per_s"]["ci95"] = serde_json::json!({ "low": 1_900.0, "high": 2_100.0 });
    full
}

#[test]
fn every_kind_of_run_meets_the_schema() {
    let running = Outcome { verdict: Verdict::running(), ..outcomes::fixed(100, 0, 0) };
    let mut reads = outcomes::fixed(100, 0, 0);
    outcomes::with_reads(&mut reads);
    let mut audited = outcomes::fixed(100, 0, 0);
    outcomes::with_audit(&mut audited);
    let mut held_up = outcomes::fixed(100, 0, 0);
    outcomes::with_hiccups(&mut held_up);
    let mut divided = outcomes::fixed(100, 0, 0);
    outcomes::with_agents(&mut divided);
    let runs = [
        ("one operation", outcomes::fixed(1, 0, 0)),
        ("no operation", outcomes::fixed(0, 0, 0)),
        ("all failed", outcomes::fixed(0, 90, 0)),
        ("none answered", outcomes::fixed(0, 0, 90)),
        ("all sorts", outcomes::fixed(20_000, 40, 10)),
        ("a ramp", outcomes::ramp()),
        ("past the peak", outcomes::past_the_peak()),
        ("drifting", outcomes::drifting()),
        ("queued", outcomes::queued()),
        ("disturbed", outcomes::disturbed()),
        ("reads", reads),
        ("writes alone", outcomes::mixed()),
        ("audited", audited),
        ("held up", held_up),
        ("divided", divided),
        ("transactions", outcomes::transactions()),
        ("not reached", outcomes::unreached()),
        ("running", running),
    ];
    for (name, outcome) in runs {
        let json = json(&outcome);
        assert_eq!(errors(&json), Vec::<String>::new(), "{name}");
        let back: Document = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(back).unwrap(), json, "{name}");
    }
}

#[test]
fn numbers_that_are_none_become_null() {
    let mut outcome = outcomes::ramp();
    outcome.machine.sampler_cpu_pct = f64::INFINITY;
    outcome.client.cpu_pct = Some(f64::NAN);
    outcome.machine.resources[0].cpu.total_s = Some(f64::NAN);
    let step = &mut outcome.capacity.as_mut().unwrap().steps[0];
    (step.operations_per_s, step.values_per_s, step.response.mean_ns) = (f64::NAN, f64::INFINITY, Some(f64::NAN));
    let measured = outcome.measured.as_mut().unwrap();
    measured.to_ns = measured.from_ns;
    let json = json(&outcome);
    assert_eq!(errors(&json), Vec::<String>::new());
    for place in [
        "/client/sampler_cpu_pct",
        "/client/cpu_pct",
        "/resources/0/cpu_s",
        "/capacity/steps/0/operations_per_s",
        "/capacity/steps/0/mean_response_us",
        "/throughput/operations_per_s",
    ] {
        assert_eq!(json.pointer(place), Some(&Value::Null), "{place}");
    }
}

#[test]
fn a_ramp_says_what_its_steps_began_with_and_what_is_left_is_divided_by_what_wrote_it() {
    let mut fresh = outcomes::ramp();
    let kept = json(&fresh);
    fresh.plan.state = RampState::Fresh;
    fresh.stored.emptied = Emptied { times: 6, acked: fresh.points.acked / 2, ..Emptied::default() };
    let fresh = json(&fresh);
    assert_eq!((&kept["capacity"]["state"], &fresh["capacity"]["state"]), (&"keep".into(), &"fresh".into()));
    let per_point = |json: &Value| json["storage"]["bytes_per_point"].as_f64().unwrap();
    assert!((per_point(&kept) - 80.0).abs() < 0.1, "{}", per_point(&kept));
    assert!((per_point(&fresh) - 160.0).abs() < 0.1, "{}", per_point(&fresh));
    assert_eq!(errors(&fresh), Vec::<String>::new());
    let mut before = kept;
    before["capacity"].as_object_mut().unwrap().remove("state");
    let before: Document = serde_json::from_value(before).unwrap();
    assert_eq!(before.capacity.unwrap().state, State::Keep, "documents of before knew nothing else");
}

/// The peak of X(N) = 20 N / (1 + 0.05 (N − 1) + 0.0005 N (N − 1)) is at √(0.95 / 0.0005) = 43.6 users.
#[test]
fn the_scalability_law_is_fitted_to_the_users_of_a_ramp_or_refused_with_the_reason() {
    let usl = |outcome: &Outcome| json(outcome)["capacity"]["usl"].clone();
    let told = usl(&outcomes::past_the_peak());
    assert_eq!((&told["levels"], &told["refused"], &told["no_peak"]), (&8.into(), &Value::Null, &Value::Null));
    let within = |key: &str, truth: f64| {
        let [value, low, high] = ["value", "low", "high"].map(|of| told[key][of].as_f64().unwrap());
        assert!((value / truth - 1.0).abs() < 0.1 && low <= truth && truth <= high, "{key}: {told:#}");
    };
    within("single_per_s", 20.0);
    within("contention", 0.05);
    within("coherency", 0.0005);
    within("peak_users", 43.59);

    let mut too_few = outcomes::past_the_peak();
    too_few.capacity.as_mut().unwrap().steps.truncate(5);
    let too_few = usl(&too_few);
    assert!(too_few["refused"].as_str().unwrap().starts_with("5 different loads were measured"), "{too_few:#}");
    let mut above_the_peak = outcomes::past_the_peak();
    above_the_peak.capacity.as_mut().unwrap().steps[5].operations_per_s = 225.0;
    let none = usl(&above_the_peak);
    assert!(
        none["peak_per_s"].is_null() && none["no_peak"].as_str().unwrap().contains("below a trial with 225.0"),
        "{none:#}"
    );
    let refused = |change: fn(&mut GroupPlan)| {
        let mut outcome = outcomes::past_the_peak();
        change(&mut outcome.plan.groups[0]);
        let usl = usl(&outcome);
        assert!(usl["single_per_s"].is_null(), "{usl:#}");
        usl["refused"].as_str().unwrap().to_owned()
    };
    let thinking = refused(|group| group.load = Load::Closed { users: 96, think_ns: 1_000_000_000 });
    assert!(thinking.starts_with("users who think"), "{thinking}");
    let growing = refused(|group| group.operation.payload = Payload::SinceLast { window_ns: 60_000_000_000 });
    assert!(growing.starts_with("an operation carries what was measured since the last one"), "{growing}");
    let mut before_the_peak = outcomes::past_the_peak();
    before_the_peak.capacity.as_mut().unwrap().steps.truncate(6);
    let none = usl(&before_the_peak);
    assert!(none["peak_users"].is_null() && none["no_peak"].as_str().unwrap().starts_with("no peak"), "{none:#}");
    // What the client held up, and what is run after the search, is no throughput of the database's.
    let mut held_up = outcomes::past_the_peak();
    let steps = &mut held_up.capacity.as_mut().unwrap().steps;
    steps[6].judgement.limit = Some(Limit::Client);
    steps[7].step.purpose = Purpose::Soak;
    assert_eq!(usl(&held_up)["levels"], 6);
    let mut rate = outcomes::past_the_peak();
    rate.capacity.as_mut().unwrap().quantity = Quantity::OperationsPerSecond;
    assert!(usl(&rate).is_null());
}

#[test]
fn that_the_disk_bounded_the_answer_is_said_with_it() {
    let bound = |most: u32, sustained: u32, upper: Option<u32>| {
        let mut outcome = outcomes::ramp();
        outcome.plan.disk_bound = Some(DiskBound { bytes: 2 << 30, most: 16_384 });
        let Some(RampPlan { course: Course::Search(search), .. }) = &mut outcome.plan.ramp else { panic!("a search") };
        search.most = most;
        let bounds =
            Bounds { sustained: Some(sustained), lower: Some(sustained), upper, ..Bounds::of_loads(None, None) };
        outcome.capacity.as_mut().unwrap().bounds = bounds;
        let text = render(&Document::from_json(&json(&outcome).to_string()).unwrap(), None, 120);
        let is_said = text
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains("more than 2.00 GiB of disk at once (ramp.most_disk)");
        (json(&outcome)["capacity"]["search"]["disk_bound_bytes"].as_u64(), is_said)
    };
    assert_eq!(bound(46, 46, None), (Some(2 << 30), true));
    assert_eq!(bound(46, 46, Some(48)), (None, false), "something else was the limit");
    assert_eq!(bound(50, 46, None), (None, false), "it ended before");
}

#[test]
fn a_field_that_changed_went_or_came_does_not_pass() {
    let json = full();
    for key in json.as_object().unwrap().keys() {
        let mut without = json.clone();
        let value = without.as_object_mut().unwrap().remove(key).unwrap();
        assert!(!errors(&without).is_empty(), "{key} went");
        without[format!("{key}_new")] = value;
        assert!(!errors(&without).is_empty(), "{key} was renamed");
        let mut changed = json.clone();
        changed[key] = serde_json::json!({ "other": 1 });
        assert!(!errors(&changed).is_empty(), "{key} changed its type");
    }
    for (place, value) in [
        ("/load/ok", serde_json::json!(-1)),
        ("/latency/by_operation/response/p99", serde_json::json!("12 ms")),
        ("/started", serde_json::json!("yesterday")),
        ("/verdict/status", serde_json::json!("fine")),
        ("/verdict/exit_code", serde_json::json!(11)),
    ] {
        let mut changed = json.clone();
        *changed.pointer_mut(place).unwrap() = value;
        assert!(!errors(&changed).is_empty(), "{place}");
    }
}

/// Compares the keys of every object of a document with the properties that the schema gives it, and notes the names of
/// the definitions it met.
fn compare(value: &Value, schema: &Value, root: &Value, place: &str, met: &mut BTreeSet<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.strip_prefix("#/$defs/").unwrap();
        met.insert(name.to_owned());
        return compare(value, &root["$defs"][name], root, place, met);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        return compare(value, &any[0], root, place, met);
    }
    match value {
        Value::Object(map) if schema["properties"].is_object() => {
            let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
            let required = schema["required"].as_array().unwrap().iter().map(|k| k.as_str().unwrap().to_owned());
            assert_eq!(keys(value), keys(&schema["properties"]), "{place}");
            assert_eq!(keys(value), required.collect(), "{place}");
            assert_eq!(schema["additionalProperties"], false, "{place}");
            for (key, child) in map {
                compare(child, &schema["properties"][key], root, &format!("{place}/{key}"), met);
            }
        }
        Value::Object(map) => {
            for (key, child) in map {
                compare(child, &schema["additionalProperties"], root, &format!("{place}/{key}"), met);
            }
        }
        Value::Array(items) => {
            for item in items {
                compare(item, &schema["items"], root, place, met);
            }
        }
        _ => {}
    }
}

#[test]
fn struct_and_schema_have_the_same_fields() {
    let schema = schema();
    let mut met = BTreeSet::new();
    compare(&full(), &schema, &schema, "", &mut met);
    let all: BTreeSet<_> = schema["$defs"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(met, all, "every definition is compared");
    assert_eq!(schema["properties"]["schema"]["const"], SCHEMA);
}

#[test]
fn every_field_is_explained() {
    let text = committed("results.md");
    let schema = schema();
    let objects = schema["$defs"].as_object().unwrap().values().chain([&schema]);
    let keys = objects.filter_map(|object| object["properties"].as_object()).flat_map(|p| p.keys());
    let missing: Vec<_> = keys.filter(|key| !text.contains(&format!("| `{key}` |"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn counts_that_do_not_balance_spoil_a_valid_run() {
    let mut outcome = outcomes::fixed(100, 0, 0);
    outcome.load.offered += 1;
    outcome.points.sent += 1;
    let document = document_of(&outcome, &outcomes::provenance());
    assert_eq!((document.verdict.status, document.verdict.exit_code), (Status::Invalid, 1));
    assert_eq!(document.verdict.reasons.len(), 3, "{:?}", document.verdict.reasons);
    let under_way = Outcome { verdict: Verdict::running(), ..outcome };
    let document = document_of(&under_way, &outcomes::provenance());
    assert_eq!((document.verdict.status, document.verdict.reasons.len()), (Status::Running, 0));
}

#[test]
fn figures_and_distribution_are_held_against_each_other() {
    let good = document_of(&outcomes::fixed(20_000, 0, 0), &outcomes::provenance());
    assert_eq!(good.check(), Ok(()));
    let mut bad = good.clone();
    bad.latency.as_mut().unwrap().by_operation.response.count += 1;
    assert!(bad.check().is_err());
    let mut bad = good.clone();
    bad.latency.as_mut().unwrap().by_request.lag.p99 = Some(0.001);
    assert!(bad.check().is_err());
    let mut bad = good;
    bad.latency.as_mut().unwrap().by_operation.service.hdr = Some("AAAA".into());
    assert!(bad.check().is_err());
}

#[test]
fn requests_and_busy_time_stand_beside_their_operations() {
    let json = json(&outcomes::transactions());
    let kind = |place: usize| &json["latency"]["kinds"][place];
    assert_eq!((&kind(0)["name"], &kind(1)["name"]), (&"writer/transaction".into(), &"writer/single".into()));
    let count = |place: usize, of: &str| kind(place)[of]["response"]["count"].as_u64().unwrap();
    assert_eq!([count(0, "by_operation"), count(0, "by_request")], [1_800, 9_000]);
    assert_eq!([count(1, "by_operation"), count(1, "by_request")], [200, 200]);
    assert_eq!((kind(0)["busy"]["mean"].as_f64(), &kind(1)["busy"]), (Some(3_000.0), &Value::Null));
    assert_eq!(json["latency"]["by_request"]["response"]["count"], 9_200);
    let operations = &json["load"]["groups"][0]["operations"];
    assert_eq!((&operations[0]["requests"], &operations[0]["pause_ms"]), (&5.into(), &2.0.into()));
    assert_eq!((&operations[0]["transaction"], &operations[1]["devices"]), (&true.into(), &5.into()));
}

#[test]
fn a_document_of_the_version_before_is_read() {
    let mut old = json(&outcomes::fixed(10, 0, 0));
    old["schema"] = "iotbench-run/1.0".into();
    for key in ["sweep", "empty_transaction_us"] {
        old.as_object_mut().unwrap().remove(key).unwrap();
    }
    for key in ["operations", "devices", "interval_s", "window_s", "session_operations"] {
        old["load"]["groups"][0].as_object_mut().unwrap().remove(key).unwrap();
    }
    old["client"]["hiccups"] = Value::Null;
    for key in ["hiccup_count", "stalled_ms", "lateness", "cores", "busiest_thread_pct", "exempt"] {
        old["client"].as_object_mut().unwrap().remove(key).unwrap();
    }
    old["latency"]["kinds"][0].as_object_mut().unwrap().remove("busy").unwrap();
    let document = Document::from_json(&old.to_string()).unwrap();
    assert_eq!((document.load.counts.ok, document.load.groups[0].operations.len()), (10, 0));
}

/// Version 1 gave the response times of those that were answered, with the bounds apart.
#[test]
fn response_times_of_survivors_in_a_document_of_before_are_bounds() {
    let new = json(&outcomes::fixed(1_200, 0, 0));
    let mut old = new.clone();
    old["schema"] = "iotbench-run/1.7".into();
    old["latency"]["response_at_least"] = new["latency"]["by_operation"]["response"].clone();
    let read = Document::from_json(&old.to_string()).unwrap().latency.unwrap().by_operation.response;
    assert_eq!((read.p99, read.mean, read.count), (None, None, 1_200));
    assert_eq!(read.at_least.unwrap().p99, new["latency"]["by_operation"]["response"]["p99"].as_f64());
    old["latency"]["response_at_least"] = Value::Null;
    let read = Document::from_json(&old.to_string()).unwrap().latency.unwrap().by_operation.response;
    assert_eq!(read.p99, new["latency"]["by_operation"]["response"]["p99"].as_f64());
}

/// Version 2 had two loads that were tried, each of them again, and no estimate.
#[test]
fn bounds_of_single_loads_in_a_document_of_before_are_read() {
    let mut old = json(&outcomes::ramp());
    old["schema"] = "iotbench-run/2.0".into();
    let capacity = old["capacity"].as_object_mut().unwrap();
    for key in ["sustained", "estimate"] {
        capacity.remove(key).unwrap();
    }
    capacity["steps"][5]["purpose"] = "confirm".into();
    for key in ["most_trials_near", "at_sustained", "at_failed"] {
        capacity["search"].as_object_mut().unwrap().remove(key).unwrap();
    }
    let read = Document::from_json(&old.to_string()).unwrap().capacity.unwrap();
    assert_eq!((read.sustained, read.lower, read.estimate), (Some(47), Some(47), None));
    assert_eq!(read.steps[5].purpose, iotbench_report::Purpose::Retest);
}

#[test]
fn a_quantile_without_enough_samples_is_null_with_the_reason() {
    let json = json(&outcomes::fixed(512, 0, 0));
    let response = &json["latency"]["by_operation"]["response"];
    assert!(response["p95"].is_number() && response["p99"].is_null() && response["p999"].is_null());
    assert_eq!(response["unsupported"]["p999"], "needs 10000 samples, has 512");
    assert!(response["ci95"]["p95"]["low"].is_number() && response["ci95"]["p99"].is_null());
}

#[test]
fn the_fingerprint_tells_runs_of_other_conditions_apart() {
    let fingerprint = |change: &dyn Fn(&mut Outcome, &mut iotbench_report::Provenance)| {
        let (mut outcome, mut provenance) = (outcomes::fixed(10, 0, 0), outcomes::provenance());
        change(&mut outcome, &mut provenance);
        document_of(&outcome, &provenance).fingerprint
    };
    let same = fingerprint(&|_, _| {});
    assert_eq!(
        same,
        fingerprint(&|outcome, provenance| {
            outcome.target.endpoints = vec!["elsewhere".into()];
            provenance.environment.steal_pct = Some(9.0);
        })
    );
    let others = [
        fingerprint(&|_, p| p.environment.governor = Some("powersave".into())),
        fingerprint(&|_, p| p.tool.git = Some("def5678".into())),
        fingerprint(&|o, _| o.plan.seed = 2),
        fingerprint(&|o, _| o.plan.profile.phases.deadline = iotbench_engine::Span::from_secs(61)),
        fingerprint(&|o, _| {
            o.target.facts.as_mut().unwrap().settings.insert("synchronous".into(), "OFF".into());
        }),
    ];
    assert!(others.iter().all(|other| *other != same));
    // Whatever is known of the machine counts, but for what others took from it while the run was on.
    let machine = serde_json::to_value(outcomes::provenance().environment).unwrap();
    let places =
        ["/filesystem/kind", "/filesystem/options", "/database_filesystem/kind", "/database_filesystem/options"];
    let fields = machine.as_object().unwrap().iter().filter(|(_, value)| !value.is_object());
    let fields = fields.map(|(key, _)| format!("/{key}")).filter(|field| field != "/steal_pct");
    for field in fields.chain(places.map(String::from)) {
        let mut other = machine.clone();
        let value = other.pointer_mut(&field).unwrap();
        *value = value.as_u64().map_or_else(|| "another".into(), |number| (number + 1).into());
        let other = serde_json::from_value(other).unwrap();
        assert_ne!(fingerprint(&|_, p| p.environment = Clone::clone(&other)), same, "{field}");
    }
}

/// As the verdict is of the measured part, so is the pacing error beside it.
#[test]
fn the_pacing_error_is_that_of_the_measured_part() {
    let mut outcome = outcomes::fixed(1_000, 0, 0);
    let count = |outcome: &Outcome| json(outcome)["client"]["pacing_error_us"]["count"].as_u64();
    assert_eq!(count(&outcome), Some(1_000));
    outcome.measured.as_mut().unwrap().pacing_error = iotbench_recorder::LatencyHistogram::new();
    assert_eq!(count(&outcome), Some(0), "the warm-up's is another");
    outcome.measured = None;
    assert_eq!(count(&outcome), Some(1_000));
}
