//! Changes to a profile from the command line or the environment: `--set step=60s`, `--rate`, `--vus`, …

mod arrival;
mod search;

pub use arrival::ArrivalOverride;
pub use search::SearchOverride;

use crate::{
    profile::{Datapoints, LoadModel, OperationKind, Profile, RampState, ScenarioAction},
    profile_file::{ProfileError, misspelt},
    units::{Auto, Count, Rate, Span},
};
use iotbench_core::{Layout, closest};
use iotbench_cycle_finder::Strategy;
use toml::{Table, Value};

/// What a user changes in a profile. Applied in this order: `variant`, `full`, `set`, then the rest.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// One of the profile's variants.
    pub variant: Option<String>,
    /// The study's own lengths.
    pub full: bool,
    /// Assignments `key=value` to any field; the last word of a key suffices where it is unique.
    pub set: Vec<String>,
    /// The measured part's length.
    pub duration: Option<Span>,
    /// The measured part's operations.
    pub operations: Option<Count>,
    /// The warm-up's length.
    pub warmup: Option<Span>,
    /// The rate of an open loop or of a sensor.
    pub rate: Option<Rate>,
    /// A fixed number of virtual users: no ramp.
    pub users: Option<Count>,
    /// How operations arrive.
    pub arrival: Option<ArrivalOverride>,
    /// Connections of the first group.
    pub connections: Option<Count>,
    /// Datapoints of each device in a request.
    pub batch: Option<Datapoints>,
    /// The layout.
    pub layout: Option<Layout>,
    /// How much of the devices' own time is written before the run.
    pub history: Option<Span>,
    /// How machine cycles are read: one way only.
    pub strategy: Option<Strategy>,
    /// What is done to processes of the server, in place of the profile's scenario; empty: the profile's.
    pub scenario: Vec<ScenarioAction>,
    /// The seed.
    pub seed: Option<u64>,
    /// A search for the highest sustainable load.
    pub search: Option<SearchOverride>,
    /// What each step of a ramp begins with.
    pub state: Option<RampState>,
}

impl Profile {
    /// The profile with the changes.
    ///
    /// # Errors
    /// An assignment to a field that does not exist, is not unique, or does not take the value; a change that does not
    /// go with the profile's load model.
    pub fn with(mut self, overrides: &Overrides) -> Result<Self, ProfileError> {
        if let Some(variant) = &overrides.variant {
            self = self.in_variant(variant)?;
        }
        if overrides.full {
            for (key, value) in self.full.clone() {
                self = assign(&self, &format!("[full] {key}"), &key, value)?;
            }
        }
        for assignment in &overrides.set {
            // Not the whole of it: a value may be a secret that somebody gives to a field that there is not.
            let origin = "--set";
            let Some((key, text)) = assignment.split_once('=') else {
                return Err(ProfileError::new(origin, "", "write key=value"));
            };
            self = assign(&self, origin, key.trim(), literal(text.trim()))?;
        }
        apply_options(&mut self, overrides)?;
        Ok(self)
    }
}

fn set_strategy(profile: &mut Profile, strategy: Strategy) -> Result<(), ProfileError> {
    let operations = profile.groups.iter_mut().flat_map(|group| &mut group.operations);
    let mut searches = operations.filter(|operation| operation.kind == OperationKind::CycleSearch).peekable();
    if searches.peek().is_none() {
        return Err(ProfileError::new("--strategy", "strategy", "the profile searches no machine cycles"));
    }
    searches.for_each(|search| search.strategy = Auto::Set(strategy));
    Ok(())
}

