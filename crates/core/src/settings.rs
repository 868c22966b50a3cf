//! A backend's settings: documented, typed by the backend, with errors that name the key.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// One setting of a backend, for help and for suggestions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its key under `[backend.NAME]`.
    pub key: &'static str,
    /// Its default as it would be written.
    pub default: &'static str,
    /// One line on what it does and which values it takes.
    pub help: &'static str,
}

/// The settings as given, not yet typed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(pub Map<String, Value>);

/// A setting that a backend cannot take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}")]
pub struct SettingError {
    /// The key, without the `backend.NAME.` before it.
    pub key: String,
    /// What is wrong with it.
    pub message: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

impl Settings {
    /// The settings as the backend's own type, which should deny unknown fields and have defaults. `known` serves the
    /// suggestion for a misspelt key.
    ///
    /// # Errors
    /// The first key that is unknown or whose value does not fit.
    pub fn typed<T: DeserializeOwned>(&self, known: &[Setting]) -> Result<T, SettingError> {
        if let Some(key) = self.0.keys().find(|key| known.iter().all(|s| s.key != key.as_str())) {
            return Err(SettingError {
                key: key.clone(),
                message: "there is no such setting".into(),
                suggestion: closest(key, known.iter().map(|s| s.key)).map(Into::into),
            });
        }
        serde_path_to_error::deserialize(Value::Object(self.0.clone())).map_err(|e| SettingError {
            key: e.path().to_string(),
            message: e.inner().to_string(),
            suggestion: None,
        })
    }
}

/// The word nearest to a misspelt one, if any is near: at most a third of its letters differ.
#[must_use]
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = word.chars().count().max(3) / 3;
    candidates
        .into_iter()
        .map(|c| (strsim::damerau_levenshtein(word, c), c))
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Typed {
        synchronous: String,
        cache_kib: u32,
    }

    impl Default for Typed {
        fn default() -> Self {
            Self { synchronous: "FULL".into(), cache_kib: 2000 }
        }
    }

    const KNOWN: &[Setting] = &[
        Setting { key: "synchronous", default: "FULL", help: "" },
        Setting { key: "cache_kib", default: "2000", help: "" },
    ];

    fn settings(text: &str) -> Settings {
        Settings(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn a_misspelt_key_is_named_with_what_was_meant() {
        let error = settings(r#"{"synchronus": "OFF"}"#).typed::<Typed>(KNOWN).unwrap_err();
        assert_eq!((error.key.as_str(), error.suggestion.as_deref()), ("synchronus", Some("synchronous")));
    }

    #[test]
    fn a_value_of_the_wrong_type_is_named() {
        let error = settings(r#"{"cache_kib": -1}"#).typed::<Typed>(KNOWN).unwrap_err();
        assert_eq!(error.key, "cache_kib");
    }

    #[test]
    fn nothing_given_means_the_defaults() {
        assert_eq!(settings("{}").typed::<Typed>(KNOWN), Ok(Typed::default()));
    }

    #[test]
    fn far_words_are_not_suggested() {
        assert_eq!(closest("banana", ["synchronous", "cache_kib"]), None);
    }
}
