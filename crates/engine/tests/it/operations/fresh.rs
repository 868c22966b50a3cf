//! Steps of a ramp that each begin with an empty database: nothing of what was dropped is forgotten.

use crate::operations::{
    planned, planned_on,
    scripted::{Fault, SUCCEED, Script, Scripted},
};
use iotbench_backends::BACKENDS;
use iotbench_core::{Backend, Registry};
use iotbench_engine::{
    Auto, Fate, Outcome, Overrides, RampState, Reason, RunOptions, StopSignal, VerifyMode, parse_profile, run,
};

const RAMP: &str = ramp!("steps = [1, 3, 2]\nprobe = false\n");

fn run_on(backend: &'static dyn Backend, set: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let planned = planned(backend, folder.path(), RAMP, set);
    let options = RunOptions { verify: VerifyMode::Full, ..RunOptions::default() };
    let outcome = run(planned, backend, options, &mut (), &StopSignal::default());
    assert_eq!((outcome.load.check(), outcome.points.check()), (Ok(()), Ok(())), "{:?}", outcome.verdict);
    outcome
}

fn scripted() -> &'static Scripted {
    Scripted::new(Script { write: |_| SUCCEED, commit: |_| SUCCEED })
}

/// What was found wrong with what is stored; that this database cannot be read back is not meant.
fn wrong(outcome: &Outcome) -> Vec<&Reason> {
    let reasons = outcome.verdict.reasons.iter();
    reasons.filter(|reason| matches!(reason, Reason::OfTrial { .. } | Reason::Stored { .. })).collect()
}

#[test]
fn each_step_begins_with_an_empty_database_and_all_is_counted() {
    let backend = scripted();
    let outcome = run_on(backend, &["ramp.state=fresh"]);
    let state = backend.state.lock().unwrap();
    assert_eq!((state.replaced.len(), state.replaced[0], outcome.stored.emptied.times), (3, 0, 2));
    assert!(state.replaced[1..].iter().all(|&points| points > 0), "{:?}", state.replaced);
    let dropped: u64 = state.replaced.iter().sum();
    assert_eq!((outcome.stored.emptied.acked, outcome.stored.emptied.stored.points), (dropped, dropped));
    assert_eq!(outcome.points.acked, dropped + state.points(), "nothing lies outside the trials");
    assert_eq!(outcome.stored.counts.unwrap().points, outcome.points.acked, "the sum over all of them");
    assert!(wrong(&outcome).is_empty(), "{:?}", outcome.verdict);
    let ledger = outcome.stored.ledger.unwrap();
    let ranges = ledger.ranges(&|_| true, usize::MAX).unwrap().unwrap();
    assert_eq!(*ranges.of(Fate::Acked), state.ranges(), "the ledger owes what is there");
    assert_eq!(ranges.dropped().len(), dropped);
}

#[test]
fn each_step_begins_with_the_same_history_written_anew() {
    let backend = scripted();
    let outcome = run_on(backend, &["ramp.state=preloaded", "preload=25"]);
    let state = backend.state.lock().unwrap();
    let history = outcome.preloaded_points;
    assert_eq!((history > 0 && history.is_multiple_of(25), outcome.stored.emptied.times), (true, 2));
    // What is there when the run creates its table is nothing; then each trial has added to the history.
    assert_eq!((state.replaced.len(), state.replaced[0]), (3, 0));
    assert!(state.replaced[1..].iter().all(|&points| points > history), "{:?}", state.replaced);
    let of_load = state.replaced[1..].iter().map(|points| points - history).sum::<u64>();
    assert_eq!((outcome.stored.emptied.acked, outcome.stored.emptied.stored.points), (of_load, of_load));
    assert_eq!(state.points() - history, outcome.points.acked - of_load);
    assert_eq!(outcome.stored.counts.unwrap().points, outcome.points.acked + history, "the history counts once");
    assert!(wrong(&outcome).is_empty(), "{:?}", outcome.verdict);
    let ledger = outcome.stored.ledger.unwrap();
    let summary = ledger.summary().unwrap();
    assert!(summary.history.is_some_and(|(devices, positions)| u64::from(devices) * positions == history));
    assert_eq!(ledger.acked().unwrap().len() + history, state.points(), "the ledger owes what is there");
}

