//! What the runs of a suite found out: their documents, the score, the study's tables beside them, and their page.

use crate::error::SessionError;
use iotbench_report::{
    Document, HtmlOptions, REPORT_FILE, ReportedRun, SuiteRun, render_html, scored_run, study, write_file,
};
use iotbench_scoring::{Ranking, ScoreFile, rank};
use iotbench_suite::{Record, Score, State, Study, SuiteFile};
use iotbench_workloads::HOF_SCORE;
use jiff::Timestamp;
use std::path::{Path, PathBuf};

/// A suite's runs that came to their end.
pub struct SuiteResults<'a> {
    /// The suite.
    pub suite: &'a SuiteFile,
    /// What became of each run.
    pub record: &'a Record,
    /// Its folder.
    pub folder: &'a Path,
    /// The runs that ended.
    pub runs: Vec<ReportedRun>,
    /// From the beginning of the first run to the end of the last, in seconds.
    pub within_s: Option<f64>,
    /// The ranking by the suite's score, or why there is none; `None`: it names no score.
    pub ranking: Option<Result<Ranking, String>>,
    /// Whose each run is.
    contenders: Vec<String>,
}

impl<'a> SuiteResults<'a> {
    /// Reads what the runs left in the suite's folder.
    pub(super) fn read(suite: &'a SuiteFile, record: &'a Record, folder: &'a Path) -> Result<Self, SessionError> {
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

    /// All runs as one page in the suite's folder; `None`: none came to its end.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn page(&self) -> Result<Option<PathBuf>, SessionError> {
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

    /// What the study printed beside what the runs found.
    #[must_use]
    pub fn study(&self) -> Study {
        let named = self.contenders.iter().zip(&self.runs);
        let runs: Vec<SuiteRun<'_>> =
            named.map(|(contender, run)| SuiteRun { contender, document: &run.document }).collect();
        study(self.suite, self.record, &runs, self.ranking.as_ref().and_then(|ranking| ranking.as_ref().ok()))
    }
}

/// From the first beginning to the last end of runs that took so many seconds.
fn within_s(times: &[(Timestamp, f64)]) -> Option<f64> {
    let first = times.iter().map(|(began, _)| *began).min()?;
    times.iter().map(|(began, seconds)| began.duration_since(first).as_secs_f64() + seconds).reduce(f64::max)
}

/// The ranking by the suite's score; `None`: it names none.
fn ranking<'a>(suite: &SuiteFile, documents: impl Iterator<Item = &'a Document>) -> Option<Result<Ranking, String>> {
    let Score::Hof = suite.score?;
    let runs: Vec<_> = documents.map(scored_run).collect();
    let file = ScoreFile::from_toml(HOF_SCORE).map_err(|e| e.to_string());
    Some(file.and_then(|file| rank(&file, &runs).map_err(|e| e.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_were_made_within_the_time_from_the_first_beginning_to_the_last_end() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let times = [(at("2026-01-01T00:01:00Z"), 100.0), (at("2026-01-01T00:00:00Z"), 200.0)];
        assert_eq!((within_s(&times), within_s(&[])), (Some(200.0), None));
    }
}
