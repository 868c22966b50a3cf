//! What a suite prints at its end, and its page: what became of its runs, a table for each profile, the score, and the
//! study's tables and figures with both figures.

use crate::{console, error::CliError};
use iotbench_report::{
    Document, HtmlOptions, REPORT_FILE, Repetitions, ReportedRun, SuiteRun, render_comparison, render_html,
    render_over_sittings, render_ranking, render_repetitions, render_study, render_suite_state, render_sweep,
    scored_run, study, title_of_run, unequal, write_file,
};
use iotbench_scoring::{Ranking, ScoreFile, rank};
use iotbench_suite::{Record, Score, State, Study, SuiteFile};
use iotbench_workloads::HOF_SCORE;
use jiff::Timestamp;
use std::path::{Path, PathBuf};

const COLUMNS: u16 = 100;

/// A suite's runs that came to their end.
pub(super) struct Summary<'a> {
    suite: &'a SuiteFile,
    record: &'a Record,
    folder: &'a Path,
    runs: Vec<ReportedRun>,
    /// Whose each run is.
    contenders: Vec<String>,
    /// From the beginning of the first run to the end of the last, in seconds.
    within_s: Option<f64>,
    ranking: Option<Result<Ranking, String>>,
}

impl<'a> Summary<'a> {
    /// Reads what the runs left in the suite's folder.
    pub(super) fn read(suite: &'a SuiteFile, record: &'a Record, folder: &'a Path) -> Result<Self, CliError> {
        let (mut runs, mut contenders, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for entry in &record.entries {
            let State::Ended { folders, seconds, .. } = &entry.state else { continue };
            for own in folders {
                for mut run in ReportedRun::read(&folder.join(own))? {
                    run.document.target.form.clone_from(&entry.form);
                    times.extend(run.document.started.parse().ok().map(|began: Timestamp| (began, *seconds)));
                    runs.push(run);
                    contenders.push(entry.target.clone());
                }
            }
        }
        let ranking = ranking(suite, runs.iter().map(|run| &run.document));
        Ok(Self { suite, record, folder, runs, contenders, within_s: within_s(&times), ranking })
    }

    /// For the terminal.
    pub(super) fn text(&self) -> String {
        let documents: Vec<Document> = self.runs.iter().map(|run| run.document.clone()).collect();
        let mut sections = vec![render_suite_state(self.record, self.suite.first_look, COLUMNS)];
        let of_profile = |profile: &String| match &self.record.sittings {
            Some(_) => sittings_section(profile, &documents, self.within_s),
            None => profile_section(profile, &documents, self.suite.seed),
        };
        sections.extend(profiles(&documents).iter().map(of_profile));
        sections.extend(self.ranking.iter().map(|ranking| score_section(ranking, &documents)));
        sections
            .extend(Some(self.study()).filter(|study| !study.is_empty()).map(|study| render_study(&study, COLUMNS)));
        sections.push(format!("results: {}", console::printable(&self.folder.display().to_string())));
        let sections: Vec<&str> = sections.iter().map(|section| section.trim_end()).collect();
        format!("{}\n", sections.join("\n\n"))
    }

    /// All runs as one page in the suite's folder; `None`: none came to its end.
    pub(super) fn page(&self) -> Result<Option<PathBuf>, CliError> {
        if self.runs.is_empty() {
            return Ok(None);
        }
        let study = self.study();
        let score = self.ranking.as_ref().map(|ranking| ranking.as_ref().map_err(Clone::clone));
        let options = HtmlOptions { score, study: Some(&study), ..HtmlOptions::default() };
        let path = self.folder.join(REPORT_FILE);
        write_file(&path, render_html(&self.runs, &options).as_bytes())?;
        Ok(Some(path))
    }

    fn study(&self) -> Study {
        let named = self.contenders.iter().zip(&self.runs);
        let runs: Vec<SuiteRun<'_>> =
            named.map(|(contender, run)| SuiteRun { contender, document: &run.document }).collect();
        study(self.suite, self.record, &runs, self.ranking.as_ref().and_then(|ranking| ranking.as_ref().ok()))
    }
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

/// From the first beginning to the last end of runs that took so many seconds.
fn within_s(times: &[(Timestamp, f64)]) -> Option<f64> {
    let first = times.iter().map(|(began, _)| *began).min()?;
    times.iter().map(|(began, seconds)| began.duration_since(first).as_secs_f64() + seconds).reduce(f64::max)
}

fn sittings_section(profile: &str, documents: &[Document], within_s: Option<f64>) -> String {
    let own: Vec<Document> = documents.iter().filter(|d| d.profile == profile).cloned().collect();
    format!("── {profile}\n{}", render_over_sittings(&own, within_s, COLUMNS))
}

fn profile_section(profile: &str, documents: &[Document], seed: u64) -> String {
    let mut own: Vec<Document> = documents.iter().filter(|d| d.profile == profile).cloned().collect();
    own.sort_by_key(title_of_run);
    let is_repeated = own.windows(2).any(|pair| title_of_run(&pair[0]) == title_of_run(&pair[1]));
    let table = match () {
        () if is_repeated => render_repetitions(&Repetitions::of(&own, seed), COLUMNS),
        () if own.iter().any(|document| document.sweep.is_some()) => sweeps(&own),
        () => render_comparison(&own, COLUMNS),
    };
    format!("── {profile}\n{table}")
}

/// A table for each sweep: its runs follow each other, and differ in its value alone.
fn sweeps(sorted: &[Document]) -> String {
    let of_sweep = |document: &Document| (document.target.title(), document.variant.clone());
    let of_each = sorted.chunk_by(|a, b| of_sweep(a) == of_sweep(b));
    of_each.map(|documents| render_sweep(documents, COLUMNS)).collect::<Vec<_>>().join("\n")
}

/// The ranking by the suite's score; `None`: it names none.
fn ranking<'a>(suite: &SuiteFile, documents: impl Iterator<Item = &'a Document>) -> Option<Result<Ranking, String>> {
    let Score::Hof = suite.score?;
    let runs: Vec<_> = documents.map(scored_run).collect();
    let file = ScoreFile::from_toml(HOF_SCORE).map_err(|e| e.to_string());
    Some(file.and_then(|file| rank(&file, &runs).map_err(|e| e.to_string())))
}

fn score_section(ranking: &Result<Ranking, String>, documents: &[Document]) -> String {
    match ranking {
        Ok(ranking) => render_ranking(ranking, &unequal(documents), COLUMNS),
        Err(why) => format!("there is no score: {}", console::printable(why)),
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
    fn runs_were_made_within_the_time_from_the_first_beginning_to_the_last_end() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let times = [(at("2026-01-01T00:01:00Z"), 100.0), (at("2026-01-01T00:00:00Z"), 200.0)];
        assert_eq!((within_s(&times), within_s(&[])), (Some(200.0), None));
    }

    #[test]
    fn a_rest_is_minutes_and_seconds() {
        assert_eq!((minutes(125.9), minutes(f64::NAN)), ("2:05".into(), "0:00".into()));
    }
}
