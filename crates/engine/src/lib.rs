//! Turns a profile into a plan and runs it.
//!
//! ```text
//! Profile (as written) ──plan──► Plan (as meant) ──run──► Outcome
//!                                                   └──► Observer: phases, steps, seconds, checkpoints
//! ```
//!
//! # Invariants
//! - No backend is named here.
//! - Planning does no I/O; running begins only with a plan that holds.
//! - Nothing on the way of an operation waits for the observer, a lock of another thread, or an unbounded buffer.

mod added;
mod agents;
mod audit;
mod caught;
mod ceiling;
mod change;
mod client;
mod clock;
mod connection;
mod contact;
mod control;
mod counters;
mod criterion;
mod descriptors;
mod fitness;
mod hoard;
mod intervals;
mod lane;
mod ledger;
mod load_loop;
mod loading;
mod margin;
mod mix;
mod observer;
mod operation_record;
mod outcome;
mod overrides;
mod own_delay;
mod pacer;
mod plan;
mod profile;
mod profile_file;
mod ramp;
mod read;
mod remote_sampling;
mod renewal;
mod run;
mod scenario;
mod schedule;
mod search;
mod sequence;
mod shape;
mod silence;
mod slice;
mod source;
mod steady;
mod stop;
mod storage_probe;
mod sweep;
mod threads;
mod totals;
mod trend;
mod trial;
mod units;
mod variants;
mod verdict;
mod verify;
mod via;
mod visibility;

pub use added::SchemaChange;
pub use agents::{AgentClock, AgentFigures};
pub use audit::{
    Audit, AuditRequest, AuditScope, Auditor, FindingKind, FindingRange, Findings as AuditFindings, ReVerified,
    ReVerifyError, TagAudit, TagExample, TagFault, re_verify,
};
pub use ceiling::NullBackend;
pub use change::changed;
pub use client::{ClientLoad, Limitation};
pub use contact::contacted;
pub use counters::{CounterFigure, CounterStretch, CountersCost};
pub use criterion::{Criterion, CriterionError};
pub use descriptors::{TooFewDescriptors, most_descriptors, reserve_descriptors};
pub use fitness::{
    AppendFacts, ClockFacts, Finding, Fitness, FitnessTerms, FolderFacts, MachineFacts, MemoryFacts, judge_machine,
};
pub use hoard::watched;
pub use iotbench_core::{BROKER_ROLE, CLIENT_ROLE, MACHINE_ROLE, SERVER_ROLE, SHARED_ROLE};
pub use iotbench_cycle_finder::Strategy;
pub use iotbench_recorder::SeenLate;
pub use iotbench_sampler::{OthersSecond, OthersShare, OthersWatch, PROCESSOR_DRIFT, STORAGE_DRIFT};
/// When the client could not run, and how that is known.
pub mod hiccup {
    pub use iotbench_sampler::{Hiccup, HiccupCause, Hiccups, Lateness};
}
pub use iotbench_simulator::{open_regular, read_regular, read_regular_text};
pub use ledger::{Fate, Ledger, LedgerError, LedgerHead, LedgerStore, LedgerSummary, MemoryLedger, PointRanges};
pub use loading::{Clients, Desk, Loaders, Loading, Orders, PartDesk, PartLoad, Progress, Told};
pub use observer::{CountersSecond, Event, Observer, Second};
pub use operation_record::OperationRecord;
pub use outcome::{
    Capacity, ClientFigures, DataDisk, Emptied, MachineFigures, Measured, NoQuantile, NotValid, Others, Outcome, Phase,
    Preconditioning, ReadFigures, Replaced, SecondFigures, StepConditions, StepFigures, StepJudgement, StepResponse,
    StorageProbing, Stored, TargetFacts,
};
pub use overrides::{ArrivalOverride, Overrides, SearchOverride};
pub use plan::{
    ActionPlan, DiskBound, Expected, Forecast, GroupPlan, Load, MIN_FREE_BYTES, OperationPlan, OwnStatement, Part,
    PartsError, Payload, PhasesPlan, Plan, PlanError, PlanRequest, Planned, Question, RampRoom, RequestKind, Rounds,
    StopPlan, plan,
};
pub use profile::{
    Arrival, Datapoints, DeviceDraw, DrawConfig, Expect, Group, LoadConfig, LoadModel, MomentDraw, OperationConfig,
    OperationKind, Overflow, Phases, Profile, Ramp, RampState, RollupConfig, ScenarioAction, ShapeKind, StatementText,
    Stop, Sweep, WhereConfig,
};
pub use profile_file::{MAX_PROFILE_BYTES, PROFILE_KEYS, ProfileError, parse_profile, read_profile};
pub use ramp::{
    Afterwards, Bounds, Course, Decision, MAX_REPEATS, OtherStep, Purpose, Quantity, RampPlan, RampPolicy, Step,
};
pub use remote_sampling::{RemoteSamplers, RemoteSampling};
pub use run::{ProbeFile, RunOptions, ServerProcesses, StorageProber, begun, free_bytes, probe_storage, run};
pub use scenario::{ActionTaken, Scenario, ScenarioPhase};
pub use search::{Estimate, Method, Move, SearchPlan, TrialReport, TrialVerdict};
pub use shape::{Shape, ShapeStep};
pub use silence::Silence;
pub use slice::{NotOurSlice, ReadCounts, SentSlice};
pub use steady::{Steadiness, SteadySeries};
pub use stop::StopSignal;
pub use storage_probe::{
    MAX_DRIFT_REPEATS, MAX_DRIFT_REPEATS_OF_A_SEARCH, PROBE_APPENDS, PROBE_BYTES, ProbeTime, StorageLevels,
    StorageProbe, work_levels,
};
pub use sweep::SweptValue;
pub use trial::{Backlog, Limit, SecondOfQueue};
pub use units::{Auto, Bytes, Count, Rate, Share, Span, UnitError};
pub use verdict::{Reason, SEVERITY, Status, Verdict, cause_exit_code, gravest};
pub use verify::{Answers, Freshness, ReadTerms, VerifyMode};
pub use via::{CannotBeCarried, Carried, Messages, Seen, Sequences, Stages, Via, can_be_carried};
pub use visibility::Visibility;
