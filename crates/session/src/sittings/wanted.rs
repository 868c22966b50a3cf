//! How many sittings, over how long.

use crate::error::SessionError;
use iotbench_engine::Span;
use std::path::PathBuf;

/// So many sittings of the same jobs.
#[derive(Clone, Debug)]
pub struct SittingsWanted {
    /// How many.
    pub sessions: u32,
    /// The time that they are spread over; `None`: one follows the other.
    pub over: Option<Span>,
    /// The folder of sittings that go on.
    pub(crate) kept: Option<PathBuf>,
}

impl SittingsWanted {
    /// Sittings that begin now.
    #[must_use]
    pub fn new(sessions: u32, over: Option<Span>) -> Self {
        Self { sessions, over, kept: None }
    }
}

/// Checks that so many sittings fit the time that they are spread over; each takes `expected_s`.
pub(crate) fn check_time(wanted: &SittingsWanted, expected_s: f64) -> Result<(), SessionError> {
    let SittingsWanted { sessions, over: Some(over), .. } = *wanted else { return Ok(()) };
    if sessions < 2 {
        return Err(SessionError::usage(
            "--over spreads several sittings: give --sessions 2 or more, or leave --over out",
        ));
    }
    let needed_s = expected_s * f64::from(sessions);
    if over.0.as_secs_f64() < needed_s {
        return Err(SessionError::usage(format!(
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
            check_time(&SittingsWanted::new(sessions, Some(Span(Duration::from_secs(over_s)))), expected_s)
        };
        assert!(check(5, 1_000, 200.0).is_ok());
        let said = check(5, 999, 200.0).unwrap_err().to_string();
        assert!(said.contains("too short for 5 sittings") && said.contains("1000 s") && said.contains("17m"), "{said}");
        assert!(check(1, 1_000, 200.0).unwrap_err().to_string().contains("--sessions 2"));
        assert!(check_time(&SittingsWanted::new(5, None), 1e9).is_ok(), "one follows the other, as long as it takes");
    }
}
