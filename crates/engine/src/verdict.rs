//! Whether a result can be believed, and why not. Pure.

use crate::plan::MIN_FREE_BYTES;
use iotbench_core::Cause;
use iotbench_recorder::NOT_CONSERVED;
use serde::{Deserialize, Serialize};

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not ended yet.
    Running,
    /// Its figures can be believed.
    Valid,
    /// It ended, and its figures cannot be believed.
    Invalid,
    /// The user ended it.
    Aborted,
    /// It could not be carried out.
    Failed,
}

/// What ended a run or spoils its figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Not even the first load met the criterion.
    NoSustainedLoad,
    /// The client was the limit.
    ClientLimited(String),
    /// An agent that made a part of the load was lost.
    AgentLost {
        /// Its name.
        agent: String,
        /// Why.
        why: String,
    },
    /// Measurements were lost.
    SamplesDropped(u64),
    /// Counts that should balance do not: a fault of the tool.
    NotConserved(String),
    /// Acknowledged datapoints are missing, or there are more than were sent.
    Stored {
        /// Acknowledged datapoints, preloaded ones included.
        acked: u64,
        /// Datapoints without a verdict.
        unknown: u64,
        /// Datapoints found.
        stored: u64,
    },
    /// Values are missing from stored datapoints, or there are more than were sent.
    StoredValues {
        /// Values found.
        stored: u64,
        /// Values that the stored datapoints should have.
        expected: u64,
    },
    /// Something was wrong with what a trial of a ramp had stored, when it was dropped to make room for the next.
    OfTrial {
        /// Which, from 1; trials that were run again because others disturbed them count.
        trial: u32,
        /// What.
        reason: Box<Self>,
    },
    /// What was read back is not what was acknowledged.
    Audit {
        /// Acknowledged, and not stored.
        lost: u64,
        /// Stored more than once.
        duplicate: u64,
        /// Stored with another value.
        corrupt: u64,
        /// Stored, and never sent.
        alien: u64,
    },
    /// What was read back of the devices' tags is not what they are.
    Tags {
        /// Devices with a tag of another value, or without one.
        wrong: u64,
        /// Devices without a row.
        missing: u64,
        /// Rows of devices that there are not.
        alien: u64,
    },
    /// All that is stored was to be read back, and could not be.
    NotReadBack(String),
    /// Answers differ from the truth: so many of those compared, and how the first does.
    WrongAnswers {
        /// How many.
        wrong: u64,
        /// Of how many.
        checked: u64,
        /// The first of them.
        first: String,
    },
    /// A broker has not delivered what it had acknowledged, although it promises to.
    LostOnTheWay {
        /// How many messages, at least.
        acknowledged: u64,
        /// Of how many.
        published: u64,
    },
    /// An open loop was offered more than was carried: by how much.
    Overloaded(String),
    /// No operation succeeded.
    NothingMeasured,
    /// A ramp was ended before the disk of its database was full.
    NoRoom {
        /// What was free.
        free_bytes: u64,
    },
    /// The run's deadline came before its end.
    RunDeadline {
        /// When that was, after the start of the load.
        after_s: u64,
    },
    /// An error that ends a run.
    Target {
        /// Why.
        cause: Cause,
        /// In the backend's words.
        message: String,
    },
    /// The broker between devices and writers is gone.
    Broker {
        /// Why.
        cause: Cause,
        /// In its client's words.
        message: String,
    },
    /// The server's process ended while the run was on: how.
    ServerDied(String),
    /// The results could not be written.
    LocalIo(String),
    /// A signal came: its number.
    Signal(i32),
    /// The program is at fault.
    Internal(String),
}

impl Reason {
    /// The exit code that belongs to it.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Internal(_) | Self::NotConserved(_) => 1,
            Self::OfTrial { reason, .. } => reason.exit_code(),
            Self::NoSustainedLoad => 10,
            Self::ClientLimited(_)
            | Self::AgentLost { .. }
            | Self::SamplesDropped(_)
            | Self::Overloaded(_)
            | Self::NothingMeasured
            | Self::NotReadBack(_)
            | Self::RunDeadline { .. } => 11,
            Self::Stored { .. }
            | Self::StoredValues { .. }
            | Self::Audit { .. }
            | Self::Tags { .. }
            | Self::WrongAnswers { .. }
            | Self::LostOnTheWay { .. } => 12,
            Self::Target { cause, .. } | Self::Broker { cause, .. } => cause_exit_code(*cause),
            Self::ServerDied(_) => cause_exit_code(Cause::Server),
            Self::LocalIo(_) | Self::NoRoom { .. } => 30,
            Self::Signal(number) => u8::try_from(128 + number).unwrap_or(130),
        }
    }

    fn status(&self) -> Status {
        match self {
            Self::Signal(_) => Status::Aborted,
            Self::Target { .. } | Self::Broker { .. } | Self::ServerDied(_) | Self::LocalIo(_) | Self::Internal(_) => {
                Status::Failed
            }
            _ => Status::Invalid,
        }
    }
}

