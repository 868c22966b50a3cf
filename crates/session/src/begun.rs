//! What another process began, as a job that goes on with it.

use crate::{
    addresses::{admitted, endpoints},
    error::SessionError,
    job::{BackendWord, Job},
    source::Source,
    trials::SearchHead,
    written_profile::WrittenProfile,
};
use iotbench_backends::BACKENDS;
use iotbench_core::{Endpoint, Registry};
use iotbench_engine::{Overrides, Plan};
use serde_json::{Map, Value};

/// The job that was begun, on the database that it had; `given`: as the user names it again.
pub(crate) fn job_of(head: &SearchHead, given: Vec<Endpoint>, insecure: bool) -> Result<Job<'static>, SessionError> {
    let backend = Registry::new(BACKENDS).find(&head.plan.backend)?;
    let endpoints = admitted(place_of(&head.endpoints, given)?);
    let source = Source { file: "the profile that was begun".into(), text: String::new() };
    let written = WrittenProfile { profile: head.plan.profile.clone(), source, base: head.base.clone() };
    // The profile has the layout too, as it was asked for.
    let word = BackendWord { backend, layout: None };
    Job::new(&written, word, &Overrides::default(), &endpoints, insecure)
}

/// Checks that a job is planned as it was when it was begun.
pub(crate) fn check_same(begun: &Plan, now: &Plan) -> Result<(), SessionError> {
    match difference(begun, now) {
        Some(place) => Err(SessionError::usage(format!(
            "this iotbench plans it otherwise than the one that began it ({place}): begin it anew"
        ))),
        None => Ok(()),
    }
}

/// Where the database is: as the user says again, else as it was written, which is without secrets.
fn place_of(written: &[String], given: Vec<Endpoint>) -> Result<Vec<Endpoint>, SessionError> {
    match (written, given.as_slice()) {
        ([], []) => Ok(given),
        ([], _) => Err(SessionError::usage("the search has a database of its own: leave out --url")),
        (_, []) => endpoints(written).map_err(|_| {
            SessionError::usage(format!("say where the search's database is with --url: {}", written.join(", ")))
        }),
        _ if given.iter().map(ToString::to_string).eq(written.iter().cloned()) => Ok(given),
        _ => Err(SessionError::usage(format!(
            "--url names another database than the search has: {}",
            written.join(", ")
        ))),
    }
}

/// Where two plans of one run differ, as a key; what belongs to a single run is left out.
pub(crate) fn difference(one: &Plan, other: &Plan) -> Option<String> {
    let value = |plan: &Plan| {
        let mut value = serde_json::to_value(plan).unwrap_or_default();
        for key in ["remarks", "run_id"] {
            value.as_object_mut()?.remove(key);
        }
        value.pointer_mut("/table")?.as_object_mut()?.remove("marker");
        Some(value)
    };
    different(&value(one)?, &value(other)?, "plan".into())
}

fn different(one: &Value, other: &Value, place: String) -> Option<String> {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            let of = |map: &Map<String, Value>, key| map.get(key).cloned().unwrap_or_default();
            keys.find_map(|key| different(&of(a, key), &of(b, key), format!("{place}.{key}")))
        }
        _ => (one != other).then_some(place),
    }
}
