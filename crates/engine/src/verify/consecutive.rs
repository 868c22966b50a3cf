//! What lies between consecutive values of a series, held against the truth: as far as it tells, also beside writes, which of the
//! datapoints that may be stored are.

use super::{
    exactness::Exactness,
    figure::Bounds,
    groups::ExpectedFigures,
    truth::{Row, Truth},
};
use crate::read::KeptAnswer;
use iotbench_core::{Chunk, Devices, SignalId, TimeRange, Value, ValueType};
use std::{num::NonZeroU64, ops::ControlFlow};

/// Every gap that there has to be, and none that there cannot be.
///
/// A datapoint that may be stored makes gaps shorter: one is missing where it would be there with all of them. Whether there are any
/// before the first and after the last datapoint that is certain nobody knows, and no gap has to reach that far.
pub(super) fn gaps(
    truth: &mut Truth,
    answer: &KeptAnswer,
    (devices, range): (&Devices, TimeRange),
    longer_than_ns: u64,
) -> Result<(), String> {
    let devices = truth.devices(devices);
    let mut gaps = Gaps { answer, longer_than_ns, told: 0, before: None, missing: None, open_until: None };
    let mut wrong = Ok(());
    for device in devices {
        let _ = truth.walk(&[device], range, &mut |row| {
            wrong = gaps.take(&row);
            if wrong.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        std::mem::replace(&mut wrong, Ok(()))?;
        gaps.end_device(device)?;
    }
    all_told(answer, gaps.told)
}

fn all_told(answer: &KeptAnswer, told: u64) -> Result<(), String> {
    match answer.len() == told {
        true => Ok(()),
        false => Err(format!("{} rows were answered, and there are {told}", answer.len())),
    }
}

/// Whether of the next row only its digest was kept: nothing was written meanwhile then, and it is told how many rows there are.
fn is_counted_only(answer: &KeptAnswer, told: u64) -> bool {
    let whole = answer.rows.as_ref().map_or(0, Chunk::len) as u64;
    (whole..answer.len()).contains(&told)
}

/// The value of the next row, where that is of this device and time.
fn value_at<'a>(answer: &'a KeptAnswer, told: u64, row: &Row<'_>) -> Option<Option<Value<'a>>> {
    let rows = answer.rows.as_ref()?;
    let place = usize::try_from(told).ok()?;
    let is_of =
        (rows.devices.get(place), rows.timestamps_ns.get(place)) == (Some(&row.device), Some(&row.timestamp_ns));
    is_of.then(|| rows.columns.first().and_then(|column| column.get(place)))
}

struct Gaps<'a> {
    answer: &'a KeptAnswer,
    longer_than_ns: u64,
    /// How many rows of the answer were right.
    told: u64,
    /// The time of the datapoint before, once one was stored for certain, or as the answer says.
    before: Option<i64>,
    /// A gap that was not answered: it is missing where another datapoint after it is stored for certain.
    missing: Option<(i64, i64)>,
    /// Where the gap ends that was answered last.
    open_until: Option<i64>,
}

impl Gaps<'_> {
    fn take(&mut self, row: &Row<'_>) -> Result<(), String> {
        let time = row.timestamp_ns;
        let mut is_stored = row.certain;
        if let Some(end) = self.open_until {
            if time < end && !row.certain {
                return Ok(());
            }
            if time != end {
                return Err(format!(
                    "row {} is a gap of device {} that ends at {end} ns, and the next datapoint is at {time} ns",
                    self.told - 1,
                    row.device
                ));
            }
            (is_stored, self.open_until, self.before) = (true, None, None);
        }
        if let Some(before) = self.before
            && time.abs_diff(before) > self.longer_than_ns
        {
            if is_counted_only(self.answer, self.told) {
                self.told += 1;
            } else {
                self.missing = self.missing.or(Some((before, time)));
            }
        }
        let answered = value_at(self.answer, self.told, row);
        let length_ns = answered.map(|value| if let Some(Value::I64(length_ns)) = value { length_ns } else { 0 });
        is_stored |= length_ns.is_some();
        if let (Some((from, to)), true) = (self.missing, is_stored) {
            return Err(format!("the gap of device {} from {from} to {to} ns is missing", row.device));
        }
        if let Some(length_ns) = length_ns {
            self.open(row, length_ns)?;
        }
        if is_stored || self.before.is_some() {
            self.before = Some(time);
        }
        Ok(())
    }

    fn open(&mut self, row: &Row<'_>, length_ns: i64) -> Result<(), String> {
        if !u64::try_from(length_ns).is_ok_and(|length_ns| length_ns > self.longer_than_ns) {
            return Err(format!(
                "row {}: a gap of {length_ns} ns is not longer than {} ns",
                self.told, self.longer_than_ns
            ));
        }
        self.open_until = Some(row.timestamp_ns.saturating_add(length_ns));
        self.told += 1;
        Ok(())
    }

    fn end_device(&mut self, device: u32) -> Result<(), String> {
        (self.before, self.missing) = (None, None);
        match self.open_until.take() {
            None => Ok(()),
            Some(end) => Err(format!(
                "row {} is a gap of device {device} that ends at {end} ns, where it has no datapoint",
                self.told - 1
            )),
        }
    }
}

