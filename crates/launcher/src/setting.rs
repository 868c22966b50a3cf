//! A user's settings of a server, checked against an allow-list. Pure.

use crate::template::{UnknownName, Values};
use iotbench_core::{Recipe, SERVER_SETTINGS, Settings, capitals};
use serde_json::Value;

const LONGEST_KEY: usize = 80;
const LONGEST_VALUE: usize = 200;

/// Settings of a server, `[backend.NAME.server]`: plain words only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerSettings(Vec<(String, String)>);

/// A setting that a server does not get.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("server.{key}: {message}")]
pub struct WrongSetting {
    /// The key.
    pub key: String,
    /// What is wrong with it.
    pub message: String,
}

impl ServerSettings {
    /// Checks settings, by key.
    ///
    /// # Errors
    /// The first key or value with a character outside the allow-list, or that the recipe keeps for itself.
    pub fn new(settings: impl IntoIterator<Item = (String, String)>, recipe: &Recipe) -> Result<Self, WrongSetting> {
        let checked = settings.into_iter().map(|(key, value)| {
            let wrong = |message: &str| WrongSetting { key: key.clone(), message: message.into() };
            if recipe.reserved.iter().any(|reserved| capitals(reserved) == capitals(&key)) {
                return Err(wrong("iotbench sets this itself"));
            }
            if !plain_key(&key) {
                return Err(wrong("write letters, digits, _, - and ., a letter first"));
            }
            if !plain_value(&value) {
                return Err(wrong("write letters, digits and _ - . , : / + % @ = only"));
            }
            Ok((key, value))
        });
        Ok(Self(checked.collect::<Result<_, _>>()?))
    }

    /// The settings of the server among those of its backend, which are JSON or came from TOML.
    ///
    /// # Errors
    /// As [`new`](Self::new); also a value that is no text, number, true or false.
    pub fn of_backend(settings: &Settings, recipe: &Recipe) -> Result<Self, WrongSetting> {
        let wrong = |key: &str, message: &str| WrongSetting { key: key.into(), message: message.into() };
        let table = match settings.0.get(SERVER_SETTINGS) {
            None => return Ok(Self::default()),
            Some(Value::Object(table)) => table,
            Some(_) => return Err(wrong("*", "write a table of settings")),
        };
        let texts = table.iter().map(|(key, value)| {
            let text = text(value).ok_or_else(|| wrong(key, "write a text, a number, or true or false"))?;
            Ok((key.clone(), text))
        });
        Self::new(texts.collect::<Result<Vec<_>, _>>()?, recipe)
    }

    /// What stands in a recipe's command for them.
    pub(crate) fn filled(&self, recipe: &Recipe) -> Result<Vec<String>, UnknownName> {
        let mut filled = Vec::with_capacity(self.0.len() * recipe.setting.len());
        for (key, value) in &self.0 {
            let mut values = Values::default();
            values.set("key", key);
            values.set("KEY", capitals(key));
            values.set("value", value);
            filled.extend(values.fill_all(recipe.setting, &[])?);
        }
        Ok(filled)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn plain_key(key: &str) -> bool {
    let allowed = key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    allowed && key.len() <= LONGEST_KEY && key.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn plain_value(value: &str) -> bool {
    let allowed = value.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.,:/+%@=".contains(&b));
    allowed && !value.is_empty() && value.len() <= LONGEST_VALUE
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Ready, StopBy};
    use proptest::prelude::*;
    use serde_json::json;

    static RECIPE: Recipe = Recipe {
        role: "server",
        programs: &[],
        version: &[],
        user: "nobody",
        ports: &[],
        init: &[],
        environment: &[],
        start: &[],
        setting: &["-c", "{key}={value}", "X_{KEY}"],
        reserved: &["data-directory"],
        ready: Ready::Command(&[]),
        stop: StopBy::Terminate,
        url: "",
    };

    fn take(server: &Value) -> Result<ServerSettings, WrongSetting> {
        let settings = Settings(serde_json::from_value(json!({"fsync": true, "server": server})).unwrap());
        ServerSettings::of_backend(&settings, &RECIPE)
    }

    #[test]
    fn settings_become_what_the_recipe_makes_of_them() {
        let taken = take(&json!({"wal.level": "minimal", "max_connections": 50, "fsync": false})).unwrap();
        let filled = taken.filled(&RECIPE).unwrap();
        let expected = [
            ["-c", "fsync=false", "X_FSYNC"],
            ["-c", "max_connections=50", "X_MAX_CONNECTIONS"],
            ["-c", "wal.level=minimal", "X_WAL_LEVEL"],
        ];
        assert_eq!(filled, expected.concat());
    }

    #[test]
    fn hostile_keys_and_values_are_refused() {
        for bad in ["a b", "a'b", "a\"b", "a;b", "$(x)", "a\nb", "`x`", "a\\b", "a|b", "", "größe", "{port}", "a\0b"]
        {
            assert!(take(&json!({ bad: "1" })).is_err(), "key {bad:?}");
            assert!(take(&json!({ "k": bad })).is_err(), "value {bad:?}");
        }
        for bad in [json!({"-c": 1}), json!({"k": [1]}), json!({"k": null}), json!({"k": "x".repeat(201)}), json!(1)] {
            assert!(take(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_the_recipe_sets_is_refused_however_it_is_written() {
        for key in ["data-directory", "data_directory", "DATA_Directory", "data.directory"] {
            assert_eq!(take(&json!({ key: "/x" })).unwrap_err().message, "iotbench sets this itself");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_taken_needs_no_quoting(key in "\\PC{0,20}", value in "\\PC{0,20}") {
            if let Ok(taken) = take(&json!({ key: value })) {
                for word in taken.filled(&RECIPE).unwrap() {
                    prop_assert!(word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.,:/+%@=".contains(&b)));
                }
            }
        }
    }
}
