//! Which of a study's contenders have no figure here, and why.

use super::{SCORES, SuiteRun};
use iotbench_suite::{Entry, Over, Record, State, Study};
use std::collections::BTreeSet;

/// A line for each profile and contender without any figure.
pub(super) fn missing(study: &Study, record: &Record, runs: &[SuiteRun<'_>]) -> Vec<String> {
    let of_tables = study.tables.iter().filter(|table| table.profile != SCORES).flat_map(|table| {
        let empty = table.rows.iter().filter(|row| row.measured.iter().all(Option::is_none));
        empty.map(|row| (table.profile.as_str(), row.name.as_str()))
    });
    let of_curves = study.curves.iter().filter(|curve| curve.over != Over::Profile).flat_map(|curve| {
        let empty = curve.lines.iter().filter(|line| line.measured.iter().all(Option::is_none));
        empty.map(|line| (curve.profile.as_deref().unwrap_or_default(), line.name.as_str()))
    });
    let of_profiles = study.curves.iter().filter(|curve| curve.over == Over::Profile).flat_map(|curve| {
        curve.lines.iter().flat_map(|line| {
            let empty = curve.at.iter().zip(&line.measured).filter(|(_, measured)| measured.is_none());
            empty.map(|(at, _)| (at.as_str(), line.name.as_str()))
        })
    });
    let all: BTreeSet<(&str, &str)> = of_tables.chain(of_curves).chain(of_profiles).collect();
    all.into_iter()
        .map(|(profile, name)| format!("{profile} on {name}: {}", why(profile, name, record, runs)))
        .collect()
}

fn why(profile: &str, contender: &str, record: &Record, runs: &[SuiteRun<'_>]) -> String {
    let is_own = |entry: &&Entry| entry.profile == profile && entry.target == contender;
    let Some(entry) = record.entries.iter().find(is_own) else {
        let form = if record.full { "not one of this suite's runs" } else { "not one of the short form's runs" };
        return format!("n/a: {form}");
    };
    match &entry.state {
        State::NotAvailable { reason } => format!("n/a: {reason}"),
        State::Failed { message, .. } => format!("failed: {message}"),
        State::Waiting => "still to be done".into(),
        State::Ended { .. } => {
            let own = |run: &&SuiteRun<'_>| run.contender == contender && run.document.profile == profile;
            let invalid = runs.iter().filter(own).find(|run| !run.is_valid());
            invalid.map_or_else(
                || "its runs have no such figure".into(),
                |run| {
                    let verdict = &run.document.verdict;
                    format!("{}: {}", verdict.status.name(), verdict.reasons.join("; "))
                },
            )
        }
    }
}
