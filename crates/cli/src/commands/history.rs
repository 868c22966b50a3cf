//! `iotbench history DIR`.

use super::comparing::metrics;
use crate::{console, form::FormArguments};
use clap::Args;
use iotbench_report::{METRICS, Metric, history as history_of, json_history, read_documents, render_history};
use iotbench_session::SessionError;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  iotbench history results                              since when is what otherwise?
  iotbench history nightly --metric response_p99_us
  iotbench history nightly/*-pmu_write-* --output-format json | jq '.series[].metrics[].changes'

Runs of one workload on one database are a series, by their start; ten of them are needed. A change is a change of level, so \
that one bad night is none (docs/compare.md).";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HistoryArguments {
    /// Folders of results folders, or these themselves
    #[arg(required = true, value_name = "DIR")]
    runs: Vec<PathBuf>,
    /// What is looked at; repeatable [default: capacity, operations_per_s, response_mean_us, response_p99_us]
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = metrics())]
    metric: Vec<&'static Metric>,
    #[command(flatten)]
    form: FormArguments,
}

pub(super) fn history(arguments: &HistoryArguments) -> Result<(), SessionError> {
    let runs = arguments.runs.iter().map(|path| read_documents(path)).collect::<Result<Vec<_>, _>>()?;
    let usual = || METRICS.iter().filter(|metric| metric.is_gated).collect();
    let metrics = if arguments.metric.is_empty() { usual() } else { arguments.metric.clone() };
    let history = history_of(runs.into_iter().flatten().collect(), &metrics);
    console::print(&match arguments.form.is_json() {
        true => json_history(&history),
        false => render_history(&history, 100),
    })
}
