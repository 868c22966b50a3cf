//! `iotbench compare BASE… -- NEW…`.

use super::comparing::ComparisonArguments;
use crate::console;
use clap::{Args, ValueEnum};
use iotbench_report::{
    Cell, Comparison, Document, compare as compare_cells, json_comparisons, json_noise, markdown_comparisons, noise_of,
    read_documents, render_comparisons, render_noise,
};
use iotbench_session::{SessionError, exit_code::REGRESSION};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  iotbench compare old/* -- new/*                       what changed, and is it a regression?
  iotbench compare old -- new                           the same: a folder stands for the runs in it
  iotbench compare --threshold 5% --metric response_p99_us old -- new
  iotbench compare --aa old                             how far equal runs lie apart, and how often that is an alarm
  iotbench compare --output-format md old -- new > comment.md   for a pull request
  iotbench compare --output-format json old -- new | jq '.comparisons[].metrics[] | select(.is_regression)'
  iotbench compare --across-durability mariadb -- postgres

Options stand before the --. Ten runs a side find 5 % where runs spread by 2 %; interleave them (docs/compare.md). \
Exit codes: 0 no regression found, 2 wrong arguments or runs that are not alike, 13 regression, 30 a run cannot be read.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArguments {
    /// What is compared with: results folders, folders of these, or their run.json
    #[arg(required = true, value_name = "BASE")]
    base: Vec<PathBuf>,
    /// What is judged
    #[arg(last = true, value_name = "NEW", required_unless_present = "aa")]
    new: Vec<PathBuf>,
    /// Tell the noise floor: halve the runs of BASE at random a thousand times and compare the halves
    #[arg(long)]
    aa: bool,
    /// Decides the halvings of --aa
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    how: ComparisonArguments,
    #[arg(long, visible_alias = "format", value_name = "FORMAT", default_value = "text")]
    output_format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One JSON document
    Json,
    /// Markdown that fits a comment of a pull request
    Md,
}

pub(super) fn compare(arguments: &CompareArguments) -> Result<u8, SessionError> {
    let options = arguments.how.options(arguments.aa.then_some(arguments.seed));
    let base = read_all(&arguments.base)?;
    if arguments.new.is_empty() {
        let noise = noise_of(base, &options)?;
        if noise.is_empty() {
            return Err(SessionError::usage(
                "a noise floor needs at least four runs of BASE that have the same metrics",
            ));
        }
        let text = render_noise(&noise, options.threshold * 100.0, 100);
        return match arguments.output_format {
            Format::Json => console::print(&json_noise(&noise)),
            Format::Md => console::print(&format!("```text\n{text}```\n")),
            Format::Text => console::print(&text),
        }
        .map(|()| 0);
    }
    let cells = vec![Cell { base, new: read_all(&arguments.new)? }];
    let comparisons = compare_cells(cells, &options)?;
    console::print(&match arguments.output_format {
        Format::Text => render_comparisons(&comparisons, 100),
        Format::Json => json_comparisons(&comparisons),
        Format::Md => markdown_comparisons(&comparisons),
    })?;
    Ok(if comparisons.iter().any(|comparison: &Comparison| comparison.is_regression) { REGRESSION } else { 0 })
}

fn read_all(paths: &[PathBuf]) -> Result<Vec<Document>, SessionError> {
    let runs = paths.iter().map(|path| read_documents(path)).collect::<Result<Vec<_>, _>>()?;
    Ok(runs.into_iter().flatten().collect())
}
