//! What a recording says of its devices beside their names: tags that stay the same, as those of a dataset.

use super::{devices::Devices, signals::signal_name};
use iotbench_core::{Schema, Tag, TagValues, Tags};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What becomes of the tags of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedTags {
    /// Those that each device has and that stay the same are kept; others are left out, and it is said which and why.
    #[default]
    Keep,
    /// The same, but a tag that changes on a device is refused with file and line.
    Strict,
    /// They are left out.
    LeaveOut,
}

/// The tags of a recording, and what is left out of them and why.
#[derive(Debug, Default)]
pub struct Recorded {
    /// Those that are kept.
    pub tags: Vec<Tag>,
    /// What is left out, in words.
    pub left_out: Vec<String>,
}

impl Recorded {
    /// The tags of these devices, by their places among those that the file names. Those that no database takes as they are, by
    /// name or value, are left out too.
    pub fn of(devices: &Devices, places: &[usize], schema: &Schema) -> Self {
        let of_device = |place: usize| -> HashMap<&str, &str> {
            devices.tags_of(place).iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
        };
        let of_each: Vec<_> = places.iter().map(|&place| of_device(place)).collect();
        let keys: BTreeSet<&str> = of_each.iter().flat_map(|tags| tags.keys().copied()).collect();
        let mut recorded = Self::default();
        for key in keys {
            match tag(key, devices, places, &of_each) {
                Ok(tag) => recorded.add(key, tag, schema),
                Err(why) => recorded.left_out.push(format!("{key} ({why})")),
            }
        }
        recorded
    }

    /// Adds a tag, if it goes with the others and with the signals.
    fn add(&mut self, key: &str, tag: Tag, schema: &Schema) {
        self.tags.push(tag);
        let together = Tags::new(0, self.tags.clone()).map_err(|error| error.to_string());
        let fits = together.and_then(|tags| schema.clone().with_tags(tags).map_err(|error| error.to_string()));
        if let Err(why) = fits {
            self.tags.pop();
            self.left_out.push(format!("{key} ({why})"));
        }
    }
}

fn tag(key: &str, devices: &Devices, places: &[usize], of_each: &[HashMap<&str, &str>]) -> Result<Tag, String> {
    if let Some(how) = devices.changed(key) {
        return Err(how.into());
    }
    let (mut values, mut choices, mut of) = (Vec::new(), BTreeMap::new(), Vec::with_capacity(places.len()));
    for (tags, &place) in of_each.iter().zip(places) {
        let Some(&value) = tags.get(key) else {
            let name = devices.names().get(place).map_or("", String::as_str);
            return Err(format!("device {name} has none"));
        };
        let next = u32::try_from(values.len()).unwrap_or(u32::MAX);
        let choice = *choices.entry(value).or_insert(next);
        if choice == next {
            values.push(value.to_owned());
        }
        of.push(choice);
    }
    Ok(Tag { name: signal_name(key), values: TagValues::Listed { values, of } })
}
