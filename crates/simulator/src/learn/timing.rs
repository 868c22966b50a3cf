//! When devices send: period, jitter, gaps, what comes late or out of order.

use super::reservoir::{Reservoir, quantile, sorted};
use crate::{
    clock::coarsest_unit_ns,
    counter_hash::CounterHash,
    sending_order::{MAX_WINDOW, Scrambled, SendingOrder},
};
use jiff::SignedDuration;
use serde_json::{Map, Value, json};

/// Times between datapoints that are kept.
const MAX_KEPT: usize = 1 << 16;
/// Less than this share of the datapoints is not worth a key.
const LEAST_SHARE: f64 = 1e-5;
/// Devices that begin so many periods apart do so on purpose.
const FAR_APART: i64 = 100;
/// The grids that a period is probably on, the coarsest first.
const GRIDS_NS: [i64; 14] = [
    60_000_000_000,
    1_000_000_000,
    500_000_000,
    100_000_000,
    50_000_000,
    10_000_000,
    1_000_000,
    100_000,
    10_000,
    1_000,
    100,
    10,
    5,
    1,
];

/// The times of all devices, as they stand in the file.
#[derive(Debug)]
pub struct Times {
    /// A device all of whose lines were broken has none.
    devices: Vec<Option<DeviceTimes>>,
    between_ns: Reservoir<f64>,
    resolution_ns: i64,
}

#[derive(Clone, Copy, Debug)]
struct DeviceTimes {
    first_ns: i64,
    newest_ns: i64,
}

/// Where a datapoint stands among those of its device before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// It is the first.
    First,
    /// So long after the newest.
    After(i64),
    /// At the time of the newest.
    Doubled,
    /// So long before the newest.
    Behind(i64),
}

impl Times {
    /// None yet.
    pub fn new(hash: CounterHash) -> Self {
        Self { devices: Vec::new(), between_ns: Reservoir::new(MAX_KEPT, hash), resolution_ns: 1_000_000_000 }
    }

    /// Takes a datapoint's time.
    pub fn take(&mut self, device: u32, time_ns: i64) -> Placed {
        self.resolution_ns = self.resolution_ns.min(coarsest_unit_ns(&[time_ns]));
        let device = device as usize;
        if self.devices.len() <= device {
            self.devices.resize(device + 1, None);
        }
        let Some(times) = &mut self.devices[device] else {
            self.devices[device] = Some(DeviceTimes { first_ns: time_ns, newest_ns: time_ns });
            return Placed::First;
        };
        times.first_ns = times.first_ns.min(time_ns);
        let after_ns = time_ns.saturating_sub(times.newest_ns);
        if after_ns == 0 {
            return Placed::Doubled;
        }
        if after_ns < 0 {
            return Placed::Behind(after_ns.saturating_neg());
        }
        times.newest_ns = time_ns;
        self.between_ns.take(nanoseconds(after_ns));
        Placed::After(after_ns)
    }

    /// The times between two datapoints of a device, in order.
    pub fn between_ns(&self) -> Vec<f64> {
        sorted(self.between_ns.kept())
    }

    /// The time between two datapoints that most have: the median, which neither jitter nor a few gaps move far.
    pub fn usual_ns(&self) -> i64 {
        whole(quantile(&self.between_ns(), 0.5)).max(1)
    }

    /// The coarsest unit of which every time is a multiple.
    pub fn resolution_ns(&self) -> i64 {
        self.resolution_ns
    }

    /// How many devices there are.
    pub fn devices(&self) -> usize {
        self.devices.iter().flatten().count()
    }

    /// How far the devices' clocks are off, at most; none where they begin a whole number of periods apart, as those do whose first
    /// datapoints are missing, or so far apart that it is no matter of clocks.
    fn offset_ns(&self, period_ns: i64, jitter_ns: i64) -> Option<i64> {
        let first_ns = self.devices.iter().flatten().map(|times| times.first_ns).min()?;
        let allowed_ns = jitter_ns.max(self.resolution_ns - 1);
        let is_in_phase = |times: &DeviceTimes| {
            let phase_ns = times.first_ns.saturating_sub(first_ns) % period_ns;
            phase_ns <= allowed_ns || period_ns - phase_ns <= allowed_ns
        };
        let offset_ns = self.spread_ns().saturating_sub(jitter_ns) / 2;
        let is_off = !self.devices.iter().flatten().all(is_in_phase) && offset_ns >= self.resolution_ns;
        (is_off && offset_ns <= period_ns.saturating_mul(FAR_APART)).then_some(offset_ns)
    }

