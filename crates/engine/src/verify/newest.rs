//! The newest rows, which may be read while others are written.

use super::{exactness::Exactness, second_sends::Copies, truth::Truth};
use crate::read::KeptAnswer;
use iotbench_core::{Chunk, Devices, TimeRange};
use std::{
    collections::HashMap,
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
    let mut seen = HashMap::with_capacity(rows.len());
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
        let times: &mut u32 = seen.entry((device, index)).or_default();
        *times += 1;
        if *times > most_copies(truth, device, index) {
            return Err(format!("row {row} (device {device} at {ns}) was answered {times} times"));
        }
        real(truth, rows, row, (device, index, ns), exactness)?;
    }
    nothing_is_missing(truth, devices, (rows.len() as u64 == limit).then_some(last_ns), &seen)
}

fn most_copies(truth: &Truth, device: u32, index: u64) -> u32 {
    match truth.copies(device, index) {
        Copies::One | Copies::Either => 1,
        Copies::OneOrTwo | Copies::Both => 2,
    }
}

fn real(
    truth: &mut Truth,
    rows: &Chunk,
    row: usize,
    (device, index, ns): (u32, u64, i64),
    exactness: Exactness,
) -> Result<(), String> {
    let (mut is_right, mut wrong) = (false, None);
    truth.one(device, index, &mut |stored| {
        let mut differs =
            (stored.timestamp_ns != ns).then(|| format!("row {row}: device {device} has no datapoint at {ns}"));
        for (signal, column) in (0..).zip(&rows.columns) {
            let got = column.get(row);
            if !got.is_some_and(|got| stored.values(signal).any(|expected| exactness.same(got, expected))) {
                let expected = stored.value(signal);
                differs = Some(format!("row {row}: signal {signal} is {got:?} and should be {expected:?}"));
            }
        }
        is_right |= differs.is_none();
        wrong = differs;
        ControlFlow::Continue(())
    });
    wrong.filter(|_| !is_right).map_or(Ok(()), Err)
}

fn may_be_seen(truth: &Truth, device: u32, ns: i64) -> bool {
    let at = TimeRange { from: Bound::Included(ns), to: Bound::Included(ns) };
    !truth.stretches(device, at).is_empty()
}

/// `oldest_ns`: the time of the last row, where there are as many as were asked for; what is newer had to be seen.
fn nothing_is_missing(
    truth: &Truth,
    devices: &Devices,
    oldest_ns: Option<i64>,
    seen: &HashMap<(u32, u64), u32>,
) -> Result<(), String> {
    let newer = TimeRange { from: oldest_ns.map_or(Bound::Unbounded, Bound::Excluded), to: Bound::Unbounded };
    for device in truth.devices(devices) {
        for stretch in truth.stretches(device, newer).into_iter().filter(|stretch| stretch.certain) {
            let mut indices = stretch.indices;
            if let Some(index) = indices.find(|&index| !seen.contains_key(&(device, index))) {
                let ns = truth.history().dataset.timestamp_ns(device, index);
                return Err(format!("device {device} at {ns} is missing: it was acknowledged before the read began"));
            }
        }
    }
    Ok(())
}
