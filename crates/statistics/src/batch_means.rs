//! How exact a mean of one run is, although its seconds resemble their neighbours.

use crate::{
    autocorrelation::correlation_time,
    interval::MeanInterval,
    sample::{batches, mean, variance},
    student,
};

/// A series that tells less than so many independent values has no interval.
pub const MIN_EFFECTIVE_SIZE: f64 = 30.0;

/// A batch is so many correlation times long: what is left of the correlation between batches then makes the interval only
/// a little too short.
const TIMES_A_BATCH: f64 = 5.0;

/// A mean with an interval that respects the likeness of neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchMeans {
    /// The mean of all values, and its interval.
    pub interval: MeanInterval,
    /// How many independent values would tell as much.
    pub effective_size: f64,
    /// Into how many batches the series was divided.
    pub batches: usize,
}

/// The series tells too little of its own mean.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the windows tell as much as {effective_size:.0} independent ones, and an interval needs 30: run longer")]
pub struct TooCorrelated {
    /// How many independent values would tell as much.
    pub effective_size: f64,
}

/// The mean of a series with its 95 % interval by batch means: the series is cut into batches of at least five correlation
/// times, whose means are nearly independent, and Student's t of these is taken (Law, Simulation Modeling and Analysis,
/// chapter 9). Of the series' steady part: a warm-up or a drift in it makes no mean.
///
/// # Errors
/// The values resemble their neighbours so much, or are so few, that they tell less than 30 independent ones would.
pub fn batch_means(values: &[f64]) -> Result<BatchMeans, TooCorrelated> {
    let time = correlation_time(values);
    let effective_size = values.len() as f64 / time;
    if effective_size < MIN_EFFECTIVE_SIZE {
        return Err(TooCorrelated { effective_size });
    }
    let means = batches(values, whole(TIMES_A_BATCH * time));
    let count = means.len() as f64;
    let half_width = student::half_width(count - 1.0) * (variance(&means) / count).sqrt();
    let interval = MeanInterval::around(mean(values), half_width);
    Ok(BatchMeans { interval, effective_size, batches: means.len() })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive length below that of a slice")]
fn whole(length: f64) -> usize {
    length.ceil() as usize
}
