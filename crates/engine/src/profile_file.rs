//! Reading a profile, with errors that name file, line and key.

mod assignments;

use crate::profile::Profile;
use iotbench_core::closest;
use iotbench_simulator::read_regular;
use std::{fmt, path::Path};

/// What each key of a profile means, as TOML: `tables`, each with `head`, `about` and `keys` of name, type and meaning.
pub const PROFILE_KEYS: &str = include_str!("profile_file/keys.toml");

/// A profile that cannot be taken as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileError {
    /// The file, or where else the words came from (`--set step=…`).
    pub file: String,
    /// The line, from 1; 0 where there is none.
    pub line: usize,
    /// The column, from 1; 0 where there is none.
    pub column: usize,
    /// The key that is wrong, as far as it is known.
    pub key: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        f.write_str(": ")?;
        if let Some(key) = &self.key
            && !self.message.contains(key.as_str())
        {
            write!(f, "{key}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(suggestion) = &self.suggestion {
            write!(f, " (did you mean `{suggestion}`?)")?;
        }
        Ok(())
    }
}

impl std::error::Error for ProfileError {}

impl ProfileError {
    /// An error without a place in a file.
    pub fn new(file: impl Into<String>, key: impl Into<String>, message: impl fmt::Display) -> Self {
        Self {
            file: file.into(),
            line: 0,
            column: 0,
            key: Some(key.into()),
            message: message.to_string(),
            suggestion: None,
        }
    }

    /// What is wrong with a text of TOML, with its place; `file` names the text.
    #[must_use]
    pub fn of_toml(file: &str, text: &str, error: &toml::de::Error) -> Self {
        let (line, column) = error.span().map_or((1, 1), |span| place(text, span.start));
        let (key, suggestion) = misspelt(error.message());
        let key = key.or_else(|| error.span().and_then(|span| key_of_line(text, span.start)));
        Self { file: file.into(), line, column, key, message: error.message().into(), suggestion }
    }
}

/// Larger files are no profiles.
pub const MAX_PROFILE_BYTES: u64 = 1 << 20;

/// Reads a profile from a file.
///
/// # Errors
/// The file cannot be read, is no TOML, or holds unknown keys or values that do not fit.
pub fn read_profile(path: &Path) -> Result<Profile, ProfileError> {
    let file = path.display().to_string();
    let fail =
        |message: String| ProfileError { file: file.clone(), line: 0, column: 0, key: None, message, suggestion: None };
    let bytes = read_regular(path, MAX_PROFILE_BYTES).map_err(|e| fail(format!("cannot be read as a profile: {e}")))?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let line = e.as_bytes().iter().take(e.utf8_error().valid_up_to()).filter(|&&b| b == b'\n').count() + 1;
        ProfileError { line, column: 1, ..fail("is no UTF-8 text".into()) }
    })?;
    parse_profile(&file, &text)
}

/// Reads a profile from its text; `file` names it in errors.
///
/// # Errors
/// As [`read_profile`].
pub fn parse_profile(file: &str, text: &str) -> Result<Profile, ProfileError> {
    let profile = toml::from_str(text).map_err(|e| ProfileError::of_toml(file, text, &e))?;
    assignments::check(file, text, &profile)?;
    Ok(profile)
}

fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |n| n + 1);
    (before.matches('\n').count() + 1, before.get(line_start..).map_or(0, |l| l.chars().count()) + 1)
}

fn key_of_line(text: &str, offset: usize) -> Option<String> {
    let start = text.get(..offset)?.rfind('\n').map_or(0, |n| n + 1);
    let line = text.get(start..)?.lines().next()?;
    let key = line.split_once('=')?.0.trim();
    (!key.is_empty()).then(|| key.to_owned())
}

/// The key and the likely meaning in serde's "unknown field `a`, expected one of `b`, `c`".
pub(crate) fn misspelt(message: &str) -> (Option<String>, Option<String>) {
    if !message.starts_with("unknown ") {
        return (None, None);
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let Some(key) = quoted.next() else { return (None, None) };
    (Some(key.to_owned()), closest(key, quoted).map(Into::into))
}
