//! Figures over many values, worked out of the truth: between which bounds each lies.

use iotbench_core::{Aggregate, Percentile};
use std::fmt;

/// What aggregates of one signal are worked out of: values that are certainly among them, and values that may be.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    certain: Sums,
    possible: Sums,
    /// The least and the greatest that the oldest value may be, and whether a certain one has come.
    first: Option<(f64, f64, bool)>,
    /// The least and the greatest that the newest value may be.
    last: Option<(f64, f64)>,
    /// All of both, in ascending order once it is complete, where percentiles are among the aggregates.
    values: Option<Vec<f64>>,
}

/// Between which bounds a figure lies; where nothing was written meanwhile, they are one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The least that it may be.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
    /// The mean magnitude of what it is worked out of: sums of opposite signs lose digits in proportion to it.
    pub magnitude: f64,
    /// How many values it is worked out of, at most.
    pub count: f64,
}

#[derive(Clone, Copy, Debug)]
struct Sums {
    count: u64,
    sum: f64,
    /// The sum of those below 0.
    below: f64,
    /// The sum of those above.
    above: f64,
    min: f64,
    max: f64,
    magnitude: f64,
}

impl Default for Sums {
    fn default() -> Self {
        Self { count: 0, sum: 0.0, below: 0.0, above: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY, magnitude: 0.0 }
    }
}

impl Figure {
    /// For these aggregates.
    #[must_use]
    pub fn new(aggregates: &[Aggregate]) -> Self {
        let has_percentile = aggregates.iter().any(|aggregate| aggregate.is_percentile());
        Self { values: has_percentile.then(Vec::new), ..Self::default() }
    }

    /// Begins anew, for the same aggregates.
    pub fn clear(&mut self) {
        let mut values = self.values.take();
        values.iter_mut().for_each(Vec::clear);
        *self = Self { values, ..Self::default() };
    }

    /// Adds the next value in the order of time; text that reads as no number is none.
    pub fn add(&mut self, number: Option<f64>, certain: bool) {
        let Some(number) = number else { return };
        self.last = match self.last {
            Some((least, greatest)) if !certain => Some((least.min(number), greatest.max(number))),
            _ => Some((number, number)),
        };
        self.first = match self.first {
            None => Some((number, number, certain)),
            Some((least, greatest, false)) => Some((least.min(number), greatest.max(number), certain)),
            known => known,
        };
        if certain { &mut self.certain } else { &mut self.possible }.add(number);
        self.values.iter_mut().for_each(|values| values.push(number));
    }

    /// To be said when the last value was added.
    pub fn complete(&mut self) {
        self.values.iter_mut().for_each(|values| values.sort_unstable_by(f64::total_cmp));
    }

    /// Whether there certainly is a value.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.certain.count > 0
    }

    /// An aggregate; `None` of no value.
    #[must_use]
    pub fn of(&self, aggregate: Aggregate) -> Option<Bounds> {
        let (certain, possible) = (&self.certain, &self.possible);
        let count = as_f64(certain.count + possible.count);
        let all = certain.magnitude + possible.magnitude;
        let magnitude = if aggregate == Aggregate::Sum { all } else { all / count };
        let (least, greatest) = match aggregate {
            Aggregate::First => self.first.map(|(least, greatest, _)| (least, greatest))?,
            Aggregate::Last => self.last?,
            // Of possible values alone there is at least one, or no row.
            Aggregate::Count => (as_f64(certain.count.max(1)), count),
            Aggregate::Sum => self.sums(),
            Aggregate::Min if certain.count > 0 => (certain.min.min(possible.min), certain.min),
            Aggregate::Max if certain.count > 0 => (certain.max, certain.max.max(possible.max)),
            Aggregate::Mean if certain.count > 0 => self.means(),
            Aggregate::Min | Aggregate::Max | Aggregate::Mean => (possible.min, possible.max),
            Aggregate::Percentile(percentile) => self.around(percentile)?,
        };
        (count > 0.0).then_some(Bounds { least, greatest, magnitude, count })
    }

    /// The values of the ranks before and after a percentile's, the lesser among all values and the greater among all from the
    /// greatest down, as far from each end as in the certain ones alone. With some of the possible values no rank is nearer to its
    /// end, and with all of them no value is less, or greater.
    fn around(&self, percentile: Percentile) -> Option<(f64, f64)> {
        let values = self.values.as_deref()?;
        // Of possible values alone there is at least one.
        let certain = usize::try_from(self.certain.count.max(1)).ok()?;
        let (before, after) = percentile.neighbours(certain);
        Some((*values.get(before)?, *values.get(values.len().checked_sub(certain - after)?)?))
    }

    /// The sum of the certain values, with the possible ones below 0 and with those above; of possible values alone with one
    /// of them at least.
    fn sums(&self) -> (f64, f64) {
        let Self { certain, possible, .. } = self;
        match (certain.count, possible.min > 0.0, possible.max < 0.0) {
            (0, true, _) => (possible.min, possible.above),
            (0, _, true) => (possible.below, possible.max),
            _ => (certain.sum + possible.below, certain.sum + possible.above),
        }
    }

    /// The mean of the certain values, and of these with any number of others that are all least or all greatest.
    fn means(&self) -> (f64, f64) {
        let Sums { count, sum, .. } = self.certain;
        let (mean, others) = (sum / as_f64(count), as_f64(self.possible.count));
        if self.possible.count == 0 {
            return (mean, mean);
        }
        let with = |other: f64| (sum + others * other) / (as_f64(count) + others);
        (mean.min(with(self.possible.min)), mean.max(with(self.possible.max)))
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { least, greatest, .. } = self;
        if least.total_cmp(greatest).is_eq() { write!(f, "{least}") } else { write!(f, "from {least} to {greatest}") }
    }
}

