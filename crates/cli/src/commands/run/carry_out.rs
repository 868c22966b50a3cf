//! A job from its results folder to its documents.

use super::{
    broker::{self, Broker},
    command,
    database::{DatabaseServer, remote_samplers},
    managed,
    options::OutputFormat,
    options::RunArguments,
    resume::Resumed,
    sweep,
};
use crate::{
    console,
    error::CliError,
    job::{Job, Place},
};
use iotbench_backends::{BACKENDS, null_backend};
use iotbench_core::Backend;
use iotbench_engine::{
    Event, NullBackend, Observer, Outcome, Planned, Profile, RunOptions, StopSignal, begun, gravest,
};
use iotbench_launcher::PrivateServer;
use iotbench_report::{
    DATABASE_FOLDER, Document, Environment, FolderError, FolderName, FolderObserver, Provenance, ResultsFolder,
    SearchHead, Status, Tool, TrialRecord, Verdict,
};
use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

/// A run that came to its end, valid or not.
pub(crate) struct Finished {
    pub(crate) document: Document,
    pub(crate) folder: PathBuf,
    /// Whether all files are on the disk.
    saved: bool,
}

impl Finished {
    pub(crate) fn exit_code(&self) -> u8 {
        let lost = if self.saved { 0 } else { crate::error::LOCAL_IO };
        gravest([self.document.verdict.exit_code, lost])
    }
}

impl From<FolderError> for CliError {
    fn from(error: FolderError) -> Self {
        match error.exit_code() {
            crate::error::USAGE => Self::usage(error),
            crate::error::NOT_OURS => Self::with_code(crate::error::NOT_OURS, error),
            _ => Self::local_io(error),
        }
    }
}

/// What a job left behind.
pub(crate) struct Done {
    pub(crate) runs: Vec<Finished>,
    /// The run's folder, or the one that holds those of a sweep.
    pub(crate) folder: PathBuf,
    pub(super) is_sweep: bool,
}

/// Carries a job out and adds what it left to `done`, also when it could not be ended.
pub(crate) fn carry_out(
    job: &Job,
    arguments: &RunArguments,
    stop: &StopSignal,
    done: &mut Vec<Done>,
) -> Result<(), CliError> {
    if job.is_sweep() {
        return sweep::carry_out(job, arguments, stop, done);
    }
    for run in &job.runs {
        let finished = alone(job, run, arguments, &stop.of_one_run())?;
        done.push(Done { folder: finished.folder.clone(), runs: vec![finished], is_sweep: false });
    }
    Ok(())
}

/// A run with a server of its own, where it needs one.
fn alone(job: &Job, run: &Profile, arguments: &RunArguments, stop: &StopSignal) -> Result<Finished, CliError> {
    let folder = new_folder(job, &arguments.out, job.layout.name())?;
    // A kill while the server starts leaves a document too.
    let begun = begin(&folder, job, run, arguments)?;
    let server = match DatabaseServer::start(job, arguments, folder.path(), stop) {
        Ok(server) => server,
        Err(error) => return Err(not_begun(&folder, begun, error)),
    };
    let broker = match broker::open(arguments, folder.path(), stop) {
        Ok(broker) => broker,
        Err(error) => return Err(not_begun(&folder, begun, error)),
    };
    let servers = Servers { database: server.as_ref(), broker: broker.as_ref() };
    let (mut outcome, folder) = carry_out_in(folder, job, run, arguments, servers, stop)?;
    if let Some(broker) = broker {
        broker.note_death(&mut outcome);
        broker.stop();
    }
    if let Some(server) = server {
        server.note_death(&mut outcome);
        server.stop(job, arguments);
    }
    Ok(finish(folder, &outcome))
}

/// A folder for results that begin now, in `out`.
pub(super) fn new_folder(job: &Job, out: &Path, layout: &str) -> Result<ResultsFolder, CliError> {
    let name = FolderName::new(SystemTime::now(), &job.profile.name, job.backend.info().name, layout)?;
    Ok(ResultsFolder::create(out, &name)?)
}

/// What ended a run before it had begun, noted in its document: none stays that says it goes on.
fn not_begun(folder: &ResultsFolder, mut document: Document, error: CliError) -> CliError {
    // 129, 130 and 143 are signals.
    let status = if error.code() > 128 { Status::Aborted } else { Status::Failed };
    document.verdict = Verdict { status, reasons: vec![error.to_string()], exit_code: error.code() };
    if let Err(unwritten) = folder.give_up(&document) {
        console::say(&format!("warning: {unwritten}"));
    }
    error
}

/// Writes a run's first document, before anything is done.
pub(super) fn begin(
    folder: &ResultsFolder,
    job: &Job,
    run: &Profile,
    arguments: &RunArguments,
) -> Result<Document, CliError> {
    let database = folder.path().join(DATABASE_FOLDER);
    let planned = job.plan(run, &run_id(folder.path()), &Place { folder: &database, server: None })?;
    let provenance = provenance(arguments, folder.path(), None, job.server.is_some());
    let document = Document::from_outcome(&begun(&planned, job.backend), &provenance);
    folder.begin(&document)?;
    Ok(document)
}

