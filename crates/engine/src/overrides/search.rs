//! A search for the highest sustainable load, in place of what a profile runs.

use crate::{
    criterion::Criterion,
    profile::{LoadModel, Profile, Ramp},
    profile_file::ProfileError,
    units::{Auto, Count, Share, Span},
};

/// A search for the highest sustainable load. What is not given is the profile's, or the search's own default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SearchOverride {
    /// When a load is too much.
    pub criterion: Option<Criterion>,
    /// How narrow the interval has to be; 2 % by default.
    pub width: Option<Share>,
    /// How long a trial counts.
    pub trial: Option<Span>,
    /// At most so many trials near the limit; 48 by default.
    pub trials: Option<Count>,
    /// The load of the first trial; the profile's own by default.
    pub first: Option<Count>,
    /// A greater load is not tried.
    pub most: Option<Count>,
}

impl SearchOverride {
    /// How narrow the interval has to be: (upper − lower) / upper.
    pub const WIDTH: Share = Share(0.02);
    /// At most so many trials near the limit.
    pub const TRIALS: Count = Count(48);

    pub(super) fn apply(&self, profile: &mut Profile) -> Result<(), ProfileError> {
        let Some(group) = profile.groups.first() else { return Ok(()) };
        let load = &group.load;
        let own = match load.model {
            LoadModel::Open => load.rate.set().map(|rate| whole(rate.0)),
            LoadModel::Closed => Some(load.users),
            LoadModel::Interval => None,
            LoadModel::PartlyOpen => {
                let message = format!(
                    "group {} is partly open: sessions that arrived in one trial would go on in the next. Add --arrival constant or \
                     poisson for the highest rate, or --arrival closed for the most virtual users",
                    group.name
                );
                return Err(ProfileError::new("capacity", "groups.0.load.model", message));
            }
            LoadModel::Paced => {
                let message = format!(
                    "group {} is paced, its load is what its sensors have to say. Add --arrival constant or poisson for the \
                     highest rate, or --arrival closed for the most virtual users",
                    group.name
                );
                return Err(ProfileError::new("capacity", "groups.0.load.model", message));
            }
        };
        let ramp = profile.ramp.take().filter(|ramp| ramp.steps.is_empty());
        let ramp = ramp.unwrap_or_else(|| Ramp { first: own.unwrap_or(Count(1)), ..Ramp::default() });
        let most = self.most.unwrap_or(ramp.most);
        profile.ramp = Some(Ramp {
            first: self.first.unwrap_or(Count(ramp.first.0.min(most.0))),
            most,
            step: self.trial.unwrap_or(ramp.step),
            resolution: self.width.unwrap_or(Self::WIDTH),
            trials: self.trials.unwrap_or(Self::TRIALS),
            ..ramp
        });
        // A search ends with its answer.
        profile.phases.operations = Auto::Auto;
        if let Some(criterion) = self.criterion {
            profile.stop = criterion.of(&profile.stop);
        }
        Ok(())
    }
}

/// A rate as a load.
fn whole(rate: f64) -> Count {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate is positive, and the cast saturates"
    )]
    Count((rate.round() as u64).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Overrides, parse_profile};

    fn searching(load: &str, more: &str, search: SearchOverride) -> Result<Profile, ProfileError> {
        let text = format!(
            "name = \"x\"\nsummary = \"test\"\n[dataset]\nname = \"machine\"\n[[groups]]\nname = \"g\"\nload = {load}\n\
             operations = [{{ kind = \"write\", datapoints = 1 }}]\n{more}"
        );
        let overrides = Overrides { search: Some(search), ..Overrides::default() };
        parse_profile("test.toml", &text).unwrap().with(&overrides)
    }

    const OPEN: &str = "{ model = \"open\", rate = 250.4 }";

    #[test]
    fn a_fixed_load_becomes_where_the_search_begins() {
        let search = SearchOverride { criterion: Some("p99<50ms".parse().unwrap()), ..SearchOverride::default() };
        let profile = searching(OPEN, "[phases]\noperations = 10\n", search).unwrap();
        let ramp = profile.ramp.unwrap();
        assert_eq!((ramp.first, ramp.resolution, ramp.trials), (Count(250), Share(0.02), Count(48)));
        assert_eq!((profile.phases.operations, profile.stop.quantile), (Auto::Auto, Share(0.99)));
        let users = searching("{ model = \"closed\", users = 7 }", "", SearchOverride::default()).unwrap();
        assert_eq!(users.ramp.unwrap().first, Count(7));
        let most = Some(Count(100));
        assert_eq!(searching(OPEN, "", SearchOverride { most, ..search }).unwrap().ramp.unwrap().first, Count(100));
    }

    #[test]
    fn a_profiles_own_search_is_narrowed_and_its_list_is_replaced() {
        let own = "[ramp]\nfirst = 16\nstep = \"6s\"\n[stop]\nmean_response = \"1s\"\n";
        let profile = searching(OPEN, own, SearchOverride::default()).unwrap();
        let ramp = profile.ramp.unwrap();
        assert_eq!((ramp.first, ramp.step, ramp.resolution), (Count(16), Span::from_secs(6), Share(0.02)));
        assert_eq!(profile.stop.mean_response, Auto::Set(Span::from_secs(1)));
        let given =
            SearchOverride { trial: Some(Span::from_secs(9)), first: Some(Count(5)), ..SearchOverride::default() };
        let listed = searching(OPEN, "[ramp]\nsteps = [1, 2]\nstep = \"6s\"\n", given).unwrap().ramp.unwrap();
        assert_eq!((listed.steps.len(), listed.first, listed.step), (0, Count(5), Span::from_secs(9)));
    }

    #[test]
    fn sensors_have_no_load_to_search() {
        let error = searching("{ model = \"paced\", rate = 10 }", "", SearchOverride::default()).unwrap_err();
        assert!(error.to_string().contains("--arrival constant"), "{error}");
    }
}