/// The exit code for an error that ends a run.
#[must_use]
pub fn cause_exit_code(cause: Cause) -> u8 {
    match cause {
        Cause::Connect | Cause::TimedOut | Cause::Protocol | Cause::Throttled { .. } => 20,
        Cause::Auth => 21,
        Cause::Tls => 22,
        Cause::Dns => 23,
        Cause::Full | Cause::Server => 24,
        Cause::NotOurs => 31,
        Cause::Client | Cause::Data => 1,
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoSustainedLoad => f.write_str("not even the first load met the stop criterion"),
            Self::ClientLimited(why) => write!(f, "the client was the limit: {why}"),
            Self::AgentLost { agent, why } => write!(
                f,
                "the agent {agent} was lost: {why}; what it sent and did not report is unknown, and may be stored"
            ),
            Self::SamplesDropped(n) => write!(f, "{n} measurements were lost"),
            Self::NotConserved(what) => write!(f, "{NOT_CONSERVED}: {what}"),
            Self::Stored { acked, unknown, stored } => {
                write!(f, "{acked} datapoints were acknowledged and {unknown} are unknown, but {stored} are stored")
            }
            Self::StoredValues { stored, expected } => {
                write!(f, "the stored datapoints should have {expected} values, but {stored} are stored")
            }
            Self::OfTrial { trial, reason } => {
                write!(f, "trial {trial}, counted before its data were dropped: {reason}")
            }
            Self::Audit { lost, duplicate, corrupt, alien } => {
                let kinds = [(lost, "lost"), (duplicate, "stored twice"), (corrupt, "corrupt"), (alien, "never sent")];
                let found = kinds.into_iter().filter(|(n, _)| **n > 0).map(|(n, kind)| format!("{n} {kind}"));
                write!(
                    f,
                    "read back, datapoints are not what was acknowledged: {}",
                    found.collect::<Vec<_>>().join(", ")
                )
            }
            Self::Tags { wrong, missing, alien } => {
                let kinds = [(wrong, "wrong"), (missing, "missing"), (alien, "of devices that there are not")];
                let found = kinds.into_iter().filter(|(n, _)| **n > 0).map(|(n, kind)| format!("{n} {kind}"));
                write!(f, "read back, the tags of devices are not theirs: {}", found.collect::<Vec<_>>().join(", "))
            }
            Self::WrongAnswers { wrong, checked, first } => {
                write!(f, "{wrong} of {checked} answers compared are wrong, the first one: {first}")
            }
            Self::LostOnTheWay { acknowledged, published } => write!(
                f,
                "the broker has not delivered {acknowledged} of {published} messages, although it had acknowledged them"
            ),
            Self::RunDeadline { after_s } => write!(f, "the run's deadline of {after_s} s came before its end"),
            Self::NoRoom { free_bytes } => write!(
                f,
                "the search ended early: {} MiB are free where the database lies, and it goes on with {} MiB or more: make room",
                free_bytes >> 20,
                MIN_FREE_BYTES >> 20
            ),
            Self::NotReadBack(why) => write!(f, "what is stored was to be read back, and could not be: {why}"),
            Self::Overloaded(why) => {
                write!(
                    f,
                    "overloaded: {why}; response times tell how long the queue grew, not how fast the database is"
                )
            }
            Self::NothingMeasured => f.write_str("no operation succeeded in the measured part"),
            Self::Target { cause, message } | Self::Broker { cause, message } => {
                write!(f, "{}: {message}", cause.name())
            }
            Self::ServerDied(how) => write!(f, "the server died during the run: {how}"),
            Self::LocalIo(message) => write!(f, "results: {message}"),
            Self::Signal(1) => f.write_str("its terminal was closed"),
            Self::Signal(2) => f.write_str("interrupted by the user"),
            Self::Signal(n) => write!(f, "ended by signal {n}"),
            Self::Internal(message) => write!(f, "internal error: {message}"),
        }
    }
}

/// How a run stands, with every reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How it stands.
    pub status: Status,
    /// Why; empty when valid.
    pub reasons: Vec<Reason>,
}

/// Exit codes from the gravest on: the first of these that any reason has is the run's.
pub const SEVERITY: [u8; 16] = [1, 2, 143, 130, 129, 31, 30, 21, 22, 23, 20, 24, 12, 11, 13, 10];

