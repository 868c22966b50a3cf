//! Watching processes, a control group or the machine without a run.

use crate::error::SessionError;
use iotbench_engine::StopSignal;
use iotbench_sampler::{Observation, Reading, Sampler, SamplerError, SamplerReport, Subject, Target};
use std::{
    sync::mpsc::{RecvTimeoutError, sync_channel},
    time::{Duration, Instant},
};

/// How often a signal is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// Samples a target at each `interval` for this `length`, or without one until `stop` is asked or `observed`, which is told each sample
/// on a thread of its own, does not ask for more.
///
/// # Errors
/// There is no such target, or no interval.
pub fn sample(
    target: Target,
    interval: Duration,
    length: Option<Duration>,
    stop: &StopSignal,
    mut observed: impl FnMut(&Observation) -> bool + Send + 'static,
) -> Result<SamplerReport, SessionError> {
    let (ended, end) = sync_channel(1);
    let on_tick = move |readings: &[Reading]| {
        for reading in readings {
            if !observed(&reading.observation) {
                // Full: the end is known already.
                let _ = ended.try_send(());
            }
        }
    };
    let subject = Subject { role: "target".into(), node: 0, target };
    let sampler = Sampler::start(Instant::now(), interval, vec![subject], on_tick).map_err(|e| match e {
        SamplerError::Thread(_) => SessionError::internal(e),
        SamplerError::ZeroInterval | SamplerError::Subject { .. } => SessionError::usage(e),
    })?;
    let until = length.map(|length| Instant::now() + length);
    while stop.requested().is_none() && until.is_none_or(|until| Instant::now() < until) {
        let left = until.map_or(LOOK, |until| until.saturating_duration_since(Instant::now()).min(LOOK));
        match end.recv_timeout(left) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(sampler.stop())
}
