//! One sitting after the other, each in its time. No I/O of its own.

use super::{
    clock::Clock,
    schedule::{Schedule, Spread},
};
use crate::{error::SessionError, trials::SearchHead};
use iotbench_engine::StopSignal;
use iotbench_report::{SessionEnd, SessionEntry, SessionsRecord};
use std::time::SystemTime;

/// What is done with sittings.
pub(super) trait Sittings {
    /// Says that one of them begins later.
    fn waiting(&mut self, entry: &SessionEntry, begins: SystemTime, now: SystemTime);
    /// Carries out a run of a sitting; `None`: it was interrupted.
    ///
    /// # Errors
    /// It cannot be carried out.
    fn sit(
        &mut self,
        record: &SessionsRecord<SearchHead>,
        entry: &SessionEntry,
    ) -> Result<Option<SessionEnd>, SessionError>;
    /// Keeps what is known by now.
    ///
    /// # Errors
    /// It cannot be written.
    fn keep(&mut self, record: &mut SessionsRecord<SearchHead>) -> Result<(), SessionError>;
}

/// Holds the sittings that have not been held, until the last or until `stop` is requested.
pub(super) fn hold_all(
    record: &mut SessionsRecord<SearchHead>,
    sittings: &mut dyn Sittings,
    clock: &dyn Clock,
    stop: &StopSignal,
) -> Result<(), SessionError> {
    let next = record.next().and_then(|place| record.entries.get(place)).map_or(1, |entry| entry.session);
    let SessionsRecord { sessions, over_s, expected_s, ref began, .. } = *record;
    let schedule = Schedule::of(Spread { sessions, over_s, expected_s, began }, next, clock.now());
    while let Some((place, entry)) = record.next().and_then(|place| Some((place, record.entries.get(place)?.clone()))) {
        if stop.requested().is_some() {
            break;
        }
        let (now, begins) = (clock.now(), schedule.begins(entry.session));
        if begins > now {
            sittings.waiting(&entry, begins, now);
            clock.wait_until(begins, stop);
            if stop.requested().is_some() {
                break;
            }
        }
        let Some(end) = sittings.sit(record, &entry)? else { break };
        record.entries.iter_mut().skip(place).take(1).for_each(|entry| entry.end = Some(end.clone()));
        sittings.keep(record)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
