//! What a run found out, as it is kept: `run.json`.
//!
//! These structs are the file's format and nothing else, and know no run. They are filled by hand by whoever carries one out, so that
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
pub mod rounding;
mod scenario;
mod schema_change;
mod search;
mod seen_late;
mod server_counters;
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
pub use audit::{Audit, AuditExample, Detectable, TagAudit, TagExample};
pub use backlog::Backlog;
pub use capacity::{Capacity, EarlierSittings, Preconditioning, Purpose, State, Step};
pub use check::Inconsistency;
pub use client::{Client, Hiccup, LateTicks, PacingError, WatchLateness};
pub use datagrams::Datagrams;
pub use errors::{ErrorsOfCause, by_cause as errors_by_cause};
pub use estimate::{Estimate, EstimateMethod, LimitMove, LoadTrials};
pub use fingerprint::of_profile as fingerprint_of_profile;
pub use freshness::Freshness;
pub use latency::{Durations, KindLatency, Latency};
pub use latency_summary::{AtLeast, Interval, LatencySummary};
pub use load::{Group, Load, Operation};
pub use others::Others;
pub use points::{Points, Storage};
pub use provenance::{Provenance, Tool};
pub use resources::Resources;
pub use scenario::{ActionTaken, Scenario, ScenarioPhase, Silence};
pub use schema_change::SchemaChange;
pub use search::{BoundTrials, Limit, Search};
pub use seen_late::remark as remark_of_seen_late;
pub use server_counters::{ServerCounter, ServerCounters};
pub use steady::{Steady, SteadyFigure};
pub use storage_probes::{StorageProbeFigures, StorageProbes};
pub use sweep::Swept;
pub use target::{Durability, Target};
pub use throughput::{MeasuredPart, Spread, Throughput, Windows};
pub use usl::{Usl, UslEstimate};
pub use verdict::{Status, Verdict};
pub use via::{Stages, Via};
pub use visibility::Visibility;
pub use writes_alone::{WriteFigures, WritesAlone, WritesOfKind};

use crate::{
    environment::Environment,
    printable::{printable, printable_value},
};
use serde::{Deserialize, Serialize};

/// Name and version of the format. The major number changes when a field changes its meaning or goes, the minor one when
/// a field comes.
pub const SCHEMA: &str = "iotbench-run/3.6";
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
    /// When devices began to send signals that are added; null: none did.
    #[serde(default)]
    pub schema_change: Option<SchemaChange>,
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
    /// What the server counted of itself; null: it was not read, or an older iotbench did not look.
    #[serde(default)]
    pub server_counters: Option<ServerCounters>,
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

    /// A document that is filled: with its fingerprint, and refused where its counts do not balance.
    #[must_use]
    pub fn complete(mut self) -> Self {
        self.fingerprint = fingerprint::of_document(&self);
        self.judge();
        self
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
    /// Never for a document of a run; serde reserves the right.
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
