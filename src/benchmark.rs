//! Runs as a few lines of code.

mod error;
mod running;
mod runs;

pub use error::BenchmarkError;
pub use running::Running;
pub use runs::{BenchmarkRun, BenchmarkRuns};

use iotbench_core::{Backend, Endpoint, Layout};
use iotbench_engine::{
    Bytes, Count, Criterion, Observer, Outcome, Overrides, Profile, SearchOverride, Span, StopSignal, parse_profile,
    read_profile,
};
use iotbench_report::CompareOptions;
use iotbench_session::{
    BackendWord, Baseline, Job, ProgressStream, SessionError, SessionObserver, SessionOptions, Source, Workload,
    WrittenProfile, check_machine, check_repetitions, lock_targets, progress, refuse_without_room, run_all,
};
use iotbench_workloads::find_profile;
use running::Forwarded;
use runs::Collected;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use url::Url;

/// A profile, a backend and what differs from their defaults.
///
/// An embedded database lies in the results folder; one with a server is where [`Benchmark::url`] says, or gets a private server,
/// which is removed at the end.
pub struct Benchmark {
    profile: WrittenProfile,
    overrides: Overrides,
    backend: Chosen,
    url: Option<Url>,
    repetitions: u32,
    baseline: Option<(PathBuf, CompareOptions)>,
    results: Option<PathBuf>,
    options: SessionOptions,
    observers: Vec<Arc<dyn SessionObserver>>,
    stop: StopSignal,
    wrong: Option<BenchmarkError>,
}

/// What is loaded.
enum Chosen {
    /// A built-in backend, by its name.
    BuiltIn(String),
    /// One of the program's own.
    Own(Box<dyn Backend>),
}

impl Benchmark {
    /// A built-in profile on the embedded SQLite database.
    ///
    /// # Errors
    /// There is no profile of this name.
    pub fn builtin(name: &str) -> Result<Self, BenchmarkError> {
        let builtin = find_profile(name).map_err(SessionError::from)?;
        Self::from_toml(&format!("{name}.toml"), builtin.toml)
    }

    /// A profile from its text; `file` names it in errors.
    ///
    /// # Errors
    /// The text is no profile.
    pub fn from_toml(file: &str, text: &str) -> Result<Self, BenchmarkError> {
        let profile = parse_profile(file, text).map_err(SessionError::from)?;
        Ok(Self::new(profile, file.into(), PathBuf::from(".")))
    }

    /// A profile from a file.
    ///
    /// # Errors
    /// The file cannot be read or is no profile.
    pub fn from_file(path: &Path) -> Result<Self, BenchmarkError> {
        let base = path.parent().unwrap_or(Path::new(".")).to_owned();
        Ok(Self::new(read_profile(path).map_err(SessionError::from)?, path.display().to_string(), base))
    }

    fn new(profile: Profile, file: String, base: PathBuf) -> Self {
        Self {
            profile: WrittenProfile { profile, source: Source { file, text: String::new() }, base },
            overrides: Overrides::default(),
            backend: Chosen::BuiltIn("sqlite".into()),
            url: None,
            repetitions: 1,
            baseline: None,
            results: None,
            options: SessionOptions::new(PathBuf::new()),
            observers: Vec::new(),
            stop: StopSignal::default(),
            wrong: None,
        }
    }

    /// A built-in backend, as `name` or `name:layout`.
    #[must_use]
    pub fn backend(mut self, backend: &str) -> Self {
        let (name, layout) = backend.split_once(':').map_or((backend, None), |(name, layout)| (name, Some(layout)));
        self.backend = Chosen::BuiltIn(name.into());
        match layout.map(str::parse::<Layout>).transpose() {
            Ok(layout) => self.overrides.layout = layout.or(self.overrides.layout),
            Err(message) => self.wrong = Some(BenchmarkError::UnknownLayout(message)),
        }
        self
    }

    /// A backend of your own, or a [`Closure`](crate::Closure).
    #[must_use]
    pub fn on(mut self, backend: impl Backend + 'static) -> Self {
        self.backend = Chosen::Own(Box::new(backend));
        self
    }

    /// Where the database is; without it in the results folder, or on a private server.
    #[must_use]
    pub fn url(mut self, url: Url) -> Self {
        self.url = Some(url);
        self
    }

