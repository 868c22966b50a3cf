//! What lies between consecutive values of a series, held against the truth: as far as it tells, also beside writes, which of the
//! datapoints that may be stored are.

use super::truth::{Row, Truth};
use crate::read::KeptAnswer;
use iotbench_core::{Chunk, Devices, TimeRange, Value};
use std::ops::ControlFlow;

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
    match answer.len() == gaps.told {
        true => Ok(()),
        false => Err(format!("{} rows were answered, and there are {}", answer.len(), gaps.told)),
    }
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
            if self.is_counted_only() {
                self.told += 1;
            } else {
                self.missing = self.missing.or(Some((before, time)));
            }
        }
        let length_ns = self.answered(row);
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

    /// Whether of the next row only its digest was kept: nothing was written meanwhile then, and it is told how many rows there are.
    fn is_counted_only(&self) -> bool {
        let whole = self.answer.rows.as_ref().map_or(0, Chunk::len) as u64;
        (whole..self.answer.len()).contains(&self.told)
    }

    /// The length of the gap that begins here by the answer.
    fn answered(&self, row: &Row<'_>) -> Option<i64> {
        let rows = self.answer.rows.as_ref()?;
        let place = usize::try_from(self.told).ok()?;
        if (rows.devices.get(place), rows.timestamps_ns.get(place)) != (Some(&row.device), Some(&row.timestamp_ns)) {
            return None;
        }
        match rows.columns.first().and_then(|column| column.get(place)) {
            Some(Value::I64(length_ns)) => Some(length_ns),
            _ => Some(0),
        }
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
