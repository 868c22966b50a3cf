//! What a run found out, as it is kept: `run.json`.
//!
//! These structs are the file's format and nothing else. They are filled by hand from the engine's [`Outcome`], so that
//! no change inside the engine changes a file, and every number that need not exist is an `Option`: what is not finite,
//! not known or not supported by the sample is null.

mod agents;
mod answers;
mod audit;
mod backlog;
mod capacity;
mod check;
mod client;
mod datagrams;
mod earlier;
mod errors;
mod estimate;
mod fingerprint;
mod freshness;
mod latency;
mod latency_summary;
mod load;
mod others;
mod points;
mod provenance;
mod resources;
mod scenario;
mod search;
mod seen_late;
mod steady;
mod storage_probes;
mod sweep;
mod target;
mod throughput;
mod usl;
mod verdict;
mod via;
mod visibility;
mod writes_alone;

pub use agents::Agent;
pub use answers::{Answers, Cycles};
pub use audit::{Audit, AuditExample, Detectable};
pub use backlog::Backlog;
pub use capacity::{Capacity, EarlierSittings, Preconditioning, Purpose, State, Step};
pub use check::Inconsistency;
pub use client::{Client, Hiccup, LateTicks, PacingError, WatchLateness};
pub use errors::ErrorsOfCause;
pub(crate) use errors::by_cause as errors_by_cause;
pub use estimate::{Estimate, EstimateMethod, LimitMove, LoadTrials};
pub use freshness::Freshness;
pub use latency::{Durations, KindLatency, Latency};
pub use latency_summary::{AtLeast, Interval, LatencySummary};
pub use load::{Group, Load, Operation};
pub use others::Others;
pub use points::{Points, Storage};
pub use provenance::{Provenance, Tool};
pub use resources::Resources;
pub use scenario::{ActionTaken, Scenario, ScenarioPhase, Silence};
pub use search::{BoundTrials, Limit, Search};
pub use steady::{Steady, SteadyFigure};
pub(crate) use storage_probes::{PROCESSOR_DRIFT, STORAGE_DRIFT};
pub use storage_probes::{StorageProbeFigures, StorageProbes};
pub use sweep::Swept;
pub use target::{Durability, Target};
pub(crate) use throughput::spread;
pub use throughput::{MeasuredPart, Spread, Throughput, Windows};
pub use usl::{Usl, UslEstimate};
pub use verdict::{Status, Verdict};
pub use via::{Stages, Via};
pub use visibility::Visibility;
pub use writes_alone::{WriteFigures, WritesAlone};

use crate::{
    environment::Environment,
    printable::{printable, printable_value},
};
use datagrams::Datagrams;
use iotbench_engine::{Outcome, Phase};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::SystemTime;

/// Name and version of the format. The major number changes when a field changes its meaning or goes, the minor one when
/// a field comes.
pub const SCHEMA: &str = "iotbench-run/3.5";
const SCHEMA_OF_THIS_MAJOR: &str = "iotbench-run/3.";

