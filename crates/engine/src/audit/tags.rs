//! The tags of devices, read back page by page and held against those that they have.

use super::auditor::Cut;
use crate::caught::caught;
use iotbench_core::{Cause, Error, Reader, Tags, TagsKept};
use std::{
    collections::BTreeSet,
    ops::{Range, RangeInclusive},
    time::Duration,
};

/// Devices that are asked for at once.
pub(super) const PAGE: u32 = 512;
/// Faults of a kind that are shown.
const SHOWN: usize = 5;

/// In which way the tags of a device are not as they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagFault {
    /// A tag has another value, or none.
    Wrong,
    /// The table of devices has no row of it.
    Missing,
    /// A row of a device that there is not, or one too many.
    Alien,
}

impl TagFault {
    /// Every kind, the gravest first.
    pub const ALL: [Self; 3] = [Self::Wrong, Self::Missing, Self::Alien];

    /// The word for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::Missing => "missing",
            Self::Alien => "alien",
        }
    }

    fn place(self) -> usize {
        Self::ALL.iter().position(|&kind| kind == self).unwrap_or(0)
    }
}

/// A device whose tags are not as they should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagExample {
    /// In which way.
    pub fault: TagFault,
    /// Whose.
    pub device: u32,
    /// How, in words, where the fault does not say it.
    pub detail: String,
}

/// What is stored of the tags of devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagAudit {
    /// Where they are, or that the database does not tell.
    pub kept: TagsKept,
    /// Devices that were asked for.
    pub asked: u32,
    /// Devices of which each tag is stored with its value.
    pub right: u32,
    counts: [u64; 3],
    /// The first of each kind, at most five.
    pub examples: Vec<TagExample>,
}

impl Default for TagAudit {
    fn default() -> Self {
        Self { kept: TagsKept::CannotTell, asked: 0, right: 0, counts: [0; 3], examples: Vec::new() }
    }
}

impl TagAudit {
    /// How many devices have this fault; of alien ones how many rows.
    #[must_use]
    pub fn count(&self, fault: TagFault) -> u64 {
        self.counts.get(fault.place()).copied().unwrap_or(0)
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.counts == [0; 3]
    }

    /// A device has it.
    pub fn note(&mut self, fault: TagFault, device: u32, detail: String) {
        if let Some(count) = self.counts.get_mut(fault.place()) {
            *count += 1;
        }
        if self.examples.iter().filter(|example| example.fault == fault).count() < SHOWN {
            self.examples.push(TagExample { fault, device, detail });
        }
    }

    /// Asks for the tags of devices, a page at most, and holds them against these. `sent`: what each sent, where its tags change.
    /// False: the database does not tell.
    pub(super) async fn look(
        &mut self,
        reader: &mut dyn Reader,
        (tags, devices): (&Tags, Range<u32>),
        sent: &mut (dyn FnMut(u32) -> Units + Send),
        patience: Duration,
    ) -> Result<bool, Cut> {
        let mut page = Page::new(tags, devices.clone(), sent);
        let mut take = |device: u32, values: &[Option<&str>]| page.take(device, values);
        let answer = tokio::time::timeout(patience, caught(reader.tags(devices, &mut take))).await;
        let timed_out = || Error::new(Cause::TimedOut, "the tags of devices were not read in time");
        self.kept = answer.unwrap_or_else(|_| Err(timed_out()))?;
        if self.kept != TagsKept::CannotTell {
            page.finish(self);
        }
        Ok(self.kept != TagsKept::CannotTell)
    }

    /// Asks for rows of devices that there are not, where each has one.
    pub(super) async fn look_beyond(
        &mut self,
        reader: &mut dyn Reader,
        devices: u32,
        patience: Duration,
    ) -> Result<(), Cut> {
        let mut take = |device: u32, _: &[Option<&str>]| {
            self.note(TagFault::Alien, device, format!("there are {devices} devices, counted from 0"));
            Ok(())
        };
        let answer = tokio::time::timeout(patience, caught(reader.tags(devices..u32::MAX, &mut take))).await;
        let timed_out = || Error::new(Cause::TimedOut, "the tags of devices were not read in time");
        answer.unwrap_or_else(|_| Err(timed_out()))?;
        Ok(())
    }
}

/// Which units stood in the place of a device, and sent something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Units {
    /// Something of each is stored.
    pub stored: Vec<RangeInclusive<u64>>,
    /// Something of each may be.
    pub maybe: Vec<RangeInclusive<u64>>,
}

