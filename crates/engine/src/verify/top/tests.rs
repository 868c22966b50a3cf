//! Answers that are right, as far as anyone can tell, and answers that are not.

use super::*;
use crate::verify::figure::Figure;
use iotbench_core::Domain;
use proptest::prelude::*;

const EXACT: Exactness = Exactness::new(|_| Domain::Full, false);

/// The truth of devices with these values, each of which is certain or may be there.
fn top(values: &[Vec<(f64, bool)>], aggregate: Aggregate, limit: u64, exactness: Exactness) -> Top {
    let standing = |values: &Vec<(f64, bool)>| {
        let mut figure = Figure::default();
        values.iter().for_each(|&(value, certain)| figure.add(Some(value), certain));
        Some(Standing { certain: figure.is_certain(), bounds: figure.of(aggregate)? })
    };
    let standings = (0..).zip(values).filter_map(|(device, values)| Some((device, standing(values)?))).collect();
    Top { standings, limit, aggregate, value_type: ValueType::F64, exactness }
}

/// The same of devices that have a value each.
fn top_of(values: &[f64], aggregate: Aggregate, limit: u64) -> Top {
    let values: Vec<_> = values.iter().map(|&value| vec![(value, true)]).collect();
    top(&values, aggregate, limit, EXACT)
}

fn plain(values: &[f64], aggregate: Aggregate) -> Option<f64> {
    let count = values.iter().fold(0.0, |count, _| count + 1.0);
    (count > 0.0).then(|| match aggregate {
        Aggregate::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
        Aggregate::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Aggregate::Sum => values.iter().sum(),
        Aggregate::Count => count,
        _ => values.iter().sum::<f64>() / count,
    })
}

/// The devices of these figures as a database puts them in order.
fn in_order(figures: impl Iterator<Item = Option<f64>>, limit: usize) -> Vec<(u32, f64)> {
    let mut all: Vec<_> = (0..).zip(figures).filter_map(|(device, figure)| Some((device, figure?))).collect();
    all.sort_by(|a: &(u32, f64), b| b.1.total_cmp(&a.1));
    all.truncate(limit);
    all
}

const AGGREGATES: [Aggregate; 5] = [Aggregate::Min, Aggregate::Mean, Aggregate::Max, Aggregate::Sum, Aggregate::Count];

proptest! {
    /// Whatever of the possible values a database saw, and however its arithmetic rounded sums and means, its answer is right.
    #[test]
    fn every_state_and_every_rounding_is_right(
        values in prop::collection::vec(prop::collection::vec((-4..4_i32, any::<bool>(), any::<bool>()), 0..4), 1..8),
        roundings in prop::collection::vec(-4e-10..4e-10_f64, 8),
        limit in 1..9_usize,
    ) {
        let known: Vec<Vec<(f64, bool)>> =
            values.iter().map(|values| values.iter().map(|&(value, certain, _)| (value.into(), certain)).collect()).collect();
        for aggregate in AGGREGATES {
            let rounds = matches!(aggregate, Aggregate::Mean | Aggregate::Sum);
            let figures = values.iter().zip(&roundings).map(|(values, rounding)| {
                let seen: Vec<f64> = values.iter().filter(|value| value.1 || value.2).map(|value| value.0.into()).collect();
                let magnitude = seen.iter().map(|value| value.abs()).sum::<f64>() / seen.len().max(1) as f64;
                plain(&seen, aggregate).map(|figure| if rounds { figure + rounding * magnitude } else { figure })
            });
            let answered = in_order(figures, limit);
            let found = top(&known, aggregate, limit as u64, EXACT).compare(&answered);
            prop_assert_eq!(found, Ok(()), "{:?} {:?}", aggregate, answered);
        }
    }

    /// Two devices in the wrong places are found, and one that is left out for a lesser one, where their figures are not equal.
    #[test]
    fn a_wrong_order_is_found(values in prop::collection::vec(-100..100_i32, 2..9), first in 0..8_usize, second in 0..8_usize) {
        let values: Vec<f64> = values.into_iter().map(|value| f64::from(value) * 1e-6).collect();
        for aggregate in [Aggregate::Mean, Aggregate::Max, Aggregate::Sum] {
            let right = in_order(values.iter().copied().map(Some), values.len());
            let (first, second) = (first % right.len(), second % right.len());
            let is_equal = right[first].1.total_cmp(&right[second].1).is_eq();
            let all = top_of(&values, aggregate, right.len() as u64);
            prop_assert_eq!(all.compare(&right), Ok(()));
            let mut swapped = right.clone();
            swapped.swap(first, second);
            let is_exact = aggregate == Aggregate::Max && right[first].1 != 0.0;
            let is_right = first == second || is_equal && !is_exact;
            prop_assert_eq!(all.compare(&swapped).is_ok(), is_right, "{:?} {:?}", aggregate, swapped);
            let mut shorter = right.clone();
            shorter.remove(first);
            let is_right = right.last().is_some_and(|last| {
                right[first].1.total_cmp(&last.1).is_eq() && (first + 1 == right.len() || !is_exact)
            });
            let top = top_of(&values, aggregate, shorter.len() as u64);
            prop_assert_eq!(top.compare(&shorter).is_ok(), is_right, "{:?} {:?}", aggregate, shorter);
        }
    }
}