impl Sums {
    fn add(&mut self, number: f64) {
        self.count += 1;
        self.sum += number;
        self.below += number.min(0.0);
        self.above += number.max(0.0);
        self.min = self.min.min(number);
        self.max = self.max.max(number);
        self.magnitude += number.abs();
    }
}

#[expect(clippy::cast_precision_loss, reason = "fewer values than 2^53")]
fn as_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Aggregate; 7] = Aggregate::ALL;

    /// An aggregate over these, in order.
    fn plain(numbers: &[f64], aggregate: Aggregate) -> Option<f64> {
        let last = *numbers.last()?;
        Some(match aggregate {
            Aggregate::First => *numbers.first()?,
            Aggregate::Last => last,
            Aggregate::Sum => numbers.iter().sum(),
            Aggregate::Count => as_f64(numbers.len() as u64),
            Aggregate::Min => numbers.iter().copied().fold(f64::INFINITY, f64::min),
            Aggregate::Max => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Aggregate::Mean => numbers.iter().sum::<f64>() / as_f64(numbers.len() as u64),
            Aggregate::Percentile(percentile) => percentile.of(&ascending(numbers))?,
        })
    }

    fn ascending(numbers: &[f64]) -> Vec<f64> {
        let mut ascending = numbers.to_vec();
        ascending.sort_by(f64::total_cmp);
        ascending
    }

    fn percentiles() -> Vec<Percentile> {
        ["p0.1", "p5", "p50", "p90", "p99.9"].into_iter().filter_map(Percentile::parse).collect()
    }

    fn figure(values: &[(f64, bool, bool)]) -> Figure {
        let mut figure = Figure::new(&[Aggregate::Percentile(percentiles()[0])]);
        values.iter().for_each(|&(number, certain, _)| figure.add(Some(number), certain));
        figure.complete();
        figure
    }

    proptest! {
        /// Whichever of the possible values were there, the figure lies within the bounds.
        #[test]
        fn bounds_hold_every_figure_that_could_be(
            values in prop::collection::vec((-100.0..100.0_f64, any::<bool>(), any::<bool>()), 1..40),
        ) {
            let seen: Vec<f64> = values.iter().filter(|v| v.1 || v.2).map(|v| v.0).collect();
            for aggregate in ALL {
                if let Some(got) = plain(&seen, aggregate) {
                    let bounds = figure(&values).of(aggregate).unwrap();
                    prop_assert!(bounds.least - 1e-9 <= got && got <= bounds.greatest + 1e-9, "{aggregate:?} {got} {bounds:?}");
                }
            }
            let ascending = ascending(&seen);
            for percentile in percentiles() {
                let (before, after) = percentile.neighbours(seen.len());
                let (Some(&least), Some(&greatest)) = (ascending.get(before), ascending.get(after)) else { continue };
                let bounds = figure(&values).of(Aggregate::Percentile(percentile)).unwrap();
                prop_assert!(bounds.least <= least && greatest <= bounds.greatest, "{percentile} {least} {greatest} {bounds:?}");
            }
        }

        /// Of certain values a percentile lies between the values of the ranks beside its own, and nothing further off will do.
        #[test]
        fn of_certain_values_a_percentile_lies_between_its_neighbours(numbers in prop::collection::vec(-100.0..100.0_f64, 1..40)) {
            let values: Vec<_> = numbers.iter().map(|&number| (number, true, false)).collect();
            let ascending = ascending(&numbers);
            for percentile in percentiles() {
                let bounds = figure(&values).of(Aggregate::Percentile(percentile)).unwrap();
                let (before, after) = percentile.neighbours(numbers.len());
                prop_assert_eq!((bounds.least, bounds.greatest), (ascending[before], ascending[after]));
            }
        }

        #[test]
        fn of_certain_values_the_bounds_are_one(numbers in prop::collection::vec(-100.0..100.0_f64, 1..40)) {
            let values: Vec<_> = numbers.iter().map(|&number| (number, true, false)).collect();
            for aggregate in ALL {
                let bounds = figure(&values).of(aggregate).unwrap();
                prop_assert_eq!((bounds.least, bounds.greatest), (bounds.greatest, bounds.least));
                prop_assert!((bounds.least - plain(&numbers, aggregate).unwrap()).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn there_is_none_of_no_value() {
        assert!(ALL.iter().all(|&aggregate| Figure::default().of(aggregate).is_none()));
        assert!(figure(&[]).of(Aggregate::Percentile(percentiles()[0])).is_none());
    }

    #[test]
    fn a_figure_begins_anew_for_the_same_aggregates() {
        let p50 = Aggregate::Percentile(percentiles()[2]);
        let mut figure = figure(&[(1.0, true, false)]);
        figure.clear();
        assert!(figure.of(p50).is_none() && !figure.is_certain());
        figure.add(Some(7.0), true);
        figure.complete();
        assert_eq!(figure.of(p50).map(|bounds| (bounds.least, bounds.greatest)), Some((7.0, 7.0)));
    }
}
