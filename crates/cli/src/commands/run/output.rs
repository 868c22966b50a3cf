//! What a run prints on standard output.

use super::options::OutputFormat;
use crate::console;
use iotbench_report::{
    Document, REPORT_FILE, Repetitions, json_of_runs, render, render_comparison, render_comparisons,
    render_repetitions, render_sessions, render_sweep,
};
use iotbench_session::{Done, ExpectedPlan, Finished, Held, Runs, SessionError};
use serde_json::json;
use std::collections::BTreeMap;

/// The results in the form that was asked for, and what comparing them with a baseline told.
pub(super) fn print_results(runs: &Runs, format: OutputFormat) -> Result<(), SessionError> {
    let (done, repetitions) = (&runs.done, runs.repetitions.as_ref());
    let comparisons = runs.compared.as_ref().and_then(|compared| compared.as_ref().ok());
    match (comparisons, format) {
        (Some(comparisons), OutputFormat::Text) => {
            print_runs(done, repetitions, format)?;
            console::print(&format!("\n{}", render_comparisons(comparisons, 100)))
        }
        (Some(comparisons), OutputFormat::Json) => {
            let mut document = document(done, repetitions)?;
            document["comparisons"] = json!(comparisons);
            console::print(&format!("{document:#}\n"))
        }
        _ => print_runs(done, repetitions, format),
    }
}

/// What sittings tell together.
pub(super) fn print_sittings(held: &Held, format: OutputFormat) -> Result<(), SessionError> {
    let path = console::printable_lines(&held.folder.display().to_string());
    match format {
        OutputFormat::Quiet => console::print(&format!("{path}\n")),
        OutputFormat::Json => {
            let text = serde_json::to_string_pretty(&held.record).map_err(SessionError::internal)?;
            console::print(&format!("{text}\n"))
        }
        OutputFormat::Text => {
            let text = render_sessions(&held.record, &held.documents, 100);
            console::print(&format!("{}\nresults: {path}\n", text.trim_end()))
        }
    }
}

fn print_runs(done: &[Done], repetitions: Option<&Repetitions>, format: OutputFormat) -> Result<(), SessionError> {
    let folder = |done: &Done| console::printable_lines(&done.folder.display().to_string());
    match format {
        OutputFormat::Quiet => console::print(&done.iter().map(|done| folder(done) + "\n").collect::<String>()),
        OutputFormat::Text if repetitions.is_some() => {
            let runs = done.iter().flat_map(|done| &done.runs);
            let line = |run: &Finished| {
                let folder = console::printable_lines(&run.folder.display().to_string());
                format!("{}  {folder}\n", run.document.verdict_words().to_uppercase())
            };
            let table = repetitions.map(|repetitions| render_repetitions(repetitions, 100)).unwrap_or_default();
            console::print(&format!("{}\n{table}", runs.map(line).collect::<String>()))
        }
        OutputFormat::Text => {
            let text = |done: &Done| {
                let page = page(done).map(|page| format!("report: {page}\n")).unwrap_or_default();
                format!("{}\nresults: {}\n{page}", text(done).trim_end(), folder(done))
            };
            console::print(&done.iter().map(text).collect::<Vec<_>>().join("\n"))?;
            if done.len() < 2 || done.iter().any(|done| done.is_sweep) {
                return Ok(());
            }
            let documents: Vec<_> = done.iter().flat_map(documents).collect();
            console::print(&format!("\n{}\n", render_comparison(&documents, 100).trim_end()))
        }
        OutputFormat::Json => match done {
            [] => Ok(()),
            [Done { runs, is_sweep: false, .. }] => {
                runs.iter().try_for_each(|run| console::print(&run.document.to_json().map_err(SessionError::internal)?))
            }
            several => console::print(&format!("{:#}\n", document(several, repetitions)?)),
        },
    }
}

/// Several runs as one document.
fn document(done: &[Done], repetitions: Option<&Repetitions>) -> Result<serde_json::Value, SessionError> {
    let runs: Vec<_> = done.iter().flat_map(documents).collect();
    let mut document = json_of_runs(&runs).map_err(SessionError::internal)?;
    if let Some(repetitions) = repetitions {
        document["repetitions"] = json!(repetitions);
    }
    Ok(document)
}

/// The page that a run left; of several, `iotbench report` makes one.
fn page(done: &Done) -> Option<String> {
    let page = done.folder.join(REPORT_FILE);
    page.exists().then(|| console::printable_lines(&page.display().to_string()))
}

fn documents(done: &Done) -> Vec<Document> {
    done.runs.iter().map(|run| run.document.clone()).collect()
}

/// The result of a run, or the table of a sweep.
fn text(done: &Done) -> String {
    let documents = documents(done);
    match documents.as_slice() {
        [one] if !done.is_sweep => render(one, None, 100),
        runs => render_sweep(runs, 100),
    }
}

/// The plans of a dry run.
pub(super) fn print_plans(plans: &[ExpectedPlan], format: OutputFormat) -> Result<(), SessionError> {
    match (format, plans) {
        (OutputFormat::Quiet, _) => Ok(()),
        (OutputFormat::Json, [one]) => console::print(&format!("{:#}\n", json!(one))),
        (OutputFormat::Json, several) => console::print(&format!("{:#}\n", json!({ "runs": several }))),
        (OutputFormat::Text, [one]) => console::print(&toml(one)?),
        (OutputFormat::Text, several) => console::print(&toml(&BTreeMap::from([("runs", several)]))?),
    }
}

fn toml(value: &impl serde::Serialize) -> Result<String, SessionError> {
    let wrong =
        |e| SessionError::internal(format!("this plan cannot be written as TOML ({e}): add --output-format json"));
    toml::to_string_pretty(value).map_err(wrong)
}
