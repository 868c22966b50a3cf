//! Whether what a profile's tables `[full]` and `[variants]` set are fields that it has: found when it is read, not when
//! somebody asks for them.

use super::{ProfileError, place};
use crate::{overrides::assign, profile::Profile};
use iotbench_core::closest;
use toml::{
    Table, Value,
    de::{DeTable, DeValue},
};

/// Checks all of them, each with its line in the text.
pub(super) fn check(file: &str, text: &str, profile: &Profile) -> Result<(), ProfileError> {
    table(file, text, profile, &["full"], &profile.full)?;
    for (name, variant) in &profile.variants {
        let Some(variant) = variant.as_table() else {
            let error = ProfileError::new("", name, "a variant is a table of fields");
            return Err(located(file, text, &["variants"], name, error));
        };
        table(file, text, profile, &["variants", name], variant)?;
    }
    Ok(())
}

fn table(file: &str, text: &str, profile: &Profile, path: &[&str], assignments: &Table) -> Result<(), ProfileError> {
    // It holds a value that no profile may have, such as NaN, which planning tells.
    if Table::try_from(profile).is_err() {
        return Ok(());
    }
    let mut changed = profile.clone();
    for (key, value) in assignments {
        let failed = |error: ProfileError| located(file, text, path, key, error);
        known_parameter(&changed, key).map_err(failed)?;
        changed = assign(&changed, file, key, value.clone()).map_err(|e| failed(unquoted(e, value)))?;
    }
    Ok(())
}

/// Without quotes a dotted key is a table, which is no field.
fn unquoted(error: ProfileError, value: &Value) -> ProfileError {
    if !value.is_table() || error.suggestion.is_some() {
        return error;
    }
    let message = "there is no such field in this profile: one of a table is written in quotes, \"table.field\"";
    ProfileError { message: message.into(), ..error }
}

/// What a dataset takes it knows itself, and a profile need not write it.
fn known_parameter(profile: &Profile, key: &str) -> Result<(), ProfileError> {
    let Some(parameter) = key.strip_prefix("dataset.").and_then(|rest| rest.split('.').next()) else { return Ok(()) };
    let Ok(info) = profile.dataset.info() else { return Ok(()) };
    let known = || std::iter::once("name").chain(info.all_parameters().map(|p| p.key));
    if known().any(|k| k == parameter) {
        return Ok(());
    }
    let suggestion = closest(parameter, known()).map(|near| format!("dataset.{near}"));
    let message = format!("dataset {} has no such parameter", info.name);
    Err(ProfileError { suggestion, ..ProfileError::new("", key, message) })
}

fn located(file: &str, text: &str, path: &[&str], key: &str, error: ProfileError) -> ProfileError {
    let (line, column) = offset(text, path, key).map_or((0, 0), |offset| place(text, offset));
    let key = [path, &[key]].concat().join(".");
    ProfileError { file: file.into(), line, column, key: Some(key), ..error }
}

/// Where a key stands in a table, or the nearest table around it that is found.
fn offset(text: &str, path: &[&str], key: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut found = None;
    for word in path.iter().chain([&key]) {
        let Some((k, value)) = table.iter().find(|(k, _)| k.get_ref() == word) else { break };
        found = Some(k.span().start);
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    found
}
