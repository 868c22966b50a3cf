//! A mean and how exact it is.

/// A mean with its confidence interval: of 95 %, unless who makes it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanInterval {
    /// The mean.
    pub mean: f64,
    /// The interval's lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// The level of an interval that says no other.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// The level that each of an interval's ends leaves beyond it.
pub(crate) const TAIL: f64 = (1.0 - CONFIDENCE) / 2.0;

impl MeanInterval {
    /// The mean ± so much.
    #[must_use]
    pub(crate) fn around(mean: f64, half_width: f64) -> Self {
        Self { mean, low: mean - half_width, high: mean + half_width }
    }

    /// The interval of a mean that cannot be negative: what lies below 0 is no possible value, so leaving it out takes nothing
    /// from the confidence. That it was there says that there are too few figures, or too different ones.
    #[must_use]
    pub fn not_below_zero(self) -> Self {
        Self { low: self.low.max(0.0), ..self }
    }

    /// Whether a value lies in the interval.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Half its length in percent of the mean; `None` where the mean is 0.
    #[must_use]
    pub fn half_width_pct(&self) -> Option<f64> {
        (self.mean != 0.0).then(|| (self.high - self.low) / 2.0 / self.mean.abs() * 100.0)
    }
}
