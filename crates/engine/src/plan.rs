//! A workload as meant: everything checked, nothing left to decide. Planning does no I/O.

mod added;
mod check;
mod devices;
mod forecast;
mod group;
mod having;
mod interval;
mod keys_of_kind;
mod length;
mod operation;
mod own_statement;
mod parts;
mod precondition;
mod probe;
mod question;
mod question_keys;
mod question_text;
mod rollup;
mod room;
mod scenario;
mod shape;
mod shortened;
mod state;
mod trace;
mod twice;
mod whose;

pub use forecast::Forecast;
pub use group::{GroupPlan, Load, Part};
pub use operation::{OperationPlan, Payload, RequestKind};
pub use own_statement::{Expected, OwnStatement};
pub use parts::PartsError;
pub use precondition::Rounds;
pub use question::Question;
pub use room::{DiskBound, MIN_FREE_BYTES, RampRoom};
pub use scenario::ActionPlan;
pub use whose::Whose;

pub(crate) use twice::key as key_of_second_sends;

use crate::{
    profile::{Profile, RampState},
    profile_file::ProfileError,
    ramp::RampPlan,
    sweep::SweptValue,
    units::Auto,
};
use iotbench_core::{
    Backend, Layout, Marker, Misfit, Name, OpenRequest, SERVER_SETTINGS, Schema, Settings, TableSpec, Target,
};
use iotbench_simulator::{Dataset, DatasetError};
use serde::{Deserialize, Serialize};
use std::{
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

/// What a plan is made from.
#[derive(Clone, Debug)]
pub struct PlanRequest<'a> {
    /// The workload, with the user's changes in it.
    pub profile: Profile,
    /// Where the profile came from, for errors.
    pub profile_file: String,
    /// Where relative paths in the profile start.
    pub base: &'a Path,
    /// The run's name: in the marker and in the results.
    pub run_id: String,
    /// Where the database is.
    pub target: Target,
    /// What `origin = "now"` means, in nanoseconds since the Unix epoch.
    pub now_ns: i64,
}

/// A workload as meant. Can be serialised: another machine can run it, or a part of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The run's name.
    pub run_id: String,
    /// The profile with all changes in it.
    pub profile: Profile,
    /// The seed of all data and schedules.
    pub seed: u64,
    /// The time of the first datapoint, in nanoseconds since the Unix epoch.
    pub origin_ns: i64,
    /// The backend's name.
    pub backend: String,
    /// Its settings.
    pub settings: Settings,
    /// What it is to create.
    pub table: TableSpec,
    /// The devices that this part of the run is for.
    pub devices: Range<u32>,
    /// When the load starts, in nanoseconds since the Unix epoch; `None`: as soon as all is ready. Windows are whole
    /// seconds from then on.
    pub start_utc_ns: Option<i64>,
    /// Who does what.
    pub groups: Vec<GroupPlan>,
    /// How long each part takes.
    pub phases: PhasesPlan,
    /// The search for the greatest load, if it is one.
    pub ramp: Option<RampPlan>,
    /// What each of its steps begins with.
    #[serde(default = "keep")]
    pub state: RampState,
    /// Why the storage is not probed between them; `None`: it is, where the database's files are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_probed: Option<String>,
    /// Where the disk bounds the greatest load of its search, and not the profile: by how much.
    #[serde(default)]
    pub disk_bound: Option<DiskBound>,
    /// When a load is too much.
    pub stop: StopPlan,
    /// What is done to processes of the server, by time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenario: Vec<ActionPlan>,
    /// What it is in a sweep, if it is in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<SweptValue>,
    /// What the result has to say about the way it was made, such as "indicative".
    pub remarks: Vec<String>,
}

impl Plan {
    /// The devices whose datapoints a group sends, in all parts of the run; of what it reads, those that it may ask about.
    #[must_use]
    pub fn devices_of(&self, group: &GroupPlan) -> Range<u32> {
        group.devices.clone().unwrap_or(0..self.table.devices)
    }

    /// Whether some group reads.
    #[must_use]
    pub fn reads(&self) -> bool {
        self.groups.iter().any(GroupPlan::reads)
    }

    /// Whether some group writes.
    #[must_use]
    pub fn writes(&self) -> bool {
        !self.groups.iter().all(GroupPlan::reads)
    }

    /// Whether users' statements may change what is stored: then what is stored cannot be held against what was sent.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.groups.iter().any(GroupPlan::changes)
    }

    /// The connections of all groups: so many operations can be under way.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.groups.iter().map(|group| u64::from(group.connections)).sum()
    }
}

