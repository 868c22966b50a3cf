//! What a run of iotbench leaves behind: the results document, its folder, and the views of both. How a run becomes a document is not
//! known here: `iotbench-session` fills it, and writes the files that grow.
//!
//! ```text
//! Document ──► run.json ──► Document ──► text, pages, tables, comparisons
//! what a kill leaves ──► recover ──► run.json
//! ```
//!
//! ```
//! use iotbench_report::{FolderName, ResultsFolder};
//! use std::time::{Duration, SystemTime};
//!
//! let out = tempfile::tempdir()?;
//! let started = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_607_200);
//! let name = FolderName::new(started, "pmu_write", "sqlite", "wide")?;
//! let folder = ResultsFolder::create(out.path(), &name)?;
//! assert!(folder.path().ends_with(name.as_str()));
//! assert!(FolderName::new(started, "../../etc", "sqlite", "wide").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Limits
//! - Documents of another major version are refused.
//! - A kill of the process loses at most the present second; a crash of the machine may lose more, because nothing is
//!   forced to the disk before the end.
//!
//! # Invariants
//! - Nothing here measures, or changes what was measured.
//! - A document never holds a NaN, an infinity, or a quantile that its sample cannot support.
//! - A file is never seen half-written under its own name, and nothing is written outside the run's folder.
//! - No text of a server, a path or a file reaches a terminal with a character that could steer it.
//! - Nothing waits for a disk while the run goes on.

mod compare;
mod comparison;
mod contender;
mod cost;
mod document;
mod earlier_sittings;
mod environment;
mod folder;
mod heat_map;
mod history;
mod html;
mod iotps;
pub mod journal;
mod json;
mod latency_log;
mod lines;
mod lock;
mod markdown;
mod network;
mod price;
mod printable;
mod query_jitter;
mod ranking;
mod recover;
mod repetitions;
mod reported_run;
mod robustness;
mod run_report;
mod samples;
mod score;
mod sessions;
mod size;
mod standing;
mod study;
mod suite;
mod sweep;
mod sweep_table;
mod terminal;
mod thinning;
mod tidy;
mod timeline;
mod upper_ends;
mod written;

pub use compare::{
    Across, Aspect, Cell, CompareError, CompareOptions, Comparison, METRICS, Metric, MetricChange, MetricNoise,
    SideSummary, Unlike, compare, find_metric, markdown_comparisons, noise_of, render_comparisons, render_noise,
};
pub use comparison::render_comparison;
pub use cost::{Cost, Price};
pub use document::{
    ActionTaken, Agent, Answers, AtLeast, Audit, AuditExample, Backlog, BoundTrials, Capacity, Client, Cycles,
    Datagrams, Detectable, Document, DocumentError, Durability, Durations, EarlierSittings, ErrorsOfCause, Estimate,
    EstimateMethod, Freshness, Group, Hiccup, Inconsistency, Interval, KindLatency, LateTicks, Latency, LatencySummary,
    Limit, LimitMove, Load, LoadTrials, MeasuredPart, Operation, Others, PacingError, Points, Preconditioning,
    Provenance, Purpose, Resources, SCHEMA, Scenario, ScenarioPhase, SchemaChange, Search, ServerCounter,
    ServerCounters, Silence, Spread, Stages, State, Status, Steady, SteadyFigure, Step, Storage, StorageProbeFigures,
    StorageProbes, Swept, TagAudit, TagExample, Target, Throughput, Tool, Usl, UslEstimate, Verdict, Via, Visibility,
    WatchLateness, Windows, WriteFigures, WritesAlone, WritesOfKind, errors_by_cause, fingerprint_of_profile,
    remark_of_seen_late, rounding,
};
pub use earlier_sittings::earlier_sittings;
pub use environment::{Environment, Filesystem, StealMeter, filesystem_of};
pub use folder::{
    Appender, DATABASE_FOLDER, Flush, FolderError, FolderName, JOURNAL_FILE, LATENCY_FILE, LEDGER_FILE, MANIFEST_FILE,
    MIN_FREE_BYTES, Manifest, ManifestError, ManifestFile, OPERATIONS_FILE, PROFILE_FILE, REPORT_FILE, RUN_FILE,
    ResultsFolder, SERIES_FILE, SESSIONS_DOCUMENT, SESSIONS_TEXT, SUITE_DOCUMENT, SUITE_FILE, SWEEP_FILE, TRIALS_FILE,
    check_manifest, open_sessions, read_document, read_documents, read_sessions, read_suite, write_file,
};
pub use heat_map::{HeatColumn, HeatMap, HeatMapError};
pub use history::{History, HistoryChange, MetricHistory, Series, history, render_history};
pub use html::{HtmlOptions, render_html};
pub use iotps::{IotPs, IotRun, render_iotps};
pub use json::{json_comparisons, json_history, json_noise, json_of_runs, json_ranking, render_json};
pub use latency_log::lines as latency_lines;
pub use lines::{Lines, lines};
pub use lock::{Holder, Lock, LockError};
pub use markdown::render_markdown;
pub use price::{PRICED_YEARS, PriceFile, PriceFileError, PricedItem, UnfitPrices};
pub use printable::{printable, printable_lines};
pub use query_jitter::{JitterClass, SizedQuery, query_jitter};
pub use ranking::render_ranking;
pub use recover::{RecoverError, Recovered, recover, recover_all};
pub use repetitions::{RepeatedFigure, Repetitions, render_repetitions};
pub use reported_run::ReportedRun;
pub use robustness::render_robustness;
pub use run_report::RunReport;
pub use samples::{SampleTable, render_sampled};
pub use score::{scored_run, unequal};
pub use sessions::{
    SESSIONS_SCHEMA, SessionEnd, SessionEntry, SessionsFigure, SessionsRecord, SessionsSummary, SittingsJob,
    render_over_sittings, render_sessions,
};
pub use size::{binary_size, decimal_size};
pub use study::{SCORES, SuiteRun, is_curve_figure, is_study_figure, render_study, study, study_figure};
pub use suite::{render_suite_order, render_suite_state, title_of_run};
pub use sweep::render_sweep;
pub use sweep_table::{SWEEP_SCHEMA, SweepRow, SweepTable};
pub use terminal::{answer_in_a_sentence, figure, render, render_audit};
pub use tidy::{render_parquet, render_tidy};
pub use timeline::{COUNTER_COLUMN, Timeline, TimelineError};