/// The difference of each value from the one before it, or how much it changes in so much time.
///
/// Each row says that its value is stored, and so which one is before the next: of the first of a device, which has no row, it is
/// told by the second.
pub(super) fn differences(
    truth: &mut Truth,
    answer: &KeptAnswer,
    (devices, range): (&Devices, TimeRange),
    (signal, per_ns): (SignalId, Option<NonZeroU64>),
    exactness: Exactness,
) -> Result<(), String> {
    let devices = truth.devices(devices);
    let signals = truth.history().dataset.schema().signals();
    let value_type = signals.get(usize::from(signal)).map_or(ValueType::F64, |signal| signal.value_type);
    let (before, is_known) = (Vec::new(), false);
    let mut differences = Differences { answer, signal, value_type, per_ns, exactness, told: 0, before, is_known };
    let mut wrong = Ok(());
    for device in devices {
        let _ = truth.walk(&[device], range, &mut |row| {
            wrong = differences.take(&row);
            if wrong.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        std::mem::replace(&mut wrong, Ok(()))?;
        (differences.before, differences.is_known) = (Vec::new(), false);
    }
    all_told(answer, differences.told)
}

struct Differences<'a> {
    answer: &'a KeptAnswer,
    signal: SignalId,
    value_type: ValueType,
    per_ns: Option<NonZeroU64>,
    exactness: Exactness,
    /// How many rows of the answer were right.
    told: u64,
    /// The value before, with its time; all that may be where it is not known which is.
    before: Vec<(i64, f64)>,
    is_known: bool,
}

impl Differences<'_> {
    fn take(&mut self, row: &Row<'_>) -> Result<(), String> {
        let Some(number) = row.number(self.signal) else { return Ok(()) };
        let answered = value_at(self.answer, self.told, row);
        if let Some(got) = answered {
            self.check(row, number, got.and_then(|value| value.as_f64()))?;
        }
        let has_row = row.certain && self.is_known;
        if has_row && answered.is_none() && !is_counted_only(self.answer, self.told) {
            return Err(format!("row {} is missing: device {} at {} ns", self.told, row.device, row.timestamp_ns));
        }
        let is_stored = row.certain || answered.is_some();
        self.told += u64::from(has_row || answered.is_some());
        if is_stored {
            self.before.clear();
        }
        if is_stored || !self.is_known {
            self.before.push((row.timestamp_ns, number));
        }
        self.is_known |= is_stored;
        Ok(())
    }

    fn check(&self, row: &Row<'_>, number: f64, got: Option<f64>) -> Result<(), String> {
        let is_right = |&(before_ns, before): &(i64, f64)| {
            let times = self.times(before_ns, row.timestamp_ns);
            got.is_some_and(|got| self.exactness.same_difference(got, (before, number), times, self.value_type))
        };
        if self.before.iter().any(is_right) {
            return Ok(());
        }
        let got = got.map_or("nothing".into(), |got| got.to_string());
        let should = match self.before.last() {
            None => "have no row: no value is before it".into(),
            Some(&(before_ns, before)) => {
                format!("be {}", (number - before) * self.times(before_ns, row.timestamp_ns))
            }
        };
        Err(format!(
            "row {}: the difference of device {} at {} ns is {got} and should {should}",
            self.told, row.device, row.timestamp_ns
        ))
    }

    /// By what the difference of two values is multiplied.
    #[expect(clippy::cast_precision_loss, reason = "a rate is f64")]
    fn times(&self, before_ns: i64, ns: i64) -> f64 {
        self.per_ns.map_or(1.0, |per_ns| per_ns.get() as f64 / ns.abs_diff(before_ns) as f64)
    }
}

