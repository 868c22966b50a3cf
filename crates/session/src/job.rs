//! A profile with the user's changes, on one database: what can be planned and run.

use crate::{error::SessionError, source::Source, written_profile::WrittenProfile};
use iotbench_backends::BACKENDS;
use iotbench_core::{Backend, Endpoint, Layout, Node, Recipe, Registry, Settings, Target};
use iotbench_engine::{Overrides, PlanRequest, Planned, Profile, plan, reserve_descriptors};
use iotbench_launcher::{PrivateServer, Programs, ServerSettings, planned_endpoints};
use std::{
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// A database and how it is to be laid out.
#[derive(Clone, Copy)]
pub struct BackendWord<'b> {
    /// The database.
    pub backend: &'b dyn Backend,
    /// The layout, if it is said.
    pub layout: Option<Layout>,
}

impl BackendWord<'_> {
    /// One of the built-in ones, as on the command line: `name` or `name:layout`.
    ///
    /// # Errors
    /// There is no such backend, or no such layout.
    pub fn read(word: &str) -> Result<Self, SessionError> {
        let (name, layout) = word.split_once(':').map_or((word, None), |(name, layout)| (name, Some(layout)));
        let backend = Registry::new(BACKENDS).find(name)?;
        let layout = layout.map(str::parse).transpose().map_err(SessionError::usage)?;
        Ok(Self { backend, layout })
    }
}

/// A profile with the user's changes, on one database.
pub struct Job<'b> {
    /// The database.
    pub backend: &'b dyn Backend,
    /// The profile, with its changes.
    pub profile: Profile,
    /// What is run, one after the other on one server: the profile itself, or with a sweep one for each value.
    pub runs: Vec<Profile>,
    /// How datapoints become records.
    pub layout: Layout,
    source: Source,
    base: PathBuf,
    endpoints: Vec<Endpoint>,
    /// Whether certificates are not checked.
    insecure: bool,
    /// The private server that it needs.
    pub server: Option<ServerWanted>,
}

/// A private server that a job needs.
pub struct ServerWanted {
    /// How it is started.
    pub recipe: &'static Recipe,
    /// What is set of it.
    pub settings: ServerSettings,
    /// The backend's settings, those of the server among them.
    pub of_backend: Settings,
}

/// Where a job's database is.
pub struct Place<'a> {
    /// A folder for an embedded database.
    pub folder: &'a Path,
    /// The private server; `None`: it is not started yet.
    pub server: Option<ServerPlace>,
}

/// Where a private server is, and what there is to sample of it on this machine.
#[derive(Clone)]
pub struct ServerPlace {
    /// Where clients reach it.
    pub endpoints: Vec<Endpoint>,
    /// Its processes on this machine.
    pub nodes: Vec<Node>,
}

impl From<&PrivateServer> for ServerPlace {
    fn from(server: &PrivateServer) -> Self {
        Self { endpoints: server.endpoints().to_vec(), nodes: server.nodes() }
    }
}

impl Place<'_> {
    /// For plans that are not carried out.
    #[must_use]
    pub fn nowhere() -> Self {
        Place { folder: Path::new("nowhere"), server: None }
    }
}

impl<'b> Job<'b> {
    /// The job, planned once without any I/O, so that what is wrong with it shows before anything is created.
    ///
    /// # Errors
    /// It cannot be planned.
    pub fn new(
        written: &WrittenProfile,
        word: BackendWord<'b>,
        overrides: &Overrides,
        endpoints: &[Endpoint],
        insecure: bool,
    ) -> Result<Self, SessionError> {
        let overrides = Overrides { layout: word.layout.or(overrides.layout), ..overrides.clone() };
        let source = &written.source;
        let profile = written.profile.clone().with(&overrides).map_err(|e| source.error(&e))?;
        let text = if as_written(&profile, &written.profile) { source.text.clone() } else { String::new() };
        let runs = profile.runs().map_err(|e| source.error(&e))?;
        let mut job = Self {
            backend: word.backend,
            runs,
            layout: Layout::Wide,
            profile,
            source: Source { file: source.file.clone(), text },
            base: written.base.clone(),
            endpoints: endpoints.to_vec(),
            insecure,
            server: None,
        };
        job.server = job.server_wanted()?;
        let planned = job.plans("check", &Place::nowhere()).collect::<Result<Vec<_>, _>>()?;
        job.layout = planned.first().map_or(job.layout, |first| first.plan.table.layout);
        Ok(job)
    }

