//! `iotbench datasets`.

use crate::{
    console::{self, columns},
    error::CliError,
};
use clap::Args;
use iotbench_simulator::{DATASETS, DatasetInfo};

const EXAMPLES: &str = "\
Examples:
  iotbench datasets
  iotbench datasets pmu
  iotbench generate --dataset pmu --set noise=0 --for 1s";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DatasetsArguments {
    /// Show this dataset only
    name: Option<String>,
}

pub(super) fn datasets(arguments: &DatasetsArguments) -> Result<(), CliError> {
    let text = match &arguments.name {
        Some(name) => details(DatasetInfo::find(name).map_err(CliError::usage)?),
        None => DATASETS.iter().map(details).collect::<Vec<_>>().join("\n"),
    };
    console::print(&text)
}

fn details(dataset: &DatasetInfo) -> String {
    let parameter = |p: &iotbench_core::Setting| [format!("  {} = {}", p.key, p.default), p.help.to_owned()];
    let parameters: Vec<_> = dataset.parameters.iter().map(parameter).collect();
    format!("{}: {}\n{}", dataset.name, dataset.summary, columns(&parameters))
}
