//! A run from its results folder to its document.

use crate::{
    broker::{self, Broker},
    database_server::{DatabaseServer, remote_samplers},
    document::document_of,
    error::{SessionError, exit_code::LOCAL_IO},
    event::Event,
    job::{Job, Place},
    ledger::begin_ledger,
    options::{Resumed, SessionOptions},
    private_server,
    recording::FolderObserver,
    trials::{SearchHead, TrialRecord},
};
use iotbench_backends::{BACKENDS, null_backend};
use iotbench_core::Backend;
use iotbench_engine::{
    Event as RunEvent, NullBackend, Observer, Outcome, Planned, Profile, RunOptions, StopSignal, begun, gravest,
};
use iotbench_launcher::PrivateServer;
use iotbench_report::{
    DATABASE_FOLDER, Document, Environment, FolderError, FolderName, Provenance, ResultsFolder, Status, Tool, Verdict,
};
use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

/// A run that came to its end, valid or not.
pub struct Finished {
    /// What it found out.
    pub document: Document,
    /// Its folder.
    pub folder: PathBuf,
    /// Whether all files are on the disk.
    saved: bool,
}

impl Finished {
    /// The program's exit code for it.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let lost = if self.saved { 0 } else { LOCAL_IO };
        gravest([self.document.verdict.exit_code, lost])
    }
}

/// What a job left behind.
pub struct Done {
    /// Its runs.
    pub runs: Vec<Finished>,
    /// The run's folder, or the one that holds those of a sweep.
    pub folder: PathBuf,
    /// Whether it is a run for each of several values.
    pub is_sweep: bool,
}

/// A run with a server of its own, where it needs one.
pub(crate) fn alone(
    job: &Job<'_>,
    run: &Profile,
    options: &SessionOptions,
    stop: &StopSignal,
) -> Result<Finished, SessionError> {
    let folder = new_folder(job, &options.results, job.layout.name())?;
    // A kill while the server starts leaves a document too.
    let begun = begin(&folder, job, run, options)?;
    let server = match DatabaseServer::start(job, options, folder.path(), stop) {
        Ok(server) => server,
        Err(error) => return Err(not_begun(&folder, begun, error, options)),
    };
    let broker = match broker::open(options, folder.path(), stop) {
        Ok(broker) => broker,
        Err(error) => return Err(not_begun(&folder, begun, error, options)),
    };
    let servers = Servers { database: server.as_ref(), broker: broker.as_ref() };
    let (mut outcome, folder) = carry_out_in(folder, job, run, options, servers, stop)?;
    if let Some(broker) = broker {
        broker.note_death(&mut outcome);
        broker.stop(options);
    }
    if let Some(server) = server {
        server.note_death(&mut outcome);
        server.stop(job, options);
    }
    Ok(finish(folder, &outcome, options))
}

/// A folder for results that begin now, in `out`.
pub(crate) fn new_folder(job: &Job<'_>, out: &Path, layout: &str) -> Result<ResultsFolder, SessionError> {
    let name = FolderName::new(SystemTime::now(), &job.profile.name, job.backend.info().name, layout)?;
    Ok(ResultsFolder::create(out, &name)?)
}

/// What ended a run before it had begun, noted in its document: none stays that says it goes on.
fn not_begun(
    folder: &ResultsFolder,
    mut document: Document,
    error: SessionError,
    options: &SessionOptions,
) -> SessionError {
    // 129, 130 and 143 are signals.
    let status = if error.exit_code() > 128 { Status::Aborted } else { Status::Failed };
    document.verdict = Verdict { status, reasons: vec![error.to_string()], exit_code: error.exit_code() };
    if let Err(unwritten) = folder.give_up(&document) {
        options.warn(unwritten);
    }
    error
}

/// Writes a run's first document, before anything is done.
pub(crate) fn begin(
    folder: &ResultsFolder,
    job: &Job<'_>,
    run: &Profile,
    options: &SessionOptions,
) -> Result<Document, SessionError> {
    let database = folder.path().join(DATABASE_FOLDER);
    let planned = job.plan(run, &run_id(folder.path()), &Place { folder: &database, server: None })?;
    let provenance = provenance(options, folder.path(), None, job.server.is_some());
    let document = document_of(&begun(&planned, job.backend), &provenance);
    folder.begin(&document)?;
    Ok(document)
}

/// A run is called as its folder.
fn run_id(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn provenance(options: &SessionOptions, results: &Path, database: Option<&Path>, managed: bool) -> Provenance {
    Provenance {
        tool: Tool::this(BACKENDS.iter().map(|b| b.info().name.to_owned()).collect()),
        command: options.command.clone(),
        environment: Environment::collect(results, database),
        managed,
    }
}

/// Writes a run's last document.
pub(crate) fn finish(folder: FolderObserver, outcome: &Outcome, options: &SessionOptions) -> Finished {
    let path = folder.folder().path().to_owned();
    let (document, written) = folder.finish(outcome);
    // What is not on the disk is shown, so that nothing measured is lost.
    if let Err(error) = &written {
        options.tell(&Event::NotSaved { error, document: &document });
    }
    options.tell(&Event::RunEnded { outcome, document: &document, folder: &path });
    Finished { saved: written.is_ok(), document, folder: path }
}

/// The servers of a run.
#[derive(Clone, Copy)]
pub(crate) struct Servers<'a> {
    /// The private one of its database.
    pub(crate) database: Option<&'a DatabaseServer>,
    /// The broker between devices and writers.
    pub(crate) broker: Option<&'a Broker>,
}

