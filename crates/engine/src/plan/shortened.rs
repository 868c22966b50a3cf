//! What a run has other than its study.

use crate::{overrides::Overrides, overrides::value_at, profile::Profile, units::Auto};
use toml::Value;

/// Which of the study's own lengths a profile does not have; `None`: it has them all.
pub(super) fn remark(profile: &Profile) -> Option<String> {
    // Both as a profile writes them, so that 500k is 500000.
    let full = profile.clone().with(&Overrides { full: true, ..Overrides::default() }).ok()?;
    let history = profile.phases.history;
    // A history given as a stretch of time says itself how long it is.
    let given = |key: &&String| history == Auto::Auto || *key != "phases.preload";
    let mut differences: Vec<_> =
        profile.full.keys().filter(given).filter_map(|key| difference(profile, &full, key)).collect();
    differences.extend(history.set().map(|history| format!("a history of {history}")));
    (!differences.is_empty())
        .then(|| format!("not the study's own lengths, which --full takes: {}", differences.join(", ")))
}

fn difference(profile: &Profile, full: &Profile, key: &str) -> Option<String> {
    let (present, full) = (value_at(profile, key)?, value_at(full, key)?);
    if let (Value::Array(present), Value::Array(full)) = (&present, &full) {
        let missing: Vec<String> = full.iter().filter(|value| !present.contains(value)).map(text).collect();
        return (!missing.is_empty()).then(|| format!("{key} without {}", missing.join(", ")));
    }
    (present != full).then(|| format!("{key} = {} instead of {}", text(&present), text(&full)))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), Into::into)
}
