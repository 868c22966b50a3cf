//! What is done to single processes while the server runs.

use super::{Started, Supervisor, report};
use crate::{
    order::{Act, Report},
    process::{ProcessId, kill_tree, signal_tree},
};
use iotbench_core::ProcessAction;
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// Killed processes that have not ended by then never will.
const KILL_WITHIN: Duration = Duration::from_secs(30);

impl Supervisor {
    /// Begins what was asked for, and goes on with a restart under way. One after the other.
    pub(super) fn act(&mut self) {
        if self.restarting.is_none()
            && let Some(act) = self.acts.pop_front()
        {
            self.begin(act);
        }
        if let Some((process, since)) = self.restarting {
            self.restart(process, since);
        }
    }

    fn begin(&mut self, Act { process, action }: Act) {
        let Some(started) = self.started.get_mut(process) else {
            report(&Report::Acted(Err(format!("there is no process {process}"))));
            return;
        };
        let done = match action {
            ProcessAction::Kill => {
                started.away = true;
                kill_tree(started.id, KILL_WITHIN).map(|_| ())
            }
            ProcessAction::Stop => signal_tree(started.id, Signal::STOP),
            ProcessAction::Continue => signal_tree(started.id, Signal::CONT),
            ProcessAction::Restart | ProcessAction::Crash => {
                started.away = true;
                let ended = match action {
                    ProcessAction::Crash => kill_tree(started.id, KILL_WITHIN).map(|_| ()),
                    _ => started.ask_to_stop(),
                };
                match ended {
                    Ok(()) => {
                        self.restarting = Some((process, Instant::now()));
                        return;
                    }
                    Err(error) => Err(error),
                }
            }
        };
        let id = started.id;
        report(&Report::Acted(done.map(|()| id).map_err(|e| e.to_string())));
    }

    /// Starts a process again as soon as it has ended; kills it when that takes too long.
    fn restart(&mut self, process: usize, since: Instant) {
        let Some(started) = self.started.get(process) else { return };
        if started.status.is_none() {
            if since.elapsed() >= Duration::from_millis(self.order.grace_ms) {
                // Its end shows with the next look.
                let _ = kill_tree(started.id, KILL_WITHIN);
            }
            return;
        }
        self.restarting = None;
        let spawned = self.spawn(&started.order.start, &started.order.surroundings);
        if let (Ok(id), Some(started)) = (&spawned, self.started.get_mut(process)) {
            (started.id, started.status, started.away) = (*id, None, false);
        }
        report(&Report::Acted(spawned));
    }
}

impl Started {
    /// Asks the process to end; one that stands still could not.
    pub(super) fn ask_to_stop(&self) -> std::io::Result<()> {
        if self.status.is_some() {
            return Ok(());
        }
        let signal = Signal::from_named_raw(self.order.stop_signal).unwrap_or(Signal::TERM);
        ProcessId::signal(self.id, signal)?;
        signal_tree(self.id, Signal::CONT)
    }
}
