//! Making one database of the processes of a server that was just started.

use crate::error::SessionError;
use iotbench_core::{Backend, Target};
use iotbench_launcher::PrivateServer;

/// Has the backend join the processes of its server, where no command of its recipe does.
///
/// # Errors
/// The processes cannot be reached, or refuse.
pub fn join(backend: &dyn Backend, server: &PrivateServer) -> Result<(), SessionError> {
    let target = Target { endpoints: server.endpoints().to_vec(), nodes: server.nodes(), ..Target::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(SessionError::internal)?;
    runtime.block_on(backend.join(&target)).map_err(|error| {
        let what = format!("the processes of {} could not be joined", backend.info().name);
        SessionError::Target { what, error }
    })
}
