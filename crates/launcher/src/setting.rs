//! A user's settings of a server, checked against an allow-list. Pure.

mod tuning;

use crate::template::{UnknownName, Values};
use iotbench_core::{Recipe, Role, SERVER_SETTINGS, Settings, capitals};
use serde_json::Value;

const LONGEST_KEY: usize = 80;
const LONGEST_VALUE: usize = 200;

/// Names of settings with which a server runs what they name end so.
const RUNNING_ENDS: [&str; 7] =
    ["_command", "_library", "_libraries", "library_path", "control_path", "_script", "script_file_name"];
/// Or hold this.
const RUNNING_PARTS: [&str; 7] = ["plugin", "early_p", "init_f", "jit_provider", "wsrep", "coprocessor", "tls_engine"];
/// Or name a file with settings of whichever kind: as PostgreSQL's `config_file`, MongoDB's `config` and Mosquitto's `include_dir`.
const OF_MORE_SETTINGS: [&str; 6] =
    ["config", "config_file", "configexpand", "defaults_file", "defaults_extra_file", "include_dir"];

/// How many nodes the server has: a setting of ours.
const NODES: &str = "nodes";

/// Settings of a server, `[backend.NAME.server]`: the number of its nodes, and plain words for its processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerSettings {
    nodes: Option<u32>,
    /// Role, key, value.
    settings: Vec<(&'static str, String, String)>,
}

/// A setting that a server does not get.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("server.{key}: {message}")]
pub struct WrongSetting {
    /// The key.
    pub key: String,
    /// What is wrong with it.
    pub message: String,
}

fn wrong(key: &str, message: impl Into<String>) -> WrongSetting {
    WrongSetting { key: key.into(), message: message.into() }
}

impl ServerSettings {
    /// Checks settings, by key. Those of a recipe of several roles have `ROLE.` before their key.
    ///
    /// # Errors
    /// The first key or value with a character outside the allow-list, or that the recipe keeps for itself; a number of
    /// nodes that the server does not have.
    pub fn new(
        settings: impl IntoIterator<Item = (String, String)>,
        recipe: &'static Recipe,
    ) -> Result<Self, WrongSetting> {
        let mut checked = Self::default();
        for (key, value) in settings {
            if key == NODES {
                checked.nodes = Some(nodes(&value, recipe)?);
            } else {
                checked.settings.push(setting(&key, value, recipe)?);
            }
        }
        Ok(checked)
    }

    /// The settings of the server among those of its backend, which are JSON or came from TOML. Keys with dots, and those of a
    /// role, may stand in tables: `{"store": {"cache": {"size": 1}}}` is `store.cache.size`.
    ///
    /// # Errors
    /// As [`new`](Self::new); also a value that is no text, number, true or false.
    pub fn of_backend(settings: &Settings, recipe: &'static Recipe) -> Result<Self, WrongSetting> {
        let table = match settings.0.get(SERVER_SETTINGS) {
            None => return Ok(Self::default()),
            Some(Value::Object(table)) => table,
            Some(_) => return Err(wrong("*", "write a table of settings")),
        };
        let mut texts = Vec::with_capacity(table.len());
        for (key, value) in table {
            flatten(key, value, &mut texts)?;
        }
        Self::new(texts, recipe)
    }

    /// How many nodes the server has.
    #[must_use]
    pub fn nodes(&self, recipe: &Recipe) -> u32 {
        self.nodes.or(recipe.nodes.first().copied()).unwrap_or(1)
    }

    /// How many nodes the user wants, if he says so.
    pub(crate) fn wanted_nodes(&self) -> Option<u32> {
        self.nodes
    }

    /// The names that the processes know them by.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.settings.iter().map(|(_, key, _)| key.as_str())
    }

    /// What stands in a role's command for its settings.
    pub(crate) fn filled(&self, role: &Role) -> Result<Vec<String>, UnknownName> {
        let mut filled = Vec::with_capacity(self.settings.len() * role.setting.len());
        for (_, key, value) in self.settings.iter().filter(|(of, ..)| *of == role.name) {
            let mut values = Values::default();
            values.set("key", key);
            values.set("KEY", capitals(key));
            values.set("value", value);
            filled.extend(values.fill_all(role.setting, &[])?);
        }
        Ok(filled)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_none() && self.settings.is_empty()
    }
}

fn nodes(value: &str, recipe: &Recipe) -> Result<u32, WrongSetting> {
    let allowed = recipe.nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
    let found = value.parse().ok().filter(|number| recipe.nodes.contains(number));
    found.ok_or_else(|| wrong(NODES, format!("write {allowed}: this server has no other number of nodes")))
}

