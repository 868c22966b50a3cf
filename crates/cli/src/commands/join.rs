//! Making one database of the processes of a server that was just started.

use crate::{console::printable, error::CliError};
use iotbench_core::{Backend, Target};
use iotbench_engine::cause_exit_code;
use iotbench_launcher::PrivateServer;

/// Has the backend join the processes of its server, where no command of its recipe does.
pub(super) fn join(backend: &dyn Backend, server: &PrivateServer) -> Result<(), CliError> {
    let target = Target { endpoints: server.endpoints().to_vec(), nodes: server.nodes(), ..Target::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::internal)?;
    runtime.block_on(backend.join(&target)).map_err(|e| {
        let message = format!("the processes of {} could not be joined: {e}", backend.info().name);
        CliError::with_code(cause_exit_code(e.cause), printable(&message))
    })
}
