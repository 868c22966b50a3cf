//! Figures of the values of one series that come one after the other, where the client works them out.

use iotbench_core::{Aggregate, Chunk};

/// The figures of one series; `None` where no value is a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// The newest value.
    pub last: Option<f64>,
    /// The least.
    pub min: Option<f64>,
    /// The arithmetic mean.
    pub mean: Option<f64>,
    /// The greatest.
    pub max: Option<f64>,
}

impl Summary {
    /// One of them.
    #[must_use]
    pub fn figure(&self, aggregate: Aggregate) -> Option<f64> {
        match aggregate {
            Aggregate::Last => self.last,
            Aggregate::Min => self.min,
            Aggregate::Mean => self.mean,
            Aggregate::Max => self.max,
        }
    }
}

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

    /// The figures over all that was taken; none over nothing.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let &Self { last, min, max, sum, count } = self;
        #[expect(clippy::cast_precision_loss, reason = "a figure is f64, and fewer values than 2^53 come")]
        let mean = (count > 0).then(|| sum / count as f64);
        Summary { last, min, mean, max }
    }

    /// One of them.
    #[must_use]
    pub fn figure(&self, aggregate: Aggregate) -> Option<f64> {
        self.summary().figure(aggregate)
    }
}

/// The same of each signal of datapoints that come one after the other.
#[derive(Clone, Debug, Default)]
pub struct OfSignals(Option<Vec<Series>>);

impl OfSignals {
    /// Takes the next datapoint: the only one of a chunk.
    pub fn take(&mut self, point: &Chunk) {
        let series = self.0.get_or_insert_with(|| vec![Series::default(); point.columns.len()]);
        for (series, column) in series.iter_mut().zip(&point.columns) {
            if let Some(number) = column.get(0).and_then(|value| value.as_f64()) {
                series.take(number);
            }
        }
    }

    /// The figures of each signal; `None` where no datapoint came.
    #[must_use]
    pub fn summaries(&self) -> Option<Vec<Summary>> {
        self.0.as_ref().map(|series| series.iter().map(Series::summary).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Value, ValueType};

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

    #[test]
    fn each_signal_has_the_figures_of_its_own_numbers() {
        let mut of_signals = OfSignals::default();
        assert_eq!(of_signals.summaries(), None, "no datapoint came");
        for values in [[Some(4.0), None], [Some(1.0), None]] {
            let mut point = Chunk::new([ValueType::F64; 2]);
            point.columns.iter_mut().zip(values).for_each(|(to, value)| to.push(value.map(Value::F64)).unwrap());
            of_signals.take(&point);
        }
        let numbers = Summary { last: Some(1.0), min: Some(1.0), mean: Some(2.5), max: Some(4.0) };
        assert_eq!(of_signals.summaries(), Some(vec![numbers, Summary::default()]));
    }
}