fn setting(key: &str, value: String, recipe: &'static Recipe) -> Result<(&'static str, String, String), WrongSetting> {
    let (role, name) = of_role(key, recipe)?;
    if role.reserved.iter().any(|reserved| capitals(reserved) == capitals(name)) {
        return Err(wrong(key, "iotbench sets this itself"));
    }
    if lets_run(name) {
        return Err(wrong(key, "not taken: the server would run a program or load code of the setting's choice"));
    }
    if !plain_key(name) {
        return Err(wrong(key, "write letters, digits, _, - and ., a letter first"));
    }
    if !plain_value(&value) {
        return Err(wrong(key, "write letters, digits and _ - . , : / + % @ = only"));
    }
    Ok((role.name, name.into(), value))
}

/// The role that a setting is for, and its key without the role.
fn of_role<'k>(key: &'k str, recipe: &'static Recipe) -> Result<(&'static Role, &'k str), WrongSetting> {
    if let [only] = recipe.roles {
        return Ok((only, key));
    }
    let named =
        key.split_once('.').and_then(|(role, name)| Some((recipe.roles.iter().find(|r| r.name == role)?, name)));
    let roles = || recipe.roles.iter().map(|role| role.name).collect::<Vec<_>>().join(", ");
    named.ok_or_else(|| wrong(key, format!("write ROLE.KEY with one of the roles {}", roles())))
}

/// Whether a database runs a program, a script or a library that such a setting names: as PostgreSQL's `archive_command` and
/// MariaDB's `plugin-load`. MariaDB takes `-` for `_`, a prefix such as `loose`, and names that are cut short.
fn lets_run(key: &str) -> bool {
    let key = key.to_ascii_lowercase().replace(['-', '.'], "_");
    let key = key.strip_prefix("loose_").unwrap_or(&key);
    RUNNING_ENDS.iter().any(|end| key.ends_with(end))
        || RUNNING_PARTS.iter().any(|part| key.contains(part))
        || OF_MORE_SETTINGS.contains(&key)
}

