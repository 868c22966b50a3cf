//! Storage and processors that were probed over a search: as they stand beside the answer.

#![expect(clippy::unwrap_used, reason = "a test that cannot get what it needs has failed")]

use crate::outcomes;
use iotbench_engine::{Outcome, ProbeTime, StorageProbe};
use iotbench_report::{Document, EarlierSittings, answer_in_a_sentence, render};
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn the_storage_stands_beside_a_ramp_probe_by_probe_and_in_all() {
    let steady = outcomes::json(&outcomes::ramp());
    let probes = &steady["capacity"]["storage_probes"];
    assert_eq!(
        (&probes["probes"], &probes["appends"], &probes["steps_judged"]),
        (&11.into(), &2_200.into(), &10.into())
    );
    assert_eq!(
        (&probes["drifted"], &probes["not_probed"], &probes["time_pct"]),
        (&Value::Null, &Value::Null, &0.639.into())
    );
    // The 100th and the 198th of 200 appends.
    let first = &steady["capacity"]["steps"][0]["storage_probes"][0];
    assert_eq!((first["p50_us"].as_f64(), first["p99_us"].as_f64()), (Some(204.0), Some(253.0)));
    let rate = 200.0 / (200.0 * (204e-6 + 0.5 * 0.5e-6));
    assert!((first["appends_per_s"].as_f64().unwrap() - rate).abs() < 0.001, "{first}");
    assert_eq!(probes["processor_wait_pct"].as_f64(), Some(0.0), "{probes}");
    // Of each append the time without the wait is told, and the wait once.
    let append = ProbeTime { took: Duration::from_micros(500), waited: Duration::from_micros(125) };
    let mut busy = outcomes::ramp();
    let steps = &mut busy.capacity.as_mut().unwrap().steps;
    steps.iter_mut().for_each(|step| step.conditions.storage_probes = vec![StorageProbe::of(&[append; 200])]);
    let busy = outcomes::json(&busy);
    let probes = &busy["capacity"]["storage_probes"];
    assert_eq!((probes["p50_us"].as_f64(), probes["processor_wait_pct"].as_f64()), (Some(375.0), Some(25.0)));
    let text = render(&Document::from_json(&busy.to_string()).unwrap(), None, 120);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("25.0 % of the time they waited for a busy processor, which is left out"), "{text}");
    let drifting = outcomes::json(&outcomes::drifting());
    let probes = &drifting["capacity"]["storage_probes"];
    assert_eq!((&probes["steps_repeated"], &probes["steps_drifted"]), (&3.into(), &1.into()));
    assert_eq!((probes["p50_us_least"].as_f64(), probes["p50_us_most"].as_f64()), (Some(206.0), Some(310.0)));
    let said = "The storage under it drifted meanwhile: an append of 8 KiB took 206 µs at its fastest and 310 µs at its \
                slowest (p50); it changed during 1 of the trials that count.";
    assert_eq!(probes["drifted"], said);
    let mut few = outcomes::ramp();
    few.capacity.as_mut().unwrap().steps.truncate(3);
    assert_eq!(outcomes::json(&few)["capacity"]["storage_probes"]["p99_us"], Value::Null, "of 800 appends");
    let mut before = steady.clone();
    before["schema"] = "iotbench-run/3.0".into();
    before["capacity"].as_object_mut().unwrap().remove("storage_probes");
    before["capacity"]["steps"][0].as_object_mut().unwrap().remove("storage_probes");
    let before = Document::from_json(&before.to_string()).unwrap().capacity.unwrap();
    assert_eq!((before.storage_probes, before.steps[0].storage_probes.len()), (None, 0));
}

/// A search whose pieces of work took so many microseconds, trial by trial.
fn worked(us: impl Fn(usize) -> u64) -> Outcome {
    let mut outcome = outcomes::ramp();
    for (trial, step) in outcome.capacity.as_mut().unwrap().steps.iter_mut().enumerate() {
        let piece = ProbeTime { took: Duration::from_micros(us(trial)), waited: Duration::ZERO };
        step.conditions.storage_probes = vec![StorageProbe::new(vec![200_000; 200]).beside(&[piece; 20])];
    }
    outcome
}

#[test]
fn processors_that_are_slower_over_some_trials_are_told_beside_the_answer() {
    let steady = outcomes::json(&worked(|trial| 500 + trial as u64));
    let probes = &steady["capacity"]["storage_probes"];
    assert_eq!((probes["work_us"].as_f64(), &probes["drifted"]), (Some(504.0), &Value::Null), "{probes:#}");
    assert_eq!(steady["capacity"]["steps"][3]["storage_probes"][0]["work_us"].as_f64(), Some(503.0));
    let slower = outcomes::json(&worked(|trial| if trial < 5 { 500 } else { 620 }));
    let probes = &slower["capacity"]["storage_probes"];
    assert_eq!((probes["work_us_least"].as_f64(), probes["work_us_most"].as_f64()), (Some(500.0), Some(620.0)));
    let said = "Its processors drifted: the same work took 500 µs at their fastest and 620 µs at their slowest.";
    assert_eq!(probes["drifted"], said);
    let document = Document::from_json(&slower.to_string()).unwrap();
    assert!(answer_in_a_sentence(&document).contains(said), "{}", answer_in_a_sentence(&document));
    let text = render(&document, None, 120).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("; the same work of a processor took 500 µs to 620 µs."), "{text}");
}

/// What an earlier sitting had and this one has not is the nearest to a reason why they differ.
#[test]
fn earlier_sittings_on_another_speed_of_processors_or_storage_are_told_as_such() {
    let text = outcomes::json(&worked(|_| 500)).to_string();
    let mut document = Document::from_json(&text).unwrap();
    let mut said = |work: [f64; 2], append: [f64; 2]| {
        document.capacity.as_mut().unwrap().earlier = Some(EarlierSittings {
            count: 3,
            least: 40.0,
            greatest: 52.0,
            work_us_least: Some(work[0]),
            work_us_most: Some(work[1]),
            append_us_least: Some(append[0]),
            append_us_most: Some(append[1]),
        });
        let sentence = answer_in_a_sentence(&document);
        let (_, from) = sentence.split_once("3 earlier sittings here: 40 to 52").unwrap();
        from.split_once(").").unwrap().0.to_owned()
    };
    assert_eq!(said([460.0, 490.0], [170.0, 210.0]), "");
    assert_eq!(said([390.0, 400.0], [190.0, 210.0]), ", with processors 1.25 times as fast");
    assert_eq!(said([750.0, 800.0], [190.0, 210.0]), ", with processors 1.50 times as slow");
    assert_eq!(
        said([250.0, 250.0], [600.0, 900.0]),
        ", with processors 2.00 times as fast and storage 3.00 times as slow"
    );
}

#[test]
fn earlier_sittings_are_told_beside_a_limit_that_moved() {
    let mut moved = outcomes::json(&worked(|_| 500));
    moved["capacity"]["estimate"]["moved"] = json!({"at_trial": 9, "before": 48.0, "after": 40.0});
    moved["capacity"]["earlier"] = json!({"count": 2, "least": 39.0, "greatest": 51.0});
    let sentence = answer_in_a_sentence(&Document::from_json(&moved.to_string()).unwrap());
    assert!(sentence.contains("is all that is known; 2 earlier sittings here: 39 to 51."), "{sentence}");
}