/// The results document of a run. `docs/results.md` describes every field, `docs/run.schema.json` is its JSON Schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// The program that made it.
    pub tool: Tool,
    /// The command as given, without secrets.
    pub command: Vec<String>,
    /// The run's name: that of its folder.
    pub run_id: String,
    /// The profile's name.
    pub profile: String,
    /// Which of the profile's variants it is; null: it has none, or all come to the same.
    #[serde(default)]
    pub variant: Option<String>,
    /// SHA-256 of `profile.toml`.
    pub profile_sha256: Option<String>,
    /// SHA-256 of all that decides a result but chance: tool, profile, seed, database with settings, machine.
    pub fingerprint: String,
    /// The seed of all data and schedules.
    pub seed: u64,
    /// The time of the first datapoint, RFC 3339.
    pub origin: String,
    /// When the run began by the wall clock, RFC 3339.
    pub started: String,
    /// The phase it reached.
    pub phase: String,
    /// Whether the result can be believed.
    pub verdict: Verdict,
    /// The database.
    pub target: Target,
    /// Operations by their fate; with a ramp, those of all steps.
    pub load: Load,
    /// Datapoints by their fate, over the whole run.
    pub points: Points,
    /// What was read, held against the truth; null: nothing was.
    #[serde(default)]
    pub answers: Option<Answers>,
    /// What is stored, held against the ledger; null: it was not read back.
    #[serde(default)]
    pub audit: Option<Audit>,
    /// How long acknowledged datapoints took to be seen; null: not both written and read.
    #[serde(default)]
    pub freshness: Option<Freshness>,
    /// How fast what was acknowledged became visible in the measured part; null: an acknowledgement says that it is, or it
    /// could not be told.
    #[serde(default)]
    pub visibility: Option<Visibility>,
    /// What a broker between devices and writers carried; null: devices wrote themselves.
    #[serde(default)]
    pub via: Option<Via>,
    /// What was done to the server's processes, and what the load noticed of it; null: nothing was.
    #[serde(default)]
    pub scenario: Option<Scenario>,
    /// The stretch whose figures are the result; with a ramp, the step that is its answer.
    pub measured: Option<MeasuredPart>,
    /// What was acknowledged a second in the measured part.
    pub throughput: Option<Throughput>,
    /// How long operations of the measured part took, in microseconds.
    pub latency: Option<Latency>,
    /// What processes used over the measured part.
    pub resources: Vec<Resources>,
    /// What others had of the machine meanwhile; null: an older iotbench did not look.
    #[serde(default)]
    pub others: Option<Others>,
    /// Bytes on disk.
    pub storage: Storage,
    /// The client's own honesty.
    pub client: Client,
    /// What each agent did of the load; none: one process made it.
    #[serde(default)]
    pub agents: Vec<Agent>,
    /// How steady a fixed load was; null: a search, a load that was disturbed on purpose, or nothing was measured.
    #[serde(default)]
    pub steady: Option<Steady>,
    /// The answer of a ramp.
    pub capacity: Option<Capacity>,
    /// The writes of that answer once more, without its reads; null: not asked for, or nothing was sustained.
    #[serde(default)]
    pub writes_alone: Option<WritesAlone>,
    /// What the run is in a sweep; null: it is in none.
    #[serde(default)]
    pub sweep: Option<Swept>,
    /// The time of a transaction without a request, begin and commit, in microseconds: the mean of 50 before the load. Null
    /// where the load has no transactions.
    #[serde(default)]
    pub empty_transaction_us: Option<f64>,
    /// Errors of the measured part by cause.
    pub errors: Vec<ErrorsOfCause>,
    /// The machine of the client.
    pub environment: Environment,
    /// What a reader has to know before he compares.
    pub remarks: Vec<String>,
}

/// Why a text is no results document.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// It is no JSON, or lacks a field.
    #[error("this is no results document of iotbench: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Another major version.
    #[error("this document has the format {found:?}, and this iotbench reads {SCHEMA}: use the iotbench that wrote it")]
    OtherVersion {
        /// What it says of itself.
        found: String,
    },
}

impl Document {
    /// The profile's name, and its variant where it is one.
    #[must_use]
    pub fn profile_title(&self) -> String {
        match &self.variant {
            None => self.profile.clone(),
            Some(variant) => format!("{} ({variant})", self.profile),
        }
    }

