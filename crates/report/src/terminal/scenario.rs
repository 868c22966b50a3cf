//! What was done to the server's processes, and what came of it.

use super::{
    figure::{TIE, bound, count, duration, or_none, significant},
    table::{paragraph, table},
};
use crate::document::{ActionTaken, Document, Scenario, ScenarioPhase, Silence};
use comfy_table::CellAlignment::Right;

/// Actions that end a process without a chance to store what it holds.
const KILLS: [&str; 2] = ["kill", "crash"];
/// The level of a promise that holds at no crash.
const BUFFERED: &str = "buffered";

pub(super) fn section(document: &Document, columns: u16) -> Option<String> {
    let scenario = document.scenario.as_ref()?;
    let row = |name: &str, stretch: &ScenarioPhase| {
        let rate = or_none(stretch.operations_per_s.filter(|_| stretch.seconds > 0), significant);
        vec![name.to_owned(), count(stretch.seconds), rate, count(stretch.errors)]
    };
    let rows =
        vec![row("before", &scenario.before), row("until recovered", &scenario.during), row("after", &scenario.after)];
    let mut text = table("Scenario", &["seconds", "operations/s", "errors"], rows, Right, columns);
    for mark in &scenario.marks {
        text.push_str(&format!("\n{}", paragraph(&line(mark), columns)));
    }
    Some(format!("{text}\n{}", paragraph(&sentences(document, scenario), columns)))
}

/// What the load noticed, and what that says of the promise.
pub(crate) fn sentences(document: &Document, scenario: &Scenario) -> String {
    let outage = outage(scenario);
    let recovery = match scenario.recovery_s {
        Some(s) if s < 1.0 => "within a second of the last action the load was back at 90 % of what it was".into(),
        Some(s) => format!("{} after the last action the load was back at 90 % of what it was", duration(s * 1e6)),
        None if scenario.before.seconds == 0 => "there is nothing before to compare with".into(),
        None => "the load did NOT come back to 90 % of what it was".into(),
    };
    let missing = match scenario.missing_points {
        Some(0) => "no acknowledged datapoint is missing".into(),
        Some(n) => format!("{} acknowledged datapoints are MISSING", count(n)),
        None => "what is missing could not be counted".into(),
    };
    let mut sentences = format!("{outage}; {recovery}; {missing}.");
    if scenario.marks.iter().any(|mark| mark.error.is_none() && KILLS.contains(&mark.action.as_str())) {
        sentences.push_str(&format!(" {}", of_promise(document)));
    }
    sentences
}

/// How long no operation succeeded: the longest time, or, of an older iotbench, the seconds.
fn outage(scenario: &Scenario) -> String {
    let least = |silence: &Silence| bound(silence.at_least_s * 1e6, f64::floor);
    let told = |silence: &Silence| match silence.at_most_s.map(|s| bound(s * 1e6, f64::ceil)) {
        None => format!("≥{TIE}{}", least(silence)),
        Some(most) if silence.at_least_s <= 0.0 => format!("at most {most}"),
        Some(most) => format!("{} to {most}", least(silence)),
    };
    match (&scenario.silence, &scenario.silence_before) {
        (Some(silence), before) => {
            let before = before.as_ref().map(|before| format!(", before the first action {}", told(before)));
            format!("The longest time without a success was {}{}", told(silence), before.unwrap_or_default())
        }
        (None, _) => match scenario.outage_s {
            0 => "No second was without a success".into(),
            1 => "1 second was without a success".into(),
            n => format!("{} seconds were without a success", count(n)),
        },
    }
}

/// What a killed process says of the promise, and what it does not.
fn of_promise(document: &Document) -> &'static str {
    match (&document.target.durability, document.scenario.as_ref().and_then(|s| s.missing_points)) {
        (Some(promise), Some(missing)) if promise.promise == BUFFERED => match missing {
            0 => "The promise would have allowed a loss: buffered. Power loss not tested.",
            _ => "The promise allows that: buffered. Power loss not tested.",
        },
        (Some(_), Some(1..)) => "The promise does NOT allow that.",
        _ => "The process was killed; power loss not tested.",
    }
}

/// `at 20.0 s: restart server 0, done after 1.20 s`
pub(crate) fn line(mark: &ActionTaken) -> String {
    let at = or_none(mark.from_s, |s| duration(s * 1e6));
    let took = mark.to_s.zip(mark.from_s).map(|(to, from)| format!("done after {}", duration((to - from) * 1e6)));
    let end = mark.error.clone().map(|error| format!("FAILED: {error}")).or(took).unwrap_or_default();
    format!("at {at}: {} {} {}, {end}", mark.action, mark.role, mark.node)
}
