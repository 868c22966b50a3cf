//! What a run prints on standard output.

use super::{carry_out::Finished, options::OutputFormat};
use crate::{console, error::CliError};
use iotbench_engine::Plan;
use iotbench_report::{render, render_comparison};
use serde_json::json;
use std::collections::BTreeMap;

/// The results in the form that was asked for.
pub(super) fn print_results(finished: &[Finished], format: OutputFormat) -> Result<(), CliError> {
    let folder = |f: &Finished| console::printable(&f.folder.display().to_string());
    match format {
        OutputFormat::Quiet => console::print(&finished.iter().map(|f| folder(f) + "\n").collect::<String>()),
        OutputFormat::Text => {
            let text =
                |f: &Finished| format!("{}\nresults: {}\n", render(&f.document, None, 100).trim_end(), folder(f));
            console::print(&finished.iter().map(text).collect::<Vec<_>>().join("\n"))?;
            if finished.len() < 2 {
                return Ok(());
            }
            let documents: Vec<_> = finished.iter().map(|f| f.document.clone()).collect();
            console::print(&format!("\n{}\n", render_comparison(&documents, 100).trim_end()))
        }
        OutputFormat::Json => match finished {
            [] => Ok(()),
            [one] => console::print(&one.document.to_json().map_err(CliError::internal)?),
            several => {
                let runs = several.iter().map(|f| serde_json::from_str(&f.document.to_json()?));
                let runs: Vec<serde_json::Value> = runs.collect::<Result<_, _>>().map_err(CliError::internal)?;
                console::print(&format!("{:#}\n", json!({ "runs": runs })))
            }
        },
    }
}

/// The plans of a dry run.
pub(super) fn print_plans(plans: &[Plan], format: OutputFormat) -> Result<(), CliError> {
    match (format, plans) {
        (OutputFormat::Quiet, _) => Ok(()),
        (OutputFormat::Json, [one]) => console::print(&format!("{:#}\n", json!(one))),
        (OutputFormat::Json, several) => console::print(&format!("{:#}\n", json!({ "runs": several }))),
        (OutputFormat::Text, [one]) => console::print(&toml(one)?),
        (OutputFormat::Text, several) => console::print(&toml(&BTreeMap::from([("runs", several)]))?),
    }
}

fn toml(value: &impl serde::Serialize) -> Result<String, CliError> {
    let wrong = |e| CliError::internal(format!("this plan cannot be written as TOML ({e}): add --output-format json"));
    toml::to_string_pretty(value).map_err(wrong)
}
