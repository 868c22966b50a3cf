//! What a session tells, as owned values in a stream with a bound.

use crate::{
    error::SessionError,
    event::{Event, SessionObserver},
};
use async_channel::{Receiver, Sender};
use iotbench_engine::{Event as RunEvent, Observer, Phase, Plan, Status, Step, StopSignal};
use std::path::PathBuf;

/// So much waits for who reads; what comes while it is full is left out.
const MAX_WAITING: usize = 1_024;

/// What happens in a session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Progress {
    /// A private server, or a broker, is about to start.
    Starting {
        /// What it is called.
        server: String,
    },
    /// One of several runs begins.
    Run {
        /// Its number, from 1.
        number: usize,
        /// How many there are.
        of: usize,
        /// Its profile.
        profile: String,
        /// Its database.
        target: String,
    },
    /// A phase of a run begins.
    Phase(Phase),
    /// A step of a ramp begins.
    Step(Step),
    /// A second of load is complete.
    Second {
        /// In which phase it lies.
        phase: Phase,
        /// Virtual users at its end; 0 where there are none.
        users: u32,
        /// Operations that were answered.
        operations: u64,
        /// Those that failed, timed out or were dropped.
        failures: u64,
        /// Values that were acknowledged.
        values: u64,
    },
    /// A run has ended.
    RunEnded {
        /// Whether to believe it.
        status: Status,
        /// Its results.
        folder: PathBuf,
    },
    /// Something went wrong that does not end the session.
    Warning(String),
}

/// What happens in a session, as it happens: a [`futures`](https://docs.rs/futures-core) stream, and a receiver that blocks by
/// `recv_blocking`. It ends with the session.
pub type ProgressStream = Receiver<Progress>;

/// Tells a stream.
#[derive(Clone, Debug)]
pub struct ProgressObserver(Sender<Progress>);

/// A stream, and who tells it.
#[must_use]
pub fn progress() -> (ProgressObserver, ProgressStream) {
    let (sender, receiver) = async_channel::bounded(MAX_WAITING);
    (ProgressObserver(sender), receiver)
}

impl ProgressObserver {
    fn tell(&self, progress: Progress) {
        // Full, or nobody reads: no reason to hold up a run.
        let _ = self.0.try_send(progress);
    }
}

impl SessionObserver for ProgressObserver {
    fn event(&self, event: &Event<'_>) {
        self.tell(match event {
            Event::Starting { server, .. } => Progress::Starting { server: (*server).into() },
            Event::Run { number, of, profile, target } => {
                Progress::Run { number: *number, of: *of, profile: (*profile).into(), target: (*target).into() }
            }
            Event::RunEnded { outcome, folder, .. } => {
                Progress::RunEnded { status: outcome.verdict.status, folder: (*folder).into() }
            }
            Event::Warning(warning) => Progress::Warning((*warning).into()),
            _ => return,
        });
    }

    fn of_run(&self, _: &Plan, _: &StopSignal) -> Result<Vec<Box<dyn Observer>>, SessionError> {
        Ok(vec![Box::new(self.clone())])
    }
}

impl Observer for ProgressObserver {
    fn event(&mut self, event: &RunEvent<'_>) -> Result<(), String> {
        self.tell(match event {
            RunEvent::Phase { phase, .. } => Progress::Phase(*phase),
            RunEvent::Step(step) => Progress::Step(*step),
            RunEvent::Second(second) => {
                let counts = second.window.counts();
                Progress::Second {
                    phase: second.phase,
                    users: second.users,
                    operations: counts.ok,
                    failures: counts.fail + counts.unknown + counts.dropped,
                    values: counts.values_acked,
                }
            }
            _ => return Ok(()),
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_read_holds_nobody_up_and_reads_what_came_first() {
        let (observer, stream) = progress();
        for number in 0..2 * MAX_WAITING {
            SessionObserver::event(&observer, &Event::Warning(&number.to_string()));
        }
        drop(observer);
        let read: Vec<_> = std::iter::from_fn(|| stream.try_recv().ok()).collect();
        assert_eq!((read.len(), &read[0]), (MAX_WAITING, &Progress::Warning("0".into())));
        assert!(stream.is_closed());
    }
}
