//! The formula, over any criteria.

use serde::{Deserialize, Serialize};

/// Which reading of the study's formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Formula {
    /// The formula as the study writes it.
    #[default]
    AsWritten,
    /// What the study's printed read scores follow: the difficulty of reading is left out of the sum of losses, while its
    /// weight stays in the sum of weights.
    Erratum,
}

/// How much a criterion counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    /// Its weight in the sum of weights.
    pub weight: f64,
    /// Whether its losses are in the sum of losses; false only in the erratum's variant.
    pub counts: bool,
}

/// The scores of some contenders.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The greatest loss of each criterion; none where a contender lacks it, so that it counts for nobody.
    pub max: Vec<Option<f64>>,
    /// The sum of the weights of the criteria that count.
    pub weights: f64,
    /// One a contender.
    pub rows: Vec<ScoredRow>,
}

/// The score of one contender.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredRow {
    /// L / max L of each criterion; none where it counts for nobody.
    pub normalised: Vec<Option<f64>>,
    /// Σ(L / max L × weight).
    pub weighted: f64,
    /// In percent, from 0 to 100.
    pub score_pct: f64,
    /// From 1; equal scores share a rank, and the next one is as many places further.
    pub rank: usize,
}

/// A loss that is none.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LossError {
    /// A loss below 0, infinite, or not a number.
    #[error("a loss must be a finite number from 0 on, and one is {0}")]
    Loss(f64),
    /// A weight below 0, infinite, or not a number.
    #[error("a weight must be a finite number from 0 on, and one is {0}")]
    Weight(f64),
    /// No criterion with a weight is known of every contender.
    #[error("there is no criterion with a weight that is known of every contender")]
    NoCriterion,
}

/// The scores of contenders whose losses are the rows, a column for each weight; a loss that is not known is none.
///
/// # Errors
/// A loss or a weight that is negative or not finite; no criterion is left.
pub fn score(weights: &[Weight], losses: &[Vec<Option<f64>>]) -> Result<Scored, LossError> {
    let good = |number: &f64| number.is_finite() && *number >= 0.0;
    if let Some(bad) = weights.iter().map(|w| w.weight).find(|w| !good(w)) {
        return Err(LossError::Weight(bad));
    }
    if let Some(bad) = losses.iter().flatten().flatten().find(|loss| !good(loss)) {
        return Err(LossError::Loss(*bad));
    }
    let max: Vec<Option<f64>> = (0..weights.len()).map(|column| greatest(losses, column)).collect();
    let sum: f64 = weights.iter().zip(&max).filter(|(_, max)| max.is_some()).map(|(w, _)| w.weight).sum();
    if sum <= 0.0 {
        return Err(LossError::NoCriterion);
    }
    let mut rows: Vec<ScoredRow> = losses.iter().map(|losses| scored_row(weights, &max, sum, losses)).collect();
    let places = ranks(&rows.iter().map(|row| row.score_pct).collect::<Vec<_>>());
    rows.iter_mut().zip(places).for_each(|(row, rank)| row.rank = rank);
    Ok(Scored { max, weights: sum, rows })
}

/// The greatest loss of a criterion, if every contender has one.
fn greatest(losses: &[Vec<Option<f64>>], column: usize) -> Option<f64> {
    let of = |row: &Vec<Option<f64>>| row.get(column).copied().flatten();
    losses.iter().map(of).try_fold(0.0, |most, loss| Some(f64::max(most, loss?)))
}

fn scored_row(weights: &[Weight], max: &[Option<f64>], sum: f64, losses: &[Option<f64>]) -> ScoredRow {
    let share = |(loss, max): (&Option<f64>, &Option<f64>)| match (loss, max) {
        (Some(_), Some(0.0)) => Some(0.0),
        (Some(loss), Some(max)) => Some(loss / max),
        _ => None,
    };
    let normalised: Vec<Option<f64>> = losses.iter().zip(max).map(share).collect();
    let counted = weights.iter().zip(&normalised).filter(|(weight, _)| weight.counts);
    let weighted = counted.filter_map(|(weight, loss)| Some(weight.weight * (*loss)?)).sum();
    ScoredRow { normalised, weighted, score_pct: (1.0 - weighted / sum) * 100.0, rank: 0 }
}

/// Scores nearer than this are equal: they differ by rounding only.
const EQUAL_PCT: f64 = 1e-9;

