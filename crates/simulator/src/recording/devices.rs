//! Who sent a row: devices by the names that a file gives them, in the order in which it names them first.

use super::{error::Fault, stop::Stop};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What a device costs beside its name and its datapoints.
const DEVICE_BYTES: u64 = 256;

/// The devices that a file has named so far.
#[derive(Debug)]
pub struct Devices {
    names: Vec<String>,
    places: HashMap<String, u32>,
    /// Who a line's beginning stands for, so that its tags are read once; `None`: nobody who is asked about.
    heads: HashMap<Box<[u8]>, Option<u32>>,
    tag: String,
    /// Of each device the tags that do not name it, by the beginning that it was met with first.
    tags: Vec<Vec<(String, String)>>,
    /// Tags that change on a device, and how the first one does.
    changed: BTreeMap<String, String>,
    taken_bytes: u64,
    limit_bytes: u64,
}

/// More devices than may be held: what they take in memory.
#[derive(Debug)]
pub struct TooMany {
    /// In bytes.
    pub taken_bytes: u64,
}

impl Devices {
    /// No device yet. `tag` is the tag that names a device; empty: all tags together do.
    pub fn new(tag: &str, limit_bytes: u64) -> Self {
        let (names, places, heads) = (Vec::new(), HashMap::new(), HashMap::new());
        let (tags, changed) = (Vec::new(), BTreeMap::new());
        Self { names, places, heads, tag: tag.into(), tags, changed, taken_bytes: 0, limit_bytes }
    }

    /// Their names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What they take in memory.
    pub fn taken_bytes(&self) -> u64 {
        self.taken_bytes
    }

    /// The device of this name.
    ///
    /// # Errors
    /// More are named than may be held.
    pub fn named(&mut self, name: &str) -> Result<u32, TooMany> {
        if let Some(&device) = self.places.get(name) {
            return Ok(device);
        }
        self.take(2 * name.len())?;
        let device = u32::try_from(self.names.len()).map_err(|_| TooMany { taken_bytes: self.taken_bytes })?;
        self.names.push(name.into());
        self.places.insert(name.into(), device);
        Ok(device)
    }

    /// The tags of a device that do not name it.
    pub fn tags_of(&self, device: usize) -> &[(String, String)] {
        self.tags.get(device).map_or(&[], Vec::as_slice)
    }

    /// How a tag changes on a device, where it does.
    pub fn changed(&self, tag: &str) -> Option<&str> {
        self.changed.get(tag).map(String::as_str)
    }

    /// The first tag that changes on a device, and how.
    pub fn first_changed(&self) -> Option<(&str, &str)> {
        self.changed.iter().next().map(|(tag, how)| (tag.as_str(), how.as_str()))
    }

    /// The device that these tags stand for, which are those of the line of this number.
    ///
    /// # Errors
    /// What is wrong with them, or more devices than may be held.
    pub fn of_tags(&mut self, mut tags: Vec<(String, String)>, line: u64) -> Result<u32, Stop> {
        let name = self.name_of(&mut tags).map_err(Fault::line)?;
        let is_named_by_one = tags.len() == 1;
        tags.retain(|(key, _)| !is_named_by_one && *key != self.tag);
        self.with_tags(&name, tags, ("line", line))
    }

    /// The device of this name, of which this place of the file, as in line 3, says these tags.
    ///
    /// # Errors
    /// More are named than may be held.
    pub fn with_tags(
        &mut self,
        name: &str,
        tags: Vec<(String, String)>,
        (place_is, at): (&str, u64),
    ) -> Result<u32, Stop> {
        let device = self.named(name)?;
        let place = device as usize;
        let Some(before) = self.tags.get(place) else {
            self.take(tags.iter().map(|(key, value)| key.len() + value.len() + 48).sum())?;
            self.tags.resize_with(place, Vec::new);
            self.tags.push(tags);
            return Ok(device);
        };
        let value = |of: &[(String, String)], key: &str| {
            of.iter().find(|(name, _)| name == key).map_or("nothing".to_owned(), |(_, value)| format!("{value:?}"))
        };
        let keys: BTreeSet<&str> = before.iter().chain(&tags).map(|(key, _)| key.as_str()).collect();
        for key in keys {
            let (was, is) = (value(before, key), value(&tags, key));
            if was != is && !self.changed.contains_key(key) {
                let how = format!("of device {name} it is {was}, and {is} in {place_is} {at}");
                self.changed.insert(key.to_owned(), how);
            }
        }
        Ok(device)
    }

    /// Who the beginning of a line stands for, if it was met before.
    pub fn known(&self, head: &[u8]) -> Option<Option<u32>> {
        self.heads.get(head).copied()
    }

    /// Keeps who the beginning of a line stands for.
    ///
    /// # Errors
    /// More are named than may be held.
    pub fn keep(&mut self, head: &[u8], device: Option<u32>) -> Result<(), TooMany> {
        self.take(head.len())?;
        self.heads.insert(head.into(), device);
        Ok(())
    }

    /// A device's name by its tags: the value of the one that names it, of the only one, or all of them in order.
    ///
    /// # Errors
    /// What is wrong with them.
    fn name_of(&self, tags: &mut Vec<(String, String)>) -> Result<String, String> {
        tags.retain(|(_, value)| !value.is_empty());
        if !self.tag.is_empty() {
            let tag = tags.iter().find(|(key, _)| *key == self.tag);
            return tag.map(|(_, value)| value.clone()).ok_or_else(|| format!("has no tag {}", self.tag));
        }
        if let [(_, value)] = tags.as_slice() {
            return Ok(value.clone());
        }
        tags.sort_unstable();
        Ok(tags.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(","))
    }

    fn take(&mut self, bytes: usize) -> Result<(), TooMany> {
        self.taken_bytes += DEVICE_BYTES + bytes as u64;
        if self.taken_bytes > self.limit_bytes { Err(TooMany { taken_bytes: self.taken_bytes }) } else { Ok(()) }
    }
}
