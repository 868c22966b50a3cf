//! Figures of the values of one series that come one after the other, where the client works them out.

use iotbench_core::Aggregate;

/// What is kept of the values of one series.
#[derive(Clone, Debug, Default)]
pub struct Series {
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
        self.last = Some(value);
        self.min = Some(self.min.map_or(value, |min| min.min(value)));
        self.max = Some(self.max.map_or(value, |max| max.max(value)));
        self.sum += value;
        self.count += 1;
    }

    /// The figure over all that was taken; `None` over nothing.
    pub fn figure(&self, aggregate: Aggregate) -> Option<f64> {
        match aggregate {
            Aggregate::Last => self.last,
            Aggregate::Min => self.min,
            Aggregate::Max => self.max,
            #[expect(clippy::cast_precision_loss, reason = "a figure is f64, and fewer values than 2^53 come")]
            Aggregate::Mean => (self.count > 0).then(|| self.sum / self.count as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_over_all_values() {
        let mut series = Series::default();
        assert!(
            [Aggregate::Last, Aggregate::Min, Aggregate::Mean, Aggregate::Max]
                .iter()
                .all(|&a| series.figure(a).is_none())
        );
        [2.0, -1.0, 5.0].into_iter().for_each(|value| series.take(value));
        let figures = [Aggregate::Last, Aggregate::Min, Aggregate::Mean, Aggregate::Max].map(|a| series.figure(a));
        assert_eq!(figures, [Some(5.0), Some(-1.0), Some(2.0), Some(5.0)]);
    }
}
