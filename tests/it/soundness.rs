//! What a test may ask of how timed runs ended: a machine that others use as well, or that stands still for a while, rightly
//! makes them invalid. Whether it does so rightly is for the tests of the client's stall detectors.

use serde_json::Value;
use std::{fmt::Display, slice};

/// How the reasons begin that lie with the machine: it kept the client from running, or from sending in time, or carried less than
/// it was offered.
const OF_THE_MACHINE: [&str; 2] = ["the client was the limit: ", "overloaded: "];

/// Asserts that nothing spoils a run, or several, but what the machine did to the client: the counts are to be believed, if not
/// the times. Takes what was printed, and the exit code.
#[track_caller]
pub fn assert_sound(printed: &Value, code: i32, said: impl Display) {
    let runs = printed["runs"].as_array().map_or(slice::from_ref(printed), Vec::as_slice);
    for run in runs {
        assert!(run["verdict"]["status"] == "valid" || is_disturbed(run), "{code}: {:#} {said}", run["verdict"]);
    }
    let expected = if runs.iter().any(is_disturbed) { 11 } else { 0 };
    assert_eq!(code, expected, "{said}");
}

/// A figure of response times, or the upper end of its range, in microseconds: what a busy machine makes a range is as measured
/// there.
pub fn at_most_us(figures: &Value, name: &str) -> Option<f64> {
    figures[name].as_f64().or_else(|| figures["ranges"][name]["high"].as_f64())
}

/// Whether it is not known what a part of the run used: a machine that is busy looks at a short run too late.
pub fn is_looked_at_late(resources: &Value) -> bool {
    let is_late = resources["note"].as_str().is_some_and(|note| note.contains("looked at too long after"));
    assert!(!is_late || resources["cpu_s"].is_null(), "{resources:#}");
    is_late
}

/// Whether a run is invalid, and for what the machine did to its client alone.
pub fn is_disturbed(run: &Value) -> bool {
    let reasons = run["verdict"]["reasons"].as_array().map_or(&[][..], Vec::as_slice);
    let is_of_the_machine =
        |reason: &Value| reason.as_str().is_some_and(|text| OF_THE_MACHINE.iter().any(|words| text.starts_with(words)));
    run["verdict"]["status"] == "invalid" && !reasons.is_empty() && reasons.iter().all(is_of_the_machine)
}
