//! What each step of a ramp begins with.

use super::PhasesPlan;
use crate::{
    profile::{OperationConfig, Profile, RampState},
    units::Auto,
};
use iotbench_core::Backend;

/// What the steps of a ramp begin with, and what the result has to say of it.
///
/// # Errors
/// An empty database is asked for where that cannot be: the key, and why.
pub(super) fn of_ramp(
    profile: &Profile,
    phases: &PhasesPlan,
    backend: &dyn Backend,
) -> Result<(RampState, Option<String>), (String, String)> {
    let Some(ramp) = &profile.ramp else { return Ok((RampState::Keep, None)) };
    let (by_profile, by_backend) = (hinders(profile, phases), cannot(backend));
    match (ramp.state, by_profile.or(by_backend.as_deref())) {
        (Auto::Set(RampState::Keep), _) => Ok((RampState::Keep, None)),
        (Auto::Set(RampState::Fresh), Some(why)) => {
            Err(("ramp.state".into(), format!("no step can begin with an empty database: {why}; write keep")))
        }
        (Auto::Auto, Some(why)) => {
            // What reads, or has a history, is meant to keep it; where nothing is stored there is nothing to keep.
            let is_news = by_profile.is_none() && backend.capabilities().stores;
            Ok((RampState::Keep, is_news.then(|| format!("each step began with what those before it left: {why}"))))
        }
        (_, None) => Ok((RampState::Fresh, None)),
    }
}

/// What of the profile speaks against it.
fn hinders(profile: &Profile, phases: &PhasesPlan) -> Option<&'static str> {
    let why = if profile.groups.iter().flat_map(|group| &group.operations).any(OperationConfig::is_read) {
        "what this profile reads is what is stored"
    } else if phases.preload > 0 && phases.preload_devices > 0 {
        "the profile has a history, which would be dropped too"
    } else if profile.groups.len() > 1 {
        "only the first group pauses between steps, and the others go on writing"
    } else if !profile.scenario.is_empty() {
        "the scenario acts on the server meanwhile"
    } else {
        return None;
    };
    Some(why)
}

/// What of the database speaks against it.
fn cannot(backend: &dyn Backend) -> Option<String> {
    let name = backend.name();
    (!backend.capabilities().empties).then(|| format!("{name} is not known to be emptied under connected writers"))
}
