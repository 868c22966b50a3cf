//! A plan in parts, each for a range of the devices: what they send together is what the whole would send.

use super::{GroupPlan, Load, Plan, Question};
use crate::{mix::OperationMix, source::Stretches};
use std::ops::Range;

/// Why a plan cannot be divided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartsError {
    /// No part can be empty.
    #[error("a load is divided into at least one part")]
    None,
    /// Whoever is first takes the next operation, and the parts cannot ask each other.
    #[error("a number of operations is not divided over agents, which cannot count together: give a --duration")]
    Operations,
    /// The table is altered once, when the first operation needs it, and the parts cannot ask each other.
    #[error(
        "a load to which signals are added is not divided over agents, which do not wait for one another: leave dataset.added_signals out, or use \
         one process"
    )]
    AddedSignals,
    /// Whole requests, and all devices of a user, belong to one part.
    #[error(
        "the load cannot be divided into {parts} parts, but into {most} at most: a request, a user and a sensor belong \
         to one part each; use fewer agents, or more devices and users"
    )]
    TooMany {
        /// How many were wanted.
        parts: u32,
        /// How many there can be.
        most: u32,
    },
    /// A session's operations go round all devices, whichever part has them.
    #[error(
        "group {group:?}: the sessions of a partly open load that writes are not divided over agents, because each writes for all \
         devices in turn; use one process, or an open loop (--arrival poisson)"
    )]
    Sessions {
        /// Whose.
        group: String,
    },
    /// Each part needs a connection for each group.
    #[error(
        "group {group:?} has {connections} connections, and each of {parts} parts needs one: set connections to at \
         least {parts}, or use fewer agents"
    )]
    Connections {
        /// Whose.
        group: String,
        /// How many it has.
        connections: u32,
        /// How many parts were wanted.
        parts: u32,
    },
}

impl Plan {
    /// Divides the plan into parts by ranges of the devices, about equally long. Every sensor, every operation of an open
    /// loop and every user of a closed one belongs to exactly one part and keeps there its number, its pace and its data. What is
    /// read is about any device.
    /// Connections and the limits on operations under way are divided evenly.
    ///
    /// # Errors
    /// It cannot be divided so.
    pub fn parts(&self, parts: u32) -> Result<Vec<Self>, PartsError> {
        self.check(parts)?;
        let ranges = self.ranges(parts)?;
        let part = |(number, devices): (u32, Range<u32>)| {
            let groups = self.groups.iter().map(|group| group.part_of(number, parts)).collect::<Result<_, _>>()?;
            Ok(Self { devices, groups, ..self.clone() })
        };
        (0..parts).zip(ranges).map(part).collect()
    }

    /// The first group that asks what a user wrote.
    #[must_use]
    pub fn with_statements(&self) -> Option<&GroupPlan> {
        let has_one =
            |group: &&GroupPlan| group.operations().any(|o| matches!(o.question(), Some(Question::Statement(_))));
        self.groups.iter().find(has_one)
    }

    fn check(&self, parts: u32) -> Result<(), PartsError> {
        if parts == 0 {
            return Err(PartsError::None);
        }
        if self.table.schema.added() > 0 {
            return Err(PartsError::AddedSignals);
        }
        let writes_in_sessions = |group: &&GroupPlan| matches!(group.load, Load::PartlyOpen { .. }) && !group.reads();
        if let Some(group) = self.groups.iter().find(writes_in_sessions).filter(|_| parts > 1) {
            return Err(PartsError::Sessions { group: group.name.clone() });
        }
        if self.phases.operations.is_some() { Err(PartsError::Operations) } else { Ok(()) }
    }