/// The rank of each score: 1 and the number of greater ones.
#[must_use]
pub fn ranks(scores: &[f64]) -> Vec<usize> {
    scores.iter().map(|own| 1 + scores.iter().filter(|other| **other > own + EQUAL_PCT).count()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn weights(all: &[f64]) -> Vec<Weight> {
        all.iter().map(|&weight| Weight { weight, counts: true }).collect()
    }

    #[test]
    fn a_criterion_that_one_lacks_counts_for_nobody() {
        let losses = vec![vec![Some(1.0), Some(9.0)], vec![Some(2.0), None]];
        let scored = score(&weights(&[1.0, 100.0]), &losses).unwrap();
        assert_eq!((scored.max.as_slice(), scored.weights), ([Some(2.0), None].as_slice(), 1.0));
        assert_eq!(scored.rows.iter().map(|r| r.score_pct).collect::<Vec<_>>(), [50.0, 0.0]);
        assert_eq!(scored.rows[0].normalised, [Some(0.5), None]);
    }

    #[test]
    fn a_column_of_zeros_counts_as_no_loss_and_keeps_its_weight() {
        let losses = vec![vec![Some(0.0), Some(4.0)], vec![Some(0.0), Some(4.0)]];
        let scored = score(&weights(&[3.0, 1.0]), &losses).unwrap();
        assert_eq!(scored.rows.iter().map(|r| (r.score_pct, r.rank)).collect::<Vec<_>>(), [(75.0, 1), (75.0, 1)]);
    }

    #[test]
    fn a_criterion_can_count_in_the_weights_alone() {
        let all = [Weight { weight: 1.0, counts: true }, Weight { weight: 3.0, counts: false }];
        let scored = score(&all, &[vec![Some(2.0), Some(2.0)]]).unwrap();
        assert_eq!(scored.rows[0].score_pct, 75.0);
    }

    #[test]
    fn what_is_no_loss_is_refused() {
        assert_eq!(score(&weights(&[1.0]), &[vec![Some(-1.0)]]), Err(LossError::Loss(-1.0)));
        assert!(score(&weights(&[1.0]), &[vec![Some(f64::NAN)]]).is_err());
        assert_eq!(score(&weights(&[-1.0]), &[vec![Some(1.0)]]), Err(LossError::Weight(-1.0)));
        assert_eq!(score(&weights(&[1.0]), &[vec![None]]), Err(LossError::NoCriterion));
        assert_eq!(score(&weights(&[0.0]), &[vec![Some(1.0)]]), Err(LossError::NoCriterion));
        assert_eq!(score(&[], &[]), Err(LossError::NoCriterion));
    }

    #[test]
    fn equal_scores_share_a_rank_and_the_next_is_further_down() {
        assert_eq!(ranks(&[39.0, 59.0, 39.0, 15.0, 39.0]), [2, 1, 2, 5, 2]);
        assert_eq!(ranks(&[]), Vec::<usize>::new());
        // What differs by rounding only is equal.
        assert_eq!((ranks(&[0.0, EQUAL_PCT]), ranks(&[0.0, 2.0 * EQUAL_PCT])), (vec![1, 1], vec![2, 1]));
    }

    fn table() -> impl Strategy<Value = (Vec<f64>, Vec<Vec<f64>>)> {
        (1_usize..8, 1_usize..8).prop_flat_map(|(columns, rows)| {
            let row = prop::collection::vec(0.0..1e9, columns);
            (prop::collection::vec(0.1..10.0, columns), prop::collection::vec(row, rows))
        })
    }

    fn known(rows: &[Vec<f64>]) -> Vec<Vec<Option<f64>>> {
        rows.iter().map(|row| row.iter().copied().map(Some).collect()).collect()
    }

    proptest! {
        #[test]
        fn scores_are_percentages_and_no_unit_matters((all, rows) in table(), unit in 1e-3..1e3) {
            let scored = score(&weights(&all), &known(&rows)).unwrap();
            let scaled: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|loss| loss * unit).collect()).collect();
            let again = score(&weights(&all), &known(&scaled)).unwrap();
            for (row, other) in scored.rows.iter().zip(&again.rows) {
                prop_assert!((-1e-9..=100.0 + 1e-9).contains(&row.score_pct), "{}", row.score_pct);
                prop_assert!((row.score_pct - other.score_pct).abs() < 1e-6);
            }
        }

        #[test]
        fn who_loses_less_of_everything_is_never_ranked_lower((all, rows) in table()) {
            let scored = score(&weights(&all), &known(&rows)).unwrap();
            for (a, row) in rows.iter().zip(&scored.rows) {
                for (b, other) in rows.iter().zip(&scored.rows) {
                    if a.iter().zip(b).all(|(a, b)| a <= b) {
                        prop_assert!(row.rank <= other.rank);
                    }
                }
            }
        }

        #[test]
        fn the_order_of_contenders_does_not_matter((all, mut rows) in table()) {
            let mut scored = score(&weights(&all), &known(&rows)).unwrap();
            rows.reverse();
            scored.rows.reverse();
            prop_assert_eq!(score(&weights(&all), &known(&rows)).unwrap().rows, scored.rows);
        }
    }
}
