//! The built-in profiles, and profiles by name or path.

use crate::{error::SessionError, source::Source};
use iotbench_backends::BACKENDS;
use iotbench_core::{Backend, Registry, SERVER_SETTINGS, closest};
use iotbench_engine::{MAX_PROFILE_BYTES, Profile, ProfileError, parse_profile, read_profile, read_regular_text};
use iotbench_workloads::find_profile;
use std::path::{Path, PathBuf};

/// A profile as written, with what is needed to point at its lines.
#[derive(Clone, Debug)]
pub struct WrittenProfile {
    /// The profile.
    pub profile: Profile,
    /// Its text.
    pub source: Source,
    /// Where relative paths in it start.
    pub base: PathBuf,
}

/// The profile that a word on the command line means: a path if it looks like one, else a built-in name.
///
/// # Errors
/// It cannot be read, or is no profile.
pub fn find_written_profile(word: &str) -> Result<WrittenProfile, SessionError> {
    if word.contains('/') || Path::new(word).extension().is_some_and(|e| e == "toml") {
        return read_written_profile(Path::new(word));
    }
    let built_in = find_profile(word)?;
    let source = Source { file: format!("{} (built in)", built_in.name), text: built_in.toml.into() };
    let profile = parse_profile(&source.file, built_in.toml).map_err(|e| source.error(&e))?;
    Ok(WrittenProfile { profile, source, base: PathBuf::from(".") })
}

/// The profile in a file.
///
/// # Errors
/// It cannot be read, or is no profile.
pub fn read_written_profile(path: &Path) -> Result<WrittenProfile, SessionError> {
    let read = read_profile(path);
    let source = Source { file: path.display().to_string(), text: text_to_point_at(path, read.as_ref().err()) };
    let profile = read.map_err(|e| source.error(&e))?;
    check_backends(&profile).map_err(|(key, unknown)| source.error(&ProfileError::new(&source.file, key, unknown)))?;
    let base = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned();
    Ok(WrittenProfile { profile, source, base })
}

/// Every backend that a profile sets something of is one, with such a setting: `[backend.NAME]`, and what `[full]` and `[variants]`
/// assign.
fn check_backends(profile: &Profile) -> Result<(), (String, String)> {
    let written = profile.backend.iter().flat_map(|(name, table)| {
        let key = format!("backend.{name}");
        let settings = table.as_table().into_iter().flat_map(toml::Table::keys);
        let settings: Vec<_> = settings.map(|s| (format!("{key}.{s}"), (name.clone(), Some(s.clone())))).collect();
        std::iter::once((key, (name.clone(), None))).chain(settings)
    });
    let full = profile.full.keys().filter_map(|key| Some((format!("full.{key}"), backend_of(key)?)));
    let variants = profile.variants.iter().filter_map(|(variant, fields)| Some((variant, fields.as_table()?)));
    let variants = variants.flat_map(|(variant, fields)| {
        fields.keys().filter_map(move |key| Some((format!("variants.{variant}.{key}"), backend_of(key)?)))
    });
    let mut all = written.chain(full).chain(variants);
    all.try_for_each(|(key, (name, setting))| {
        check_backend(&name, setting.as_deref(), &[]).map_err(|error| (key, error))
    })
}

/// The backend whose setting a dotted key is, and the setting.
fn backend_of(key: &str) -> Option<(String, Option<String>)> {
    let mut words = key.strip_prefix("backend.")?.split('.').map(Into::into);
    Some((words.next()?, words.next()))
}

/// What is set of a backend that is not run is kept in results too: a password that it does not know would be.
fn check_backend(name: &str, setting: Option<&str>, own: &[&dyn Backend]) -> Result<(), String> {
    let own = own.iter().copied().find(|backend| backend.info().name == name);
    let built_in = || Registry::new(BACKENDS).find(name).map_err(|error| error.to_string());
    let backend = own.map_or_else(built_in, Ok)?;
    let Some(setting) = setting else { return Ok(()) };
    let of_server = backend.info().recipe.map(|_| SERVER_SETTINGS);
    let known = || backend.info().settings.iter().map(|known| known.key).chain(of_server);
    if known().any(|key| key == setting) {
        return Ok(());
    }
    let meant = closest(setting, known()).map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
    Err(format!("backend.{name}.{setting}: there is no such setting{meant}"))
}

/// Every backend that is set something by `--set` is one, with such a setting. What it is set to is not repeated: it may be secret.
/// `own`: backends that are known besides the built-in ones.
pub(crate) fn check_assignments(set: &[String], own: &[&dyn Backend]) -> Result<(), SessionError> {
    let key = |assignment: &String| backend_of(assignment.split_once('=')?.0.trim());
    let unknown = |assignment: &String| {
        let (name, setting) = key(assignment)?;
        check_backend(&name, setting.as_deref(), own).err()
    };
    set.iter().find_map(unknown).map_or(Ok(()), |error| Err(SessionError::usage(format!("--set: {error}"))))
}

/// The text of a file that holds a profile, or an error with a place in it; else nothing.
fn text_to_point_at(path: &Path, error: Option<&ProfileError>) -> String {
    let has_lines = error.is_none_or(|e| e.line > 0);
    if has_lines { read_regular_text(path, MAX_PROFILE_BYTES).unwrap_or_default() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_put_right() {
        let error = find_written_profile("pmu_wirte").unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("did you mean pmu_write?"), "{error}");
    }
}