impl Verdict {
    /// A run that goes on.
    #[must_use]
    pub fn running() -> Self {
        Self { status: Status::Running, reasons: Vec::new() }
    }

    /// The verdict on a run that ended with these reasons. When the server died, that it could not be reached any more is
    /// no reason of its own.
    #[must_use]
    pub fn of(mut reasons: Vec<Reason>) -> Self {
        if reasons.iter().any(|r| matches!(r, Reason::ServerDied(_))) {
            let unreachable = cause_exit_code(Cause::Connect);
            reasons.retain(|r| !matches!(r, Reason::Target { cause, .. } if cause_exit_code(*cause) == unreachable));
        }
        let rank = |s: Status| match s {
            Status::Aborted => 3,
            Status::Failed => 2,
            Status::Invalid => 1,
            Status::Valid | Status::Running => 0,
        };
        let status = reasons.iter().map(Reason::status).max_by_key(|&s| rank(s)).unwrap_or(Status::Valid);
        Self { status, reasons }
    }

    /// The exit code: 0 when valid.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        gravest(self.reasons.iter().map(Reason::exit_code))
    }
}

/// The gravest of several exit codes, by [`SEVERITY`].
#[must_use]
pub fn gravest(codes: impl IntoIterator<Item = u8>) -> u8 {
    let place = |code: u8| SEVERITY.iter().position(|&s| s == code).unwrap_or(SEVERITY.len());
    codes.into_iter().filter(|&c| c != 0).min_by_key(|&c| place(c)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_reason_means_valid() {
        let verdict = Verdict::of(vec![]);
        assert_eq!((verdict.status, verdict.exit_code()), (Status::Valid, 0));
    }

    #[test]
    fn an_abort_outweighs_what_it_brings_with_it() {
        let verdict = Verdict::of(vec![Reason::NothingMeasured, Reason::Signal(2)]);
        assert_eq!((verdict.status, verdict.exit_code()), (Status::Aborted, 130));
        assert_eq!(Verdict::of(vec![Reason::Signal(15)]).exit_code(), 143);
    }

    #[test]
    fn a_servers_death_explains_that_it_is_not_reached() {
        let gone = Reason::Target { cause: Cause::Connect, message: "refused".into() };
        let died = Reason::ServerDied("was ended by signal 9".into());
        let verdict = Verdict::of(vec![gone.clone(), Reason::NothingMeasured, died.clone()]);
        assert_eq!((verdict.status, verdict.exit_code()), (Status::Failed, 24));
        assert_eq!(verdict.reasons, [Reason::NothingMeasured, died.clone()]);
        assert_eq!(Verdict::of(vec![gone.clone()]).reasons, [gone]);
        let foreign = Reason::Target { cause: Cause::NotOurs, message: String::new() };
        assert_eq!(Verdict::of(vec![foreign, died]).exit_code(), 31);
    }

    #[test]
    fn a_loss_outweighs_a_client_that_was_the_limit() {
        let loss = Reason::Stored { acked: 2, unknown: 0, stored: 1 };
        let verdict = Verdict::of(vec![Reason::ClientLimited("cpu".into()), loss]);
        assert_eq!((verdict.status, verdict.exit_code()), (Status::Invalid, 12));
    }

    #[test]
    fn the_gravest_of_several_runs_decides() {
        assert_eq!(gravest([0, 0]), 0);
        assert_eq!(gravest([0, 10, 20]), 20);
        assert_eq!(gravest([12, 31, 11]), 31);
    }

    #[test]
    fn reasons_are_told_in_words() {
        let told = |reason: &Reason| reason.to_string();
        assert_eq!(told(&Reason::Signal(2)), "interrupted by the user");
        assert_eq!(told(&Reason::Signal(15)), "ended by signal 15");
        let audit = Reason::Audit { lost: 3, duplicate: 0, corrupt: 0, alien: 1 };
        assert_eq!(told(&audit), "read back, datapoints are not what was acknowledged: 3 lost, 1 never sent");
        let tags = Reason::Tags { wrong: 2, missing: 0, alien: 1 };
        assert_eq!(
            told(&tags),
            "read back, the tags of devices are not theirs: 2 wrong, 1 of devices that there are not"
        );
        assert_eq!(tags.exit_code(), audit.exit_code());
        let in_trial = Reason::OfTrial { trial: 4, reason: Box::new(audit) };
        assert_eq!((in_trial.exit_code(), told(&in_trial).starts_with("trial 4, ")), (12, true));
        let room = told(&Reason::NoRoom { free_bytes: 300 << 20 });
        assert!(
            room.contains(": 300 MiB are free")
                && room.contains(&format!("{} MiB or more", MIN_FREE_BYTES / 1_048_576)),
            "{room}"
        );
    }
}
