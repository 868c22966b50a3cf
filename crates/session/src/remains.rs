//! Where a run that is over left what it wrote: at an address, in its folder, or in the folder of a server that it kept.

use crate::{
    error::SessionError,
    event::{Event, StartingAt},
    job::{BackendWord, Job},
    join::join,
    options::SessionOptions,
    source::Source,
    written_profile::WrittenProfile,
};
use iotbench_core::{Backend, Endpoint, Target};
use iotbench_engine::{LedgerHead, Overrides, StopSignal};
use iotbench_launcher::{PrivateLog, PrivateServer, Records, start};
use iotbench_report::{DATABASE_FOLDER, read_document};
use std::path::{Path, PathBuf};
use url::Url;

/// Where the database is.
pub struct Remains {
    endpoints: Vec<Endpoint>,
    folder: Option<PathBuf>,
    insecure: bool,
    /// The server that was started for it.
    server: Option<(PrivateServer, PrivateLog)>,
}

impl Remains {
    /// Finds the database of the run in a results folder, whose ledger has this head, and starts the server that the run kept. `given`:
    /// where the user says that it is.
    ///
    /// # Errors
    /// It is not known where, or its server does not start.
    pub fn of(
        run: &Path,
        head: &LedgerHead,
        backend: &dyn Backend,
        given: Vec<Endpoint>,
        options: &SessionOptions,
        stop: &StopSignal,
    ) -> Result<Self, SessionError> {
        let at = |endpoints, folder| Self { endpoints, folder, insecure: options.insecure, server: None };
        if !given.is_empty() {
            return Ok(at(given, None));
        }
        if backend.info().capabilities.embedded {
            let folder = run.join(DATABASE_FOLDER);
            let written = head.endpoints.iter().filter_map(|endpoint| Url::parse(endpoint).ok());
            let endpoints: Vec<Endpoint> = written.map(Endpoint::new).collect();
            return Ok(if endpoints.is_empty() { at(Vec::new(), Some(folder)) } else { at(endpoints, None) });
        }
        let is_managed = read_document(run).is_ok_and(|document| document.target.managed);
        if !is_managed {
            let endpoints = head.endpoints.join(", ");
            return Err(SessionError::usage(format!(
                "the run used a server of yours ({endpoints}): say where it is with --url"
            )));
        }
        let server = kept_server(head, backend, options, stop)?;
        Ok(Self { endpoints: server.0.endpoints().to_vec(), server: Some(server), ..at(Vec::new(), None) })
    }

    /// As a backend opens it.
    #[must_use]
    pub fn target(&self) -> Target {
        Target {
            endpoints: self.endpoints.clone(),
            folder: self.folder.clone(),
            insecure: self.insecure,
            ..Target::default()
        }
    }

    /// Stops what was started. It stays on its folder, where the next run finds it.
    pub fn leave(self, options: &SessionOptions) {
        let Some((server, _log)) = self.server else { return };
        if let Err(error) = server.stop() {
            options.warn(error);
        }
    }
}

/// Starts the server that the run kept, as the next run would.
fn kept_server(
    head: &LedgerHead,
    backend: &dyn Backend,
    options: &SessionOptions,
    stop: &StopSignal,
) -> Result<(PrivateServer, PrivateLog), SessionError> {
    let source = Source { file: "the run's profile".into(), text: String::new() };
    let written = WrittenProfile { profile: head.plan.profile.clone(), source, base: head.base.clone() };
    let word = BackendWord { backend, layout: Some(head.plan.table.layout) };
    let job = Job::new(&written, word, &Overrides::default(), &[], false)?;
    let none = || {
        let name = backend.info().name;
        SessionError::usage(format!(
            "no server of {name} was kept by that run or since: say with --url where its data are"
        ))
    };
    let wanted = job.server.as_ref().ok_or_else(none)?;
    let kept = Records::open()?.find_kept(backend.info().name, wanted.recipe, &wanted.settings)?.ok_or_else(none)?;
    options.tell(&Event::Starting { server: backend.info().name, at: StartingAt::Kept(&kept.folder) });
    let log = PrivateLog::new().map_err(|e| SessionError::internal(format!("no folder for the server's log: {e}")))?;
    let launch = options.launch(backend.info().name, wanted.recipe, log.path()).settings(wanted.settings.clone());
    let server = match start(&launch.on_kept_folder(kept.folder), &|| stop.ends()) {
        Ok(server) => server,
        Err(error) => {
            // The error names it.
            log.keep();
            return Err(error.into());
        }
    };
    join(backend, &server)?;
    Ok((server, log))
}
