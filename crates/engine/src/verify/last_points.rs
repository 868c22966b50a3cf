//! The newest datapoint of each device, which may be read while others are written.

use super::{exactness::Exactness, exactness::row_differs, truth::Truth};
use crate::read::KeptAnswer;
use iotbench_core::{Devices, Predicate, SignalId, TimeRange};
use std::ops::ControlFlow;

/// Of each device the newest row that had to be seen, or a newer one that may have been; where there is a condition, only if that one
/// meets it.
pub(super) fn last_points(
    truth: &mut Truth,
    answer: &KeptAnswer,
    devices: &Devices,
    condition: Option<(SignalId, Predicate)>,
    exactness: Exactness,
) -> Result<(), String> {
    let signals: Vec<SignalId> = (0..).take(truth.history().dataset.schema().width()).collect();
    let mut place = 0;
    for device in truth.devices(devices) {
        let (mut is_there, mut may_be_left_out, mut wrong) = (false, false, None);
        let _ = truth.walk_back(device, TimeRange::ALL, &mut |row| {
            let meets =
                |(signal, predicate): (SignalId, Predicate)| row.number(signal).is_some_and(|v| predicate.holds(v));
            if !condition.is_none_or(meets) {
                // Was it the newest, there is no row of the device.
                may_be_left_out = true;
                return if row.certain { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            }
            match row_differs(answer, place, &row, &signals, exactness) {
                None => is_there = true,
                Some(_) if row.certain && may_be_left_out => {}
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