/// How long each part of a run takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhasesPlan {
    /// Datapoints of each device written before the run.
    pub preload: u64,
    /// Of so many devices.
    pub preload_devices: u32,
    /// Load that is not measured.
    pub warmup_ns: u64,
    /// Load that is measured; with a ramp the steps decide.
    pub duration_ns: u64,
    /// The most operations of the measured part.
    pub operations: Option<u64>,
    /// An operation without an answer by then has timed out.
    pub deadline_ns: u64,
    /// How long unanswered operations are waited for at the end.
    pub drain_ns: u64,
    /// How long flushing and counting may take at the end.
    pub settle_ns: u64,
    /// The load ends by then, whatever it has found.
    pub run_deadline_ns: Option<u64>,
    /// What other programs may have of the machine's processors; 1: it is not judged.
    #[serde(default = "all")]
    pub others_cpu: f64,
    /// Whether what the server counts of itself is read.
    #[serde(default)]
    pub server_counters: bool,
}

/// Plans of before knew nothing else.
fn keep() -> RampState {
    RampState::Keep
}

/// Plans of before did not judge it.
fn all() -> f64 {
    1.0
}

/// When a load is too much.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopPlan {
    /// The greatest mean response time.
    pub mean_response_ns: Option<u64>,
    /// A quantile and its greatest value.
    pub quantile_response: Option<(f64, u64)>,
    /// The greatest share of operations that fail.
    pub errors: f64,
    /// The greatest share of operations that time out.
    pub timeouts: f64,
    /// The greatest share of datapoints that are lost before they are sent; `None`: no limit. Of the sensors of a paced
    /// load it holds without a ramp too.
    #[serde(default)]
    pub max_loss: Option<f64>,
}

/// Why a profile cannot be run as it is.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A field of the profile.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The dataset.
    #[error("dataset: {0}")]
    Dataset(#[from] DatasetError),
    /// The database cannot hold the data.
    #[error("n/a: {0}")]
    Misfit(#[from] Misfit),
}

/// A plan with what it opens: the dataset, and the request for the backend.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The workload as meant.
    pub plan: Plan,
    /// Its data.
    pub dataset: Arc<dyn Dataset>,
    /// What the backend is to open.
    pub open: OpenRequest,
    /// Where relative paths in the profile start.
    pub base: PathBuf,
}

/// What the groups of a profile are worked out with.
#[derive(Clone, Copy)]
struct Context<'a> {
    profile: &'a Profile,
    dataset: &'a dyn Dataset,
    /// Of the dataset, with the tags of its devices.
    schema: &'a Schema,
    backend: &'a dyn Backend,
    layout: Layout,
    phases: &'a PhasesPlan,
    base: &'a Path,
}

