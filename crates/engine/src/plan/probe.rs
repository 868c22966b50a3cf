//! Whether the storage under the database is probed between the steps of a ramp.

use crate::{profile::Profile, units::Auto};
use iotbench_core::Backend;

/// Why it is not; `None`: it is, where the database's files are known, or there is no ramp.
///
/// # Errors
/// It is asked for where it cannot be: the key, and why.
pub(super) fn of_ramp(profile: &Profile, backend: &dyn Backend) -> Result<Option<String>, (String, String)> {
    let Some(ramp) = &profile.ramp else { return Ok(None) };
    match (ramp.probe, hinders(profile, backend)) {
        (Auto::Set(false), _) => Ok(Some("ramp.probe is false".into())),
        (Auto::Set(true), Some(why)) => Err((
            "ramp.probe".into(),
            format!("the storage cannot be probed between steps: {why}; write false, or leave it out"),
        )),
        (_, why) => Ok(why),
    }
}

/// Where no load can pause for a probe, or nothing is stored.
fn hinders(profile: &Profile, backend: &dyn Backend) -> Option<String> {
    if !backend.info().capabilities.stores {
        Some(format!("{} stores nothing", backend.info().name))
    } else if profile.groups.len() > 1 {
        Some("only the first group pauses between steps, and the others go on".into())
    } else if !profile.scenario.is_empty() {
        Some("the scenario acts on the server meanwhile".into())
    } else {
        None
    }
}