#[test]
fn what_is_lost_of_a_history_that_was_written_anew_is_found() {
    let backend = scripted();
    backend.state.lock().unwrap().fault = Some((2, Fault::Lost));
    let outcome = run_on(backend, &["ramp.state=preloaded", "preload=25"]);
    let [Reason::OfTrial { trial: 2, reason }] = wrong(&outcome)[..] else { panic!("{:?}", outcome.verdict) };
    assert!(matches!(**reason, Reason::Stored { acked, stored, .. } if stored < acked), "{reason:?}");
}

#[test]
fn a_state_that_is_kept_is_what_it_was() {
    let backend = scripted();
    let outcome = run_on(backend, &["ramp.state=keep"]);
    let state = backend.state.lock().unwrap();
    assert_eq!((&state.replaced[..], outcome.stored.emptied.times), (&[0][..], 0));
    assert_eq!((outcome.stored.counts.unwrap().points, outcome.points.acked), (state.points(), state.points()));
}

#[test]
fn what_goes_wrong_in_a_trial_in_the_middle_is_found_although_its_data_are_dropped() {
    for fault in [Fault::Lost, Fault::Doubled] {
        let backend = scripted();
        backend.state.lock().unwrap().fault = Some((2, fault));
        let outcome = run_on(backend, &["ramp.state=fresh"]);
        // Once, and the trial after it is not blamed for it.
        let [Reason::OfTrial { trial: 2, reason }] = wrong(&outcome)[..] else {
            panic!("{fault:?}: {:?}", outcome.verdict)
        };
        let (acked, stored) = match **reason {
            Reason::Stored { acked, unknown: 0, stored } => (acked, stored),
            _ => panic!("{fault:?}: {reason:?}"),
        };
        let (more, less) = if fault == Fault::Lost { (acked, stored) } else { (stored, acked) };
        assert_eq!(more - less, 10, "{fault:?}: a request has so many");
        assert_eq!(
            (outcome.verdict.exit_code(), outcome.stored.emptied.times),
            (12, 2),
            "{fault:?}: the others are run"
        );
    }
}

/// Datapoints and values are not counted at one instant.
#[test]
fn a_datapoint_that_lands_between_two_counts_is_whole_and_one_that_stays_half_is_not() {
    for (counts_while_landing, is_wrong) in [(3, false), (u32::MAX, true)] {
        let backend = scripted();
        backend.state.lock().unwrap().counts_while_landing = counts_while_landing;
        let outcome = run_on(backend, &["ramp.state=keep"]);
        let found = outcome.verdict.reasons.iter().any(|reason| matches!(reason, Reason::StoredValues { .. }));
        assert_eq!(found, is_wrong, "{:?}", outcome.verdict);
    }
}

#[test]
fn a_write_without_an_answer_may_land_after_the_table_was_made_anew() {
    let backend = scripted();
    backend.state.lock().unwrap().fault = Some((1, Fault::Late));
    let outcome = run_on(backend, &["ramp.state=fresh"]);
    assert_eq!(outcome.points.unknown, 10);
    assert_eq!(outcome.stored.counts.unwrap().points, outcome.points.acked + 10, "it landed in the second trial");
    assert!(wrong(&outcome).is_empty(), "{:?}", outcome.verdict);
}

#[test]
fn a_trial_of_sqlite_finds_a_small_file_and_what_is_left_is_read_back() {
    let sqlite = Registry::new(BACKENDS).find("sqlite").unwrap();
    let set = ["datapoints=2000", "backend.sqlite.synchronous=OFF"];
    let outcome = run_on(sqlite, &set);
    let before: Vec<_> =
        outcome.capacity.as_ref().unwrap().steps.iter().map(|step| step.conditions.storage_bytes.unwrap()).collect();
    let (empty, after) = (before[0], outcome.machine.storage_bytes_after.unwrap());
    // The index of a write-ahead log is there while somebody is connected.
    assert!(before.iter().all(|&bytes| bytes <= empty + (64 << 10)), "{before:?}");
    assert!(after > 4 * empty, "{after} of {empty}: a trial can be seen");
    assert!(outcome.verdict.reasons.is_empty(), "{:?}", outcome.verdict);
    let (audit, emptied) = (outcome.stored.audit.unwrap(), outcome.stored.emptied);
    assert_eq!((audit.rows, audit.findings.right()), (outcome.points.acked - emptied.acked, audit.rows));
    assert_eq!(emptied.times, 2);
}

