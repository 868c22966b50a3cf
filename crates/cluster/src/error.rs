//! What keeps agents and coordinator from working together.

use crate::{key::KeyError, message::MessageError};
use async_nats::ConnectErrorKind;
use iotbench_core::Cause;
use iotbench_engine::PartsError;
use std::path::PathBuf;

/// Why a load cannot be made by agents.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The address of a broker.
    #[error(
        "the broker's address cannot be read: write for example nats://host:4222, or tls://host:4222, and / ? # @ in a password as \
         %2F %3F %23 %40"
    )]
    NoAddress,
    /// A file of credentials.
    #[error("the broker's credentials cannot be read from {}: {why}", file.display())]
    Credentials {
        /// The file.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// The broker lets nobody in.
    #[error("no connection to the broker at {at}: {why}{}", advice(*kind))]
    Broker {
        /// Its address.
        at: String,
        /// Why, in one of a few words.
        kind: ConnectErrorKind,
        /// Why.
        why: String,
    },
    /// The broker carries no more.
    #[error("the broker: {0}")]
    Lost(String),
    /// A message.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The load cannot be divided.
    #[error(transparent)]
    Parts(#[from] PartsError),
    /// Fewer agents than are wanted.
    #[error(
        "{wanted} agents are wanted, and {found} free ones are there{}: start others with iotbench agent --nats URL",
        names(present)
    )]
    TooFew {
        /// How many are wanted.
        wanted: usize,
        /// How many are free.
        found: usize,
        /// Who is there and is not free, and why.
        present: Vec<String>,
    },
    /// One that was named.
    #[error("there is no agent {agent:?}{}: start it with iotbench agent --name {agent} --nats URL", names(present))]
    Missing {
        /// The agent.
        agent: String,
        /// Who is there instead.
        present: Vec<String>,
    },
    /// Another run has it.
    #[error("the agent {agent:?} is held for the run {by}: wait for its end, or use another agent")]
    Held {
        /// The agent.
        agent: String,
        /// For which run.
        by: String,
    },
    /// It cannot do what it was asked for.
    #[error("the agent {agent:?}: {why}")]
    Agent {
        /// The agent.
        agent: String,
        /// Why.
        why: String,
    },
    /// It may not do what it was asked for.
    #[error("the agent {agent:?} refuses: {why}")]
    Refused {
        /// The agent.
        agent: String,
        /// Why.
        why: String,
    },
    /// A key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A broker whose network can be listened to.
    #[error(
        "the broker at {0} is in clear text on another machine: passwords and data can be read on the way. Use tls://, or take \
         that with --insecure"
    )]
    ClearText(String),
    /// What an agent is allowed.
    #[error("{0}")]
    Allowed(String),
    /// A name that no agent can have.
    #[error("{0:?} is no name for an agent: write letters, digits, - and _, at most 64 of them")]
    Name(String),
    /// Another agent has this name.
    #[error("there is an agent {0:?} at this broker: give this one another --name")]
    Taken(String),
}

fn names(present: &[String]) -> String {
    if present.is_empty() { String::new() } else { format!(" ({})", present.join("; ")) }
}

fn advice(kind: ConnectErrorKind) -> &'static str {
    match kind {
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
            "; give user and password or a token in IOTBENCH_NATS, or a file with --nats-credentials"
        }
        ConnectErrorKind::Tls => "; name the certificate that vouches for the broker with --nats-ca FILE",
        ConnectErrorKind::Io | ConnectErrorKind::TimedOut => "; is nats-server running there?",
        _ => "",
    }
}

impl ClusterError {
    pub(crate) fn lost(error: impl std::fmt::Display) -> Self {
        Self::Lost(error.to_string())
    }

    /// The cause, by which a run ends and has its exit code.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self {
            Self::Broker { kind, .. } => match kind {
                ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => Cause::Auth,
                ConnectErrorKind::Tls => Cause::Tls,
                ConnectErrorKind::Dns => Cause::Dns,
                ConnectErrorKind::TimedOut => Cause::TimedOut,
                _ => Cause::Connect,
            },
            Self::Credentials { .. } | Self::Refused { .. } => Cause::Auth,
            Self::Lost(_) | Self::TooFew { .. } | Self::Missing { .. } | Self::Agent { .. } => Cause::Connect,
            Self::Message(_) => Cause::Protocol,
            Self::Held { .. } | Self::Taken(_) => Cause::NotOurs,
            Self::NoAddress | Self::Name(_) | Self::Parts(_) | Self::Key(_) | Self::ClearText(_) | Self::Allowed(_) => {
                Cause::Client
            }
        }
    }

    /// Whether the arguments are wrong.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::NoAddress
                | Self::Name(_)
                | Self::Parts(_)
                | Self::Credentials { .. }
                | Self::Key(_)
                | Self::ClearText(_)
                | Self::Allowed(_)
        )
    }
}
