//! The devices of each value of a tag: found once, four bytes a device and tag that is asked by, however many values there are.

use iotbench_core::{Devices, TagId, Tagged, Tags};
use std::collections::BTreeMap;

/// The devices of the tags that are asked by.
#[derive(Clone, Debug, Default)]
pub struct TagGroups {
    tags: Tags,
    /// Of each tag all devices: those of one value together, ascending.
    devices: BTreeMap<TagId, Vec<u32>>,
}

impl TagGroups {
    /// Of the first so many devices, by these tags.
    #[must_use]
    pub fn new(tags: &Tags, devices: u32, asked_by: impl IntoIterator<Item = TagId>) -> Self {
        let mut groups = BTreeMap::new();
        for tag in asked_by {
            groups.entry(tag).or_insert_with(|| {
                let mut sorted: Vec<u32> = (0..devices).collect();
                // Stable: those of one value stay ascending.
                sorted.sort_by_cached_key(|&device| tags.choice(tag, device));
                sorted
            });
        }
        Self { tags: tags.clone(), devices: groups }
    }

    /// Those that have the same value of a tag as this one, itself among them.
    #[must_use]
    pub fn like(&self, tag: TagId, device: u32) -> Devices {
        let choice = self.tags.choice(tag, device);
        let all = self.devices.get(&tag).map_or(&[][..], Vec::as_slice);
        let first = all.partition_point(|&other| self.tags.choice(tag, other) < choice);
        let alike = all[first..].partition_point(|&other| self.tags.choice(tag, other) == choice);
        Devices::Tagged(Tagged { tag, choice, devices: all[first..first + alike].to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Tag, TagType, TagValues};

    #[test]
    fn those_of_a_value_are_found_among_few_and_among_many_values() {
        let numbered =
            |name: &str, count| Tag { name: name.into(), values: TagValues::Numbered { prefix: String::new(), count } };
        let steps = Box::new(TagValues::Steps { from: 5, step: 25, count: 1_000_000, decimals: 2 });
        let load = Tag { name: "load".into(), values: TagValues::Typed { tag_type: TagType::Number, values: steps } };
        let tags = Tags::new(5, vec![numbered("site", 3), numbered("rack", 1_000_000), load]).unwrap();
        let groups = TagGroups::new(&tags, 400, [1, 0, 1, 2]);
        for (tag, device) in [(0, 0), (0, 399), (1, 7), (1, 200), (2, 9)] {
            let choice = tags.choice(tag, device);
            let devices = (0..400).filter(|&other| tags.choice(tag, other) == choice).collect();
            assert_eq!(groups.like(tag, device), Devices::Tagged(Tagged { tag, choice, devices }));
        }
        assert!(groups.devices.values().all(|all| all.len() == 400 && all.capacity() == 400), "four bytes a device");
    }
}