/// Works out what a profile means for a backend.
///
/// # Errors
/// Whatever would keep the run from starting, found before any I/O.
pub fn plan(request: PlanRequest<'_>, backend: &dyn Backend) -> Result<Planned, PlanError> {
    let PlanRequest { profile, profile_file, base, run_id, target, now_ns } = request;
    let fail = |key: &str, message: String| PlanError::from(ProfileError::new(profile_file.clone(), key, message));
    check::profile(&profile).map_err(|(key, message)| fail(&key, message))?;
    let sweep = profile.swept_value();
    if profile.sweep.is_some() && sweep.is_none() {
        return Err(fail("sweep", "this is a run for each of several values: set sweep.only to one of them".into()));
    }
    let seed = profile.seed.0;
    let origin_ns = origin(&profile.origin, now_ns).map_err(|m| fail("origin", m))?;
    let devices = devices::all(&profile);
    let dataset = profile.dataset.open(seed, origin_ns, devices, base)?;
    let phases = check::phases(&profile, dataset.period_ns());
    let layout = match profile.layout {
        Auto::Set(layout) => layout,
        Auto::Auto => backend.info().capabilities.layouts.first().copied().unwrap_or(Layout::Wide),
    };
    let schema = profile.dataset.schema(&*dataset, seed)?;
    backend.info().fit(layout, &schema, dataset.resolution_ns())?;
    twice::check(&profile, &*dataset, layout, backend).map_err(|message| fail(twice::key(&*dataset), message))?;
    let mut settings = check::settings(&profile, backend.info().name).map_err(|m| fail("backend", m))?;
    if backend.info().recipe.is_some() {
        // For who starts the server.
        settings.0.remove(SERVER_SETTINGS);
    }
    let table = TableSpec {
        name: table_name(&profile).map_err(|m| fail("name", m))?,
        layout,
        schema,
        devices,
        marker: Marker {
            run_id: run_id.clone(),
            fingerprint: fingerprint(&profile, layout, &phases, &settings, &run_id),
        },
    };
    let scenario = scenario::scenario(&profile, &phases, backend, &settings, &target)
        .map_err(|(key, message)| fail(&key, message))?;
    let open = OpenRequest { target, settings: settings.clone(), table: table.clone() };
    backend.open(open.clone()).map_err(|e| PlanError::from(setting_error(&profile_file, backend.info().name, e)))?;
    let context = Context {
        profile: &profile,
        dataset: &*dataset,
        schema: &table.schema,
        backend,
        layout,
        phases: &phases,
        base,
    };
    let groups = group::plans(context).map_err(|(key, message)| fail(&key, message))?;
    added::check(&profile, &*dataset, &phases, &groups).map_err(|(key, message)| fail(&key, message))?;
    let (state, of_state) = state::of_ramp(&profile, &phases, backend).map_err(|(key, message)| fail(&key, message))?;
    let not_probed = probe::of_ramp(&profile, backend).map_err(|(key, message)| fail(&key, message))?;
    let mut remarks = check::remarks(&profile, backend, open.target.insecure);
    remarks.extend(of_state);
    remarks.extend(dataset.remark().map(Into::into));
    remarks.extend(groups.iter().filter(|group| group.changes()).map(|group| {
        format!(
            "statements of group {} change what is stored: it is not held against what was acknowledged, neither counted nor read \
             back, and what is read is not compared with the truth",
            group.name
        )
    }));
    let mut plan = Plan {
        run_id,
        seed,
        origin_ns,
        backend: backend.info().name.into(),
        settings,
        table,
        devices: 0..devices,
        start_utc_ns: None,
        groups,
        phases,
        ramp: profile.ramp.as_ref().map(|ramp| check::ramp(&profile, ramp)),
        state,
        not_probed,
        disk_bound: None,
        stop: check::stop(&profile),
        scenario,
        sweep,
        remarks,
        profile,
    };
    room::bound(&mut plan, &*dataset, backend).map_err(|(key, message)| fail(&key, message))?;
    Ok(Planned { plan, dataset, open, base: base.to_owned() })
}

fn setting_error(file: &str, backend: &str, error: iotbench_core::SettingError) -> ProfileError {
    let key = format!("backend.{backend}.{}", error.key);
    ProfileError { suggestion: error.suggestion, ..ProfileError::new(file, key, error.message) }
}

fn origin(text: &str, now_ns: i64) -> Result<i64, String> {
    match text {
        "default" => Ok(iotbench_simulator::DEFAULT_ORIGIN_NS),
        "now" => Ok(now_ns - now_ns.rem_euclid(1_000_000_000)),
        _ => {
            let time: jiff::Timestamp = text
                .parse()
                .map_err(|e| format!("{text:?} is no time: write default, now or 2026-01-01T00:00:00Z ({e})"))?;
            i64::try_from(time.as_nanosecond()).map_err(|_| format!("{text} does not fit 64-bit nanoseconds"))
        }
    }
}

fn table_name(profile: &Profile) -> Result<Name, String> {
    Name::new(&format!("iotbench_{}", profile.name.to_lowercase().replace('-', "_"))).map_err(|e| e.to_string())
}

/// A digest of what decides which data a table holds, and how: the settings say which indexes it has.
/// What users' statements have changed is no other run's history.
fn fingerprint(profile: &Profile, layout: Layout, phases: &PhasesPlan, settings: &Settings, run_id: &str) -> String {
    use sha2::{Digest, Sha256};
    let dataset = serde_json::to_string(&profile.dataset).unwrap_or_default();
    let (seed, origin, devices) = (profile.seed, &profile.origin, devices::all(profile));
    let (preload, of_devices) = (phases.preload, phases.preload_devices);
    let settings = serde_json::to_string(settings).unwrap_or_default();
    let changes = profile.groups.iter().flat_map(|group| &group.operations).any(|operation| operation.writes);
    let changed_by = if changes { format!("\n{run_id}") } else { String::new() };
    let identity = format!(
        "{}\n{seed}\n{origin}\n{dataset}\n{layout}\n{devices}\n{preload}\n{of_devices}\n{settings}{changed_by}",
        profile.name
    );
    let digest = Sha256::digest(identity.as_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
