//! `iotbench datasets`.

use crate::console::{self, columns};
use clap::Args;
use iotbench_core::Setting;
use iotbench_session::SessionError;
use iotbench_simulator::{DATASETS, DatasetInfo, ShapeInfo};

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

pub(super) fn datasets(arguments: &DatasetsArguments) -> Result<(), SessionError> {
    let text = match &arguments.name {
        Some(name) => details(DatasetInfo::find(name).map_err(SessionError::usage)?),
        None => DATASETS.iter().map(details).collect::<Vec<_>>().join("\n"),
    };
    console::print(&text)
}

fn details(dataset: &DatasetInfo) -> String {
    let parameter = |p: &Setting| [format!("  {} = {}", p.key, p.default), p.help.to_owned()];
    let parameters: Vec<_> = dataset.all_parameters().map(parameter).collect();
    let head = format!("{}: {}\n{}", dataset.name, dataset.summary, columns(&parameters));
    let shapes = dataset.shapes();
    if shapes.is_empty() { head } else { head + &signals(&shapes) }
}

/// What a signal takes: the keys of all, then those of each shape.
fn signals(shapes: &[ShapeInfo]) -> String {
    let key = |s: &Setting| {
        let default = if s.default.is_empty() { "none".into() } else { format!("default {}", s.default) };
        [format!("    {}", s.key), format!("{}, {default}: {}", ShapeInfo::type_of(s.key), s.help)]
    };
    let keys = |settings: &[Setting]| columns(&settings.iter().map(key).collect::<Vec<_>>());
    let each = shapes.iter().map(|s| format!("  shape = \"{}\" gives {}\n{}", s.name, s.gives, keys(s.keys)));
    let each: String = each.collect();
    format!("  every signal\n{}{each}", keys(&ShapeInfo::COMMON))
}
