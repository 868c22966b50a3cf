//! `iotbench score RUN…`.

use crate::{console, form::FormArguments};
use clap::{Args, ValueEnum};
use iotbench_report::{json_ranking, read_document, render_ranking, render_robustness, scored_run, unequal};
use iotbench_scoring::{Formula, RankError, ScoreFile, rank, robustness};
use iotbench_session::{SessionError, exit_code, parse_toml_file, read_toml_file};
use iotbench_workloads::HOF_SCORE;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  iotbench score results/*-machine_write-* results/*-machine_read-*
  iotbench score results/*-machine_write-* --output-format json | jq '.ranking.write.rows'
  iotbench score results/*-machine_* --file mine.toml --across-durability

Runs of one database, layout and strategy are one contender, and the mean of several counts. \
The built-in score is configs/scores/hof.toml: copy and change it for weights and grades of your own.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ScoreArguments {
    /// Results folders, or the run.json in them
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Criteria, weights and grades [default: the built-in score of the Hof study]
    #[arg(long, value_name = "FILE", env = "IOTBENCH_SCORE_FILE")]
    file: Option<PathBuf>,
    /// Rank together what survives different crashes; each promise is printed
    #[arg(long)]
    across_durability: bool,
    /// Which reading of the study's formula, instead of the score file's
    #[arg(long, value_name = "VARIANT")]
    formula: Option<Variant>,
    /// Decides the random weights
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    form: FormArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Variant {
    /// As the study writes it
    AsWritten,
    /// As its printed read scores follow: the difficulty of reading is not counted, its weight is
    Erratum,
}

pub(super) fn score(arguments: &ScoreArguments) -> Result<(), SessionError> {
    let mut file = match &arguments.file {
        None => parse_toml_file("hof (built in)", HOF_SCORE, ScoreFile::from_toml)?,
        Some(path) => {
            let text = read_toml_file(path, "score file")?;
            parse_toml_file(&path.display().to_string(), &text, ScoreFile::from_toml)?
        }
    };
    file.across_durability |= arguments.across_durability;
    if let Some(variant) = arguments.formula {
        file.formula = match variant {
            Variant::AsWritten => Formula::AsWritten,
            Variant::Erratum => Formula::Erratum,
        };
    }
    let documents = arguments.runs.iter().map(|run| read_document(run)).collect::<Result<Vec<_>, _>>()?;
    let runs: Vec<_> = documents.iter().map(scored_run).collect();
    let ranking = rank(&file, &runs).map_err(|error| refused(&error, runs.iter().all(|run| run.refused.is_some())))?;
    let remarks = unequal(&documents);
    let robustness = robustness(&ranking, &runs, arguments.seed);
    if arguments.form.is_json() {
        return console::print(&json_ranking(&ranking, &robustness, &remarks));
    }
    console::print(&render_ranking(&ranking, &remarks, 100))?;
    if ranking.contenders.len() < 2 {
        return Ok(());
    }
    console::print(&format!("\n{}", render_robustness(&ranking, &robustness, 100)))
}

fn refused(error: &RankError, all_invalid: bool) -> SessionError {
    let exit_code = if all_invalid { exit_code::INVALID } else { exit_code::USAGE };
    SessionError::Other { message: console::printable_lines(&error.to_string()), exit_code }
}