    /// Ranges of devices of about the same length, where every group can be divided.
    fn ranges(&self, parts: u32) -> Result<Vec<Range<u32>>, PartsError> {
        let Range { start, end } = self.devices;
        let division = |group: &GroupPlan| {
            let devices = self.devices_of(group);
            let count = devices.end.saturating_sub(devices.start);
            (devices, Division::of(group, self.most_users(group), count))
        };
        let groups: Vec<_> = self.groups.iter().map(division).collect();
        // Whoever has no device on both sides can be divided there.
        let divides = |cut: u32, devices: &Range<u32>, division: &Division| {
            cut <= devices.start || cut >= devices.end || division.at(cut - devices.start)
        };
        let can_cut = |cut: &u32| groups.iter().all(|(devices, division)| divides(*cut, devices, division));
        let cuts: Vec<u32> = (start.saturating_add(1)..end).filter(can_cut).collect();
        let most = u32::try_from(cuts.len() + 1).unwrap_or(u32::MAX);
        if parts > most {
            return Err(PartsError::TooMany { parts, most });
        }
        let (mut ranges, mut first, mut next) = (Vec::new(), start, 0);
        for part in 1..parts {
            let ideal = u64::from(start) + u64::from(end - start) * u64::from(part) / u64::from(parts);
            // Enough cuts stay for the parts to come.
            let last = cuts.len() - (parts - part) as usize;
            let place = cuts.partition_point(|&cut| u64::from(cut) < ideal).clamp(next, last);
            if let Some(&cut) = cuts.get(place) {
                ranges.push(first..cut);
                first = cut;
            }
            next = place + 1;
        }
        ranges.push(first..end);
        Ok(ranges)
    }

    /// The most users that a group ever has, where it is a closed loop.
    fn most_users(&self, group: &GroupPlan) -> Option<u32> {
        let Load::Closed { users, .. } = group.load else { return None };
        let ramp = self.ramp.as_ref().filter(|_| group.part.ramped);
        Some(ramp.map_or(users, |ramp| group.part.of_users(ramp.most())).max(1))
    }
}

/// Where a group can be divided.
enum Division {
    /// Sensors, or users of a device each: everywhere among the first so many devices, which are those that have one.
    Among(u32),
    /// Between blocks of devices; of so many users of a closed loop, where no user has devices on both sides.
    Blocks(Stretches, Option<u32>),
}

impl Division {
    fn of(group: &GroupPlan, users: Option<u32>, devices: u32) -> Self {
        let operations = OperationMix::new(group, 0);
        match (group.load, users) {
            (Load::Paced { .. }, _) => Self::Among(devices),
            (Load::Closed { .. }, Some(users)) if operations.gathers() => Self::Among(users),
            // What is read is about any device: its users are divided as if each had some.
            _ if operations.reads() => Self::Blocks(Stretches::new(devices, &operations), None),
            _ => Self::Blocks(Stretches::new(devices, &operations), users),
        }
    }

    fn at(&self, device: u32) -> bool {
        match self {
            Self::Among(devices) => device < *devices,
            Self::Blocks(stretches, users) => stretches.divides_at(device, *users),
        }
    }
}

impl GroupPlan {
    /// What one of several parts has of it.
    fn part_of(&self, number: u32, parts: u32) -> Result<Self, PartsError> {
        let connections = self.connections;
        if connections < parts && self.reads() {
            // Readers that share what cannot be divided are the first part's.
            return Ok(Self {
                connections: if number == 0 { connections } else { 0 },
                undivided: true,
                ..self.clone()
            });
        }
        if connections < parts {
            return Err(PartsError::Connections { group: self.name.clone(), connections, parts });
        }
        let share = |all: u32| all / parts + u32::from(number < all % parts);
        let load = match self.load {
            Load::Open { arrival, rate, drop_above } => {
                Load::Open { arrival, rate, drop_above: drop_above.map(|most| share(most).max(1)) }
            }
            Load::PartlyOpen { arrival, rate, mean_operations, think_ns, most_sessions } => {
                let most_sessions = share(most_sessions).max(1);
                Load::PartlyOpen { arrival, rate, mean_operations, think_ns, most_sessions }
            }
            other => other,
        };
        Ok(Self { load, connections: share(connections), ..self.clone() })
    }
}

#[cfg(test)]
mod tests;