fn wrong(top: &Top, answered: &[(u32, f64)]) -> String {
    top.compare(answered).unwrap_err()
}

#[test]
fn means_that_are_nearer_than_a_rounding_may_stand_in_either_order() {
    let top = top_of(&[1.0, 1.0 + 1e-12, 0.5], Aggregate::Mean, 2);
    for answered in [[(0, 1.0), (1, 1.0)], [(1, 1.0 + 1e-12), (0, 1.0)], [(0, 1.0), (1, 1.0 + 1e-12)]] {
        assert_eq!(top.compare(&answered), Ok(()));
    }
    assert!(wrong(&top, &[(0, 1.0), (2, 0.5)]).starts_with("device 1 is missing: "));
    let top = top_of(&[1.0, 1.0 + 1e-6], Aggregate::Mean, 1);
    assert!(wrong(&top, &[(0, 1.0)]).starts_with("device 1 is missing: "), "that is no rounding");
}

#[test]
fn of_equal_counts_and_extremes_the_lesser_device_stands_first() {
    for aggregate in [Aggregate::Count, Aggregate::Max, Aggregate::Min] {
        let top = top_of(&[1.0, 1.0, 1.0], aggregate, 2);
        assert_eq!(top.compare(&[(0, 1.0), (1, 1.0)]), Ok(()));
        assert!(wrong(&top, &[(1, 1.0), (0, 1.0)]).contains("an equal figure"));
        assert!(wrong(&top, &[(0, 1.0), (2, 1.0)]).starts_with("device 1 is missing: "));
    }
    let rounded = Exactness::new(|_| Domain::Rounded { relative: 1e-12 }, false);
    let top = Top { exactness: rounded, ..top_of(&[1.0, 1.0], Aggregate::Max, 2) };
    assert_eq!(top.compare(&[(1, 1.0), (0, 1.0)]), Ok(()), "what is stored is rounded");
}

#[test]
fn figures_devices_and_rows_that_are_not_the_truth_are_found() {
    let top = top_of(&[1.0, 2.0, 3.0], Aggregate::Mean, 3);
    assert_eq!(top.compare(&[(2, 3.0), (1, 2.0), (0, 1.0)]), Ok(()));
    assert!(wrong(&top, &[(2, 3.0), (1, 2.5), (0, 1.0)]).contains("is 2.5 and should be 2"));
    assert!(wrong(&top, &[(2, 3.0), (1, f64::NAN), (0, 1.0)]).contains("is NaN"));
    assert!(wrong(&top, &[(2, 3.0), (2, 3.0), (0, 1.0)]).contains("stands there twice"));
    assert!(wrong(&top, &[(2, 3.0), (7, 2.0), (0, 1.0)]).contains("device 7 has no value"));
    assert_eq!(wrong(&top, &[(2, 3.0), (1, 2.0)]), "device 0 is missing");
    let top = Top { limit: 2, ..top };
    assert_eq!(wrong(&top, &[(2, 3.0), (1, 2.0), (0, 1.0)]), "3 rows were answered, and 2 were asked for");
}

#[test]
fn a_device_that_may_have_a_value_may_be_left_out_and_one_that_may_have_a_greater_one_stand_anywhere() {
    let values = [vec![(1.0, true)], vec![(9.0, false)], vec![(0.0, true), (4.0, false)]];
    let top = top(&values, Aggregate::Max, 2, EXACT);
    for answered in [[(0, 1.0), (2, 0.0)], [(1, 9.0), (0, 1.0)], [(2, 4.0), (0, 1.0)], [(1, 9.0), (2, 4.0)]] {
        assert_eq!(top.compare(&answered), Ok(()), "{answered:?}");
    }
    assert!(wrong(&top, &[(0, 1.0), (2, 4.0)]).contains("stands behind one with a lesser figure"));
    assert!(wrong(&top, &[(1, 9.0), (2, 0.0)]).starts_with("device 0 is missing: "));
}