fn apply_options(profile: &mut Profile, overrides: &Overrides) -> Result<(), ProfileError> {
    if let Some(seed) = overrides.seed {
        profile.seed = Count(seed);
    }
    if let Some(history) = overrides.history {
        profile.phases.history = Auto::Set(history);
    }
    if !overrides.scenario.is_empty() {
        profile.scenario.clone_from(&overrides.scenario);
    }
    if let Some(strategy) = overrides.strategy {
        set_strategy(profile, strategy)?;
    }
    if let Some(layout) = overrides.layout {
        profile.layout = Auto::Set(layout);
    }
    if let Some(arrival) = overrides.arrival {
        arrival.apply(profile, overrides)?;
    }
    // After the arrival: whether there are virtual users is for it to say.
    if let Some(users) = overrides.users {
        set_users(profile, users)?;
    }
    if let Some(rate) = overrides.rate {
        set_rate(profile, rate)?;
    }
    if let (Some(duration), Some(_)) = (overrides.duration, &profile.ramp) {
        let hint =
            "a ramp ends when it has found its answer: use --set step=… for its steps, or --vus N for a fixed load";
        return Err(ProfileError::new(format!("--duration {duration}"), "duration", hint));
    }
    if let Some(duration) = overrides.duration {
        profile.phases.duration = Auto::Set(duration);
    }
    if let Some(operations) = overrides.operations {
        profile.phases.operations = Auto::Set(operations);
    }
    if let Some(warmup) = overrides.warmup {
        profile.phases.warmup = warmup;
    }
    if let Some(connections) = overrides.connections
        && let Some(group) = profile.groups.first_mut()
    {
        group.connections = Auto::Set(connections);
    }
    if let Some(batch) = overrides.batch {
        for operation in profile.groups.iter_mut().flat_map(|g| &mut g.operations) {
            operation.datapoints = Auto::Set(batch);
        }
    }
    overrides.search.map_or(Ok(()), |search| search.apply(profile))?;
    overrides.state.map_or(Ok(()), |state| set_state(profile, state))
}

fn set_state(profile: &mut Profile, state: RampState) -> Result<(), ProfileError> {
    let Some(ramp) = &mut profile.ramp else {
        let message =
            "it says what each step of a ramp begins with, and this is a fixed load: iotbench capacity searches";
        return Err(ProfileError::new(format!("--state {state}"), "ramp.state", message));
    };
    ramp.state = Auto::Set(state);
    Ok(())
}

fn set_users(profile: &mut Profile, users: Count) -> Result<(), ProfileError> {
    let Some(group) = profile.groups.first_mut() else { return Ok(()) };
    if group.load.model != LoadModel::Closed {
        let message = format!(
            "group {} is {}: virtual users belong to a closed loop. Add --arrival closed, or set groups.0.load.model=closed",
            group.name, group.load.model
        );
        return Err(ProfileError::new(format!("--vus {users}"), "users", message));
    }
    group.load.users = users;
    profile.ramp = None;
    Ok(())
}

fn set_rate(profile: &mut Profile, rate: Rate) -> Result<(), ProfileError> {
    for group in &mut profile.groups {
        if group.load.model == LoadModel::Closed {
            let message =
                format!("group {} is closed: its rate is an outcome. Add --arrival constant or poisson", group.name);
            return Err(ProfileError::new(format!("--rate {rate}"), "rate", message));
        }
        group.load.rate = Auto::Set(rate);
    }
    // A given rate is a fixed load, as a given number of users is.
    profile.ramp = None;
    Ok(())
}

/// A TOML literal where the text is one, else a text.
fn literal(text: &str) -> Value {
    match toml::from_str::<Table>(&format!("v = {text}")) {
        Ok(mut table) => table.remove("v").unwrap_or_else(|| Value::String(text.into())),
        Err(_) => Value::String(text.into()),
    }
}

/// The value of a field, as the profile writes it.
pub(crate) fn value_at(profile: &Profile, key: &str) -> Option<Value> {
    let document = Value::Table(Table::try_from(profile).ok()?);
    let path = find_path(&document, key).ok()?;
    let into = |value: &Value, word: &String| match value {
        Value::Array(items) => items.get(word.parse::<usize>().ok()?).cloned(),
        other => other.get(word).cloned(),
    };
    path.iter().try_fold(document, |value, word| into(&value, word))
}