    /// How far apart the devices begin.
    fn spread_ns(&self) -> i64 {
        let firsts = || self.devices.iter().flatten().map(|times| times.first_ns);
        firsts().max().unwrap_or(0).saturating_sub(firsts().min().unwrap_or(0))
    }
}

/// How regular the times are, counted with the usual time between two datapoints.
#[derive(Debug)]
pub struct Regularity {
    usual_ns: i64,
    rows: u64,
    after: u64,
    /// Periods between datapoints that were sent in order, and the time that they took.
    steps: u64,
    steps_ns: i128,
    /// Steps of more than one period, and periods without a datapoint in them.
    gaps: u64,
    missing: u64,
    /// Single steps, and how far they are from the usual time in sum.
    single: u64,
    off_ns: i128,
    doubled: u64,
    behind: u64,
    behind_ns: Reservoir<f64>,
}

impl Regularity {
    /// Nothing yet.
    pub fn new(usual_ns: i64, hash: CounterHash) -> Self {
        Self {
            usual_ns,
            rows: 0,
            after: 0,
            steps: 0,
            steps_ns: 0,
            gaps: 0,
            missing: 0,
            single: 0,
            off_ns: 0,
            doubled: 0,
            behind: 0,
            behind_ns: Reservoir::new(MAX_KEPT, hash),
        }
    }

    /// Counts a datapoint; how many periods it is after the newest.
    pub fn take(&mut self, placed: Placed) -> u64 {
        self.rows += 1;
        let mut periods = 0;
        match placed {
            Placed::First => {}
            Placed::Doubled => self.doubled += 1,
            Placed::Behind(by_ns) => {
                self.behind += 1;
                self.behind_ns.take(nanoseconds(by_ns));
            }
            Placed::After(after_ns) => {
                let steps = after_ns.saturating_add(self.usual_ns / 2).checked_div(self.usual_ns).unwrap_or(1);
                periods = steps.unsigned_abs().max(1);
                self.after += 1;
                self.steps += periods;
                self.steps_ns += i128::from(after_ns);
                if periods > 1 {
                    self.gaps += 1;
                    self.missing += periods - 1;
                } else {
                    let off_ns = (after_ns - self.usual_ns).saturating_abs();
                    self.single += 1;
                    self.off_ns += i128::from(off_ns);
                }
            }
        }
        periods
    }

    /// How many datapoints there were.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The keys of the dataset `custom` for these times, and what they do not tell.
    pub fn keys(&self, times: &Times) -> (Map<String, Value>, Vec<String>) {
        let (mut keys, mut untold) = (Map::new(), Vec::new());
        let jitter_ns = self.jitter_ns();
        let period_ns = self.period_ns(times, jitter_ns);
        let jitter_ns = jitter_ns.min(period_ns);
        keys.insert("interval".into(), duration(period_ns));
        if self.after == 0 {
            untold.push("no device has two datapoints, so that the interval is a guess".into());
        }
        if jitter_ns > 0 {
            keys.insert("jitter".into(), duration(jitter_ns));
        }
        let offset_ns = times.offset_ns(period_ns, jitter_ns);
        if let Some(offset_ns) = offset_ns {
            keys.insert("clock_offset".into(), duration(two_digits(offset_ns)));
        }
        let spread_ns = times.spread_ns();
        if offset_ns.is_none() && spread_ns > period_ns.saturating_mul(FAR_APART) {
            let spread = SignedDuration::from_nanos(spread_ns);
            untold.push(format!("devices begin up to {spread:#} apart, those of the profile at once"));
        }
        let is_off_grid = jitter_ns > 0 || offset_ns.is_some();
        let resolution_ns = times.resolution_ns();
        if is_off_grid && resolution_ns > 1 && period_ns % resolution_ns == 0 {
            keys.insert("resolution".into(), duration(resolution_ns));
        }
        self.order(period_ns, &mut keys);
        if self.doubled > 0 {
            let share = 100.0 * ratio(self.doubled, self.rows);
            untold.push(format!(
                "{share:.3} % of the datapoints have the time of the one before: the profile has none of these"
            ));
        }
        (keys, untold)
    }

    /// Datapoints that all devices together send in a second.
    #[expect(clippy::cast_precision_loss, reason = "a count of devices")]
    pub fn rate_per_s(&self, times: &Times) -> f64 {
        let period_ns = nanoseconds(self.period_ns(times, self.jitter_ns()));
        times.devices() as f64 * 1e9 / period_ns * ratio(self.rows, self.rows + self.missing())
    }

    /// Periods in which nothing was ever sent.
    fn missing(&self) -> u64 {
        self.missing.saturating_sub(self.behind)
    }