fn plain_key(key: &str) -> bool {
    let allowed = key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    allowed && key.len() <= LONGEST_KEY && key.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn plain_value(value: &str) -> bool {
    let allowed = value.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.,:/+%@=".contains(&b));
    allowed && !value.is_empty() && value.len() <= LONGEST_VALUE
}

/// Takes a value, or all that a table holds, with the names of the tables before each key.
fn flatten(key: &str, value: &Value, texts: &mut Vec<(String, String)>) -> Result<(), WrongSetting> {
    match value {
        Value::Object(table) if !table.is_empty() => {
            table.iter().try_for_each(|(name, value)| flatten(&format!("{key}.{name}"), value, texts))
        }
        _ => {
            texts.push((key.to_owned(), text(key, value)?));
            Ok(())
        }
    }
}

fn text(key: &str, value: &Value) -> Result<String, WrongSetting> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(_) | Value::Number(_) => Ok(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(wrong(key, "write a text, a number, or true or false")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{On, Ready, StopBy};
    use proptest::prelude::*;
    use serde_json::json;

    const fn role(name: &'static str) -> Role {
        Role {
            name,
            on: On::EveryNode,
            ports: &[],
            open_ports: &[],
            files: &[],
            init: &[],
            environment: &[],
            start: &[],
            setting: &["-c", "{key}={value}", "X_{KEY}"],
            reserved: &["data-directory"],
            ready: Ready::Command(&[]),
            ready_within_s: 1,
            stop: StopBy::Terminate,
            url: None,
        }
    }

    const fn recipe(nodes: &'static [u32], roles: &'static [Role]) -> Recipe {
        Recipe { programs: &[], jars: &[], version: &[], user: "nobody", tuning: &[], nodes, roles, join: &[] }
    }

    static RECIPE: Recipe = recipe(&[1], &[role("server")]);
    static CLUSTER: Recipe = recipe(&[1, 3], &[role("store"), role("front")]);

    fn take(server: &Value) -> Result<ServerSettings, WrongSetting> {
        let settings = Settings(serde_json::from_value(json!({"fsync": true, "server": server})).unwrap());
        ServerSettings::of_backend(&settings, &RECIPE)
    }

    #[test]
    fn settings_become_what_the_recipe_makes_of_them() {
        let taken = take(&json!({"wal.level": "minimal", "max_connections": 50, "fsync": false})).unwrap();
        let filled = taken.filled(&RECIPE.roles[0]).unwrap();
        let expected = [
            ["-c", "fsync=false", "X_FSYNC"],
            ["-c", "max_connections=50", "X_MAX_CONNECTIONS"],
            ["-c", "wal.level=minimal", "X_WAL_LEVEL"],
        ];
        assert_eq!(filled, expected.concat());
        // As `--set` makes them of a key with dots.
        let nested = take(&json!({"wal": {"level": "minimal"}, "max_connections": 50, "fsync": false})).unwrap();
        assert_eq!(nested.filled(&RECIPE.roles[0]).unwrap().concat().matches("X_WAL_LEVEL").count(), 1);
    }

    #[test]
    fn what_would_have_the_server_run_a_program_or_load_code_is_refused_in_every_spelling() {
        for bad in [
            "archive_command",
            "Restore-Command",
            "ssl_passphrase_command",
            "shared_preload_libraries",
            "archive_library",
            "dynamic_library_path",
            "jit_provider",
            "init-file",
            "init_fil",
            "loose-init-file",
            "plugin-load-add",
            "plugin_dir",
            "early-plugin-load",
            "wsrep_notify_cmd",
            "early-p",
            "maximum-plugin-dir",
            "global_plugin",
            "auth_plugin",
            "tsd.core.plugin_path",
            "net.topology.script.file.name",
            "hbase.coprocessor.region.classes",
            "tls_engine",
            "config_file",
            "Config",
            "configExpand",
            "include_dir",
            "extension_control_path",
        ] {
            let error = take(&json!({ bad: "x" })).unwrap_err();
            assert!(error.message.contains("run a program"), "{bad}: {error}");
        }
        for good in [
            "init_connect",
            "max_connections",
            "command_timeout",
            "library",
            "default_storage_engine",
            "javascriptEnabled",
        ] {
            assert!(take(&json!({ good: "1" })).is_ok(), "{good}");
        }
    }

    #[test]
    fn hostile_keys_and_values_are_refused() {
        for bad in ["a b", "a'b", "a\"b", "a;b", "$(x)", "a\nb", "`x`", "a\\b", "a|b", "", "größe", "{port}", "a\0b"]
        {
            assert!(take(&json!({ bad: "1" })).is_err(), "key {bad:?}");
            assert!(take(&json!({ "k": bad })).is_err(), "value {bad:?}");
        }
        for bad in [
            json!({"-c": 1}),
            json!({"k": [1]}),
            json!({"k": null}),
            json!({"k": {}}),
            json!({"k": {"j": [1]}}),
            json!({"k": "x".repeat(201)}),
            json!(1),
        ] {
            assert!(take(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_the_recipe_sets_is_refused_however_it_is_written() {
        for key in ["data-directory", "data_directory", "DATA_Directory", "data.directory"] {
            assert_eq!(take(&json!({ key: "/x" })).unwrap_err().message, "iotbench sets this itself");
        }
    }

    #[test]
    fn a_role_of_several_gets_its_own() {
        let server = json!({"nodes": 3, "store": {"heap": {"size": "1g"}}, "front.threads": 4});
        let settings = Settings(serde_json::from_value(json!({ "server": server })).unwrap());
        let taken = ServerSettings::of_backend(&settings, &CLUSTER).unwrap();
        assert_eq!(taken.nodes(&CLUSTER), 3);
        assert_eq!(taken.filled(&CLUSTER.roles[0]).unwrap(), ["-c", "heap.size=1g", "X_HEAP_SIZE"]);
        assert_eq!(taken.filled(&CLUSTER.roles[1]).unwrap(), ["-c", "threads=4", "X_THREADS"]);
        for bad in ["heap", "other.heap", "store.data_directory", "store."] {
            assert!(ServerSettings::new([(bad.into(), "1".into())], &CLUSTER).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_server_has_as_many_nodes_as_its_recipe_allows() {
        let of = |value: &str, recipe| ServerSettings::new([("nodes".into(), value.into())], recipe);
        assert_eq!(ServerSettings::default().nodes(&CLUSTER), 1);
        assert_eq!(of("3", &CLUSTER).unwrap().nodes(&CLUSTER), 3);
        assert!(of("1", &RECIPE).is_ok());
        for bad in ["2", "0", "-1", "x", "3.0"] {
            assert!(of(bad, &CLUSTER).unwrap_err().message.contains("write 1 or 3"), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_taken_needs_no_quoting(key in "\\PC{0,20}", value in "\\PC{0,20}") {
            if let Ok(taken) = take(&json!({ key: value })) {
                for word in taken.filled(&RECIPE.roles[0]).unwrap() {
                    prop_assert!(word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.,:/+%@=".contains(&b)));
                }
            }
        }
    }
}
