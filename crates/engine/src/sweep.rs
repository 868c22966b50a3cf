//! A profile with a sweep as plain profiles, one for each value. Pure.

use crate::{
    overrides::assign,
    profile::{Profile, Sweep},
    profile_file::ProfileError,
    units::{Auto, Count},
};
use std::collections::HashSet;
use toml::Value;

/// A sweep over more values is a slip.
const MAX_VALUES: usize = 1000;

/// What a run is in a sweep.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SweptValue {
    /// The field that differs from run to run.
    pub field: String,
    /// Its value in this run.
    pub value: u64,
    /// Limits of the classes of values over which the query jitter is averaged, ascending; empty: there are none.
    pub classes: Vec<u64>,
    /// How many bytes a record counts as, where the study says so.
    pub record_bytes: Option<u64>,
}

impl Profile {
    /// The runs of this profile, in order: itself, or with a sweep one for each value, which then is its `sweep.only`. A
    /// run ends after `sweep.repeat` operations, unless the profile says how many.
    ///
    /// # Errors
    /// A field that does not exist or does not take a value, and a list that is no list of different numbers.
    pub fn runs(&self) -> Result<Vec<Self>, ProfileError> {
        let Some(sweep) = &self.sweep else { return Ok(vec![self.clone()]) };
        let fail = |key: &str, message: String| Err(ProfileError::new("sweep", format!("sweep.{key}"), message));
        if sweep.values.is_empty() || sweep.values.len() > MAX_VALUES {
            return fail("values", format!("from 1 to {MAX_VALUES} values, got {}", sweep.values.len()));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = sweep.values.iter().find(|value| !seen.insert(value.0)) {
            return fail("values", format!("{twice} is there twice: sweep.repeat repeats its operation"));
        }
        if sweep.repeat.0 == 0 {
            return fail("repeat", "an operation is repeated at least once".into());
        }
        if !sweep.classes.is_sorted_by(|a, b| a.0 < b.0) || sweep.classes.len() == 1 {
            return fail("classes", "limits of classes ascend, and there are at least two".into());
        }
        match sweep.only {
            Auto::Set(value) => Ok(vec![self.with_value(sweep, value)?]),
            Auto::Auto => sweep.values.iter().map(|&value| self.with_value(sweep, value)).collect(),
        }
    }

    fn with_value(&self, sweep: &Sweep, value: Count) -> Result<Self, ProfileError> {
        let number = i64::try_from(value.0).unwrap_or(i64::MAX);
        let origin = format!("sweep over {}", sweep.field);
        let mut run = assign(self, &origin, &sweep.field, Value::Integer(number))?;
        run.sweep = Some(Sweep { only: Auto::Set(value), ..sweep.clone() });
        if run.phases.operations == Auto::Auto {
            run.phases.operations = Auto::Set(sweep.repeat);
        }
        Ok(run)
    }

    /// What this run is in a sweep; `None`: it is in none.
    pub(crate) fn swept_value(&self) -> Option<SweptValue> {
        let sweep = self.sweep.as_ref()?;
        Some(SweptValue {
            field: sweep.field.clone(),
            value: sweep.only.set()?.0,
            classes: sweep.classes.iter().map(|limit| limit.0).collect(),
            record_bytes: sweep.record_bytes.set().map(|bytes| bytes.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile_file::parse_profile;

    fn profile(sweep: &str) -> Profile {
        let text = format!(
            "name = \"s\"\nsummary = \"test\"\n[dataset]\nname = \"weather\"\n[[groups]]\nname = \"g\"\n\
             load = {{ model = \"closed\" }}\noperations = [{{ kind = \"write\", datapoints = 1 }}]\n[sweep]\n{sweep}"
        );
        parse_profile("test.toml", &text).unwrap()
    }

    const REQUESTS: &str = "field = \"groups.0.operations.0.requests\"\n";

    fn runs(sweep: &str) -> Result<Vec<(u64, u64)>, ProfileError> {
        let runs = profile(sweep).runs()?;
        let figures = |run: &Profile| (run.groups[0].operations[0].requests.0, run.phases.operations.set().unwrap().0);
        assert!(runs.iter().all(|run| run.swept_value().unwrap().value == figures(run).0));
        Ok(runs.iter().map(figures).collect())
    }

    #[test]
    fn a_sweep_is_one_plain_profile_for_each_value() {
        let values = format!("{REQUESTS}values = [2, \"1k\", 4]\nrepeat = 10\n");
        assert_eq!(runs(&values).unwrap(), [(2, 10), (1000, 10), (4, 10)]);
        let one = runs(&format!("{values}only = 7\n")).unwrap();
        assert_eq!(one, [(7, 10)], "any one value");
    }

    #[test]
    fn a_run_of_a_sweep_is_its_own_only_run() {
        let run = profile(&format!("{REQUESTS}values = [2, 4]\n")).runs().unwrap().remove(1);
        assert_eq!(run.runs().unwrap(), std::slice::from_ref(&run));
    }

    #[test]
    fn without_a_sweep_there_is_one_run() {
        let plain = Profile { sweep: None, ..profile(&format!("{REQUESTS}values = [2]\n")) };
        assert_eq!(plain.runs().unwrap(), std::slice::from_ref(&plain));
        assert_eq!(plain.swept_value(), None);
    }

    #[test]
    fn a_sweep_that_cannot_be_run_is_refused_with_its_key() {
        for (sweep, key) in [
            ("values = []", "sweep.values"),
            ("values = [2, 2]", "sweep.values"),
            ("values = [2]\nrepeat = 0", "sweep.repeat"),
            ("values = [2]\nclasses = [2, 2]", "sweep.classes"),
            ("values = [2]\nclasses = [2]", "sweep.classes"),
        ] {
            let error = runs(&format!("{REQUESTS}{sweep}\n")).unwrap_err();
            assert_eq!(error.key.as_deref(), Some(key));
        }
        let error = runs("field = \"request\"\nvalues = [2]\n").unwrap_err();
        assert_eq!(error.suggestion.as_deref(), Some("requests"), "{error}");
    }
}
