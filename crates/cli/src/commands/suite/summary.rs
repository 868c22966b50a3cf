//! What a suite prints at its end: what became of its runs, a table for each profile, the score, and the study's tables
//! with both figures.

use crate::{console, error::CliError};
use iotbench::HOF_SCORE;
use iotbench_report::{
    Document, HtmlOptions, REPORT_FILE, Repetitions, ReportedRun, Status, read_documents, render_comparison,
    render_html, render_ranking, render_repetitions, render_study_table, render_suite_state, render_sweep, scored_run,
    study_figure, title_of_run, unequal, write_file,
};
use iotbench_scoring::{Ranking, ScoreFile, rank};
use iotbench_suite::{Record, Score, State, StudyTable, SuiteFile, Table};
use std::path::{Path, PathBuf};

const COLUMNS: u16 = 100;
/// A table of a study whose figures are scores has this instead of a profile.
pub(super) const SCORES: &str = "score";
/// What its columns can be.
pub(super) const SCORE_FIGURES: [&str; 3] = ["write_score_pct", "read_score_pct", "total_score_pct"];

pub(super) fn summary(suite: &SuiteFile, record: &Record, folder: &Path) -> Result<String, CliError> {
    let documents = documents(record, folder)?;
    let mut sections = vec![render_suite_state(record, suite.first_look, COLUMNS)];
    sections.extend(profiles(&documents).iter().map(|profile| profile_section(profile, &documents, suite.seed)));
    let ranking = ranking(suite, &documents);
    sections.extend(ranking.iter().map(|ranking| score_section(ranking, &documents)));
    let ranking = ranking.as_ref().and_then(|ranking| ranking.as_ref().ok());
    let tables = suite.tables.iter().map(|table| study_table(table, &documents, ranking));
    sections.extend(tables.map(|table| render_study_table(&table, COLUMNS)));
    sections.push(format!("results: {}", console::printable(&folder.display().to_string())));
    let sections: Vec<&str> = sections.iter().map(|section| section.trim_end()).collect();
    Ok(format!("{}\n", sections.join("\n\n")))
}

/// All runs as one page in the suite's folder; `None`: none came to its end.
pub(super) fn page(suite: &SuiteFile, record: &Record, folder: &Path) -> Result<Option<PathBuf>, CliError> {
    let mut runs = Vec::new();
    for run in run_folders(record, folder) {
        runs.extend(ReportedRun::read(&run)?);
    }
    if runs.is_empty() {
        return Ok(None);
    }
    let documents: Vec<Document> = runs.iter().map(|run| run.document.clone()).collect();
    let ranking = ranking(suite, &documents);
    let score = ranking.as_ref().map(|ranking| ranking.as_ref().map_err(Clone::clone));
    let page = render_html(&runs, &HtmlOptions { score, ..HtmlOptions::default() });
    let path = folder.join(REPORT_FILE);
    write_file(&path, page.as_bytes())?;
    Ok(Some(path))
}

/// The results folders of all runs that came to their end.
fn run_folders(record: &Record, folder: &Path) -> Vec<PathBuf> {
    let folders = record.entries.iter().filter_map(|entry| match &entry.state {
        State::Ended { folders, .. } => Some(folders),
        _ => None,
    });
    folders.flatten().map(|run| folder.join(run)).collect()
}

/// The documents of all runs that came to their end.
fn documents(record: &Record, folder: &Path) -> Result<Vec<Document>, CliError> {
    let mut all = Vec::new();
    for run in run_folders(record, folder) {
        all.extend(read_documents(&run)?);
    }
    Ok(all)
}

/// The profiles in the order of their first run.
fn profiles(documents: &[Document]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for document in documents {
        if !names.contains(&document.profile) {
            names.push(document.profile.clone());
        }
    }
    names.sort_unstable();
    names
}

