//! The newest rows, which may be read while others are written.

use super::{exactness::Exactness, truth::Truth};
use crate::read::KeptAnswer;
use iotbench_core::{Chunk, Devices, TimeRange};
use std::{
    collections::HashSet,
    ops::{Bound, ControlFlow},
};

/// The newest rows: each is real and comes once, none is older than the next, and none that had to be seen is missing.
pub(super) fn newest(
    truth: &mut Truth,
    answer: &KeptAnswer,
    devices: &Devices,
    limit: u64,
    exactness: Exactness,
) -> Result<(), String> {
    let empty = Chunk::new([]);
    let rows = answer.rows.as_ref().unwrap_or(&empty);
    if rows.len() as u64 > limit {
        return Err(format!("{} rows were answered of at most {limit}", rows.len()));
    }
    let mut seen = HashSet::with_capacity(rows.len());
    let mut last_ns = i64::MAX;
    for row in 0..rows.len() {
        let (device, ns) = (rows.devices.get(row).copied(), rows.timestamps_ns.get(row).copied());
        let (Some(device), Some(ns)) = (device, ns) else { return Err(format!("row {row} has no time")) };
        if ns > last_ns {
            return Err(format!("row {row} is newer than the one before"));
        }
        last_ns = ns;
        let index = truth.history().dataset.index_at(device, ns);
        if !devices.contains(device) || !may_be_seen(truth, device, ns) {
            return Err(format!("row {row} (device {device} at {ns}) was never sent"));
        }
        if !seen.insert((device, index)) {
            return Err(format!("row {row} (device {device} at {ns}) was answered twice"));
        }
        real(truth, rows, row, (device, index, ns), exactness)?;
    }
    nothing_is_missing(truth, devices, limit, &seen, last_ns)
}

fn real(
    truth: &mut Truth,
    rows: &Chunk,
    row: usize,
    (device, index, ns): (u32, u64, i64),
    exactness: Exactness,
) -> Result<(), String> {
    let mut wrong = None;
    truth.one(device, index, &mut |stored| {
        if stored.timestamp_ns != ns {
            wrong = Some(format!("row {row}: device {device} has no datapoint at {ns}"));
        }
        for (signal, column) in (0..).zip(&rows.columns) {
            let (got, expected) = (column.get(row), stored.value(signal));
            if !matches!((got, expected), (Some(got), Some(expected)) if exactness.same(got, expected)) {
                wrong = Some(format!("row {row}: signal {signal} is {got:?} and should be {expected:?}"));
            }
        }
        ControlFlow::Continue(())
    });
    wrong.map_or(Ok(()), Err)
}

fn may_be_seen(truth: &Truth, device: u32, ns: i64) -> bool {
    let at = TimeRange { from: Bound::Included(ns), to: Bound::Included(ns) };
    !truth.stretches(device, at).is_empty()
}

/// `oldest_ns`: the time of the last row; what is newer had to be seen.
fn nothing_is_missing(
    truth: &Truth,
    devices: &Devices,
    limit: u64,
    seen: &HashSet<(u32, u64)>,
    oldest_ns: i64,
) -> Result<(), String> {
    let is_full = seen.len() as u64 == limit;
    let newer =
        TimeRange { from: if is_full { Bound::Excluded(oldest_ns) } else { Bound::Unbounded }, to: Bound::Unbounded };
    for device in truth.devices(devices) {
        for stretch in truth.stretches(device, newer).into_iter().filter(|stretch| stretch.certain) {
            let mut indices = stretch.indices;
            if let Some(index) = indices.find(|&index| !seen.contains(&(device, index))) {
                let ns = truth.history().dataset.timestamp_ns(device, index);
                return Err(format!("device {device} at {ns} is missing: it was acknowledged before the read began"));
            }
        }
    }
    Ok(())
}
