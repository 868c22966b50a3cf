//! Figures over many values, worked out of the truth.

use iotbench_core::Aggregate;

/// What aggregates of one signal are worked out of.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
    last: f64,
    /// The sum of the absolute values: sums of opposite signs lose digits in proportion to it.
    magnitude: f64,
}

impl Default for Figure {
    fn default() -> Self {
        Self { count: 0, sum: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY, last: f64::NAN, magnitude: 0.0 }
    }
}

impl Figure {
    /// Adds the next value in the order of time; text that reads as no number is none.
    pub fn add(&mut self, number: Option<f64>) {
        let Some(number) = number else { return };
        self.count += 1;
        self.sum += number;
        self.min = self.min.min(number);
        self.max = self.max.max(number);
        self.last = number;
        self.magnitude += number.abs();
    }

    /// An aggregate, with the mean magnitude of what it was worked out of; `None` of no value.
    pub fn of(&self, aggregate: Aggregate) -> Option<(f64, f64)> {
        #[expect(clippy::cast_precision_loss, reason = "fewer values than 2^53")]
        let count = self.count as f64;
        let value = match aggregate {
            Aggregate::Last => self.last,
            Aggregate::Min => self.min,
            Aggregate::Max => self.max,
            Aggregate::Mean => self.sum / count,
        };
        (self.count > 0).then(|| (value, self.magnitude / count))
    }
}