    /// Sets any field of the profile: `key=value`, see [`Overrides::set`].
    #[must_use]
    pub fn set(mut self, assignment: &str) -> Self {
        self.overrides.set.push(assignment.into());
        self
    }

    /// A fixed number of virtual users: no ramp.
    #[must_use]
    pub fn users(mut self, users: u32) -> Self {
        self.overrides.users = Some(Count(users.into()));
        self
    }

    /// The length of the measured part, such as `30s`.
    #[must_use]
    pub fn duration(mut self, duration: &str) -> Self {
        match duration.parse::<Span>() {
            Ok(span) => self.overrides.duration = Some(span),
            Err(error) => self.wrong = Some(error.into()),
        }
        self
    }

    /// A search for the highest sustainable load instead of what the profile runs; the answer is the outcome's `capacity`.
    #[must_use]
    pub fn capacity(mut self) -> Self {
        let search = self.overrides.search.unwrap_or_default();
        let width = search.width.or(Some(SearchOverride::WIDTH));
        let trials = search.trials.or(Some(SearchOverride::TRIALS));
        self.overrides.search = Some(SearchOverride { width, trials, ..search });
        self
    }

    /// A capacity search with this limit, such as `p99<50ms`.
    #[must_use]
    pub fn criterion(mut self, criterion: &str) -> Self {
        match criterion.parse::<Criterion>() {
            Ok(criterion) => self.search(|search| search.criterion = Some(criterion)),
            Err(error) => {
                self.wrong = Some(SessionError::Usage(error.to_string()).into());
                self
            }
        }
    }

    /// A capacity search of which each trial counts so long, such as `10s`.
    #[must_use]
    pub fn trial(mut self, length: &str) -> Self {
        match length.parse::<Span>() {
            Ok(span) => self.search(|search| search.trial = Some(span)),
            Err(error) => {
                self.wrong = Some(error.into());
                self
            }
        }
    }

    /// A capacity search with at most so many trials near the limit; 0 only brackets it.
    #[must_use]
    pub fn trials(self, trials: u32) -> Self {
        self.search(|search| search.trials = Some(Count(trials.into())))
    }

    /// A capacity search that tries no greater load.
    #[must_use]
    pub fn most(self, load: u32) -> Self {
        self.search(|search| search.most = Some(Count(load.into())))
    }

    fn search(self, change: impl FnOnce(&mut SearchOverride)) -> Self {
        let mut this = self.capacity();
        if let Some(search) = this.overrides.search.as_mut() {
            change(search);
        }
        this
    }

    /// So many runs, each with a fresh state.
    #[must_use]
    pub fn repetitions(mut self, runs: u32) -> Self {
        self.repetitions = runs.max(1);
        self
    }

    /// Has results folders made in this one, as the command does; without it they are temporary.
    #[must_use]
    pub fn results(mut self, folder: impl Into<PathBuf>) -> Self {
        self.results = Some(folder.into());
        self
    }

    /// Compares with the runs in this folder; see [`BenchmarkRuns::is_regression`].
    #[must_use]
    pub fn baseline(mut self, folder: impl Into<PathBuf>, how: CompareOptions) -> Self {
        self.baseline = Some((folder.into(), how));
        self
    }

    /// Leaves what was written in the database, and the folder of a private server, which the next run finds. An embedded database
    /// lies in the results folder: name that too.
    #[must_use]
    pub fn keep(mut self) -> Self {
        self.options.keep = true;
        self
    }

    /// The memory budget of a private server's caches, such as `1GiB`.
    #[must_use]
    pub fn server_memory(mut self, size: &str) -> Self {
        match size.parse::<Bytes>() {
            Ok(Bytes(bytes)) => self.options.server_memory_bytes = bytes,
            Err(error) => self.wrong = Some(error.into()),
        }
        self
    }

    /// The program `iotbench`, which looks after private servers, where it is neither named by IOTBENCH_BIN nor beside this
    /// program nor in PATH.
    #[must_use]
    pub fn program(mut self, iotbench: impl Into<PathBuf>) -> Self {
        self.options.program = Some(iotbench.into());
        self
    }

