//! The newest datapoint of each device, which may be read while others are written.

use super::{
    exactness::{Exactness, row_differs},
    truth::{Row, Truth},
};
use crate::read::KeptAnswer;
use iotbench_core::{Devices, Predicate, ReplyColumn, SignalId, TagId, TimeRange};
use std::ops::ControlFlow;

/// Of each device the newest row that had to be seen, or a newer one that may have been, whole or in part; where there is a condition, only if that one
/// meets it.
pub(super) fn last_points(
    truth: &mut Truth,
    answer: &KeptAnswer,
    devices: &Devices,
    condition: Option<(SignalId, Predicate, Option<TagId>)>,
    exactness: Exactness,
) -> Result<(), String> {
    let signals: Vec<SignalId> = (0..).take(truth.history().dataset.schema().width()).collect();
    let (mut place, tags) = (0, truth.tags());
    for device in truth.devices(devices) {
        let (mut is_there, mut may_be_left_out, mut wrong) = (false, false, None);
        let _ = truth.walk_back(device, TimeRange::ALL, &mut |row| {
            let meets = |(signal, predicate, per): (SignalId, Predicate, Option<TagId>)| {
                let per = per.map_or(Some(1.0), |tag| tags.number(tag, device));
                row.number(signal).zip(per).is_some_and(|(number, per)| predicate.holds(number / per))
            };
            if !condition.is_none_or(meets) {
                // Was it the newest, there is no row of the device.
                may_be_left_out = true;
                return if row.certain { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            }
            // Not every signal of what is being written need be seen yet, of those that are stored apart: also not the one compared.
            may_be_left_out |= condition.is_some() && !row.certain;
            match row_differs(answer, place, &row, &signals, exactness) {
                None => is_there = true,
                Some(_) if !row.certain && is_part(answer, place, &row, exactness) => is_there = true,
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

/// Whether a row of an answer is of this datapoint and holds some of its values, and no others.
fn is_part(answer: &KeptAnswer, place: u64, row: &Row<'_>, exactness: Exactness) -> bool {
    let Some((rows, place)) = answer.rows.as_ref().zip(usize::try_from(place).ok()) else { return false };
    let of = (rows.devices.get(place).copied(), rows.timestamps_ns.get(place).copied());
    let same = |(signal, column): (SignalId, &ReplyColumn)| {
        let is_value = |got| row.values(signal).any(|expected| exactness.same(got, expected));
        column.get(place).is_none_or(is_value)
    };
    let holds_one = rows.columns.iter().any(|column| column.get(place).is_some());
    of == (Some(row.device), Some(row.timestamp_ns)) && holds_one && (0..).zip(&rows.columns).all(same)
}
