//! How exact scores are, by the repetitions behind them.

use crate::{
    criterion::Criterion,
    ranking::{Contender, Ranking, Row, Run, Table},
};
use iotbench_statistics::{MeanInterval, holm, interval_of_parts, p_of_parts};
use serde::Serialize;
use std::collections::BTreeMap;

/// A score with its 95 % interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreInterval {
    /// Its name.
    pub contender: String,
    /// Its score, in percent.
    pub score_pct: f64,
    /// The interval's lower end; null: a contender that decides it has a single run.
    pub low_pct: Option<f64>,
    /// Its upper end.
    pub high_pct: Option<f64>,
}

/// Two neighbours in the order that cannot be told apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tie {
    /// The one ranked higher.
    pub higher: String,
    /// The one ranked lower.
    pub lower: String,
    /// How likely such a distance is by chance, after Holm over all neighbours; null: single runs tell nothing of it.
    pub p_holm: Option<f64>,
}

/// What the repetitions tell of the scores of a half.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Uncertainty {
    /// One a contender.
    pub scores: Vec<ScoreInterval>,
    /// Neighbours in the order that cannot be told apart.
    pub ties: Vec<Tie>,
}

/// Intervals of the scores of a half by the delta method: a score is differentiated by each mean loss that it is made of, the
/// greatest losses of other contenders among them, and the variances of these are added up with Welch's degrees of freedom.
/// All criteria of a run are taken together, because they are not independent. Resampling is not used: with five repetitions
/// its 95 % are 82 %.
///
/// `runs_of` tells a contender's runs in this half.
#[must_use]
pub fn uncertainty(
    ranking: &Ranking,
    table: &Table,
    runs: &[Run],
    runs_of: fn(&Contender) -> &[String],
) -> Uncertainty {
    let samples = Samples::of(ranking, table, runs, runs_of);
    let slopes: Vec<Slopes> = (0..table.rows.len()).map(|row| slopes(table, row)).collect();
    let score = |(row, slopes): (&Row, &Slopes)| {
        let interval = interval_of_parts(row.score_pct, &samples.parts(slopes));
        ScoreInterval {
            contender: row.contender.clone(),
            score_pct: row.score_pct,
            low_pct: interval.map(|MeanInterval { low, .. }| low.max(0.0)),
            high_pct: interval.map(|MeanInterval { high, .. }| high.min(100.0)),
        }
    };
    let scores = table.rows.iter().zip(&slopes).map(score).collect();
    Uncertainty { scores, ties: ties(table, &samples, &slopes) }
}

/// The slopes of a score in the mean losses: of contenders by criteria.
type Slopes = Vec<Vec<f64>>;

/// The runs behind a table. Contenders that differ in how they read share those that write, and these are one sample.
struct Samples<'a> {
    criteria: Vec<Criterion>,
    /// Of each contender, the first one that has the same runs.
    same: Vec<usize>,
    /// What each run of a contender measured.
    figures: Vec<Vec<&'a BTreeMap<Criterion, f64>>>,
}

impl<'a> Samples<'a> {
    fn of(ranking: &Ranking, table: &Table, runs: &'a [Run], runs_of: fn(&Contender) -> &[String]) -> Self {
        let named = |row: &Row| {
            let contender = ranking.contenders.iter().find(|contender| contender.name == row.contender);
            contender.map(runs_of).unwrap_or_default()
        };
        let names: Vec<&[String]> = table.rows.iter().map(named).collect();
        let figures = |name: &String| runs.iter().find(|run| run.name == *name).map(|run| &run.figures);
        Self {
            criteria: table.columns.iter().map(|column| column.criterion).collect(),
            same: names.iter().map(|own| names.iter().position(|other| other == own).unwrap_or_default()).collect(),
            figures: names.iter().map(|names| names.iter().filter_map(figures).collect()).collect(),
        }
    }

    /// What each run adds to a score, by sample. A sample that does not move the score adds nothing to its uncertainty, and
    /// may be of a single run.
    fn parts(&self, slopes: &Slopes) -> Vec<Vec<f64>> {
        let of_sample = |first: usize| {
            let own = || self.same.iter().zip(slopes).filter(|(same, _)| **same == first).map(|(_, slopes)| slopes);
            let slope = |place: usize| own().map(|slopes| slopes[place]).sum::<f64>();
            let slopes: Vec<f64> = (0..self.criteria.len()).map(slope).collect();
            let of_run = |figures: &&BTreeMap<Criterion, f64>| {
                let known = self.criteria.iter().zip(&slopes).filter_map(|(c, slope)| Some(slope * figures.get(c)?));
                known.sum::<f64>()
            };
            slopes.iter().any(|slope| *slope != 0.0).then(|| self.figures[first].iter().map(of_run).collect())
        };
        (0..self.same.len()).filter_map(of_sample).collect()
    }
}

/// Neighbours in the order whose distance is no more than chance. Who shares his runs with another is no other.
fn ties(table: &Table, samples: &Samples<'_>, slopes: &[Slopes]) -> Vec<Tie> {
    let mut order: Vec<usize> = (0..table.rows.len()).filter(|&row| samples.same[row] == row).collect();
    order.sort_by(|&a, &b| table.rows[b].score_pct.total_cmp(&table.rows[a].score_pct));
    let p_of = |pair: &[usize]| {
        let (a, b) = (pair[0], pair[1]);
        let apart = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| a - b).collect();
        let apart: Slopes = slopes[a].iter().zip(&slopes[b]).map(apart).collect();
        p_of_parts(table.rows[a].score_pct - table.rows[b].score_pct, &samples.parts(&apart))
    };
    let p_values: Vec<Option<f64>> = order.windows(2).map(p_of).collect();
    let known: Vec<f64> = p_values.iter().flatten().copied().collect();
    let mut adjusted = holm(&known).into_iter();
    let tie = |(pair, p): (&[usize], Option<f64>)| {
        let p_holm = p.and_then(|_| adjusted.next());
        let name = |place: usize| table.rows[place].contender.clone();
        (p_holm.is_none_or(|p| p > 0.05)).then(|| Tie { higher: name(pair[0]), lower: name(pair[1]), p_holm })
    };
    order.windows(2).zip(p_values).filter_map(tie).collect()
}

/// How a contender's score moves with each mean loss: of contenders by criteria. Its own losses lower it, and the greatest
/// loss of a criterion, whoever has it, is what they are measured by.
fn slopes(table: &Table, own: usize) -> Slopes {
    let mut slopes = vec![vec![0.0; table.columns.len()]; table.rows.len()];
    for (place, column) in table.columns.iter().enumerate() {
        let (Some(max), true) = (column.max.filter(|max| *max > 0.0), column.counts) else { continue };
        if column.criterion == Criterion::Difficulty {
            // A judgement has no repetitions.
            continue;
        }
        let loss = |row: usize| table.rows[row].losses[place].unwrap_or(0.0);
        let unit = 100.0 * column.weight / table.weights / max;
        slopes[own][place] -= unit;
        if let Some(greatest) = (0..table.rows.len()).max_by(|&a, &b| loss(a).total_cmp(&loss(b))) {
            slopes[greatest][place] += unit * loss(own) / max;
        }
    }
    slopes
}
