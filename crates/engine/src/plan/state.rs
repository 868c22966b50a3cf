//! What each step of a ramp begins with.

use super::PhasesPlan;
use crate::{
    profile::{LoadModel, OperationConfig, Profile, RampState},
    units::Auto,
};
use iotbench_core::Backend;

/// What the steps of a ramp begin with, and what the result has to say of it.
///
/// # Errors
/// An empty database, or a history written anew, is asked for where that cannot be: the key, and why.
pub(super) fn of_ramp(
    profile: &Profile,
    phases: &PhasesPlan,
    backend: &dyn Backend,
) -> Result<(RampState, Option<String>), (String, String)> {
    let Some(ramp) = &profile.ramp else { return Ok((RampState::Keep, None)) };
    let has_history = phases.preload > 0 && phases.preload_devices > 0;
    let by_backend = cannot(backend);
    let anew = |what: &str| {
        let why = hinders(profile).or(by_backend.as_deref())?;
        Some(("ramp.state".to_owned(), format!("no step can begin with {what}: {why}; write keep")))
    };
    let is_in_intervals = profile.groups.first().is_some_and(|group| group.load.model == LoadModel::Interval);
    match ramp.state {
        Auto::Set(RampState::Keep) => Ok((RampState::Keep, None)),
        Auto::Set(RampState::Preconditioned) if is_in_intervals => {
            let why = "devices that report in intervals have the rate that the plan gives them; write fresh";
            Err(("ramp.state".into(), format!("no step can begin when its rate is steady: {why}")))
        }
        Auto::Set(RampState::Fresh | RampState::Preconditioned) if has_history => {
            let why =
                "the profile has a history, which would be dropped too; write preloaded, which writes it anew, or keep";
            Err(("ramp.state".into(), format!("no step can begin with an empty database: {why}")))
        }
        Auto::Set(state @ (RampState::Fresh | RampState::Preconditioned)) => {
            anew("an empty database").map_or(Ok((state, None)), Err)
        }
        Auto::Set(RampState::Preloaded) if !has_history => {
            let why = "the profile has no history: say how much with preload, history or --history, or write fresh";
            Err(("ramp.state".into(), format!("no step can begin with a history: {why}")))
        }
        Auto::Set(RampState::Preloaded) => anew("a new history").map_or(Ok((RampState::Preloaded, None)), Err),
        Auto::Auto if has_history || hinders(profile).is_some() => Ok((RampState::Keep, None)),
        Auto::Auto => Ok(match by_backend {
            // Where nothing is stored there is nothing to keep.
            Some(why) if backend.info().capabilities.stores => {
                (RampState::Keep, Some(format!("each step began with what those before it left: {why}")))
            }
            Some(_) => (RampState::Keep, None),
            None => (RampState::Fresh, None),
        }),
    }
}

/// What of the profile speaks against it.
fn hinders(profile: &Profile) -> Option<&'static str> {
    let why = if profile.groups.iter().flat_map(|group| &group.operations).any(OperationConfig::is_read) {
        "what this profile reads is what is stored"
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
    let name = backend.info().name;
    (!backend.info().capabilities.empties).then(|| format!("{name} is not known to be emptied under connected writers"))
}
