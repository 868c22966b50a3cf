//! How the operations of all groups arrive, in place of how a profile has it.

use super::Overrides;
use crate::{
    profile::{Arrival, LoadModel, Profile},
    profile_file::ProfileError,
    ramp::Quantity,
};
use serde::{Deserialize, Serialize};

/// How the operations of all groups arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArrivalOverride {
    /// A closed loop.
    Closed,
    /// An open loop.
    Open(Arrival),
}

impl ArrivalOverride {
    /// A ramp stays where its loads are of the same quantity, or its list was written for this arrival. Else they mean nothing any
    /// more: who gives a load, or searches for one, replaces a list, and for nobody else it is dropped.
    pub(super) fn apply(self, profile: &mut Profile, overrides: &Overrides) -> Result<(), ProfileError> {
        let before = profile.groups.first().and_then(|group| quantity(group.load.model));
        let is_listed = profile.ramp.as_ref().is_some_and(|ramp| !ramp.steps.is_empty());
        let is_meant = before == Some(self.quantity()) || sets_steps(overrides);
        let is_replaced = overrides.search.is_some() || overrides.users.is_some() || overrides.rate.is_some();
        if is_listed && !is_meant && !is_replaced {
            return Err(self.refused(before));
        }
        if !is_meant {
            profile.ramp = None;
        }
        for group in &mut profile.groups {
            match self {
                Self::Closed => group.load.model = LoadModel::Closed,
                Self::Open(arrival) => {
                    group.load.model = LoadModel::Open;
                    group.load.arrival = arrival;
                }
            }
        }
        Ok(())
    }

    /// What changes from step to step.
    fn quantity(self) -> Quantity {
        match self {
            Self::Closed => Quantity::Users,
            Self::Open(_) => Quantity::OperationsPerSecond,
        }
    }

    fn refused(self, before: Option<Quantity>) -> ProfileError {
        let (word, fixed) = match self {
            Self::Closed => ("closed", "--vus N"),
            Self::Open(Arrival::Constant) => ("constant", "--rate N"),
            Self::Open(Arrival::Poisson) => ("poisson", "--rate N"),
        };
        let (before, now) = (before.map_or("other loads", Quantity::name), self.quantity().name());
        let message = format!(
            "the profile lists loads in {before}, and with this arrival they are {now}: give the list anew with --set \
             ramp.steps=[…], or one load with {fixed}"
        );
        ProfileError::new(format!("--arrival {word}"), "ramp.steps", message)
    }
}

fn quantity(model: LoadModel) -> Option<Quantity> {
    match model {
        LoadModel::Closed => Some(Quantity::Users),
        LoadModel::Open => Some(Quantity::OperationsPerSecond),
        LoadModel::Interval => Some(Quantity::Devices),
        LoadModel::PartlyOpen | LoadModel::Paced => None,
    }
}

/// Whether the list of loads is given beside it.
fn sets_steps(overrides: &Overrides) -> bool {
    let mut keys = overrides.set.iter().filter_map(|assignment| assignment.split_once('='));
    keys.any(|(key, _)| matches!(key.trim(), "steps" | "ramp.steps"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SearchOverride, parse_profile, profile::Ramp, units::Count};

    /// A profile whose loads are listed, with another arrival.
    fn listed(load: &str, arrival: ArrivalOverride, overrides: Overrides) -> Result<Profile, ProfileError> {
        let text = format!(
            "name = \"x\"\nsummary = \"test\"\n[dataset]\nname = \"machine\"\n[[groups]]\nname = \"g\"\nload = {load}\n\
             operations = [{{ kind = \"write\", datapoints = 1 }}]\n[ramp]\nsteps = [4, 8]\n[stop]\nmean_response = \"1s\"\n"
        );
        parse_profile("test.toml", &text).unwrap().with(&Overrides { arrival: Some(arrival), ..overrides })
    }

    fn steps(profile: &Profile) -> Option<Vec<u64>> {
        profile.ramp.as_ref().map(|ramp| ramp.steps.iter().map(|load| load.0).collect())
    }

    #[test]
    fn a_search_stays_where_it_is_for_the_same() {
        let mut profile = listed(OPEN, POISSON, Overrides::default()).unwrap();
        profile.ramp = Some(Ramp { first: Count(5), ..Ramp::default() });
        let with =
            |arrival| profile.clone().with(&Overrides { arrival: Some(arrival), ..Overrides::default() }).unwrap();
        assert_eq!(with(POISSON).ramp, profile.ramp);
        assert_eq!(with(ArrivalOverride::Closed).ramp, None);
    }

    const CLOSED: &str = "{ model = \"closed\", users = 3 }";
    const OPEN: &str = "{ model = \"open\", rate = 250 }";
    const POISSON: ArrivalOverride = ArrivalOverride::Open(Arrival::Poisson);

    #[test]
    fn a_list_of_loads_stays_where_it_means_the_same() {
        let rates = listed(OPEN, POISSON, Overrides::default()).unwrap();
        assert_eq!((steps(&rates), rates.groups[0].load.arrival), (Some(vec![4, 8]), Arrival::Poisson));
        let users = listed(CLOSED, ArrivalOverride::Closed, Overrides::default()).unwrap();
        assert_eq!(steps(&users), Some(vec![4, 8]));
    }

    #[test]
    fn a_list_that_would_mean_something_else_is_refused_with_what_to_set() {
        let error = listed(CLOSED, POISSON, Overrides::default()).unwrap_err();
        assert_eq!(error.key.as_deref(), Some("ramp.steps"));
        let told = error.to_string();
        for part in ["--arrival poisson", "virtual users", "operations/s", "--set ramp.steps=[…]", "--rate N"] {
            assert!(told.contains(part), "{part}: {told}");
        }
        let error = listed(OPEN, ArrivalOverride::Closed, Overrides::default()).unwrap_err();
        assert!(error.to_string().contains("--vus N"), "{error}");
    }

    #[test]
    fn who_gives_a_load_or_searches_for_it_replaces_the_list() {
        let rate = Overrides { rate: "5".parse().ok(), ..Overrides::default() };
        assert_eq!(steps(&listed(CLOSED, POISSON, rate).unwrap()), None);
        let users = Overrides { users: Some(Count(5)), ..Overrides::default() };
        assert_eq!(steps(&listed(OPEN, ArrivalOverride::Closed, users).unwrap()), None);
        let search = Overrides { search: Some(SearchOverride::default()), ..Overrides::default() };
        assert_eq!(steps(&listed(CLOSED, POISSON, search).unwrap()), Some(Vec::new()));
        for anew in ["ramp.steps=[100, 200]", "steps=[100, 200]", " ramp.steps = [100, 200]"] {
            let overrides = Overrides { set: vec![anew.into()], ..Overrides::default() };
            assert_eq!(steps(&listed(CLOSED, POISSON, overrides).unwrap()), Some(vec![100, 200]), "{anew}");
        }
    }
}
