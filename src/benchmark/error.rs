//! Why a benchmark has no result.

use iotbench_engine::UnitError;
use iotbench_session::SessionError;

/// Why a benchmark has no result. What happens while it runs is in the verdict of its [`Outcome`](crate::Outcome).
#[derive(Debug, thiserror::Error)]
pub enum BenchmarkError {
    /// Profile, backend or machine do not take it, or a server does not start.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// There is no such layout.
    #[error("{0}")]
    UnknownLayout(String),
    /// A value that cannot be read.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// No folder for the results.
    #[error("no folder for the results: {0}")]
    Folder(#[from] std::io::Error),
    /// Where one run is meant, it is several: of a sweep, of variants or repetitions.
    #[error("these are {0} runs, and one outcome is asked for: take run_all, or choose one of them")]
    Several(usize),
    /// It was stopped before its first run.
    #[error("stopped before its first run began")]
    Stopped,
    /// A fault of this library.
    #[error("the runs ended by a fault of iotbench")]
    Fault,
}
