//! What can be done to a process of a server under load.

use serde::{Deserialize, Serialize};

/// Done to one process of a server, to see what its database and its clients make of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessAction {
    /// It and all its descendants are killed (SIGKILL). It stays away until it is restarted.
    Kill,
    /// It and all its descendants stand still (SIGSTOP).
    Stop,
    /// They go on (SIGCONT).
    Continue,
    /// It is asked to stop as at the server's end, killed when that takes too long, and started again as at first. One that
    /// was killed is only started.
    Restart,
    /// It and all its descendants are killed (SIGKILL), and it is started again at once.
    Crash,
}

impl ProcessAction {
    /// Every action.
    pub const ALL: [Self; 5] = [Self::Kill, Self::Stop, Self::Continue, Self::Restart, Self::Crash];

    /// The word in a profile and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Stop => "stop",
            Self::Continue => "continue",
            Self::Restart => "restart",
            Self::Crash => "crash",
        }
    }

    /// Whether the process ends without a chance to store what it holds.
    #[must_use]
    pub fn kills(self) -> bool {
        matches!(self, Self::Kill | Self::Crash)
    }
}
