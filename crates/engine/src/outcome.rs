//! What a run found out.

mod answer;
mod step;

pub use answer::{NoQuantile, NotValid};
pub use step::{Preconditioning, StepConditions, StepFigures, StepJudgement, StepResponse};

use crate::{
    added::SchemaChange,
    agents::AgentFigures,
    audit::Audit,
    client::ClientLoad,
    counters::{CounterStretch, CountersCost},
    ledger::{Ledger, PointRanges},
    plan::Plan,
    ramp::{Bounds, Quantity},
    scenario::Scenario,
    slice::ReadCounts,
    verdict::Verdict,
    verify::{Answers, Freshness},
    via::Carried,
    visibility::Visibility,
};
use iotbench_core::{Acknowledgement, Counts, ServerFacts};
use iotbench_recorder::{LatencyHistogram, LoadCounts, PointCounts, Recording, WindowCounts};
use iotbench_sampler::{Hiccups, Lateness, Medium, OthersShare, Summary};
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime};

/// The parts of a run, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Connects, looks, creates the table.
    Create,
    /// Writes what has to be there before.
    Preload,
    /// Load that is not measured.
    WarmUp,
    /// Load that is measured.
    Measure,
    /// Waits for answers.
    Drain,
    /// Counts what is stored.
    Verify,
    /// Drops what was created.
    Drop,
}

impl Phase {
    /// For people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Preload => "preload",
            Self::WarmUp => "warm up",
            Self::Measure => "measure",
            Self::Drain => "drain",
            Self::Verify => "verify",
            Self::Drop => "drop",
        }
    }
}

/// What a run found out so far.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was meant to be done.
    pub plan: Plan,
    /// When it began, by the wall clock.
    pub started: SystemTime,
    /// How it stands.
    pub verdict: Verdict,
    /// The phase it reached.
    pub phase: Phase,
    /// What it ran on.
    pub target: TargetFacts,
    /// Operations of the measured part; with a ramp, of all its steps.
    pub load: LoadCounts,
    /// Datapoints of the whole run, warm-up included, preload not.
    pub points: PointCounts,
    /// Datapoints that the preload wrote.
    pub preloaded_points: u64,
    /// How long a transaction without a request takes, begin and commit, in the mean of several before the load; `None`:
    /// the load has no transactions.
    pub empty_transaction_ns: Option<f64>,
    /// What is stored of them.
    pub stored: Stored,
    /// What was read.
    pub reading: ReadFigures,
    /// What a broker carried, and what became of it; `None`: devices wrote themselves.
    pub carried: Option<Carried>,
    /// What was done to the server's processes, and what the load noticed of it; `None`: nothing.
    pub scenario: Option<Scenario>,
    /// The measured part; with a ramp, the step that is its answer.
    pub measured: Option<Measured>,
    /// The answer of a ramp.
    pub capacity: Option<Capacity>,
    /// The writes of that answer once more, without its reads; `None`: not asked for, or nothing was sustained.
    pub writes_alone: Option<Measured>,
    /// What the load took of the machine, and what else it did meanwhile.
    pub machine: MachineFigures,
    /// The client's own honesty.
    pub client: ClientFigures,
    /// What each agent did of the load; none: this process made it.
    pub agents: Vec<AgentFigures>,
}

/// What a run ran on.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetFacts {
    /// What the server said of itself.
    pub facts: Option<ServerFacts>,
    /// What an acknowledgement means.
    pub acknowledgement: Acknowledgement,
    /// Whether the database shares the client's process.
    pub embedded: bool,
    /// Addresses and paths without secrets.
    pub endpoints: Vec<String>,
}

/// What is stored of the datapoints that were written.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    /// What the database held at the end, and before each time that it was emptied on purpose; `None`: not counted.
    pub counts: Option<Counts>,
    /// Values that were acknowledged in the load.
    pub values_acked: u64,
    /// What was dropped on purpose, so that each step of a ramp began with an empty database.
    pub emptied: Emptied,
    /// Sends that add nothing to what is stored, because the database keeps one of two equal datapoints.
    pub replaced: Replaced,
    /// When devices began to send signals that are added; `None`: none did.
    pub schema_change: Option<SchemaChange>,
    /// What became of each datapoint; `None`: the database stores nothing that could be read again.
    pub ledger: Option<Ledger>,
    /// What is stored, held against the ledger; `None`: it was not read back.
    pub audit: Option<Audit>,
}

/// Sends of datapoints that had been sent before, to a database that keeps one of the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// Acknowledged, of what another acknowledged send had stored.
    pub acked: u64,
    /// Acknowledged or unknown, of what another such send may have stored.
    pub sent: u64,
}

/// What was read, and whether it was right.
#[derive(Clone, Debug, Default)]
pub struct ReadFigures {
    /// Requests that were answered.
    pub counts: ReadCounts,
    /// Whether the answers were the truth; `None`: nothing was read.
    pub answers: Option<Answers>,
    /// How long acknowledged datapoints took to be seen; `None`: not both written and read.
    pub freshness: Option<Freshness>,
}

