//! An agent for runs that are started elsewhere, in this process.

use crate::error::SessionError;
use iotbench_backends::BACKENDS;
use iotbench_cluster::{AgentOptions, Broker, Stop, serve};
use iotbench_engine::StopSignal;
use std::time::Duration;

/// How often it is seen whether it is to end.
const LOOK: Duration = Duration::from_millis(500);

/// Serves runs until `stop` is asked, and then ends for this reason. What whoever watches it wants to know is told to `say`.
///
/// # Errors
/// The broker is not reached or refuses what an agent needs, or another agent has its name.
pub fn serve_agent(
    broker: &Broker,
    options: &AgentOptions,
    stop: &StopSignal,
    reason: Stop,
    say: &dyn Fn(&str),
) -> Result<(), SessionError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| SessionError::internal(format!("no runtime: {e}")))?;
    let ended = async {
        while stop.requested().is_none() {
            tokio::time::sleep(LOOK).await;
        }
        reason
    };
    Ok(runtime.block_on(serve(broker, options, BACKENDS, say, ended))?)
}
