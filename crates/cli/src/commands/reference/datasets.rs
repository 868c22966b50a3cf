//! The page of simulated datasets.

use super::markdown::{self, code, table, words};
use iotbench_core::Setting;
use iotbench_simulator::{COMMON_PARAMETERS, DATASETS};

const ABOUT: &str = "In a profile's table `[dataset]` beside `name`, or as `--set KEY=VALUE` of `iotbench generate`.";

const COMMON: &str = "## Every simulated dataset\n\nBeside its own, every dataset but `replay` has these: clocks that are off, and what \
                      goes wrong between a device and a database. What is missing is never sent; what is late or out of order is sent in \
                      that order, with its own time.";

pub(super) fn page() -> String {
    let dataset = |d: &iotbench_simulator::DatasetInfo| {
        let head = format!("## {}\n\n{}.", d.name, words(d.summary));
        [head, settings("parameter", d.parameters)]
    };
    let common = [COMMON.to_owned(), settings("parameter", COMMON_PARAMETERS)];
    let parts: Vec<_> =
        std::iter::once(ABOUT.to_owned()).chain(DATASETS.iter().flat_map(dataset)).chain(common).collect();
    markdown::page("Datasets", &parts)
}

/// Settings with what their defaults tell of their types.
pub(super) fn settings(what: &str, settings: &[Setting]) -> String {
    let row = |s: &Setting| [code(s.key), kind(s.default).to_owned(), code(s.default), words(s.help)];
    table([what, "type", "default", "meaning"], &settings.iter().map(row).collect::<Vec<_>>())
}

fn kind(default: &str) -> &'static str {
    match default {
        "true" | "false" => "boolean",
        _ if default.parse::<i64>().is_ok() => "integer",
        _ if default.parse::<f64>().is_ok() => "number",
        _ => "text",
    }
}
