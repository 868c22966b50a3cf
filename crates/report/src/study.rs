//! What a study printed beside the figures of a suite's runs. Pure.

mod curve;
mod evidence;
mod figure;
mod missing;
mod text;

pub use figure::{SCORES, is_curve_figure, is_study_figure, study_figure};
pub use text::render_study;

use crate::{
    document::{Document, Status},
    upper_ends::remarks_of_upper_ends,
};
use iotbench_scoring::Ranking;
use iotbench_suite::{Curve, Record, Study, StudyCurve, StudyTable, SuiteFile, Table};

/// Figures of response times that stand here with the upper ends of ranges.
const UPPER_ENDS: [&str; 2] = ["response_mean_us", "response_p99_us"];

/// A run of a suite.
#[derive(Clone, Copy, Debug)]
pub struct SuiteRun<'a> {
    /// The contender whose it is, as in the suite's record.
    pub contender: &'a str,
    /// What it found.
    pub document: &'a Document,
}

impl SuiteRun<'_> {
    fn is_valid(&self) -> bool {
        self.document.verdict.status == Status::Valid
    }

    /// The contender without the size of its cluster.
    fn base(&self) -> &str {
        let nodes = format!(", {} nodes", evidence::nodes_of(self.document));
        self.contender.strip_suffix(nodes.as_str()).unwrap_or(self.contender)
    }
}

/// What the suite's study printed, beside these runs of it; `ranking` is theirs by the suite's score.
#[must_use]
pub fn study(suite: &SuiteFile, record: &Record, runs: &[SuiteRun<'_>], ranking: Option<&Ranking>) -> Study {
    let table = |table: &Table| {
        StudyTable::new(table, |contender, figure| match table.profile.as_str() {
            SCORES => figure::score(ranking?, contender, figure),
            profile => {
                let own = runs.iter().filter(|run| run.is_valid() && run.document.profile == profile);
                mean(own.filter(|run| run.contender == contender).map(|run| study_figure(run.document, figure)))
            }
        })
    };
    let curve = |of: &Curve| StudyCurve::new(of, |contender, at| curve::curve_figure(of, runs, contender, at));
    let evidence = if suite.hypotheses.is_empty() { Vec::new() } else { evidence::evidence(runs) };
    let valid = runs.iter().filter(|run| run.is_valid()).map(|run| run.document);
    let study = Study {
        name: suite.study.clone().unwrap_or_default(),
        tables: suite.tables.iter().map(table).collect(),
        curves: suite.curves.iter().map(curve).collect(),
        hypotheses: suite.hypotheses.iter().map(|hypothesis| hypothesis.answer(&evidence)).collect(),
        missing: Vec::new(),
        remarks: remarks_of_upper_ends(&valid, UPPER_ENDS.into_iter()),
    };
    Study { missing: missing::missing(&study, record, runs), ..study }
}

/// `None`: there are none, or one is not known.
fn mean(figures: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let figures: Vec<f64> = figures.collect::<Option<_>>()?;
    (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / figures.len() as f64)
}