/// What the steps of a profile begin with on a backend, and what the result says of it; or why it is refused.
fn state_of(backend: &str, text: &str, set: &[&str]) -> Result<(RampState, bool), String> {
    let planned = planned_on(backend, text, set)?;
    let is_remarked = planned.plan.remarks.iter().any(|remark| remark.contains("began with"));
    Ok((planned.plan.state, is_remarked))
}

#[test]
fn what_only_writes_begins_anew_and_what_reads_or_has_a_history_keeps() {
    use RampState::{Fresh, Keep, Preconditioned, Preloaded};
    let mixed = RAMP.replace("datapoints = 10 }", "datapoints = 10 }, { kind = \"read_newest\" }");
    let group = RAMP.split("[[groups]]").nth(1).unwrap().split("[phases]").next().unwrap();
    let devices = |group: &str| group.replace("name =", "devices = 4\nname =");
    let two = [&devices(group), &devices(&group.replace("pmus", "others"))].map(|g| format!("[[groups]]{g}")).concat();
    let two = RAMP.replace(&format!("[[groups]]{group}"), &two);
    assert_eq!(state_of("sqlite", RAMP, &[]), Ok((Fresh, false)));
    assert_eq!(state_of("sqlite", RAMP, &["ramp.state=keep"]), Ok((Keep, false)));
    assert_eq!(state_of("blackhole", RAMP, &[]), Ok((Keep, false)), "there is nothing to keep");
    for (text, set, why) in [
        (&mixed, "seed=1", "what this profile reads"),
        (&RAMP.to_owned(), "preload=5", "a history"),
        (&two, "seed=1", "only the first group"),
    ] {
        assert_eq!(state_of("sqlite", text, &[set]), Ok((Keep, false)), "{why}");
        for state in ["ramp.state=fresh", "ramp.state=preconditioned"] {
            let refused = state_of("sqlite", text, &[set, state]).unwrap_err();
            assert!(refused.contains("ramp.state") && refused.contains(why), "{refused}");
        }
    }
    assert_eq!(state_of("sqlite", RAMP, &["ramp.state=preconditioned"]), Ok((Preconditioned, false)));
    let intervals =
        RAMP.replace("model = \"closed\", users = 1, think_time = \"20ms\"", "model = \"interval\", interval = \"1s\"");
    assert_eq!(state_of("sqlite", &intervals, &["ramp.state=fresh"]), Ok((Fresh, false)));
    let refused = state_of("sqlite", &intervals, &["ramp.state=preconditioned"]).unwrap_err();
    assert!(refused.contains("ramp.state") && refused.contains("in intervals"), "{refused}");
    assert_eq!(state_of("sqlite", RAMP, &["preload=5", "ramp.state=preloaded"]), Ok((Preloaded, false)));
    for (backend, text, set, why) in [
        ("sqlite", RAMP, "seed=1", "no history"),
        ("sqlite", &*mixed, "preload=5", "what this profile reads"),
        ("sqlite", &*two, "preload=5", "only the first group"),
        ("blackhole", RAMP, "preload=5", "blackhole"),
    ] {
        let refused = state_of(backend, text, &[set, "ramp.state=preloaded"]).unwrap_err();
        assert!(refused.contains("ramp.state") && refused.contains(why), "{refused}");
    }
    let refused = state_of("blackhole", RAMP, &["ramp.state=fresh"]).unwrap_err();
    assert!(refused.contains("ramp.state") && refused.contains("blackhole"), "{refused}");
    let misspelt = state_of("sqlite", RAMP, &["ramp.state=frsh"]).unwrap_err();
    assert!(misspelt.contains("ramp.state") && misspelt.contains("write fresh"), "{misspelt}");
}

#[test]
fn a_fixed_load_has_no_state_between_steps() {
    let fixed = RAMP.split("[ramp]").next().unwrap();
    let overrides = Overrides { state: Some(RampState::Fresh), ..Overrides::default() };
    let refused = parse_profile("test.toml", fixed).unwrap().with(&overrides).unwrap_err();
    assert_eq!(refused.key.as_deref(), Some("ramp.state"), "{refused}");
    let ramp = parse_profile("test.toml", RAMP).unwrap().with(&overrides).unwrap();
    assert_eq!(ramp.ramp.unwrap().state, Auto::Set(RampState::Fresh));
}
