//! The options of sittings, and of going on.

use clap::{Args, value_parser};
use iotbench_engine::Span;
use iotbench_session::SittingsWanted;
use std::path::PathBuf;

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SessionsArguments {
    /// So many sittings of the same job, each with a fresh server and an empty database, and what they tell together: a 90 %
    /// interval that holds what another sitting finds on average. Virtual users are --vus
    #[arg(long, env = "IOTBENCH_SESSIONS", value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    sessions: Option<u32>,
    /// The time that the sittings are spread over, such as 2h; without it one follows the other
    #[arg(long, env = "IOTBENCH_OVER", value_name = "TIME", requires = "sessions")]
    over: Option<Span>,
    /// Go on with sittings after the last whole one, or with a search after its last whole trial: the folder. All that decides
    /// the result is as it was; an address is to be given again where it needs a login
    #[arg(long, value_name = "FOLDER", conflicts_with_all = BEGUN)]
    pub(super) resume: Option<PathBuf>,
}

/// What a job that goes on has from where it began.
const BEGUN: [&str; 24] = [
    "via",
    "profile",
    "backend",
    "layout",
    "duration",
    "operations",
    "warmup",
    "rate",
    "vus",
    "arrival",
    "state",
    "connections",
    "batch",
    "strategy",
    "variant",
    "history",
    "scenario",
    "seed",
    "set",
    "full",
    "runs",
    "sessions",
    "over",
    "dry_run",
];

impl SessionsArguments {
    /// The sittings that are asked for; none: a run is not one of several.
    pub(crate) fn wanted(&self) -> Option<SittingsWanted> {
        self.sessions.map(|sessions| SittingsWanted::new(sessions, self.over))
    }
}