    /// The database and the layout, as on the command line.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}:{}", self.backend.info().name, self.layout)
    }

    /// Its name, with the way in which machine cycles are read and the profile's variant, where there are any.
    #[must_use]
    pub fn title(&self) -> String {
        let mut operations = self.profile.groups.iter().flat_map(|group| &group.operations);
        let strategy = operations.find_map(|operation| operation.strategy.set()).map(|s| s.to_string());
        let variant = Some(self.profile.variant.clone()).filter(|variant| !variant.is_empty());
        [Some(self.name()), strategy, variant].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Where the user says that the database is, and which one it is.
    pub fn addresses(&self) -> impl Iterator<Item = (&'b dyn Backend, &Endpoint)> {
        self.endpoints.iter().map(|endpoint| (self.backend, endpoint))
    }

    /// Whether the database is to lie in a folder of the run's own.
    #[must_use]
    pub fn needs_folder(&self) -> bool {
        let capabilities = &self.backend.info().capabilities;
        self.endpoints.is_empty() && capabilities.embedded && capabilities.stores
    }

    /// The folder of an embedded database that is a file where the user says.
    #[must_use]
    pub fn own_folder(&self) -> Option<PathBuf> {
        let file = self.endpoints.first().filter(|_| self.backend.info().capabilities.embedded)?;
        let path = Path::new(file.expose().path()).parent()?;
        path.is_absolute().then(|| path.to_owned())
    }

    /// The private server for a database that the user does not say where to find.
    fn server_wanted(&self) -> Result<Option<ServerWanted>, SessionError> {
        let name = self.backend.info().name;
        let written = self.profile.backend.get(name).and_then(|table| serde_json::to_value(table).ok());
        let written = written.and_then(|table| table.as_object().cloned()).map(Settings).unwrap_or_default();
        let Some(recipe) = self.backend.recipe_for(&written) else { return Ok(None) };
        let settings = ServerSettings::of_backend(&written, recipe);
        let settings =
            settings.map_err(|source| SessionError::WrongSetting { of: format!("backend.{name}."), source })?;
        match (self.endpoints.is_empty(), settings.is_empty()) {
            (true, _) => Ok(Some(ServerWanted { recipe, settings, of_backend: written })),
            (false, true) if !self.profile.scenario.is_empty() => Err(SessionError::usage(
                "a scenario acts on the processes of a server that iotbench starts, and --url names another one: leave one out",
            )),
            (false, true) => Ok(None),
            (false, false) => Err(SessionError::usage(format!(
                "backend.{name}.server is for a server that iotbench starts, and --url names another one: leave one out"
            ))),
        }
    }

    /// Checks that the private server's programs are on this machine.
    ///
    /// # Errors
    /// One is missing.
    pub fn find_programs(&self) -> Result<(), SessionError> {
        self.server.as_ref().map(|server| Programs::find(server.recipe)).transpose()?;
        Ok(())
    }

    /// Checks that this process may open as many files as the job needs.
    ///
    /// # Errors
    /// It may not.
    pub fn reserve_descriptors(&self) -> Result<(), SessionError> {
        for planned in self.plans("check", &Place::nowhere()) {
            reserve_descriptors(&planned?.plan, &self.backend.info().capabilities)?;
        }
        Ok(())
    }

    /// Whether it is a run for each of several values.
    #[must_use]
    pub fn is_sweep(&self) -> bool {
        self.runs.len() > 1
    }

    /// What each of its runs means.
    pub fn plans(&self, run_id: &str, place: &Place<'_>) -> impl Iterator<Item = Result<Planned, SessionError>> {
        self.runs.iter().map(move |run| self.plan(run, run_id, place))
    }

    /// What one of its runs means. An embedded database lies in the place's folder, unless the user says where it is.
    ///
    /// # Errors
    /// It cannot be planned.
    pub fn plan(&self, run: &Profile, run_id: &str, place: &Place<'_>) -> Result<Planned, SessionError> {
        let private = match (&place.server, &self.server) {
            (Some(server), _) => server.endpoints.clone(),
            (None, Some(wanted)) => {
                let nodes = wanted.settings.nodes(wanted.recipe);
                planned_endpoints(wanted.recipe, nodes).map_err(SessionError::internal)?
            }
            (None, None) => Vec::new(),
        };
        let target = Target {
            endpoints: self.endpoints.iter().cloned().chain(private).collect(),
            nodes: place.server.as_ref().map(|server| server.nodes.clone()).unwrap_or_default(),
            folder: Some(place.folder.to_owned()),
            insecure: self.insecure,
        };
        let request = PlanRequest {
            profile: run.clone(),
            profile_file: self.source.file.clone(),
            base: &self.base,
            run_id: run_id.into(),
            target,
            now_ns: now_ns(),
        };
        plan(request, self.backend).map_err(|e| self.source.plan_error(e))
    }
}

/// Whether the profile is planned as it is written: only then can a line of the file be shown. Compared as text, because a
/// NaN does not equal itself.
fn as_written(profile: &Profile, written: &Profile) -> bool {
    format!("{profile:?}") == format!("{written:?}")
}

/// The wall clock in nanoseconds since the Unix epoch.
#[must_use]
pub fn now_ns() -> i64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_nanos()).unwrap_or(i64::MAX)
}
