//! A profile with the user's changes, on one database: what can be planned and run.

use crate::{diagnostics::Source, error::CliError, profiles::WrittenProfile};
use iotbench_backends::BACKENDS;
use iotbench_core::{Backend, Endpoint, Layout, Node, Recipe, Registry, Settings, Target};
use iotbench_engine::{Overrides, PlanRequest, Planned, Profile, plan, reserve_descriptors};
use iotbench_launcher::{PrivateServer, Programs, ServerSettings, planned_endpoints};
use std::{
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// A database as named on the command line: `name` or `name:layout`.
#[derive(Clone, Copy)]
pub(crate) struct BackendWord {
    pub(crate) backend: &'static dyn Backend,
    pub(crate) layout: Option<Layout>,
}

impl BackendWord {
    pub(crate) fn read(word: &str) -> Result<Self, CliError> {
        let (name, layout) = word.split_once(':').map_or((word, None), |(name, layout)| (name, Some(layout)));
        let backend = Registry::new(BACKENDS).find(name).map_err(CliError::usage)?;
        let layout = layout.map(str::parse).transpose().map_err(CliError::usage)?;
        Ok(Self { backend, layout })
    }
}

/// A profile with the user's changes, on one database.
pub(crate) struct Job {
    pub(crate) backend: &'static dyn Backend,
    pub(crate) profile: Profile,
    /// What is run, one after the other on one server: the profile itself, or with a sweep one for each value.
    pub(crate) runs: Vec<Profile>,
    pub(crate) layout: Layout,
    source: Source,
    base: PathBuf,
    endpoints: Vec<Endpoint>,
    /// Whether certificates are not checked.
    insecure: bool,
    /// The private server that it needs.
    pub(crate) server: Option<ServerWanted>,
}

/// A private server that a job needs.
pub(crate) struct ServerWanted {
    pub(crate) recipe: &'static Recipe,
    pub(crate) settings: ServerSettings,
    /// The backend's settings, those of the server among them.
    pub(crate) of_backend: Settings,
}

/// Where a job's database is.
pub(crate) struct Place<'a> {
    /// A folder for an embedded database.
    pub(crate) folder: &'a Path,
    /// The private server; `None`: it is not started yet.
    pub(crate) server: Option<ServerPlace>,
}

/// Where a private server is, and what there is to sample of it on this machine.
#[derive(Clone)]
pub(crate) struct ServerPlace {
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) nodes: Vec<Node>,
}

impl From<&PrivateServer> for ServerPlace {
    fn from(server: &PrivateServer) -> Self {
        Self { endpoints: server.endpoints().to_vec(), nodes: server.nodes() }
    }
}

impl Place<'_> {
    /// For plans that are not carried out.
    pub(crate) fn nowhere() -> Self {
        Place { folder: Path::new("nowhere"), server: None }
    }
}

impl Job {
    /// The job, planned once without any I/O, so that what is wrong with it shows before anything is created.
    pub(crate) fn new(
        written: &WrittenProfile,
        word: BackendWord,
        overrides: &Overrides,
        endpoints: &[Endpoint],
        insecure: bool,
    ) -> Result<Self, CliError> {
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
    pub(crate) fn name(&self) -> String {
        format!("{}:{}", self.backend.info().name, self.layout)
    }

    /// Its name, with the way in which machine cycles are read and the profile's variant, where there are any.
    pub(crate) fn title(&self) -> String {
        let mut operations = self.profile.groups.iter().flat_map(|group| &group.operations);
        let strategy = operations.find_map(|operation| operation.strategy.set()).map(|s| s.to_string());
        let variant = Some(self.profile.variant.clone()).filter(|variant| !variant.is_empty());
        [Some(self.name()), strategy, variant].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Where the user says that the database is, and which one it is.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = (&'static dyn Backend, &Endpoint)> {
        self.endpoints.iter().map(|endpoint| (self.backend, endpoint))
    }

    /// Whether the database is to lie in a folder of the run's own.
    pub(crate) fn needs_folder(&self) -> bool {
        let capabilities = &self.backend.info().capabilities;
        self.endpoints.is_empty() && capabilities.embedded && capabilities.stores
    }

    /// The folder of an embedded database that is a file where the user says.
    pub(crate) fn own_folder(&self) -> Option<PathBuf> {
        let file = self.endpoints.first().filter(|_| self.backend.info().capabilities.embedded)?;
        let path = Path::new(file.expose().path()).parent()?;
        path.is_absolute().then(|| path.to_owned())
    }

    /// The private server for a database that the user does not say where to find.
    fn server_wanted(&self) -> Result<Option<ServerWanted>, CliError> {
        let name = self.backend.info().name;
        let written = self.profile.backend.get(name).and_then(|table| serde_json::to_value(table).ok());
        let written = written.and_then(|table| table.as_object().cloned()).map(Settings).unwrap_or_default();
        let Some(recipe) = self.backend.recipe_for(&written) else { return Ok(None) };
        let settings = ServerSettings::of_backend(&written, recipe);
        let settings = settings.map_err(|e| CliError::usage(format!("backend.{name}.{e}")))?;
        match (self.endpoints.is_empty(), settings.is_empty()) {
            (true, _) => Ok(Some(ServerWanted { recipe, settings, of_backend: written })),
            (false, true) if !self.profile.scenario.is_empty() => Err(CliError::usage(
                "a scenario acts on the processes of a server that iotbench starts, and --url names another one: leave one out",
            )),
            (false, true) => Ok(None),
            (false, false) => Err(CliError::usage(format!(
                "backend.{name}.server is for a server that iotbench starts, and --url names another one: leave one out"
            ))),
        }
    }

    /// Checks that the private server's programs are on this machine.
    pub(crate) fn find_programs(&self) -> Result<(), CliError> {
        let found = self.server.as_ref().map(|server| Programs::find(server.recipe)).transpose();
        found.map(drop).map_err(CliError::usage)
    }

    /// Checks that this process may open as many files as the job needs.
    pub(crate) fn reserve_descriptors(&self) -> Result<(), CliError> {
        for planned in self.plans("check", &Place::nowhere()) {
            reserve_descriptors(&planned?.plan, &self.backend.info().capabilities).map_err(CliError::usage)?;
        }
        Ok(())
    }

    /// Whether it is a run for each of several values.
    pub(crate) fn is_sweep(&self) -> bool {
        self.runs.len() > 1
    }

    /// What each of its runs means.
    pub(crate) fn plans(&self, run_id: &str, place: &Place<'_>) -> impl Iterator<Item = Result<Planned, CliError>> {
        self.runs.iter().map(move |run| self.plan(run, run_id, place))
    }

    /// What one of its runs means. An embedded database lies in the place's folder, unless the user says where it is.
    pub(crate) fn plan(&self, run: &Profile, run_id: &str, place: &Place<'_>) -> Result<Planned, CliError> {
        let private = match (&place.server, &self.server) {
            (Some(server), _) => server.endpoints.clone(),
            (None, Some(wanted)) => {
                let nodes = wanted.settings.nodes(wanted.recipe);
                planned_endpoints(wanted.recipe, nodes).map_err(CliError::internal)?
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
pub(crate) fn now_ns() -> i64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use iotbench_engine::Plan;

    /// A built-in profile as planned on a database.
    pub(crate) fn planned(profile: &str, database: &str) -> Plan {
        let written = crate::profiles::find(profile).unwrap();
        let job = Job::new(&written, BackendWord::read(database).unwrap(), &Overrides::default(), &[], false).unwrap();
        job.plans("test", &Place::nowhere()).next().unwrap().unwrap().plan
    }
}