impl Units {
    fn contain(&self, unit: u64) -> bool {
        self.stored.iter().chain(&self.maybe).any(|units| units.contains(&unit))
    }

    /// The first of which something is to be stored, and is not among these.
    fn lacking(&self, told: &BTreeSet<u64>) -> Option<u64> {
        self.stored.iter().flat_map(Clone::clone).find(|unit| !told.contains(unit))
    }
}

/// What was told of some consecutive devices.
struct Page<'t> {
    tags: &'t Tags,
    devices: Range<u32>,
    told: Vec<Told>,
}

/// What was told of a device.
#[derive(Clone, Default)]
struct Told {
    rows: u64,
    /// Units that sent something, and those that were told.
    sent: Units,
    units: BTreeSet<u64>,
    /// How the first tag that is wrong differs.
    wrong: Option<String>,
}

impl<'t> Page<'t> {
    fn new(tags: &'t Tags, devices: Range<u32>, sent: &mut (dyn FnMut(u32) -> Units + Send)) -> Self {
        let mut units = |device| if tags.life().is_some() { sent(device) } else { Units::default() };
        let told = devices.clone().map(|device| Told { sent: units(device), ..Told::default() }).collect();
        Self { tags, devices, told }
    }

    fn take(&mut self, device: u32, values: &[Option<&str>]) -> Result<(), Error> {
        let improper = |message| Err(Error::new(Cause::Protocol, message));
        let asked = self.devices.clone();
        let Some(told) = self.told_of(device) else {
            return improper(format!("it told the tags of device {device}, and was asked for those of {asked:?}"));
        };
        told.rows += 1;
        if values.len() != self.tags.len() {
            return improper(format!(
                "it told {} tags of device {device}, which has {}",
                values.len(),
                self.tags.len()
            ));
        }
        let wrong = match self.unit_of(device, values) {
            None => difference(self.tags, device, 0, values),
            Some((unit, index)) => {
                let is_known = self.told_of(device).is_some_and(|told| {
                    told.units.insert(unit);
                    told.sent.contain(unit)
                });
                let alien = || Some(format!("something of its unit {unit} is stored, which sent nothing"));
                difference(self.tags, device, index, values).or_else(|| if is_known { None } else { alien() })
            }
        };
        if let Some(told) = self.told_of(device) {
            told.wrong = told.wrong.take().or(wrong);
        }
        Ok(())
    }

    fn told_of(&mut self, device: u32) -> Option<&mut Told> {
        let place = device.checked_sub(self.devices.start).and_then(|place| usize::try_from(place).ok())?;
        self.told.get_mut(place)
    }

    /// The unit whose serial number stands among these values, and its first datapoint; `None`: they do not change, or none does.
    fn unit_of(&self, device: u32, values: &[Option<&str>]) -> Option<(u64, u64)> {
        self.tags.life()?;
        let serial = self.tags.as_slice().iter().position(|tag| tag.values.life().is_some())?;
        let unit: u64 = values.get(serial).copied().flatten()?.rsplit_once('-')?.1.parse().ok()?;
        Some((unit, self.tags.first_of_unit(device, unit)))
    }

    fn finish(self, audit: &mut TagAudit) {
        let has_each = audit.kept == TagsKept::WithDevices;
        for (device, told) in self.devices.zip(self.told) {
            audit.asked += 1;
            let lacks = told.sent.lacking(&told.units).map(|unit| format!("nothing of its unit {unit} is stored"));
            match (told.wrong.or(lacks), told.rows) {
                (Some(how), _) => audit.note(TagFault::Wrong, device, how),
                (None, 0) if has_each => audit.note(TagFault::Missing, device, String::new()),
                (None, 0) => {}
                (None, 2..) if has_each && self.tags.life().is_none() => {
                    audit.note(TagFault::Alien, device, format!("{} rows instead of one", told.rows));
                }
                (None, _) => audit.right += 1,
            }
        }
    }
}

/// How the first tag of a device that is stored otherwise than it is at one of its datapoints differs.
fn difference(tags: &Tags, device: u32, index: u64, values: &[Option<&str>]) -> Option<String> {
    tags.at(device, index).zip(values).find_map(|((tag, expected), &found)| match found {
        Some(found) if expected.is(found) => None,
        Some(found) => Some(format!("{} is {found:?} instead of {:?}", tag.name, expected.to_string())),
        None => Some(format!("{} is not there, instead of {:?}", tag.name, expected.to_string())),
    })
}

#[cfg(test)]
mod tests;
