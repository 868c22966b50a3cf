//! How far each weight can move before the order changes.

use crate::{
    criterion::Criterion,
    lines::{Crossing, Line, crossings},
    ranking::{Ranking, Row, Table},
};
use serde::Serialize;

/// How far one weight can move while the others stay, which is the same as renormalising them all.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeightRange {
    /// The criterion.
    pub criterion: Criterion,
    /// Its weight.
    pub weight: f64,
    /// The nearest weights, below and above, at which the first is overtaken; null: at none.
    pub first: [Option<Overtaking>; 2],
    /// The nearest weights at which any two change places; null: at none.
    pub order: [Option<Overtaking>; 2],
}

/// A weight beyond which one contender is ahead of another that was not behind it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overtaking {
    /// The weight.
    pub weight: f64,
    /// Who falls behind.
    pub overtaken: String,
    /// Whom.
    pub by: String,
}

/// For each weight of a half, how far it can move before the half's order changes. Exact: a score is a linear function of a
/// weight's share of all weights, so that the order changes only where two lines cross.
#[must_use]
pub fn sensitivity(table: &Table) -> Vec<WeightRange> {
    ranges(table, |_| Some(0.0), 1.0)
}

/// The same of the total, which is the mean of both halves: the weights of one half move, the other half stays.
#[must_use]
pub fn total_sensitivity(ranking: &Ranking, moving: &Table, other: &Table) -> Vec<WeightRange> {
    let of_other = |row: &Row| {
        let is_ranked = ranking.total.iter().any(|total| total.contender == row.contender);
        let score_pct = other.rows.iter().find(|other| other.contender == row.contender)?.score_pct;
        is_ranked.then_some(score_pct / 2.0)
    };
    ranges(moving, of_other, 0.5)
}

/// `besides` is what a contender has besides this part of its score; none takes it out.
fn ranges(table: &Table, besides: impl Fn(&Row) -> Option<f64>, part: f64) -> Vec<WeightRange> {
    let rows: Vec<(&Row, f64)> = table.rows.iter().filter_map(|row| Some((row, besides(row)?))).collect();
    let counted: Vec<usize> = (0..table.columns.len()).filter(|&place| table.columns[place].max.is_some()).collect();
    let range = |&place: &usize| {
        let column = &table.columns[place];
        let rest = table.weights - column.weight;
        // The only criterion is the score, whatever it weighs.
        let lines: Vec<Line> = if rest > 0.0 {
            rows.iter().map(|(row, besides)| line(table, row, place, rest, *besides, part)).collect()
        } else {
            Vec::new()
        };
        let share = column.weight / table.weights;
        let first = leader(&lines, share);
        let named = |crossing: Option<Crossing>| {
            let crossing = crossing?;
            let name = |place: usize| rows.get(place).map(|(row, _)| row.contender.clone()).unwrap_or_default();
            let weight = rest * crossing.share / (1.0 - crossing.share);
            let (overtaken, by) = (name(crossing.overtaken), name(crossing.by));
            weight.is_finite().then_some(Overtaking { weight, overtaken, by })
        };
        WeightRange {
            criterion: column.criterion,
            weight: column.weight,
            first: crossings(&lines, share, first.as_slice()).map(named),
            order: crossings(&lines, share, &(0..lines.len()).collect::<Vec<_>>()).map(named),
        }
    };
    counted.iter().map(range).collect()
}

fn line(table: &Table, row: &Row, place: usize, rest: f64, besides: f64, part: f64) -> Line {
    let gain = |place: usize| {
        let column = &table.columns[place];
        let loss = if column.counts { row.normalised[place].unwrap_or(0.0) } else { 0.0 };
        (1.0 - loss) * 100.0
    };
    let others = (0..table.columns.len()).filter(|&other| other != place && table.columns[other].max.is_some());
    let without = others.map(|other| table.columns[other].weight * gain(other)).sum::<f64>() / rest;
    Line { rest: besides + part * without, slope: part * (gain(place) - without) }
}

/// Who is ahead.
fn leader(lines: &[Line], share: f64) -> Option<usize> {
    let score = |line: &Line| line.rest + line.slope * share;
    (0..lines.len()).max_by(|&a, &b| score(&lines[a]).total_cmp(&score(&lines[b])).then(b.cmp(&a)))
}
