//! How much of a ranking is chance, or the choice of the weights.

use crate::{
    pareto::pareto_front,
    random_weights::{RankShares, rank_shares},
    ranking::{Contender, Ranking, Run, Table},
    sensitivity::{WeightRange, sensitivity, total_sensitivity},
    uncertainty::{Uncertainty, uncertainty},
};
use serde::Serialize;

/// How much of a ranking is chance, or the choice of the weights.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Robustness {
    /// What decided the random weights.
    pub seed: u64,
    /// Of the scores of writing.
    pub write: Option<HalfRobustness>,
    /// Of the scores of reading.
    pub read: Option<HalfRobustness>,
    /// How far the weights of writing can move before the total's order changes; empty: there are no totals.
    pub total_by_write: Vec<WeightRange>,
    /// The same of the weights of reading.
    pub total_by_read: Vec<WeightRange>,
}

/// How much of the order of one half is chance, or the choice of the weights.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HalfRobustness {
    /// The contenders whose greatest losses every score is measured by.
    pub reference: Vec<String>,
    /// Who is beaten by nobody in everything.
    pub pareto_front: Vec<String>,
    /// How far each weight can move.
    pub weights: Vec<WeightRange>,
    /// Ranks under random weights.
    pub ranks: Vec<RankShares>,
    /// What the repetitions tell.
    pub uncertainty: Uncertainty,
}

/// What a ranking rests on. `runs` are those that were ranked.
#[must_use]
pub fn robustness(ranking: &Ranking, runs: &[Run], seed: u64) -> Robustness {
    let half = |table: &Option<Table>, runs_of: fn(&Contender) -> &[String]| {
        table.as_ref().map(|table| HalfRobustness {
            reference: table.rows.iter().map(|row| row.contender.clone()).collect(),
            pareto_front: pareto_front(table),
            weights: sensitivity(table),
            ranks: rank_shares(table, seed),
            uncertainty: uncertainty(ranking, table, runs, runs_of),
        })
    };
    let both = ranking.write.as_ref().zip(ranking.read.as_ref());
    Robustness {
        seed,
        write: half(&ranking.write, |contender| &contender.write_runs),
        read: half(&ranking.read, |contender| &contender.read_runs),
        total_by_write: both.map(|(write, read)| total_sensitivity(ranking, write, read)).unwrap_or_default(),
        total_by_read: both.map(|(write, read)| total_sensitivity(ranking, read, write)).unwrap_or_default(),
    }
}
