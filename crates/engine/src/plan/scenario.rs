//! What is done to processes of the server, and when.

use super::PhasesPlan;
use crate::{profile::Profile, units::Auto};
use iotbench_core::{Backend, ProcessAction, Settings, Target};
use serde::{Deserialize, Serialize};

type FieldError = (String, String);

/// More actions than this are a slip.
const MAX_ACTIONS: usize = 100;

/// Something that is done to a process of the server while the load runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionPlan {
    /// When, in nanoseconds since the load's start.
    pub at_ns: u64,
    /// What.
    pub action: ProcessAction,
    /// To a process of this role.
    pub role: String,
    /// On this node, from 0.
    pub node: u32,
}

impl std::fmt::Display for ActionPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.action.name(), self.role, self.node)
    }
}

/// The actions in the order of their times. A role that the server lacks is named, and a node where its nodes are known.
pub(super) fn scenario(
    profile: &Profile,
    phases: &PhasesPlan,
    backend: &dyn Backend,
    settings: &Settings,
    target: &Target,
) -> Result<Vec<ActionPlan>, FieldError> {
    if profile.scenario.is_empty() {
        return Ok(Vec::new());
    }
    let fail = |place: usize, key: &str, message: String| Err((format!("scenario.{place}.{key}"), message));
    let Some(recipe) = backend.recipe_for(settings) else {
        let message = format!("{} has no server of its own whose processes could be acted on", backend.info().name);
        return Err(("scenario".into(), message));
    };
    if profile.scenario.len() > MAX_ACTIONS {
        return Err(("scenario".into(), format!("at most {MAX_ACTIONS} actions")));
    }
    let ends_ns = phases.warmup_ns.saturating_add(phases.duration_ns);
    let is_fixed = profile.ramp.is_none() && phases.operations.is_none();
    let roles: Vec<&str> = recipe.roles.iter().map(|role| role.name).collect();
    let mut actions = Vec::with_capacity(profile.scenario.len());
    for (place, action) in profile.scenario.iter().enumerate() {
        let at_ns = match action.at {
            Auto::Set(at) if is_fixed && at.as_ns() >= ends_ns => {
                return fail(place, "at", format!("{at}: the load has ended by then"));
            }
            Auto::Set(at) => at.as_ns(),
            Auto::Auto if is_fixed => phases.warmup_ns.midpoint(ends_ns),
            Auto::Auto => {
                let message = "this load has no middle that is known before: give a duration, or say when, such as 20s";
                return fail(place, "at", message.into());
            }
        };
        let role = action.role.clone().set().or_else(|| roles.first().map(ToString::to_string)).unwrap_or_default();
        if !roles.contains(&role.as_str()) {
            let message = format!("{} has no role {role:?}: it has {}", backend.info().name, roles.join(", "));
            return fail(place, "role", message);
        }
        let mut nodes = target.nodes.iter().filter(|node| node.role == role).map(|node| node.node).peekable();
        if nodes.peek().is_some() && nodes.all(|node| node != action.node) {
            return fail(
                place,
                "node",
                format!("there is no {role} on node {}; nodes are counted from 0", action.node),
            );
        }
        actions.push(ActionPlan { at_ns, action: action.action, role, node: action.node });
    }
    actions.sort_by_key(|action| action.at_ns);
    Ok(actions)
}