    /// The document of a run as it stands. A run that has ended with counts that do not balance is not valid, whatever
    /// its outcome says.
    #[must_use]
    pub fn from_outcome(outcome: &Outcome, provenance: &Provenance) -> Self {
        let plan = &outcome.plan;
        let measured = outcome.measured.as_ref();
        let seen_late = seen_late::seen_late(outcome);
        let mut document = Self {
            schema: SCHEMA.into(),
            tool: provenance.tool.clone(),
            command: provenance.command.clone(),
            run_id: plan.run_id.clone(),
            profile: plan.profile.name.clone(),
            variant: Some(plan.profile.variant.clone()).filter(|variant| !variant.is_empty()),
            profile_sha256: fingerprint::of_profile(&plan.profile),
            fingerprint: String::new(),
            seed: plan.seed,
            origin: timestamp(i128::from(plan.origin_ns)),
            started: time(outcome.started),
            phase: phase_word(outcome.phase),
            verdict: Verdict::from(&outcome.verdict),
            target: Target::new(outcome, provenance.managed),
            load: Load::new(outcome),
            points: Points::new(outcome),
            answers: Answers::new(outcome),
            audit: Audit::new(outcome),
            freshness: outcome.reading.freshness.as_ref().map(Freshness::from),
            via: Via::new(outcome),
            scenario: outcome.scenario.as_ref().map(|scenario| {
                let acked = outcome.preloaded_points + outcome.points.acked;
                Scenario::of(scenario, outcome.stored.counts.map(|stored| acked.saturating_sub(stored.points)))
            }),
            visibility: outcome.measured.as_ref().and_then(|m| m.visibility.as_ref()).map(Visibility::from),
            measured: measured.map(MeasuredPart::from),
            throughput: measured.map(Throughput::from),
            latency: measured.map(|m| Latency::of(m, &seen_late)),
            resources: Resources::of_run(&outcome.machine.resources, outcome.machine.data_disk, Datagrams::of(outcome)),
            others: Some(Others::new(outcome)),
            storage: Storage::new(outcome),
            client: Client::new(outcome),
            agents: Agent::of_run(outcome),
            steady: None,
            capacity: Capacity::new(outcome),
            writes_alone: WritesAlone::new(outcome),
            sweep: Swept::new(outcome),
            empty_transaction_us: outcome.empty_transaction_ns.and_then(mean_us),
            errors: measured.map(|m| errors::by_cause(m.recording.errors())).unwrap_or_default(),
            environment: provenance.environment.clone(),
            remarks: plan.remarks.clone(),
        };
        if let Some((steady, remarks)) = Steady::of(outcome) {
            document.steady = Some(steady);
            document.remarks.extend(remarks);
        }
        document.remarks.extend(seen_late::remark(document.latency.as_ref(), &seen_late));
        if let Some(others) = &document.others {
            others.remarks(&mut document.remarks);
        }
        document.fingerprint = fingerprint::of_document(&document);
        document.judge();
        document
    }

    /// Refuses counts that do not balance.
    pub(crate) fn judge(&mut self) {
        if let Err(inconsistencies) = self.check() {
            self.verdict.refuse(&inconsistencies);
        }
    }

    /// The document as JSON, without a character that could steer a terminal.
    ///
    /// # Errors
    /// Never for a document of [`from_outcome`](Self::from_outcome); serde reserves the right.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(&self.printable()?)?;
        text.push('\n');
        Ok(text)
    }

    /// The same with every text [printable](crate::printable()) and every number finite or null.
    pub(crate) fn printable(&self) -> Result<Self, serde_json::Error> {
        let mut value = serde_json::to_value(self)?;
        printable_value(&mut value);
        let mut shown: Self = serde_json::from_value(value)?;
        shown.target.form = self.target.form.as_deref().map(printable);
        Ok(shown)
    }

    /// Reads what [`to_json`](Self::to_json) wrote, this version's, a later minor one's or an earlier one's.
    ///
    /// # Errors
    /// Anything that is no such document.
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let mut value: serde_json::Value = serde_json::from_str(text)?;
        let found = value.get("schema").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
        match &*found {
            first if first.starts_with(earlier::FIRST) => {
                earlier::bounds_for_survivors(&mut value);
                earlier::bounds_of_single_loads(&mut value);
            }
            second if second.starts_with(earlier::SECOND) => earlier::bounds_of_single_loads(&mut value),
            "" => {}
            this if this.starts_with(SCHEMA_OF_THIS_MAJOR) => {}
            _ => return Err(DocumentError::OtherVersion { found }),
        }
        printable_value(&mut value);
        Ok(serde_json::from_value(value)?)
    }
}

/// A phase as one word, in `run.json` and in `series.csv`.
pub(crate) fn phase_word(phase: Phase) -> String {
    phase.name().replace(' ', "_")
}

/// A wall-clock time as RFC 3339; what lies outside the calendar is the epoch.
fn time(time: SystemTime) -> String {
    Timestamp::try_from(time).unwrap_or_default().to_string()
}

fn timestamp(ns: i128) -> String {
    Timestamp::from_nanosecond(ns).unwrap_or_default().to_string()
}

/// A number that can stand in JSON.
fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// Nanoseconds as microseconds, to the nanosecond.
fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}

/// A mean of nanoseconds as microseconds, to the nanosecond.
fn mean_us(ns: f64) -> Option<f64> {
    finite(ns.round() / 1e3)
}

/// Nanoseconds as seconds.
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// A figure to three decimals: more would be noise.
fn rounded(number: f64) -> Option<f64> {
    finite((number * 1e3).round() / 1e3)
}

/// A part of a whole to three digits, so that a small one is not none.
fn part(part: f64) -> Option<f64> {
    format!("{part:.2e}").parse().ok().and_then(finite)
}