    /// A timestamp is late by an evenly distributed time below the jitter: the distance of two such times has a third of it as
    /// mean.
    fn jitter_ns(&self) -> i64 {
        if self.single == 0 {
            return 0;
        }
        let mean_ns = self.off_ns * 3 / i128::from(self.single);
        two_digits(i64::try_from(mean_ns).unwrap_or(i64::MAX).min(self.usual_ns))
    }

    /// The mean time of a step, on the coarsest grid that lies within what jitter leaves open.
    fn period_ns(&self, times: &Times, jitter_ns: i64) -> i64 {
        let steps = i128::from(self.steps);
        if steps == 0 {
            return 1_000_000_000;
        }
        let mean_ns = (self.steps_ns + steps / 2) / steps;
        let open_ns = i128::from(jitter_ns) * 2 * times.devices() as i128 / steps;
        let mean_ns = i64::try_from(mean_ns).unwrap_or(i64::MAX).max(1);
        let open_ns = i64::try_from(open_ns).unwrap_or(i64::MAX);
        let near = |grid: i64| mean_ns.saturating_add(grid / 2) / grid * grid;
        let fits = |&grid: &i64| near(grid) > 0 && (near(grid) - mean_ns).saturating_abs() <= open_ns;
        GRIDS_NS.iter().copied().find(fits).map_or(mean_ns, near)
    }

    /// Gaps, and what is sent late or out of order.
    fn order(&self, period_ns: i64, keys: &mut Map<String, Value>) {
        let missing = self.missing();
        let share = ratio(missing, self.rows + missing);
        if share >= LEAST_SHARE {
            let gaps = self.gaps.saturating_sub(self.behind).max(1);
            let length_ns = period_ns.saturating_mul(whole(ratio(missing, gaps)).max(1));
            keys.insert("gaps".into(), json!({ "share": three_digits(share.min(0.5)), "length": duration(length_ns) }));
        }
        let share = ratio(self.behind, self.rows);
        if share < LEAST_SHARE {
            return;
        }
        let behind = sorted(self.behind_ns.kept());
        let datapoints = |probability| whole(quantile(&behind, probability) / nanoseconds(period_ns)).max(1);
        let (least, usual, most) = (datapoints(0.05), datapoints(0.5), datapoints(0.98));
        if most < i64::from(MAX_WINDOW) && most > least + 1 {
            let window = u32::try_from(most + 1).unwrap_or(MAX_WINDOW).clamp(2, MAX_WINDOW);
            let share = three_digits((share / behind_in_a_window(window)).min(1.0));
            keys.insert("out_of_order".into(), json!({ "share": share, "window": window }));
        } else {
            let by = duration(period_ns.saturating_mul(usual));
            keys.insert("late".into(), json!({ "share": three_digits(share.min(0.5)), "by": by }));
        }
    }
}

/// Which share of the datapoints of scrambled windows stands behind a newer one.
fn behind_in_a_window(window: u32) -> f64 {
    const WINDOWS: u64 = 500;
    let order = SendingOrder::new(1, None, None, Some(Scrambled { share: u64::MAX, window }));
    let (mut newest, mut behind) = (0, 0_u64);
    for position in 0..WINDOWS * u64::from(window) {
        let index = order.index(0, position);
        behind += u64::from(index < newest);
        newest = newest.max(index);
    }
    ratio(behind, WINDOWS * u64::from(window)).max(0.01)
}

fn duration(ns: i64) -> Value {
    format!("{:#}", SignedDuration::from_nanos(ns)).replace('µ', "u").into()
}

#[expect(clippy::cast_precision_loss, reason = "shares, and times to a part in 2^53")]
fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

#[expect(clippy::cast_precision_loss, reason = "times to a part in 2^53")]
fn nanoseconds(ns: i64) -> f64 {
    ns as f64
}

#[expect(clippy::cast_possible_truncation, reason = "cut off at the ends of the type")]
fn whole(number: f64) -> i64 {
    number.round() as i64
}

/// Rounded to its first two digits.
fn two_digits(ns: i64) -> i64 {
    let mut unit = 1;
    while ns / unit >= 100 {
        unit *= 10;
    }
    ns.saturating_add(unit / 2) / unit * unit
}

/// A share to three digits after its first zeros.
fn three_digits(share: f64) -> f64 {
    let mut scale = 1000.0;
    while share * scale < 100.0 && scale < 1e9 {
        scale *= 10.0;
    }
    (share * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_rounded_to_what_is_told() {
        assert_eq!([9, 123, 12_999_999].map(two_digits), [9, 120, 13_000_000]);
        assert_eq!([0.1234567, 0.00123456, 0.5].map(three_digits), [0.123, 0.00123, 0.5]);
    }
}
