//! One workload in several ways, such as with and without an index: a run for each, with its name in the result. Pure.

use crate::{
    overrides::{Overrides, assign},
    profile::Profile,
    profile_file::ProfileError,
};
use iotbench_core::closest;
use toml::Value;

impl Profile {
    /// The names of the variants that are run on a backend with the user's changes: those that `chosen` names, else all.
    /// `None`: the profile as it is, where it has none, or where all of them come to the same there, because what they set
    /// is another database's or has been set by the user.
    ///
    /// # Errors
    /// A name that the profile does not have, and whatever [`Profile::with`] refuses.
    pub fn variants_on(
        &self,
        backend: &str,
        overrides: &Overrides,
        chosen: &[String],
    ) -> Result<Vec<Option<String>>, ProfileError> {
        for name in chosen {
            self.clone().in_variant(name)?;
        }
        let names: Vec<_> = self.variants.keys().cloned().map(Some).collect();
        let of_name = |variant: &Option<String>| {
            let profile = self.clone().with(&Overrides { variant: variant.clone(), ..overrides.clone() })?;
            Ok(profile.as_seen_by(backend))
        };
        let seen = names.iter().map(of_name).collect::<Result<Vec<_>, ProfileError>>()?;
        let is_chosen = |name: &Option<String>| chosen.is_empty() || name.as_ref().is_some_and(|n| chosen.contains(n));
        let differ = seen.windows(2).any(|pair| pair[0] != pair[1]);
        Ok(if differ { names.into_iter().filter(is_chosen).collect() } else { vec![None] })
    }

    /// The profile in one of its variants.
    pub(crate) fn in_variant(mut self, name: &str) -> Result<Self, ProfileError> {
        let origin = format!("--variant {name}");
        let Some(assignments) = self.variants.get(name).and_then(Value::as_table).cloned() else {
            let near = closest(name, self.variants.keys().map(String::as_str)).map(Into::into);
            let known = self.variants.keys().cloned().collect::<Vec<_>>().join(", ");
            let message = match known.as_str() {
                "" => "the profile has no variants: leave it out".into(),
                known => format!("the profile's variants are {known}, each a table of fields"),
            };
            return Err(ProfileError { suggestion: near, ..ProfileError::new(origin, "variants", message) });
        };
        for (key, value) in assignments {
            self = assign(&self, &origin, &key, value)?;
        }
        self.variant = name.into();
        Ok(self)
    }

    /// Without what makes no difference there, as text: a NaN does not equal itself.
    fn as_seen_by(mut self, backend: &str) -> String {
        self.variant = String::new();
        self.backend.retain(|name, _| name == backend);
        format!("{self:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile_file::parse_profile;

    fn profile() -> Profile {
        let text = "name = \"v\"\nsummary = \"test\"\n[dataset]\nname = \"weather\"\n[[groups]]\nname = \"g\"\n\
                    load = { model = \"closed\" }\noperations = [{ kind = \"write\", datapoints = 1 }]\n\
                    [variants]\n\"index none\" = { \"backend.a.indexes\" = \"none\" }\n\
                    \"index tag\" = { \"backend.a.indexes\" = \"tag\" }\n";
        parse_profile("test.toml", text).unwrap()
    }

    fn names(backend: &str, set: &[&str], chosen: &[&str]) -> Vec<Option<String>> {
        let overrides = Overrides { set: set.iter().map(ToString::to_string).collect(), ..Overrides::default() };
        let chosen: Vec<_> = chosen.iter().map(ToString::to_string).collect();
        profile().variants_on(backend, &overrides, &chosen).unwrap()
    }

    #[test]
    fn there_is_a_run_for_each_that_differs_on_the_backend() {
        let both = [Some("index none".to_owned()), Some("index tag".to_owned())];
        assert_eq!(names("a", &[], &[]), both);
        assert_eq!(names("b", &[], &[]), [None], "another database has no such setting");
        assert_eq!(names("a", &["backend.a.indexes=time"], &[]), [None], "the user says which");
        assert_eq!(names("a", &[], &["index tag"]), [Some("index tag".to_owned())]);
        assert_eq!(names("b", &[], &["index none"]), [None], "no result says what is not so");
        let plain = Profile { variants: toml::Table::new(), ..profile() };
        assert_eq!(plain.variants_on("a", &Overrides::default(), &[]).unwrap(), [None]);
    }

    #[test]
    fn a_variant_sets_its_fields_and_the_user_comes_after_it() {
        let with = |set: &[&str]| {
            let set = set.iter().map(ToString::to_string).collect();
            let variant = Some("index none".to_owned());
            profile().with(&Overrides { set, variant, ..Overrides::default() }).unwrap()
        };
        let indexes = |profile: &Profile| profile.backend["a"]["indexes"].as_str().unwrap().to_owned();
        assert_eq!((with(&[]).variant.as_str(), indexes(&with(&[])).as_str()), ("index none", "none"));
        assert_eq!(indexes(&with(&["backend.a.indexes=time"])), "time");
    }

    #[test]
    fn a_name_that_is_not_there_is_refused() {
        let error = profile().in_variant("index tags").unwrap_err();
        assert_eq!(error.suggestion.as_deref(), Some("index tag"));
        let plain = Profile { variants: toml::Table::new(), ..profile() };
        assert!(plain.in_variant("x").unwrap_err().to_string().contains("has no variants"));
    }
}
