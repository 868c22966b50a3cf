//! Figures of the values of one series that come one after the other, where the client works them out.

use iotbench_core::Aggregate;

/// What is kept of the values of one series.
#[derive(Clone, Debug, Default)]
pub struct Series {
    first: Option<f64>,
    last: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    sum: f64,
    count: u64,
}

impl Series {
    /// Takes the next value.
    #[inline]
    pub fn take(&mut self, value: f64) {
        self.first = self.first.or(Some(value));
        self.last = Some(value);
        self.min = Some(self.min.map_or(value, |min| min.min(value)));
        self.max = Some(self.max.map_or(value, |max| max.max(value)));
        self.sum += value;
        self.count += 1;
    }

    /// A figure over all that was taken; none over nothing, and no percentile, for which all values would be kept.
    #[must_use]
    pub fn figure(&self, aggregate: Aggregate) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a figure is f64, and fewer values than 2^53 come")]
        let count = (self.count > 0).then_some(self.count as f64)?;
        match aggregate {
            Aggregate::First => self.first,
            Aggregate::Last => self.last,
            Aggregate::Min => self.min,
            Aggregate::Mean => Some(self.sum / count),
            Aggregate::Max => self.max,
            Aggregate::Sum => Some(self.sum),
            Aggregate::Count => Some(count),
            Aggregate::Percentile(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_over_all_values() {
        let mut series = Series::default();
        assert!(Aggregate::ALL.iter().all(|&a| series.figure(a).is_none()));
        [2.0, -1.0, 5.0].into_iter().for_each(|value| series.take(value));
        let figures = Aggregate::ALL.map(|a| series.figure(a));
        let (first, last, min, mean, max, sum, count) = (2.0, 5.0, -1.0, 2.0, 5.0, 6.0, 3.0);
        assert_eq!(figures, [first, last, min, mean, max, sum, count].map(Some));
    }
}
