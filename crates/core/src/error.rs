//! Errors of a backend: why, what to do, and what may have been stored all the same.

use serde::{Deserialize, Serialize};
use std::{fmt, time::Duration};

/// Why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The server's name could not be resolved.
    Dns,
    /// No connection, or it was lost.
    Connect,
    /// The encrypted connection was refused.
    Tls,
    /// The server does not accept who we are or what we may do.
    Auth,
    /// No answer within the deadline.
    TimedOut,
    /// The server asks for fewer requests.
    Throttled {
        /// When it may be tried again, as the server said.
        retry_after: Option<Duration>,
    },
    /// The server ran out of space or died of it.
    Full,
    /// The server answered with an error of its own.
    Server,
    /// An answer that the protocol does not allow.
    Protocol,
    /// The client's own limits: file descriptors, ports, memory.
    Client,
    /// The data was refused: a type, a range, a duplicate.
    Data,
    /// An object of our name that does not carry our marker.
    NotOurs,
}

impl Cause {
    /// The stable word in results and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Auth => "auth",
            Self::TimedOut => "timed_out",
            Self::Throttled { .. } => "throttled",
            Self::Full => "full",
            Self::Server => "server",
            Self::Protocol => "protocol",
            Self::Client => "client",
            Self::Data => "data",
            Self::NotOurs => "not_ours",
        }
    }
}

/// What the caller should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The same request may succeed on the same writer.
    RetryMayHelp,
    /// The run has to end.
    Stop,
    /// The writer or reader is no longer usable; another one may be.
    DiscardWriter,
}

/// What of the request the database holds in spite of the error.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Applied {
    /// Nothing, for certain.
    No,
    /// Unknown.
    Maybe,
    /// These rows of the batch, ascending, and no other.
    Rows(Vec<u32>),
}

/// The failure of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Why.
    pub cause: Cause,
    /// What to do.
    pub action: Action,
    /// What was stored all the same.
    pub applied: Applied,
    /// For people; never holds a secret.
    pub message: String,
}

impl Error {
    /// An error of which nothing was applied and after which the writer is as good as before.
    pub fn new(cause: Cause, message: impl fmt::Display) -> Self {
        let action = match cause {
            Cause::Auth | Cause::Tls | Cause::NotOurs | Cause::Full => Action::Stop,
            Cause::Connect | Cause::Dns | Cause::TimedOut | Cause::Protocol => Action::DiscardWriter,
            Cause::Throttled { .. } | Cause::Server | Cause::Client | Cause::Data => Action::RetryMayHelp,
        };
        Self { cause, action, applied: Applied::No, message: message.to_string() }
    }

    /// The same error with another thing to do.
    #[must_use]
    pub fn action(mut self, action: Action) -> Self {
        self.action = action;
        self
    }

    /// The same error with another account of what was applied.
    #[must_use]
    pub fn applied(mut self, applied: Applied) -> Self {
        self.applied = applied;
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.cause.name(), self.message)
    }
}

impl std::error::Error for Error {}