/// The time-weighted mean of each device. Beside writes it lies between the least and the greatest value that may be there.
pub(super) fn time_weighted_means(
    truth: &mut Truth,
    (devices, range): (&Devices, TimeRange),
    signal: SignalId,
) -> Vec<ExpectedFigures> {
    let devices = truth.devices(devices);
    let mean_of = |device: u32| {
        let mut mean = None;
        let _ = truth.walk(&[device], range, &mut |row| {
            if let Some(number) = row.number(signal) {
                let mean: &mut TimeWeighted = mean.get_or_insert_with(|| TimeWeighted::new(row.timestamp_ns, number));
                mean.take(row.timestamp_ns, number, row.certain);
            }
            ControlFlow::Continue(())
        });
        mean.map(|mean| ExpectedFigures {
            device,
            timestamp_ns: 0,
            certain: mean.has_certain,
            values: vec![mean.bounds()],
        })
    };
    devices.into_iter().filter_map(mean_of).collect()
}

/// Values of one device, each by how long it lasted.
struct TimeWeighted {
    first_ns: i64,
    last: (i64, f64),
    sum: f64,
    /// The same of their magnitudes.
    magnitude: f64,
    least: f64,
    greatest: f64,
    count: f64,
    has_certain: bool,
    has_possible: bool,
}

impl TimeWeighted {
    /// Of nothing yet, before this value comes.
    fn new(first_ns: i64, number: f64) -> Self {
        Self {
            first_ns,
            last: (first_ns, number),
            sum: 0.0,
            magnitude: 0.0,
            least: number,
            greatest: number,
            count: 0.0,
            has_certain: false,
            has_possible: false,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a weight is f64")]
    fn take(&mut self, ns: i64, number: f64, certain: bool) {
        let (before_ns, before) = self.last;
        let lasted = ns.abs_diff(before_ns) as f64;
        self.sum += before * lasted;
        self.magnitude += before.abs() * lasted;
        self.last = (ns, number);
        (self.least, self.greatest) = (self.least.min(number), self.greatest.max(number));
        self.count += 1.0;
        self.has_certain |= certain;
        self.has_possible |= !certain;
    }

    #[expect(clippy::cast_precision_loss, reason = "a weight is f64")]
    fn bounds(&self) -> Bounds {
        let (last_ns, last) = self.last;
        let (least, greatest, count) = (self.least, self.greatest, self.count);
        if self.has_possible {
            return Bounds { least, greatest, magnitude: least.abs().max(greatest.abs()), count };
        }
        let all = last_ns.abs_diff(self.first_ns) as f64;
        let (mean, magnitude) = if all > 0.0 { (self.sum / all, self.magnitude / all) } else { (last, last.abs()) };
        Bounds { least: mean, greatest: mean, magnitude, count }
    }
}
