//! How the numbers of a signal are distributed and move, and the shape of `custom` that is nearest.

use super::{
    moves::{Moves, apart, hold_and_smooth},
    reservoir::{Reservoir, quantile, sorted},
};
use crate::{counter_hash::CounterHash, recording::type_name};
use iotbench_core::ValueType;
use serde_json::{Map, Value};

/// Values that are kept of a signal.
pub const MAX_KEPT: usize = 1 << 16;
/// Quantiles of a table.
const QUANTILES: usize = 257;
/// So many values stand behind a quantile, or there are fewer of them.
const VALUES_A_QUANTILE: usize = 8;
/// A counter may be set back this often.
const MAX_FALLS: f64 = 0.001;
/// Most decimals of the dataset `custom`.
const MAX_DECIMALS: u8 = 9;

/// The numbers of a signal.
#[derive(Debug)]
pub struct Numbers {
    values: Reservoir<f64>,
    /// From one datapoint of a device to the one that is due next.
    steps: u64,
    same: u64,
    moved: f64,
    /// From one to the one that came next, and over how many periods.
    pairs: u64,
    falls: u64,
    risen: f64,
    periods: u64,
    least_first: f64,
}

impl Numbers {
    /// None yet.
    pub fn new(most: usize, hash: CounterHash) -> Self {
        let values = Reservoir::new(most, hash);
        let (steps, same, moved) = (0, 0, 0.0);
        let (pairs, falls, risen, periods) = (0, 0, 0.0, 0);
        Self { values, steps, same, moved, pairs, falls, risen, periods, least_first: f64::INFINITY }
    }

    /// Takes a value, and the one of the same device so many periods before it.
    #[inline]
    pub fn take(&mut self, value: f64, before: Option<f64>, periods: u64) {
        self.values.take(value);
        let Some(before) = before else {
            self.least_first = self.least_first.min(value);
            return;
        };
        let step = value - before;
        self.pairs += 1;
        self.falls += u64::from(step < 0.0);
        self.risen += step;
        self.periods += periods;
        if periods == 1 {
            self.steps += 1;
            self.same += u64::from(step == 0.0);
            self.moved += step.abs();
        }
    }

    /// Those that are kept, in order.
    pub fn sorted(&self) -> Vec<f64> {
        sorted(self.values.kept())
    }

    /// The keys of a signal of the dataset `custom`, which is one of so many.
    pub fn shape(&self, name: &str, value_type: ValueType, keep_values: bool, signals: usize) -> Map<String, Value> {
        let sorted = self.sorted();
        let mut keys = Map::from_iter([("name".to_owned(), name.into())]);
        let mut set = |key: &str, value: Value| keys.insert(key.into(), value);
        set("type", type_name(value_type).into());
        if let Some(decimals) = self.decimals(value_type) {
            set("decimals", decimals.into());
        }
        let (Some(&least), Some(&most)) = (sorted.first(), sorted.last()) else {
            set("shape", "constant".into());
            return keys;
        };
        if least == most {
            set("shape", "constant".into());
            set("value", (if keep_values { least } else { six_digits(least) }).into());
        } else if let Some((start, increment)) = self.counter() {
            set("shape", "counter".into());
            set("start", (if keep_values { start } else { near(start, increment) }).into());
            set("increment", six_digits(increment).into());
        } else {
            set("shape", "quantiles".into());
            set("quantiles", table(&sorted, keep_values).into());
            let steps = count(self.steps.max(1));
            let recorded = Moves { same: ratio(self.same, self.steps), moved: self.moved / steps / apart(&sorted) };
            let (hold, smooth) = hold_and_smooth(recorded, &keys, signals);
            keys.extend((hold > 1).then(|| ("hold".to_owned(), hold.into())));
            keys.extend((smooth > 1).then(|| ("smooth".to_owned(), smooth.into())));
        }
        keys
    }

    /// Where a signal that never falls begins, and its mean growth.
    pub fn counter(&self) -> Option<(f64, f64)> {
        let grows = self.pairs > 0 && self.risen > 0.0 && ratio(self.falls, self.pairs) <= MAX_FALLS;
        // A value that rose a few times and was held else is no counter.
        let often = ratio(self.steps - self.same, self.steps) > 0.5;
        (grows && often).then(|| (self.least_first, self.risen / count(self.periods.max(1))))
    }

