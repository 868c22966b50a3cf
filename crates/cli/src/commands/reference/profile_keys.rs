//! The page of a profile's keys: meanings from what stands beside the parser, defaults from what it makes of the least profile.

use super::markdown::{self, code, table, words};
use iotbench_engine::{PROFILE_KEYS, parse_profile};
use iotbench_session::SessionError;
use serde::Deserialize;
use toml::Value;

const ABOUT: &str = "A profile is a file of TOML. `iotbench check FILE` says what it means, `iotbench profiles NAME` \
prints one to start from, and `--set KEY=VALUE` of `iotbench run` sets any key for one run. A *time* is written as `90s`, \
`1m30s` or `250ms`; a *count* as `5000` or `5k`; a *size* as `16KiB`; a *share* as `5%` or `0.05`. `auto` leaves the choice \
to iotbench.";

/// What a profile must say, and every table that it may have.
const LEAST: &str = r#"
name = "least"
summary = "the least that a profile says"
dataset.name = "pmu"
[[groups]]
name = "all"
load.model = "closed"
operations = [{ kind = "write" }]
[ramp]
[phases]
[stop]
[sweep]
field = "devices"
values = [1]
[[scenario]]
action = "kill"
"#;

#[derive(Deserialize)]
struct Keys {
    tables: Vec<Table>,
}

/// A table of a profile.
#[derive(Deserialize)]
struct Table {
    /// As it is written; empty: the profile itself.
    head: String,
    about: String,
    /// Name, type and meaning of each.
    keys: Vec<[String; 3]>,
}

pub(super) fn page() -> Result<String, SessionError> {
    let written: Value = toml::from_str(LEAST).map_err(SessionError::internal)?;
    let profile = parse_profile("least", LEAST).map_err(SessionError::internal)?;
    let meant = Value::try_from(profile).map_err(SessionError::internal)?;
    let mut parts = vec![ABOUT.to_owned()];
    let Keys { tables } = toml::from_str(PROFILE_KEYS).map_err(SessionError::internal)?;
    for part in tables {
        let (written, meant) = (part.within(&written), part.within(&meant));
        let row =
            |[key, kind, meaning]: &[String; 3]| [code(key), words(kind), default(key, written, meant), words(meaning)];
        let rows = part.keys.iter().map(row).collect::<Vec<_>>();
        let head = if part.head.is_empty() { "The profile itself".into() } else { code(&part.head) };
        parts.push(format!("## {head}\n\n{}", words(&part.about)));
        parts.push(table(["key", "type", "default", "meaning"], &rows));
    }
    Ok(markdown::page("The keys of a profile", &parts))
}

/// The default of a key: what the parser makes of a profile that does not say it.
fn default(key: &str, written: Option<&Value>, meant: Option<&Value>) -> String {
    let of = |value: Option<&Value>| value.and_then(|table| table.get(key)).cloned();
    let is_table = |value: &Value| value.is_table() || value.as_array().is_some_and(|a| a.iter().any(Value::is_table));
    match (of(written), of(meant)) {
        (Some(value), _) if !is_table(&value) => "required".into(),
        (Some(_), _) => "its own table".into(),
        (None, Some(Value::String(text))) if text.is_empty() => "empty".into(),
        (None, Some(Value::String(text))) => code(&text),
        (None, Some(Value::Array(list))) if list.is_empty() => "none".into(),
        (None, Some(value)) => code(&value.to_string()),
        (None, None) => "none".into(),
    }
}

impl Table {
    /// Where it is in a profile.
    fn path(&self) -> impl Iterator<Item = &str> {
        self.head.trim_matches(['[', ']']).split('.').filter(|step| !step.is_empty())
    }

    /// This table, or the first of its kind, in a profile.
    fn within<'a>(&self, profile: &'a Value) -> Option<&'a Value> {
        self.path().try_fold(profile, |value, step| match value.get(step)? {
            Value::Array(tables) => tables.first(),
            table => Some(table),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn tables() -> Vec<Table> {
        toml::from_str::<Keys>(PROFILE_KEYS).unwrap().tables
    }

    fn within_mut<'a>(profile: &'a mut Value, part: &Table) -> &'a mut toml::Table {
        let found = part.path().fold(profile, |value, step| match value.get_mut(step).unwrap() {
            Value::Array(tables) => tables.first_mut().unwrap(),
            table => table,
        });
        found.as_table_mut().unwrap()
    }

    #[test]
    fn the_table_of_keys_has_what_the_parser_takes_and_nothing_else() {
        for part in tables() {
            let mut profile: Value = toml::from_str(LEAST).unwrap();
            within_mut(&mut profile, &part).insert("no_such_key".into(), Value::Boolean(true));
            let message = parse_profile("test", &toml::to_string(&profile).unwrap()).unwrap_err().message;
            assert!(message.starts_with("unknown field `no_such_key`, expected"), "{}: {message}", part.head);
            let taken: BTreeSet<_> = message.split('`').skip(1).step_by(2).skip(1).collect();
            let listed: BTreeSet<_> = part.keys.iter().map(|[name, ..]| name.as_str()).collect();
            assert_eq!(listed, taken, "{}", part.head);
        }
    }

    #[test]
    fn what_is_called_required_is() {
        for part in tables() {
            let written: Value = toml::from_str(LEAST).unwrap();
            let keys = part.within(&written).and_then(Value::as_table).unwrap().clone();
            for key in keys.keys().filter(|key| default(key, part.within(&written), None) == "required") {
                let mut profile = written.clone();
                within_mut(&mut profile, &part).remove(key);
                let message = parse_profile("test", &toml::to_string(&profile).unwrap()).unwrap_err().message;
                assert!(message.contains(&format!("missing field `{key}`")), "{}: {message}", part.head);
            }
        }
    }
}
