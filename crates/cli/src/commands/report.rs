//! `iotbench report RUN…`.

use crate::console;
use clap::{Args, ValueEnum};
use iotbench_report::{PriceFile, REPORT_FILE, RunReport, write_file};
use iotbench_scoring::ScoreFile;
use iotbench_session::{SessionError, parse_toml_file, read_toml_file};
use iotbench_workloads::HOF_SCORE;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  iotbench report results/20260105T100000Z-pmu_write-sqlite-wide-abcd -o page.html
  iotbench report results/*-machine_write-* -o comparison.html
  iotbench report results/*-pmu_write-* --format md > comment.md
  iotbench report results/* --format csv | column -s, -t | less -S
  iotbench report results/* -o figures.parquet
  iotbench report results/*-pmu_write-* --price prices.toml -o page.html
A page is one file that needs no network. Runs of one database and layout are one contender; contenders whose acknowledged \
writes survive different crashes are ranked apart. How each figure is made, and what a price file looks like: docs/report.md";

/// What stands for standard output.
const STDOUT: &str = "-";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReportArguments {
    /// Results folders of runs or of sweeps, or the run.json in them
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,

    /// What to write [default: what the name of --output ends with, else html]
    #[arg(long, short, visible_alias = "output-format", value_name = "FORMAT", env = "IOTBENCH_REPORT_FORMAT")]
    format: Option<Format>,

    /// Where to: a file, or - for standard output [default: report.html for html, else standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// What a system costs to own, as TOML: adds money to the costs; again for other systems
    #[arg(long, value_name = "FILE")]
    price: Vec<PathBuf>,

    /// Rank together what survives different crashes; each promise is printed
    #[arg(long)]
    across_durability: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A page: verdict, answer, ranking, plots with their tables, cost, setting
    Html,
    /// Markdown that fits a comment on a pull request
    Md,
    /// A row for each run and figure
    Csv,
    /// The rows of csv, as a Parquet file; figures that are not known are null
    Parquet,
    /// The documents, with what a million datapoints cost
    Json,
}

impl Format {
    /// What a file's name ends with; none that is known.
    fn of(path: &Path) -> Option<Self> {
        let end = path.extension()?.to_str()?;
        let end = if end == "htm" { "html" } else { end };
        Self::from_str(end, true).ok()
    }
}

pub(super) fn report(arguments: &ReportArguments) -> Result<(), SessionError> {
    let to_file = arguments.output.as_deref().filter(|path| *path != Path::new(STDOUT));
    let format = arguments.format.or_else(|| Format::of(to_file?)).unwrap_or(Format::Html);
    let prices = arguments.price.iter().map(|path| price_file(path)).collect::<Result<Vec<_>, _>>()?;
    // What is no results folder is a wrong argument.
    let report = RunReport::read(&arguments.runs).map_err(SessionError::usage)?;
    let report = report.with_prices(prices).map_err(SessionError::usage)?;
    let content = content(&report.across_durability(arguments.across_durability), format)?;
    let page = (format == Format::Html && arguments.output.is_none()).then_some(Path::new(REPORT_FILE));
    match to_file.or(page) {
        None => console::print_bytes(&content),
        Some(path) => {
            write_file(path, &content)?;
            console::say(&format!("report: {}", path.display()));
            Ok(())
        }
    }
}

fn price_file(path: &Path) -> Result<PriceFile, SessionError> {
    let name = console::printable_lines(&path.display().to_string());
    parse_toml_file(&name, &read_toml_file(path, "price file")?, PriceFile::from_toml)
}

fn content(report: &RunReport, format: Format) -> Result<Vec<u8>, SessionError> {
    Ok(match format {
        Format::Html => report.page(ScoreFile::from_toml(HOF_SCORE).map_err(SessionError::internal)?).into(),
        Format::Md => report.markdown().into(),
        Format::Csv => report.csv().map_err(SessionError::internal)?.into(),
        Format::Parquet => report.parquet().map_err(SessionError::internal)?,
        Format::Json => format!("{:#}\n", report.json().map_err(SessionError::internal)?).into(),
    })
}