/// The profile with another value of a field. `origin` is named where that cannot be.
pub(crate) fn assign(profile: &Profile, origin: &str, key: &str, value: Value) -> Result<Profile, ProfileError> {
    let table = Table::try_from(profile).map_err(|e| ProfileError::new(origin, key, e))?;
    let mut document = Value::Table(table);
    let path = find_path(&document, key)
        .map_err(|(message, suggestion)| ProfileError { suggestion, ..ProfileError::new(origin, key, message) })?;
    place(&mut document, &path, value);
    serde_path_to_error::deserialize(document).map_err(|e| {
        let message = e.inner().message().to_owned();
        let (_, suggestion) = misspelt(&message);
        ProfileError { suggestion, ..ProfileError::new(origin, e.path().to_string(), message) }
    })
}

fn find_path(document: &Value, key: &str) -> Result<Vec<String>, (String, Option<String>)> {
    let wanted: Vec<&str> = key.split('.').collect();
    // What they take is known to the backend and to the dataset: a profile need not write it.
    let open_ended = match wanted.first() {
        Some(&"backend") => wanted.len() >= 3,
        // A profile without a ramp can be given one.
        Some(&"dataset" | &"ramp") => wanted.len() >= 2,
        // A table within a group, or a field that it does not write: what there is, the group says when it is read again.
        Some(&"groups") => wanted.len() >= 3 && has_group(document, wanted[1]),
        _ => false,
    };
    if open_ended {
        return Ok(wanted.into_iter().map(Into::into).collect());
    }
    let mut all = Vec::new();
    leaves(document, &mut Vec::new(), &mut all);
    if let Some(whole) = all.iter().find(|path| **path == wanted) {
        return Ok(whole.clone());
    }
    let ends_so = |path: &&Vec<String>| {
        path.len() >= wanted.len() && path.iter().rev().zip(wanted.iter().rev()).all(|(a, b)| a == b)
    };
    let found: Vec<_> = all.iter().filter(ends_so).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let whole = |path: &Vec<String>| if wanted.len() > 1 { Some(path.join(".")) } else { path.last().cloned() };
            let fields: Vec<_> = all.iter().filter_map(whole).collect();
            let near = closest(key, fields.iter().map(String::as_str)).map(Into::into);
            Err(("there is no such field in this profile".into(), near))
        }
        many => {
            let paths = many.iter().map(|p| p.join(".")).collect::<Vec<_>>().join(", ");
            Err((format!("several fields are called so: write one of {paths}"), None))
        }
    }
}

fn has_group(document: &Value, place: &str) -> bool {
    let groups = document.get("groups").and_then(Value::as_array);
    place.parse::<usize>().is_ok_and(|place| groups.is_some_and(|groups| place < groups.len()))
}

fn leaves(value: &Value, path: &mut Vec<String>, all: &mut Vec<Vec<String>>) {
    let mut visit = |key: String, child: &Value| {
        path.push(key);
        leaves(child, path, all);
        path.pop();
    };
    match value {
        Value::Table(table) => table
            .iter()
            .filter(|(k, _)| !matches!(k.as_str(), "full" | "variants"))
            .for_each(|(k, v)| visit(k.clone(), v)),
        Value::Array(items) if items.iter().any(Value::is_table) => {
            items.iter().enumerate().for_each(|(i, v)| visit(i.to_string(), v));
        }
        _ => all.push(path.clone()),
    }
}

fn place(document: &mut Value, path: &[String], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        *document = value;
        return;
    };
    match document {
        Value::Table(table) => {
            let child = table.entry(first.clone()).or_insert_with(|| Value::Table(Table::new()));
            place(child, rest, value);
        }
        Value::Array(items) => {
            if let Some(child) = first.parse::<usize>().ok().and_then(|i| items.get_mut(i)) {
                place(child, rest, value);
            }
        }
        _ => {}
    }
}