    /// Digits after the point that suffice for every value; none where there are too many.
    fn decimals(&self, value_type: ValueType) -> Option<u8> {
        if matches!(value_type, ValueType::I64 | ValueType::U16) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "it was one of 32 bits")]
        let digits = |&value: &f64| {
            let mut buffer = zmij::Buffer::new();
            let text = match value_type {
                ValueType::F32 => buffer.format_finite(value as f32),
                _ => buffer.format_finite(value),
            };
            decimals_of(text)
        };
        let digits = self.values.kept().iter().map(digits).try_fold(0, |most, digits| digits.map(|d| most.max(d)));
        digits.filter(|&digits| digits <= MAX_DECIMALS)
    }
}

/// Digits after the point of a number as it is written.
fn decimals_of(text: &str) -> Option<u8> {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let after = mantissa.split_once('.').map_or("", |(_, after)| after.trim_end_matches('0'));
    u8::try_from((i64::try_from(after.len()).ok()? - exponent).max(0)).ok()
}

/// The quantiles of values in order. Unless the values may be kept, each is rounded to a tenth of the distance of its neighbours or
/// coarser, so that it is no value that was recorded but by chance; a value that is so frequent that it is its neighbours' too is rounded
/// to six digits.
fn table(sorted: &[f64], keep_values: bool) -> Vec<f64> {
    let most = (sorted.len() / VALUES_A_QUANTILE).clamp(2, QUANTILES);
    let steps = most - 1;
    let exact: Vec<f64> = (0..most).map(|n| quantile(sorted, count(n as u64) / count(steps as u64))).collect();
    if keep_values {
        return exact;
    }
    let mut least = f64::NEG_INFINITY;
    let rounded = exact.iter().enumerate().map(|(place, &value)| {
        let before = exact[place.saturating_sub(1)];
        let after = exact[(place + 1).min(steps)];
        let value = if after > before { near(value, (after - before) / 2.0) } else { six_digits(value) };
        least = value.max(least);
        least
    });
    rounded.collect()
}

/// Rounded to the power of ten that is at most half of this distance.
fn near(value: f64, distance: f64) -> f64 {
    rounded_to(value, (distance.abs() / 2.0).log10().floor())
}

/// Rounded to its first six digits.
pub fn six_digits(value: f64) -> f64 {
    if value == 0.0 { 0.0 } else { rounded_to(value, value.abs().log10().floor() - 5.0) }
}

/// Rounded to a power of ten.
#[expect(clippy::cast_possible_truncation, reason = "an exponent")]
fn rounded_to(value: f64, exponent: f64) -> f64 {
    let exponent = exponent.clamp(-300.0, 300.0) as i32;
    // A division by a power that is exact gives the decimal that is nearest.
    let rounded = if exponent < 0 {
        let scale = 10_f64.powi(-exponent);
        (value * scale).round() / scale
    } else {
        let scale = 10_f64.powi(exponent);
        (value / scale).round() * scale
    };
    if rounded.is_finite() { rounded } else { value }
}

#[expect(clippy::cast_precision_loss, reason = "counts of datapoints")]
fn count(n: u64) -> f64 {
    n as f64
}

fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { count(a) / count(b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_those_that_are_written() {
        let digits = |value: f64| decimals_of(zmij::Buffer::new().format_finite(value));
        let found = [5.0, 0.25, 1e-7, 1e30, -2.5, 1.5e-3].map(digits);
        assert_eq!(found, [0, 2, 7, 0, 1, 4].map(Some));
    }

    #[test]
    fn no_quantile_is_a_value_unless_it_is_frequent_or_that_is_asked_for() {
        let values: Vec<f64> = (0..10_000).map(|n| f64::from(n) * 1.000_123_4 + 17.123_456).collect();
        let kept: Vec<f64> = table(&values, true);
        assert!(values.contains(&kept[0]) && values.contains(kept.last().unwrap()));
        let rounded = table(&values, false);
        assert!(rounded.iter().all(|quantile| !values.contains(quantile)), "{rounded:?}");
        assert!(rounded.iter().zip(&kept).all(|(a, b)| (a - b).abs() <= 5.0), "within half of the distance");
        let states = [vec![3.0; 900], vec![7.0; 100]].concat();
        assert!(table(&states, false).iter().all(|value| [3.0, 7.0].contains(value) || (3.0..7.0).contains(value)));
    }
}
