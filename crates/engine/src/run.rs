//! Runs a plan.

use crate::{observer::Observer, outcome::Outcome, plan::Planned, stop::StopSignal};
use iotbench_core::Backend;

/// How a run is carried out, beyond what its plan says.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOptions {
    /// Tell the observer every operation.
    pub trace: bool,
    /// Leave in the database what was created.
    pub keep: bool,
}

/// Runs a plan to its end and says what it found out. Blocks; call it on a thread of its own.
pub fn run(
    planned: Planned,
    backend: &'static dyn Backend,
    options: RunOptions,
    observer: &mut dyn Observer,
    stop: &StopSignal,
) -> Outcome {
    let _ = (planned, backend, options, observer, stop);
    unimplemented!()
}
