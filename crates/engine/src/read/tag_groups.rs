//! The devices of each value of a tag: found once, four bytes a device and tag that is asked by.

use iotbench_core::{Devices, TagId, Tagged, Tags};
use std::collections::BTreeMap;

/// The devices of the tags that are asked by.
#[derive(Clone, Debug, Default)]
pub struct TagGroups {
    tags: Tags,
    /// By tag and value, ascending.
    devices: BTreeMap<(TagId, u32), Vec<u32>>,
}

impl TagGroups {
    /// Of the first so many devices, by these tags.
    #[must_use]
    pub fn new(tags: &Tags, devices: u32, asked_by: impl IntoIterator<Item = TagId>) -> Self {
        let mut groups = BTreeMap::<_, Vec<u32>>::new();
        let mut asked_by: Vec<_> = asked_by.into_iter().collect();
        asked_by.sort_unstable();
        asked_by.dedup();
        for tag in asked_by {
            for device in 0..devices {
                groups.entry((tag, tags.choice(tag, device))).or_default().push(device);
            }
        }
        Self { tags: tags.clone(), devices: groups }
    }

    /// Those that have the same value of a tag as this one, itself among them.
    #[must_use]
    pub fn like(&self, tag: TagId, device: u32) -> Devices {
        let choice = self.tags.choice(tag, device);
        let devices = self.devices.get(&(tag, choice)).cloned().unwrap_or_default();
        Devices::Tagged(Tagged { tag, choice, devices })
    }
}
