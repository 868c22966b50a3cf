//! Everything between a plan and a results folder that is neither terminal nor arguments.
//!
//! A [`Job`] is a profile on one database; [`carry_out`] brings it from there to its documents: it starts the private server and the
//! broker that it needs, makes the results folder, runs the plan, or one plan for each value of a sweep, and removes what it
//! started. [`SessionOptions`] say how. What happens is told to a [`SessionObserver`] as [`Event`]s; what goes wrong is a
//! [`SessionError`], which knows its exit code. [`watch`] follows a run while it goes on, and [`Metrics`] serves its figures to
//! Prometheus.
//!
//! ```text
//! Outcome ──► document_of ──► Document ──► run.json
//! Events  ──► FolderObserver ──► series.csv, latency.hlog, journal.jsonl, operations.jsonl, trials.jsonl, run.json at each checkpoint
//! ```
//!
//! # Invariants
//! - Never prints, and reads neither arguments nor signals: words, terminal and exit are the caller's.
//! - Never measures, judges or draws a conclusion: figures are the engine's, their comparison the report's.
//! - A document says what the outcome says, rounded and in words; what is not finite or not known is null.
//! - Nothing waits for a disk while a run goes on.
//! - No process that it started outlives its session, unless it is asked to keep it.

mod addresses;
mod agents;
mod baseline;
mod begun;
mod broker;
mod carry_out;
mod clean;
mod database_server;
mod doctor;
mod document;
mod error;
mod event;
mod expected;
mod gather;
mod job;
mod join;
mod kept_running;
mod learning;
mod ledger;
mod local_agents;
mod machine;
mod metrics;
mod one_run;
mod options;
mod plan_text;
mod private_server;
mod progress;
mod recording;
mod remains;
mod repetitions;
mod resume;
mod rows;
mod runs;
mod sample;
mod serve_agent;
mod sittings;
mod source;
mod suite;
mod sweep;
mod target_lock;
mod toml_file;
mod trials;
mod verify;
pub mod watch;
mod without_secrets;
mod workload;
mod written_profile;

pub use addresses::{admitted, endpoints, in_lines, shown};
pub use agents::{Agents, AgentsWanted, Reached, Way};
pub use baseline::Baseline;
pub use broker::check_via;
pub use carry_out::carry_out;
pub use clean::Leftovers;
pub use doctor::{Diagnosis, FirstLook, Install, PortFacts, ServerFacts, ServerKind};
pub use document::document_of;
pub use error::{SessionError, exit_code, interrupted};
pub use event::{Event, SessionObserver, StartingAt};
pub use expected::{Expected, ExpectedPlan, expected_in_words, expected_plans};
pub use gather::{check_agents, gather};
pub use job::{BackendWord, Job, Place, ServerPlace, ServerWanted, now_ns};
pub use join::join;
pub use kept_running::{ServerToKeep, WhichServer};
pub use learning::RecordingToLearn;
pub use ledger::{begin_ledger, open_ledger};
pub use machine::{check_machine, refuse_without_room, room};
pub use metrics::{Metrics, MetricsAddress, OtlpCollector, OtlpDelivered, OtlpPush};
pub use one_run::{Done, Finished};
pub use options::{Resumed, SessionOptions};
pub use plan_text::plan_in_words;
pub use progress::{Progress, ProgressObserver, ProgressStream, progress};
pub use recording::FolderObserver;
pub use repetitions::check_repetitions;
pub use resume::{GoesOn, resume};
pub use rows::RowsWanted;
pub use runs::{Runs, run_all};
pub use sample::sample;
pub use serve_agent::serve_agent;
pub use sittings::{Held, SittingsWanted, check_sittings, hold_sittings, timestamp};
pub use source::{Located, Source};
pub use suite::{ReadOptions, Suite, SuiteLength, SuiteResults, SuiteRuns, Target, WrittenSuite, read_options};
pub use target_lock::lock_targets;
pub use toml_file::{Fault, parse_toml_file, read_toml_file};
pub use trials::{SavedSearch, SavedSearchError, SearchHead, TrialRecord, read_search};
pub use verify::{Verified, verify_run};
pub use without_secrets::{HARMLESS_OPTIONS, shown_option};
pub use workload::Workload;
pub use written_profile::{WrittenProfile, find_written_profile, read_written_profile};