fn profile_section(profile: &str, documents: &[Document], seed: u64) -> String {
    let mut own: Vec<Document> = documents.iter().filter(|d| d.profile == profile).cloned().collect();
    own.sort_by_key(title_of_run);
    let is_repeated = own.windows(2).any(|pair| title_of_run(&pair[0]) == title_of_run(&pair[1]));
    let table = match () {
        () if is_repeated => render_repetitions(&Repetitions::of(&own, seed), COLUMNS),
        () if own.iter().any(|document| document.sweep.is_some()) => render_sweep(&own, COLUMNS),
        () => render_comparison(&own, COLUMNS),
    };
    format!("── {profile}\n{table}")
}

/// The ranking by the suite's score; `None`: it names none.
fn ranking(suite: &SuiteFile, documents: &[Document]) -> Option<Result<Ranking, String>> {
    let Score::Hof = suite.score?;
    let runs: Vec<_> = documents.iter().map(scored_run).collect();
    let file = ScoreFile::from_toml(HOF_SCORE).map_err(|e| e.to_string());
    Some(file.and_then(|file| rank(&file, &runs).map_err(|e| e.to_string())))
}

fn score_section(ranking: &Result<Ranking, String>, documents: &[Document]) -> String {
    match ranking {
        Ok(ranking) => render_ranking(ranking, &unequal(documents), COLUMNS),
        Err(why) => format!("there is no score: {}", console::printable(why)),
    }
}

/// A printed table with the means of our valid runs, or with our scores.
fn study_table(table: &Table, documents: &[Document], ranking: Option<&Ranking>) -> StudyTable {
    if table.profile == SCORES {
        return StudyTable::new(table, |contender, figure| score(ranking?, contender, figure));
    }
    let is_own = |d: &&Document| d.profile == table.profile && d.verdict.status == Status::Valid;
    let own: Vec<&Document> = documents.iter().filter(is_own).collect();
    StudyTable::new(table, |row, figure| {
        let runs = own.iter().filter(|document| title_of_run(document) == row);
        let figures: Option<Vec<f64>> = runs.map(|document| study_figure(document, figure)).collect();
        let figures = figures.filter(|figures| !figures.is_empty())?;
        Some(figures.iter().sum::<f64>() / figures.len() as f64)
    })
}

/// A contender's score by the name of its column.
fn score(ranking: &Ranking, contender: &str, figure: &str) -> Option<f64> {
    let of_half = |half: &Option<iotbench_scoring::Table>| {
        half.as_ref()?.rows.iter().find(|row| row.contender == contender).map(|row| row.score_pct)
    };
    match figure {
        "write_score_pct" => of_half(&ranking.write),
        "read_score_pct" => of_half(&ranking.read),
        "total_score_pct" => ranking.total.iter().find(|total| total.contender == contender).map(|t| t.total_pct),
        _ => None,
    }
}

/// The runs in their order, with the command that does each.
pub(super) fn order(record: &Record) -> String {
    let line = |(place, entry): (usize, &iotbench_suite::Entry)| {
        let state = match &entry.state {
            State::NotAvailable { reason } => format!("   # n/a: {}", console::printable(reason)),
            _ => String::new(),
        };
        let words = entry.command.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
        format!("{:>3}  {} on {}: {words}{state}\n", place + 1, entry.profile, entry.target)
    };
    record.entries.iter().enumerate().map(line).collect()
}

/// A word that a shell reads back as it is.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,:/%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A time as `m:ss`.
pub(super) fn minutes(seconds: f64) -> String {
    let whole = std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default().as_secs();
    format!("{}:{:02}", whole / 60, whole % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_change_it() {
        assert_eq!(shell_word("phases.duration=10s"), "phases.duration=10s");
        assert_eq!(shell_word("values=[2,10]"), "'values=[2,10]'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
    }

    #[test]
    fn a_rest_is_minutes_and_seconds() {
        assert_eq!((minutes(125.9), minutes(f64::NAN)), ("2:05".into(), "0:00".into()));
    }
}