/// Runs a profile on a server that is there, if it needs one, with results in this folder.
pub(crate) fn carry_out_in(
    folder: ResultsFolder,
    job: &Job<'_>,
    run: &Profile,
    options: &SessionOptions,
    servers: Servers<'_>,
    stop: &StopSignal,
) -> Result<(Outcome, FolderObserver), SessionError> {
    let server = servers.database.and_then(DatabaseServer::here);
    let started = SystemTime::now();
    let path = folder.path().to_owned();
    let database = job.needs_folder().then(|| folder.database_dir()).transpose()?;
    let place = Place {
        folder: database.as_deref().unwrap_or(Path::new("nowhere")),
        server: servers.database.map(DatabaseServer::place),
    };
    let mut planned = job.plan(run, &run_id(&path), &place)?;
    if server.is_some_and(PrivateServer::is_on_kept_folder) {
        planned.plan.remarks.push("the server was started on the folder that an earlier run kept".into());
    }
    let files = server.map(PrivateServer::folder).or(database.as_deref());
    planned.plan.remarks.extend(options.remark_of_agents());
    planned.plan.remarks.extend(options.via.as_ref().and_then(broker::remark));
    if let Some(Resumed { of, trials }) = &options.resumed {
        planned.plan.remarks.push(format!(
            "the first {} trials were made by {of}, with its database; datapoints and what is stored are of the others",
            trials.len()
        ));
    }
    let provenance = provenance(options, &path, files, servers.database.is_some());
    let views = options.observer.of_run(&planned.plan, stop)?;
    let ledger = job.backend.info().capabilities.stores.then(|| begin_ledger(&folder)).transpose()?;
    let folder = FolderObserver::new(folder, &planned.plan, started, provenance)?;
    let earlier = options.resumed.as_ref().map(|resumed| resumed.trials.clone()).unwrap_or_default();
    let resumed = earlier.iter().map(|trial| trial.figures.clone()).collect();
    let folder = keep_trials(folder, job, &planned, options, earlier)?;
    let mut watchers = Watchers { folder, views };
    let processes = server.map(private_server::processes);
    let of_run = RunOptions {
        trace: options.trace,
        keep: options.keep,
        verify: options.verify,
        processes,
        ledger,
        null: null_backend().map(NullBackend),
        loaders: options.reached.loaders(),
        remote_samplers: remote_samplers(options, servers.database),
        resumed,
        files: files.map(Path::to_owned).or_else(|| job.own_folder()),
        storage_prober: None,
        via: servers.broker.map(Broker::via),
    };
    let outcome = run_on_a_thread(planned, job.backend, of_run, &mut watchers, stop)
        .map_err(|e| SessionError::internal(format!("{e}; what was measured is in {}", path.display())))?;
    if let Some(database) = &database {
        // Left in place when there is anything in it.
        let _ = std::fs::remove_dir(database);
    }
    let Watchers { folder, views } = watchers;
    drop(views);
    if options.keep && servers.database.is_none() {
        options.tell(&Event::DataKept { endpoints: &outcome.target.endpoints });
    }
    Ok((outcome, folder))
}

/// Keeps the trials of a search, so that it goes on after an interruption.
fn keep_trials(
    folder: FolderObserver,
    job: &Job<'_>,
    planned: &Planned,
    options: &SessionOptions,
    earlier: Vec<TrialRecord>,
) -> Result<FolderObserver, FolderError> {
    if planned.plan.ramp.is_none() {
        return Ok(folder);
    }
    folder.searching(&head(job, planned, options), earlier)
}

/// What is needed to go on with it.
pub(crate) fn head(job: &Job<'_>, planned: &Planned, options: &SessionOptions) -> SearchHead {
    let endpoints = job.addresses().map(|(_, endpoint)| endpoint.to_string()).collect();
    let base = std::path::absolute(&planned.base).unwrap_or_else(|_| planned.base.clone());
    SearchHead::new(planned.plan.clone(), base, endpoints, options.server_memory_bytes)
}

/// Runs on a thread of its own, so that a fault of the program ends the run and not the saving of its results.
fn run_on_a_thread(
    planned: Planned,
    backend: &dyn Backend,
    options: RunOptions,
    observer: &mut dyn Observer,
    stop: &StopSignal,
) -> Result<Outcome, String> {
    std::thread::scope(|scope| {
        let run = || iotbench_engine::run(planned, backend, options, observer, stop);
        let control = std::thread::Builder::new().name("control".into()).spawn_scoped(scope, run);
        let control = control.map_err(|e| format!("no thread can be started: {e}"))?;
        control.join().map_err(|_| "the run ended by a fault of iotbench".to_owned())
    })
}

/// Who watches a run: the user, and the folder.
struct Watchers {
    folder: FolderObserver,
    views: Vec<Box<dyn Observer>>,
}

impl Observer for Watchers {
    fn event(&mut self, event: &RunEvent<'_>) -> Result<(), String> {
        self.views.event(event)?;
        self.folder.event(event)
    }
}
