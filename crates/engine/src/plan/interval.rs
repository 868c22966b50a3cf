//! Loads by intervals: what their figures mean, and those that follow from the interval's length.

use crate::{
    profile::{Group, LoadModel, Profile, Ramp},
    units::Span,
};
use std::time::Duration;

type FieldError = (String, String);

/// In the study all readings of an interval of 15 min arrive within 2 min, and their mean response may be 60 s.
const INTERVAL_OF_STUDY_MIN: u64 = 15;
const WINDOW_OF_STUDY_MIN: u64 = 2;
const LIMIT_OF_STUDY_MIN: u64 = 1;

/// The load of a profile whose first group reports by intervals.
fn of_first_group(profile: &Profile) -> Option<&Group> {
    profile.groups.first().filter(|g| g.load.model == LoadModel::Interval)
}

/// Within how much of the interval all devices of a group report.
pub(super) fn window_ns(group: &Group) -> Result<u64, FieldError> {
    let interval = group.load.interval;
    let key = |key: &str| format!("load.{key}");
    if interval.as_ns() == 0 || interval.0.subsec_nanos() != 0 {
        let message = format!("{interval}: windows are whole seconds, so write a whole number of them");
        return Err((key("interval"), message));
    }
    match group.load.window.set().map(Span::as_ns) {
        None => Ok(in_proportion(interval, WINDOW_OF_STUDY_MIN).as_ns()),
        Some(window_ns) if (1..=interval.as_ns()).contains(&window_ns) => Ok(window_ns),
        Some(_) => Err((key("window"), format!("a window is a part of its interval of {interval}"))),
    }
}

/// The greatest mean response where the profile does not say: in the study's proportion to the interval.
pub(super) fn mean_response(profile: &Profile) -> Option<Span> {
    of_first_group(profile).map(|group| in_proportion(group.load.interval, LIMIT_OF_STUDY_MIN))
}

/// So many minutes of the study's interval as a part of this one, in whole milliseconds.
fn in_proportion(interval: Span, minutes: u64) -> Span {
    let ms = interval.0.as_millis() * u128::from(minutes) / u128::from(INTERVAL_OF_STUDY_MIN);
    Span(Duration::from_millis(u64::try_from(ms).unwrap_or(u64::MAX)))
}

/// How long a step of a ramp lasts: with intervals as many whole ones as last at least as long as the profile says.
pub(super) fn step(profile: &Profile, ramp: &Ramp) -> Span {
    let Some(interval) = of_first_group(profile).map(|g| g.load.interval).filter(|i| i.as_ns() > 0) else {
        return ramp.step;
    };
    let intervals = ramp.step.as_ns().div_ceil(interval.as_ns()).max(1);
    Span(interval.0.saturating_mul(u32::try_from(intervals).unwrap_or(u32::MAX)))
}
