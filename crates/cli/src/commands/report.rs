//! `iotbench report RUN…`.

mod price;

use crate::console;
use clap::{Args, ValueEnum};
use iotbench_report::{
    Cost, Document, HtmlOptions, PriceFile, REPORT_FILE, ReportedRun, render_html, render_markdown, render_parquet,
    render_tidy, scored_run, write_file,
};
use iotbench_scoring::{RankError, Ranking, ScoreFile, rank};
use iotbench_session::SessionError;
use iotbench_workloads::HOF_SCORE;
use serde_json::json;
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

/// The version of the document that --format json prints.
const SCHEMA: &str = "iotbench-report/1.0";
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
    let prices = price::read(&arguments.price)?;
    let runs = runs(&arguments.runs)?;
    price::check(&prices, &runs)?;
    let content = content(&runs, &prices, format, arguments.across_durability)?;
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

/// All runs that are named, each once.
fn runs(paths: &[PathBuf]) -> Result<Vec<ReportedRun>, SessionError> {
    let mut runs: Vec<ReportedRun> = Vec::new();
    for path in paths {
        // What is no results folder is a wrong argument.
        for run in ReportedRun::read(path).map_err(SessionError::usage)? {
            if runs.iter().all(|other| other.document.run_id != run.document.run_id) {
                runs.push(run);
            }
        }
    }
    Ok(runs)
}

fn content(
    runs: &[ReportedRun],
    prices: &[PriceFile],
    format: Format,
    across_durability: bool,
) -> Result<Vec<u8>, SessionError> {
    let price = |document: &Document| prices.iter().find(|price| price.is_for(&document.target.name()));
    let costs: Vec<Cost> = runs.iter().map(|run| Cost::of(&run.document, price(&run.document))).collect();
    let documents = || runs.iter().map(|run| run.document.clone()).collect::<Vec<Document>>();
    match format {
        Format::Html => {
            let ranking = score(runs, across_durability)?;
            let score = ranking.as_ref().map(|ranking| ranking.as_ref().map_err(ToString::to_string));
            Ok(render_html(runs, &HtmlOptions { prices, across_durability, score, study: None }).into())
        }
        Format::Md => Ok(render_markdown(runs, &costs, across_durability).into()),
        Format::Csv => render_tidy(&documents(), &costs).map(String::into_bytes).map_err(SessionError::internal),
        Format::Parquet => render_parquet(&documents(), &costs).map_err(SessionError::internal),
        Format::Json => {
            let documents = documents().iter().map(|document| serde_json::from_str(&document.to_json()?)).collect();
            let documents: Vec<serde_json::Value> = Result::map_err(documents, SessionError::internal)?;
            Ok(format!("{:#}\n", json!({ "schema": SCHEMA, "runs": documents, "costs": costs })).into_bytes())
        }
    }
}

/// The built-in weighted score, or why there is none; neither where it is not about two contenders of these runs.
fn score(runs: &[ReportedRun], across_durability: bool) -> Result<Option<Result<Ranking, RankError>>, SessionError> {
    let mut file = ScoreFile::from_toml(HOF_SCORE).map_err(SessionError::internal)?;
    file.across_durability |= across_durability;
    let runs: Vec<_> = runs.iter().map(|run| scored_run(&run.document)).collect();
    Ok(match rank(&file, &runs) {
        Err(RankError::NoRuns(_)) => None,
        Ok(ranking) if ranking.contenders.len() < 2 => None,
        other => Some(other),
    })
}
