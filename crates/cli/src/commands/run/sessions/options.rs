//! The options of sittings, and of going on.

use crate::error::CliError;
use clap::{Args, value_parser};
use iotbench_engine::Span;
use std::path::PathBuf;

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SessionsArguments {
    /// So many sittings of the same job, each with a fresh server and an empty database, and what they tell together: a 90 %
    /// interval that holds what another sitting finds on average. Virtual users are --vus
    #[arg(long, env = "IOTBENCH_SESSIONS", value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    pub(super) sessions: Option<u32>,
    /// The time that the sittings are spread over, such as 2h; without it one follows the other
    #[arg(long, env = "IOTBENCH_OVER", value_name = "TIME", requires = "sessions")]
    pub(super) over: Option<Span>,
    /// Go on with sittings after the last whole one, or with a search after its last whole trial: the folder. All that decides
    /// the result is as it was; an address is to be given again where it needs a login
    #[arg(long, value_name = "FOLDER", conflicts_with_all = BEGUN)]
    pub(in crate::commands::run) resume: Option<PathBuf>,
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
    /// How many sittings are asked for; none: a run is not one of several.
    pub(crate) fn wanted(&self) -> Option<u32> {
        self.sessions
    }

    /// The same for sittings that go on: how many there are, is what is kept of them.
    pub(crate) fn of_kept(sessions: u32) -> Self {
        Self { sessions: Some(sessions), ..Self::default() }
    }
}

/// Checks that so many sittings fit the time that they are spread over; each takes `expected_s`.
pub(in crate::commands) fn check_time(
    sessions: Option<u32>,
    over: Option<Span>,
    expected_s: f64,
) -> Result<(), CliError> {
    let (Some(sessions), Some(over)) = (sessions, over) else { return Ok(()) };
    if sessions < 2 {
        return Err(CliError::usage("--over spreads several sittings: give --sessions 2 or more, or leave --over out"));
    }
    let needed_s = expected_s * f64::from(sessions);
    if over.0.as_secs_f64() < needed_s {
        return Err(CliError::usage(format!(
            "--over {over} is too short for {sessions} sittings: the load of each may take {expected_s:.0} s, and of all \
             {needed_s:.0} s; give --over {}m or more, or fewer sittings",
            (needed_s / 60.0).ceil()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_time_must_do_for_all_sittings() {
        let check = |sessions, over_s, expected_s| {
            check_time(Some(sessions), Some(Span(Duration::from_secs(over_s))), expected_s)
        };
        assert!(check(5, 1_000, 200.0).is_ok());
        let said = check(5, 999, 200.0).unwrap_err().to_string();
        assert!(said.contains("too short for 5 sittings") && said.contains("1000 s") && said.contains("17m"), "{said}");
        assert!(check(1, 1_000, 200.0).unwrap_err().to_string().contains("--sessions 2"));
        assert!(check_time(Some(5), None, 1e9).is_ok(), "one follows the other, as long as it takes");
    }
}
