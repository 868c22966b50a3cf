//! Many runs of the same, one after the other: since when is a figure otherwise? Pure.

mod plot;
mod text;

pub use text::render_history;

use crate::{
    compare::{Aspect, Metric, Unlike, unlike, valid},
    document::Document,
    upper_ends::remarks_of_upper_ends,
};
use iotbench_statistics::{Direction, LevelChange, level_changes};
use serde::Serialize;

/// Series of runs, each of one workload on one database.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct History {
    /// In the order of their first runs.
    pub series: Vec<Series>,
    /// Runs that are not valid and therefore in no series, and why.
    pub left_out: Vec<String>,
}

/// Runs of one workload on one database, by their start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// The profile, with its variant.
    pub profile: String,
    /// Database, layout and strategy.
    pub target: String,
    /// The runs.
    pub runs: Vec<String>,
    /// The metrics that every run has.
    pub metrics: Vec<MetricHistory>,
    /// What a reader has to know.
    pub remarks: Vec<String>,
}

/// One metric over the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricHistory {
    /// Its name.
    pub metric: &'static str,
    /// Its figure of each run.
    pub figures: Vec<f64>,
    /// Where its level changed.
    pub changes: Vec<HistoryChange>,
    /// Why no change can be told.
    pub why: Option<String>,
}

/// A change of level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryChange {
    /// The first run of the new level.
    pub run: String,
    /// Its place among the runs, from 0.
    pub at: usize,
    /// When it began, RFC 3339.
    pub started: String,
    /// The geometric mean of the level before.
    pub before: f64,
    /// That of the level from here on.
    pub after: f64,
    /// after / before − 1 in percent.
    pub change_pct: f64,
    /// The lower end of its 95 % interval.
    pub low_pct: f64,
    /// Its upper end.
    pub high_pct: f64,
    /// `better` or `worse`.
    pub verdict: &'static str,
    /// What else differs between this run and the one before.
    pub differs: Vec<Unlike>,
}

/// The series that these runs make, and where the level of each of these metrics changed.
#[must_use]
pub fn history(runs: Vec<Document>, metrics: &[&'static Metric]) -> History {
    let (runs, left_out) = valid(runs);
    let mut series: Vec<Vec<Document>> = Vec::new();
    for run in runs {
        let own = series.iter_mut().find(|series| series.first().is_some_and(|first| of_one_series(first, &run)));
        match own {
            Some(own) => own.push(run),
            None => series.push(vec![run]),
        }
    }
    History { series: series.iter().map(|runs| Series::of(runs, metrics)).collect(), left_out }
}

fn of_one_series(first: &Document, run: &Document) -> bool {
    let is_plan = |differs: &Unlike| differs.aspect == Aspect::Plan;
    first.target.title() == run.target.title() && !unlike(first, run).iter().any(is_plan)
}

impl Series {
    fn of(runs: &[Document], metrics: &[&'static Metric]) -> Self {
        let of_metric = |metric: &&'static Metric| {
            let figures: Vec<f64> = runs.iter().map(|run| metric.of(run)).collect::<Option<_>>()?;
            let (changes, why) = match level_changes(&figures) {
                Ok(found) => (found.iter().filter_map(|change| changed(runs, metric, change)).collect(), None),
                Err(error) => (Vec::new(), Some(error.to_string())),
            };
            Some(MetricHistory { metric: metric.name, figures, changes, why })
        };
        Self {
            profile: runs.first().map(Document::profile_title).unwrap_or_default(),
            target: runs.first().map(|run| run.target.title()).unwrap_or_default(),
            runs: runs.iter().map(|run| run.run_id.clone()).collect(),
            metrics: metrics.iter().filter_map(of_metric).collect(),
            remarks: remarks_of_upper_ends(&runs.iter(), metrics.iter().map(|metric| metric.name)),
        }
    }
}

fn changed(runs: &[Document], metric: &Metric, change: &LevelChange) -> Option<HistoryChange> {
    let (before, run) = (runs.get(change.at.checked_sub(1)?)?, runs.get(change.at)?);
    let is_better = (change.change > 0.0) == (metric.direction == Direction::MoreIsBetter);
    Some(HistoryChange {
        run: run.run_id.clone(),
        at: change.at,
        started: run.started.clone(),
        before: change.before,
        after: change.after,
        change_pct: change.change * 100.0,
        low_pct: change.low * 100.0,
        high_pct: change.high * 100.0,
        verdict: if is_better { "better" } else { "worse" },
        differs: unlike(before, run),
    })
}