/// A run is called as its folder.
fn run_id(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn provenance(arguments: &RunArguments, results: &Path, database: Option<&Path>, managed: bool) -> Provenance {
    Provenance {
        tool: Tool::this(BACKENDS.iter().map(|b| b.info().name.to_owned()).collect()),
        command: arguments.command.as_deref().map_or_else(command::command, command::without_secrets),
        environment: Environment::collect(results, database),
        managed,
    }
}

/// Writes a run's last document.
pub(super) fn finish(folder: FolderObserver, outcome: &Outcome) -> Finished {
    let path = folder.folder().path().to_owned();
    let (document, written) = folder.finish(outcome);
    Finished { saved: saved(&document, &written), document, folder: path }
}

/// The servers of a run.
#[derive(Clone, Copy)]
pub(super) struct Servers<'a> {
    /// The private one of its database.
    pub(super) database: Option<&'a DatabaseServer>,
    /// The broker between devices and writers.
    pub(super) broker: Option<&'a Broker>,
}

/// Runs a profile on a server that is there, if it needs one, with results in this folder.
pub(super) fn carry_out_in(
    folder: ResultsFolder,
    job: &Job,
    run: &Profile,
    arguments: &RunArguments,
    servers: Servers<'_>,
    stop: &StopSignal,
) -> Result<(Outcome, FolderObserver), CliError> {
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
    planned.plan.remarks.extend(arguments.agents.remark());
    planned.plan.remarks.extend(arguments.via()?.and_then(|via| broker::remark(&via)));
    if let Some(Resumed { of, trials }) = &arguments.resumed {
        planned.plan.remarks.push(format!(
            "the first {} trials were made by {of}, with its database; datapoints and what is stored are of the others",
            trials.len()
        ));
    }
    let provenance = provenance(arguments, &path, files, servers.database.is_some());
    let shown = arguments.output_format != OutputFormat::Quiet;
    let views = arguments.views.observers(&planned.plan, shown, stop)?;
    let ledger = job.backend.info().capabilities.stores.then(|| folder.ledger()).transpose()?;
    let folder = FolderObserver::new(folder, &planned.plan, started, provenance)?;
    let earlier = arguments.resumed.as_ref().map(|resumed| resumed.trials.clone()).unwrap_or_default();
    let resumed = earlier.iter().map(|trial| trial.figures.clone()).collect();
    let folder = keep_trials(folder, job, &planned, arguments, earlier)?;
    let mut watchers = Watchers { folder, views };
    let processes = server.map(managed::processes);
    let options = RunOptions {
        trace: arguments.trace,
        keep: arguments.keep,
        verify: arguments.verify,
        processes,
        ledger,
        null: null_backend().map(NullBackend),
        loaders: arguments.agents.loaders(),
        remote_samplers: remote_samplers(arguments, servers.database),
        resumed,
        files: files.map(Path::to_owned).or_else(|| job.own_folder()),
        storage_prober: None,
        via: servers.broker.map(Broker::via),
    };
    let outcome = run_on_a_thread(planned, job.backend, options, &mut watchers, stop)
        .map_err(|e| CliError::internal(format!("{e}; what was measured is in {}", path.display())))?;
    if let Some(database) = &database {
        // Left in place when there is anything in it.
        let _ = std::fs::remove_dir(database);
    }
    let Watchers { folder, views } = watchers;
    drop(views);
    if arguments.keep && shown && servers.database.is_none() {
        console::say(&format!("kept: {}", outcome.endpoints.join(", ")));
    }
    Ok((outcome, folder))
}

/// Keeps the trials of a search, so that it goes on after an interruption.
fn keep_trials(
    folder: FolderObserver,
    job: &Job,
    planned: &Planned,
    arguments: &RunArguments,
    earlier: Vec<TrialRecord>,
) -> Result<FolderObserver, FolderError> {
    if planned.plan.ramp.is_none() {
        return Ok(folder);
    }
    folder.searching(&head(job, planned, arguments), earlier)
}

/// What is needed to go on with it.
pub(super) fn head(job: &Job, planned: &Planned, arguments: &RunArguments) -> SearchHead {
    let endpoints = job.addresses().map(|(_, endpoint)| endpoint.to_string()).collect();
    let base = std::path::absolute(&planned.base).unwrap_or_else(|_| planned.base.clone());
    SearchHead::new(planned.plan.clone(), base, endpoints, arguments.server_memory.0)
}

/// Whether all is on the disk. What is not is shown, so that nothing measured is lost.
fn saved(document: &Document, written: &Result<(), FolderError>) -> bool {
    if let Err(error) = written {
        console::say(&format!("error: {error}; the result follows"));
        console::say(&document.to_json().unwrap_or_default());
    }
    written.is_ok()
}

/// Runs on a thread of its own, so that a fault of the program ends the run and not the saving of its results.
fn run_on_a_thread(
    planned: Planned,
    backend: &'static dyn Backend,
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
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        self.views.event(event)?;
        self.folder.event(event)
    }
}
