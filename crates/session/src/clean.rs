//! What killed runs left in a server of the user's: found by iotbench's marker, and dropped.

use crate::{error::SessionError, target_lock::lock_targets};
use iotbench_backends::BACKENDS;
use iotbench_core::{
    Backend, Database, Error, Layout, Marker, Name, OpenRequest, OwnedObject, Registry, Schema, Settings, Signal,
    TableSpec, Target, ValueType,
};
use iotbench_engine::{cause_exit_code, changed, contacted, watched};
use iotbench_report::{Lock, printable_lines};
use std::{sync::Arc, time::Duration};
use tokio::runtime::Runtime;

/// A server that does not answer by then is not there.
const PATIENCE: Duration = Duration::from_secs(60);
/// What is large is not dropped at once.
const DROPPED_WITHIN: Duration = Duration::from_secs(300);

/// All that carries iotbench's marker in a database, of whichever run.
pub struct Leftovers {
    backend: &'static dyn Backend,
    database: Arc<dyn Database>,
    owned: Vec<OwnedObject>,
    runtime: Runtime,
    /// What a run that goes on has made carries the marker too.
    _locks: Vec<Lock>,
}

impl Leftovers {
    /// Looks for it. `backend`: which database it is, where its address does not tell. `to_drop`: some of it is to be dropped, so
    /// that no run may go on there meanwhile.
    ///
    /// # Errors
    /// It is not clear which database is meant, it does not answer, or a run goes on there.
    pub fn find(backend: Option<&str>, target: &Target, to_drop: bool) -> Result<Self, SessionError> {
        let (backend, database) = open(backend, target)?;
        let addresses = target.endpoints.iter().map(|endpoint| (backend, endpoint));
        let locks = if to_drop { lock_targets(addresses)? } else { Vec::new() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(SessionError::internal)?;
        let listing = Arc::clone(&database);
        let owned = contacted(PATIENCE, async move { listing.owned().await }).map_err(|e| refused(&e))?;
        Ok(Self { backend, database, owned, runtime, _locks: locks })
    }

    /// What was found.
    #[must_use]
    pub fn owned(&self) -> &[OwnedObject] {
        &self.owned
    }

    /// Drops one of them.
    ///
    /// # Errors
    /// The database refuses, or does not answer.
    pub fn drop(&self, object: &OwnedObject) -> Result<(), SessionError> {
        self.runtime.block_on(async {
            let dropping = changed(&*self.database, self.database.drop_owned(object));
            watched(self.backend.info(), DROPPED_WITHIN, dropping).await.map_err(|e| refused(&e))
        })
    }
}

fn refused(error: &Error) -> SessionError {
    SessionError::Other { message: printable_lines(&error.to_string()), exit_code: cause_exit_code(error.cause) }
}

/// The database at an address: of the backend that is named, else of the one whose name the address begins with, else of the
/// only one that takes it.
fn open(backend: Option<&str>, target: &Target) -> Result<(&'static dyn Backend, Arc<dyn Database>), SessionError> {
    let open = |backend: &'static dyn Backend| {
        let opened =
            backend.open(OpenRequest { target: target.clone(), settings: Settings::default(), table: no_table()? });
        opened.map(|database| (backend, database)).map_err(|e| SessionError::usage(printable_lines(&e.to_string())))
    };
    let scheme = target.endpoints.first().map(|endpoint| endpoint.expose().scheme());
    let named_by_address = || BACKENDS.iter().map(|backend| backend.info().name).find(|&name| Some(name) == scheme);
    match backend.or_else(named_by_address) {
        Some(name) => open(Registry::new(BACKENDS).find(name).map_err(SessionError::usage)?),
        None => {
            let stores = BACKENDS.iter().filter(|b| !b.info().capabilities.embedded || b.info().name == "sqlite");
            let mut found = stores.filter_map(|&backend| open(backend).ok());
            match (found.next(), found.next()) {
                (Some(database), None) => Ok(database),
                (None, _) => Err(SessionError::usage("no database takes this address: name one with --backend")),
                (Some(_), Some(_)) => {
                    Err(SessionError::usage("several databases take this address: name one with --backend"))
                }
            }
        }
    }
}

/// Opening a database asks for a table; this one is never made.
pub(crate) fn no_table() -> Result<TableSpec, SessionError> {
    let signal = Signal { name: "none".into(), value_type: ValueType::F64, max_text_bytes: 0 };
    Ok(TableSpec {
        name: Name::new("iotbench_clean").map_err(SessionError::internal)?,
        layout: Layout::Wide,
        schema: Schema::new(vec![signal]).map_err(SessionError::internal)?,
        devices: 1,
        marker: Marker { run_id: "clean".into(), fingerprint: String::new() },
    })
}
