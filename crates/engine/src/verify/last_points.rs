//! The newest datapoint of each device, which may be read while others are written.

use super::{exactness::Exactness, exactness::row_differs, truth::Truth};
use crate::read::KeptAnswer;
use iotbench_core::{Devices, SignalId, TimeRange};
use std::ops::ControlFlow;

/// Of each device the newest row that had to be seen, or a newer one that may have been.
pub(super) fn last_points(
    truth: &mut Truth,
    answer: &KeptAnswer,
    devices: &Devices,
    exactness: Exactness,
) -> Result<(), String> {
    let signals: Vec<SignalId> = (0..).take(truth.history().dataset.schema().width()).collect();
    let mut place = 0;
    for device in truth.devices(devices) {
        let (mut is_there, mut wrong) = (false, None);
        let _ = truth.walk_back(device, TimeRange::ALL, &mut |row| {
            match row_differs(answer, place, &row, &signals, exactness) {
                None => is_there = true,
                Some(difference) if row.certain => wrong = Some(difference),
                Some(_) => return ControlFlow::Continue(()),
            }
            ControlFlow::Break(())
        });
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        place += u64::from(is_there);
    }
    if answer.len() == place {
        return Ok(());
    }
    Err(format!("{} rows were answered, and there are {place}", answer.len()))
}
