//! The order if nobody knew what matters.

use crate::{formula::ranks, ranking::Table};
use serde::Serialize;

/// Weights drawn.
const DRAWS: u32 = 10_000;

/// How a contender ranks under weights drawn at random.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankShares {
    /// Its name.
    pub contender: String,
    /// The share of the draws in which it is first, ties included, in percent.
    pub first_pct: f64,
    /// Its mean rank.
    pub mean_rank: f64,
    /// Its best rank.
    pub best: usize,
    /// Its worst.
    pub worst: usize,
}

/// The ranks under 10,000 draws of all weights from Dirichlet(1, …, 1), under which every division of the weights is equally
/// likely (Tervonen and Lahdelma 2007: rank acceptability). The seed decides the draws.
#[must_use]
pub fn rank_shares(table: &Table, seed: u64) -> Vec<RankShares> {
    let mut random = fastrand::Rng::with_seed(seed);
    let counted: Vec<usize> = (0..table.columns.len()).filter(|&place| table.columns[place].max.is_some()).collect();
    let loss =
        |row: &[Option<f64>], place: usize| if table.columns[place].counts { row[place].unwrap_or(0.0) } else { 0.0 };
    let mut seen: Vec<Vec<usize>> = vec![Vec::new(); table.rows.len()];
    for _ in 0..DRAWS {
        // Exponential deviates over their sum are Dirichlet(1, …, 1).
        let drawn: Vec<f64> = counted.iter().map(|_| -(1.0 - random.f64()).ln()).collect();
        let sum: f64 = drawn.iter().sum();
        let score = |row: &[Option<f64>]| {
            let losses = counted.iter().zip(&drawn).map(|(&place, weight)| loss(row, place) * weight);
            (1.0 - losses.sum::<f64>() / sum) * 100.0
        };
        let scores: Vec<f64> = table.rows.iter().map(|row| score(&row.normalised)).collect();
        seen.iter_mut().zip(ranks(&scores)).for_each(|(seen, rank)| seen.push(rank));
    }
    let of_row = |(row, seen): (&crate::ranking::Row, &Vec<usize>)| RankShares {
        contender: row.contender.clone(),
        first_pct: share(seen, |rank| f64::from(u8::from(rank == 1))) * 100.0,
        #[expect(clippy::cast_precision_loss, reason = "nobody ranks 2^53 contenders")]
        mean_rank: share(seen, |rank| rank as f64),
        best: seen.iter().copied().min().unwrap_or_default(),
        worst: seen.iter().copied().max().unwrap_or_default(),
    };
    table.rows.iter().zip(&seen).map(of_row).collect()
}

fn share(seen: &[usize], of: impl Fn(usize) -> f64) -> f64 {
    seen.iter().map(|&rank| of(rank)).sum::<f64>() / f64::from(DRAWS)
}
