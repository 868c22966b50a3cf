//! How exact scores are, by the repetitions behind them.

use crate::{
    criterion::Criterion,
    ranking::{Contender, Ranking, Run, Table},
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

/// What each run adds to a score, by contender: the linear part of the score in its losses.
type Parts = Vec<Vec<f64>>;

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
    let figures: Vec<Vec<&BTreeMap<Criterion, f64>>> = table
        .rows
        .iter()
        .map(|row| {
            let contender = ranking.contenders.iter().find(|contender| contender.name == row.contender);
            let own = contender.map(runs_of).unwrap_or_default();
            own.iter().filter_map(|name| runs.iter().find(|run| run.name == *name).map(|run| &run.figures)).collect()
        })
        .collect();
    let parts = |slopes: &[Vec<f64>]| -> Parts {
        let of_run = |slopes: &[f64], figures: &BTreeMap<Criterion, f64>| {
            let columns = table.columns.iter().zip(slopes);
            columns.filter_map(|(column, slope)| Some(slope * figures.get(&column.criterion)?)).sum::<f64>()
        };
        let of_contender = |(runs, slopes): (&Vec<&BTreeMap<Criterion, f64>>, &Vec<f64>)| {
            // Who does not move the score adds nothing to its uncertainty, and may have a single run.
            let moves = slopes.iter().any(|slope| *slope != 0.0);
            if moves { runs.iter().map(|figures| of_run(slopes, figures)).collect() } else { Vec::new() }
        };
        figures.iter().zip(slopes).map(of_contender).filter(|parts| !parts.is_empty()).collect()
    };
    let slopes: Vec<Vec<Vec<f64>>> = (0..table.rows.len()).map(|row| slopes(table, row)).collect();
    let score = |place: usize| {
        let row = &table.rows[place];
        let interval = interval_of_parts(row.score_pct, &parts(&slopes[place]));
        ScoreInterval {
            contender: row.contender.clone(),
            score_pct: row.score_pct,
            low_pct: interval.map(|MeanInterval { low, .. }| low.max(0.0)),
            high_pct: interval.map(|MeanInterval { high, .. }| high.min(100.0)),
        }
    };
    let mut order: Vec<usize> = (0..table.rows.len()).collect();
    order.sort_by(|&a, &b| table.rows[b].score_pct.total_cmp(&table.rows[a].score_pct));
    let neighbours: Vec<(usize, usize)> = order.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let p_of = |&(a, b): &(usize, usize)| {
        let apart: Vec<Vec<f64>> =
            slopes[a].iter().zip(&slopes[b]).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a - b).collect()).collect();
        p_of_parts(table.rows[a].score_pct - table.rows[b].score_pct, &parts(&apart))
    };
    let p_values: Vec<Option<f64>> = neighbours.iter().map(p_of).collect();
    let known: Vec<f64> = p_values.iter().flatten().copied().collect();
    let mut adjusted = holm(&known).into_iter();
    let ties = neighbours.iter().zip(p_values).filter_map(|(&(a, b), p)| {
        let p_holm = p.and_then(|_| adjusted.next());
        let name = |place: usize| table.rows[place].contender.clone();
        (p_holm.is_none_or(|p| p > 0.05)).then(|| Tie { higher: name(a), lower: name(b), p_holm })
    });
    let ties = ties.collect();
    Uncertainty { scores: (0..table.rows.len()).map(score).collect(), ties }
}

/// How a contender's score moves with each mean loss: of contenders by criteria. Its own losses lower it, and the greatest
/// loss of a criterion, whoever has it, is what they are measured by.
fn slopes(table: &Table, own: usize) -> Vec<Vec<f64>> {
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
