//! A run as a few lines of code.

use iotbench_backends::{BACKENDS, null_backend};
use iotbench_core::{Backend, Endpoint, Layout, Registry, Target, UnknownBackend};
use iotbench_engine::{
    Count, NullBackend, Observer, Outcome, Overrides, PlanError, PlanRequest, Profile, ProfileError, RunOptions, Span,
    StopSignal, UnitError, parse_profile, plan, read_profile, run,
};
use iotbench_workloads::{UnknownProfile, find_profile};
use std::{
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};
use url::Url;

/// A profile, a backend and what differs from their defaults.
pub struct Benchmark {
    profile: Profile,
    file: String,
    base: PathBuf,
    overrides: Overrides,
    backend: Chosen,
    url: Option<Url>,
    options: RunOptions,
    observer: Box<dyn Observer>,
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

/// Why a benchmark cannot be run. What happens while it runs is in the [`Outcome`]'s verdict.
#[derive(Debug, thiserror::Error)]
pub enum BenchmarkError {
    /// There is no such built-in profile.
    #[error(transparent)]
    UnknownProfile(#[from] UnknownProfile),
    /// The profile cannot be read, or does not take a change.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// There is no such backend.
    #[error(transparent)]
    UnknownBackend(#[from] UnknownBackend),
    /// There is no such layout.
    #[error("{0}")]
    UnknownLayout(String),
    /// A value that cannot be read.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// The profile cannot be run on this backend.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// No folder for an embedded database.
    #[error("no folder for the database: {0}")]
    Folder(#[from] std::io::Error),
}

impl Benchmark {
    /// A built-in profile on the embedded SQLite database.
    ///
    /// # Errors
    /// There is no profile of this name.
    pub fn builtin(name: &str) -> Result<Self, BenchmarkError> {
        let builtin = find_profile(name)?;
        Self::from_toml(&format!("{name}.toml"), builtin.toml)
    }

    /// A profile from its text; `file` names it in errors.
    ///
    /// # Errors
    /// The text is no profile.
    pub fn from_toml(file: &str, text: &str) -> Result<Self, BenchmarkError> {
        Ok(Self::new(parse_profile(file, text)?, file.into(), PathBuf::from(".")))
    }

    /// A profile from a file.
    ///
    /// # Errors
    /// The file cannot be read or is no profile.
    pub fn from_file(path: &Path) -> Result<Self, BenchmarkError> {
        let base = path.parent().unwrap_or(Path::new(".")).to_owned();
        Ok(Self::new(read_profile(path)?, path.display().to_string(), base))
    }

    fn new(profile: Profile, file: String, base: PathBuf) -> Self {
        Self {
            profile,
            file,
            base,
            overrides: Overrides::default(),
            backend: Chosen::BuiltIn("sqlite".into()),
            url: None,
            options: RunOptions { null: null_backend().map(NullBackend), ..RunOptions::default() },
            observer: Box::new(()),
            stop: StopSignal::default(),
            wrong: None,
        }
    }

    /// A built-in backend, as `name` or `name:layout`. One with a server needs [`Benchmark::url`].
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

    /// Where the database is; without it an embedded database gets a temporary folder.
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

    /// Who watches the run.
    #[must_use]
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.observer = Box::new(observer);
        self
    }

    /// What ends the run before its time.
    #[must_use]
    pub fn stop_signal(mut self, stop: StopSignal) -> Self {
        self.stop = stop;
        self
    }

    /// Runs to the end; blocks.
    ///
    /// # Errors
    /// Whatever is found before the run touches anything. What happens later is in the outcome's verdict.
    pub fn run(mut self) -> Result<Outcome, BenchmarkError> {
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        let backend = match &self.backend {
            Chosen::BuiltIn(name) => Registry::new(BACKENDS).find(name)?,
            Chosen::Own(backend) => &**backend,
        };
        let folder = tempfile::Builder::new().prefix("iotbench-").tempdir()?;
        let target = match self.url {
            Some(url) => Target { endpoints: vec![Endpoint::new(url)], ..Target::default() },
            None => Target { folder: Some(folder.path().to_owned()), ..Target::default() },
        };
        let now_ns = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let request = PlanRequest {
            profile: self.profile.with(&self.overrides)?,
            profile_file: self.file,
            base: &self.base,
            run_id: format!("library_{now_ns}"),
            target,
            now_ns: i64::try_from(now_ns).unwrap_or(i64::MAX),
        };
        let planned = plan(request, backend)?;
        Ok(run(planned, backend, self.options, &mut *self.observer, &self.stop))
    }
}