    /// Who watches the runs, second by second.
    #[must_use]
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.observers.push(Arc::new(Forwarded::new(observer)));
        self
    }

    /// Who is told what happens around the runs: servers that start, runs that begin and end, warnings.
    #[must_use]
    pub fn session_observer(mut self, observer: impl SessionObserver + 'static) -> Self {
        self.observers.push(Arc::new(observer));
        self
    }

    /// What happens, as a stream of values; it ends with the last run.
    #[must_use]
    pub fn progress(mut self) -> (Self, ProgressStream) {
        let (observer, stream) = progress();
        self.observers.push(Arc::new(observer));
        (self, stream)
    }

    /// What ends the runs before their time.
    #[must_use]
    pub fn stop_signal(mut self, stop: StopSignal) -> Self {
        self.stop = stop;
        self
    }

    /// Runs to the end; blocks.
    ///
    /// # Errors
    /// Whatever is found before the run touches anything, a private server that does not start, and results that cannot be
    /// written. What happens later is in the outcome's verdict.
    pub fn run(mut self) -> Result<Outcome, BenchmarkError> {
        if let Some(wrong) = self.wrong.take() {
            return Err(wrong);
        }
        let runs = self.jobs()?.iter().map(|job| job.runs.len()).sum::<usize>() * self.repetitions as usize;
        if runs > 1 {
            return Err(BenchmarkError::Several(runs));
        }
        let only = self.run_all()?.runs.pop();
        only.map(|run| run.outcome).ok_or(BenchmarkError::Stopped)
    }

    /// The same beside other work: a future that a thread of its own works off, under any runtime. Dropped, it stops the run.
    pub fn run_async(self) -> Running<Outcome> {
        let stop = self.stop.clone();
        Running::start(stop, move || self.run())
    }

    /// Runs all of it, with its repetitions, variants and the values of its sweep; blocks.
    ///
    /// # Errors
    /// As of [`Benchmark::run`]; a baseline that cannot be compared with.
    pub fn run_all(mut self) -> Result<BenchmarkRuns, BenchmarkError> {
        if let Some(wrong) = self.wrong.take() {
            return Err(wrong);
        }
        let temporary = tempfile::Builder::new().prefix("iotbench-").tempdir()?;
        let results = self.results.take().unwrap_or_else(|| temporary.path().to_owned());
        let collected = Arc::new(Collected::default());
        self.observers.push(Arc::clone(&collected) as Arc<dyn SessionObserver>);
        let options = SessionOptions {
            results,
            observer: Arc::new(std::mem::take(&mut self.observers)),
            command: std::env::args_os().take(1).map(|word| word.to_string_lossy().into_owned()).collect(),
            ..self.options.clone()
        };
        let jobs = self.jobs()?;
        check_repetitions(self.repetitions, &options)?;
        let baseline = self.baseline.as_ref().map(|(folder, how)| Baseline::read(folder, how.clone())).transpose()?;
        check_machine(&jobs, &options)?;
        refuse_without_room(&jobs, &options)?;
        let _locks = lock_targets(jobs.iter().flat_map(Job::addresses))?;
        let runs = run_all(&jobs, self.repetitions, baseline.as_ref(), &options, &self.stop);
        runs.ended?;
        let comparisons = runs.compared.transpose()?.unwrap_or_default();
        Ok(BenchmarkRuns { runs: collected.taken(), repetitions: runs.repetitions, comparisons })
    }

    /// The same beside other work: a future that a thread of its own works off, under any runtime. Dropped, it stops the runs.
    pub fn run_all_async(self) -> Running<BenchmarkRuns> {
        let stop = self.stop.clone();
        Running::start(stop, move || self.run_all())
    }

    fn jobs(&self) -> Result<Vec<Job<'_>>, BenchmarkError> {
        let backend = match &self.backend {
            Chosen::BuiltIn(name) => BackendWord::read(name)?.backend,
            Chosen::Own(backend) => &**backend,
        };
        let workload = Workload {
            endpoints: self.url.iter().cloned().map(Endpoint::new).collect(),
            overrides: self.overrides.clone(),
            ..Workload::new(self.profile.clone(), BackendWord { backend, layout: None })
        };
        Ok(workload.jobs()?)
    }
}