/// What a load took of the machine, and what else it did meanwhile.
#[derive(Clone, Debug, Default)]
pub struct MachineFigures {
    /// Resources over the measured part, by role and node.
    pub resources: Vec<Summary>,
    /// What the database's files lie on.
    pub data_disk: DataDisk,
    /// What others had of the machine over the measured part; with a ramp, over the step that is its answer.
    pub others: Others,
    /// How the storage under the database was probed.
    pub storage_probing: StorageProbing,
    /// What reading the server's counters cost; what they came to is with the measured part. `None`: they were not read.
    pub counters: Option<CountersCost>,
    /// CPU time that the sampler took, in % of one core.
    pub sampler_cpu_pct: f64,
    /// Bytes on disk before the load.
    pub storage_bytes_before: Option<u64>,
    /// Bytes on disk after it.
    pub storage_bytes_after: Option<u64>,
}

/// What was dropped on purpose between the steps of a ramp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Emptied {
    /// How often the database was emptied.
    pub times: u32,
    /// Datapoints that had been acknowledged when it was emptied last.
    pub acked: u64,
    /// What was counted before each time, in all.
    pub stored: Counts,
    /// Those of these datapoints that may have been there: what was too much was told.
    pub accounted: u64,
}

/// What others had of the machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Others {
    /// `None`: not known.
    pub share: Option<OthersShare>,
    /// Why it is not judged; `None`: it is.
    pub not_judged: Option<String>,
}

/// How the storage under the database was probed between the steps of a ramp. What the probes found is with the steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorageProbing {
    /// Why it was not probed, or not to the end; `None`: it was, or there is no ramp.
    pub not_probed: Option<String>,
    /// How long this process's probes took, in nanoseconds.
    pub spent_ns: u64,
    /// From the first one's beginning to the last one's end, in nanoseconds.
    pub elapsed_ns: u64,
}

/// What the database's files lie on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataDisk {
    /// `None`: not known.
    pub medium: Option<Medium>,
    /// How long the system took to write what waited when the measured part had ended; `None`: it was not waited for.
    pub written_back: Option<Duration>,
}

/// A stretch of the run whose figures are the result.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Its start, in nanoseconds since the run's start.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// Latencies, loads and errors of the operations intended to start in it.
    pub recording: Recording,
    /// Everything that happened in it.
    pub counts: WindowCounts,
    /// What was done in each whole second of it.
    pub seconds: Vec<SecondFigures>,
    /// How late operations were sent in it, after they were due and a connection was free.
    pub pacing_error: LatencyHistogram,
    /// How fast what was acknowledged became visible; `None`: an acknowledgement says that it is, or it could not be told.
    pub visibility: Option<Visibility>,
    /// What was measured of the client in it.
    pub client: ClientLoad,
    /// Of a step of a ramp, its resources by role and node. Those of a fixed load are the outcome's.
    pub resources: Vec<Summary>,
    /// What the server counted of itself in it; `None`: not read, or not often enough.
    pub counters: Option<CounterStretch>,
}

impl Outcome {
    /// Whether an agent was lost: what it sent and did not tell is unknown, and may be stored.
    #[must_use]
    pub fn lost_an_agent(&self) -> bool {
        self.agents.iter().any(|agent| agent.lost.is_some())
    }

    /// Which datapoints of the load were acknowledged; none where no ledger is kept.
    #[must_use]
    pub fn acked(&self) -> PointRanges {
        self.stored.ledger.as_ref().and_then(|ledger| ledger.acked().ok()).unwrap_or_default()
    }
}

impl Measured {
    /// Its length in seconds.
    #[must_use]
    pub fn seconds_long(&self) -> f64 {
        Duration::from_nanos(self.to_ns.saturating_sub(self.from_ns)).as_secs_f64()
    }
}

/// What was done in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecondFigures {
    /// Operations that were due.
    pub offered: u64,
    /// Operations that were never started.
    pub dropped: u64,
    /// Operations that were acknowledged.
    pub ok: u64,
    /// In which of its 64 parts they were, a bit each.
    pub ok_parts: u64,
    /// Operations that failed or had no answer in time: not acknowledged.
    pub errors: u64,
    /// Datapoints that were acknowledged.
    pub points: u64,
    /// Values of them.
    pub values: u64,
    /// Of these operations, those that were intended in the same stretch of the run.
    pub responses: u64,
    /// Their response times together, in nanoseconds.
    pub response_sum_ns: u64,
}

/// The client's own honesty.
#[derive(Clone, Debug, Default)]
pub struct ClientFigures {
    /// How late operations were sent after they were due and a connection was free, over the whole run.
    pub pacing_error: LatencyHistogram,
    /// CPU of the client in % of one core; `None`: not known.
    pub cpu_pct: Option<f64>,
    /// Measurements that were lost.
    pub samples_dropped: u64,
    /// When it could not run: in the measured part, or in a whole search.
    pub hiccups: Hiccups,
    /// How late its stall detectors were, over the whole load.
    pub lateness: Lateness,
    /// The most operations a second that it can make of this plan; `None`: not measured.
    pub ceiling_per_s: Option<f64>,
}

/// The answer of a ramp.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// What the loads are numbers of.
    pub quantity: Quantity,
    /// Between which loads the answer lies.
    pub bounds: Bounds,
    /// The stop criterion in words.
    pub criterion: String,
    /// Every step, in order.
    pub steps: Vec<StepFigures>,
}
