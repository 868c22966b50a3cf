//! The page of built-in profiles.

use super::markdown::{self, code, table, words};
use iotbench_session::{SessionError, find_written_profile};
use iotbench_workloads::PROFILES;

const ABOUT: &str = "`iotbench profiles NAME` prints one; its keys are explained in [profile.md](profile.md).";

pub(super) fn page() -> Result<String, SessionError> {
    let row = |name: &str| {
        let profile = find_written_profile(name)?.profile;
        Ok([code(&profile.name), words(&profile.summary), words(&profile.study)])
    };
    let rows = PROFILES.iter().map(|built_in| row(built_in.name)).collect::<Result<Vec<_>, SessionError>>()?;
    Ok(markdown::page("Built-in profiles", &[ABOUT.to_owned(), table(["profile", "asks", "study"], &rows)]))
}
