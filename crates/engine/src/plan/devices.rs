//! How many devices a profile has, and which of them each group that writes sends for.

use super::check::quantity;
use crate::{
    profile::{Datapoints, Group, LoadModel, OperationKind, Profile, Ramp},
    ramp::Quantity,
    units::Auto,
};
use std::ops::Range;

type FieldError = (String, String);

/// More devices or users than this are a slip.
pub(super) const MOST: u64 = 10_000_000;

/// Checks the numbers of devices; those of users and of a ramp are checked already.
pub(super) fn check(profile: &Profile) -> Result<(), FieldError> {
    if let Some(given) = profile.devices.set().map(|count| count.0)
        && (given == 0 || given > MOST)
    {
        return Err(("devices".into(), format!("from 1 to {MOST} devices, got {given}")));
    }
    let several = writing_groups(profile) > 1;
    for (i, group) in profile.groups.iter().enumerate() {
        let fail = |message: String| Err((format!("groups.{i}.devices"), message));
        match group.devices {
            Auto::Set(_) if !writes(group) => return fail("a group that only reads asks about all devices".into()),
            Auto::Set(_) if !several => {
                return fail("the only group that writes sends for all devices: set devices of the profile".into());
            }
            Auto::Auto if several && writes(group) => {
                let message = "several groups write, and no two may send the same datapoints: say how many devices are \
                               this group's";
                return fail(message.into());
            }
            Auto::Set(count) if count.0 == 0 || count.0 > MOST => {
                return fail(format!("from 1 to {MOST} devices, got {count}"));
            }
            Auto::Set(count) => check_users(profile, i, group, count.0)?,
            Auto::Auto => {}
        }
    }
    if several { check_sum(profile) } else { Ok(()) }
}

/// Whether the users of a group, or the devices that report, have devices enough.
fn check_users(profile: &Profile, i: usize, group: &Group, devices: u64) -> Result<(), FieldError> {
    let ramp = profile.ramp.as_ref().filter(|_| i == 0);
    let needed = match group.load.model {
        LoadModel::Closed if gathers(group) => ramp.map_or(group.load.users.0, Ramp::greatest) * of_request(group),
        LoadModel::Interval => ramp.map_or(devices, Ramp::greatest),
        _ => return Ok(()),
    };
    if needed > devices {
        let message = format!("the group's load is of up to {needed} devices, and it has {devices}");
        return Err((format!("groups.{i}.devices"), message));
    }
    Ok(())
}

fn check_sum(profile: &Profile) -> Result<(), FieldError> {
    let sum = u64::from(end_of_groups(&profile.groups));
    if sum > MOST {
        return Err(("groups".into(), format!("at most {MOST} devices, and the groups have {sum} together")));
    }
    match profile.devices {
        Auto::Set(given) if given.0 != sum => {
            let message = format!(
                "devices is {given}, and the groups that write have {sum} together: leave it out, or write {sum}"
            );
            Err(("devices".into(), message))
        }
        _ => Ok(()),
    }
}

/// How many there are.
pub(super) fn all(profile: &Profile) -> u32 {
    if writing_groups(profile) > 1 {
        return end_of_groups(&profile.groups);
    }
    let ramp_of = |of| profile.ramp.as_ref().filter(|_| quantity(profile) == of).map(Ramp::greatest);
    let of_users = |(i, group): (usize, &Group)| {
        ramp_of(Quantity::Users).filter(|_| i == 0).unwrap_or(group.load.users.0) * of_request(group)
    };
    let closed = profile.groups.iter().enumerate().filter(|(_, g)| g.load.model == LoadModel::Closed);
    let closed = closed.map(of_users).max();
    let gathered = profile.groups.iter().any(gathers);
    let devices = ramp_of(Quantity::Devices).unwrap_or_else(|| match profile.devices {
        Auto::Set(n) => n.0.max(if gathered { closed.unwrap_or(1) } else { 1 }),
        Auto::Auto => closed.unwrap_or(1),
    });
    u32::try_from(devices).unwrap_or(u32::MAX)
}

/// Of how many devices there is a history. Where users are devices, there may be more of them than had one before.
pub(super) fn with_history(profile: &Profile) -> u32 {
    match profile.devices {
        Auto::Set(n) if profile.groups.iter().any(gathers) => u32::try_from(n.0).unwrap_or(u32::MAX),
        _ => all(profile),
    }
}

/// How many a group sends for.
pub(super) fn of(profile: &Profile, group: &Group) -> u32 {
    if group.devices == Auto::Auto { all(profile) } else { count(group) }
}

/// Those that a group that writes sends for; `None`: all.
pub(super) fn of_group(profile: &Profile, number: usize) -> Option<Range<u32>> {
    let group = profile.groups.get(number).filter(|group| writes(group) && writing_groups(profile) > 1)?;
    let first = end_of_groups(profile.groups.get(..number)?);
    Some(first..first.saturating_add(count(group)))
}

/// How many devices one user sends for.
pub(super) fn of_request(group: &Group) -> u64 {
    let writes = group.operations.iter().filter(|o| o.kind == OperationKind::Write);
    writes.filter_map(|o| o.devices.count()).max().unwrap_or(1)
}

/// Whether a user sends what its own device has gathered: such a user is a device.
fn gathers(group: &Group) -> bool {
    group.operations.iter().any(|o| o.datapoints == Auto::Set(Datapoints::SinceLast))
}

fn writes(group: &Group) -> bool {
    group.operations.iter().any(|operation| !operation.is_read())
}

fn writing_groups(profile: &Profile) -> usize {
    profile.groups.iter().filter(|group| writes(group)).count()
}

/// The groups' devices follow each other in the profile's order.
fn end_of_groups(groups: &[Group]) -> u32 {
    groups.iter().map(count).fold(0, u32::saturating_add)
}

fn count(group: &Group) -> u32 {
    group.devices.set().map_or(0, |count| u32::try_from(count.0).unwrap_or(u32::MAX))
}
