//! What the figures of devices come to together.

use crate::{Aggregate, BucketWidth, Predicate, TagId, Tags};
use serde::{Deserialize, Serialize};

/// What is made of the figures of devices, or of their time buckets: each gives items, and these come together by device or by the values
/// of tags. A row a group that has an item of the figure, by group, then time: as the device the device, or the place of the group
/// ([`Rollup::group`]); the beginning of the stretch of `every`, 0 without one; an F64 column, of [`Items::Values`] two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rollup {
    /// What comes together.
    pub items: Items,
    /// By the values of these tags; none: by device.
    pub by: Vec<TagId>,
    /// And by the stretch of this length in which an item begins.
    pub every: Option<BucketWidth>,
    /// Which figure of the items: not the first, not the last, no percentile; of [`Items::Values`] the mean.
    pub figure: Aggregate,
}

/// What a device gives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Items {
    /// Its figure over all of the time, of one signal and one aggregate.
    Figures {
        /// As so many times the number that is its value of this tag.
        per: Option<TagId>,
    },
    /// How many of its time buckets meet a condition, where one does: of one signal and one aggregate.
    Counts {
        /// The condition on the figure.
        predicate: Predicate,
        /// A number for each stretch of this length in which buckets begin; `None`: one for all of the time.
        each: Option<BucketWidth>,
    },
    /// Each stretch of its time buckets, of those that hold a value one after the other, that meet a condition after one that does not:
    /// for how many seconds, from the beginning of the first to that of the next that does not. One that has not ended is counted, and is
    /// in no other figure.
    Runs {
        /// The condition on the figure.
        predicate: Predicate,
    },
    /// All its values, of which the figures are the sum and the count: their mean, and beside it that of the numbers that are the devices'
    /// values of a tag, each as often as its device has values.
    Values {
        /// The tag.
        beside: TagId,
    },
}

impl Rollup {
    /// The place of a device's group: the device, or of values of tags the one after the other, those of the last tag next to each other.
    /// `None` where the tags have more values than places.
    #[must_use]
    pub fn group(&self, tags: &Tags, device: u32) -> Option<u32> {
        if self.by.is_empty() {
            return Some(device);
        }
        self.by
            .iter()
            .try_fold(0_u32, |place, &tag| place.checked_mul(tags.choices(tag))?.checked_add(tags.choice(tag, device)))
    }

    /// The tags that it goes by.
    pub fn tags(&self) -> impl Iterator<Item = TagId> + '_ {
        let of_items = match self.items {
            Items::Figures { per } => per,
            Items::Values { beside } => Some(beside),
            Items::Counts { .. } | Items::Runs { .. } => None,
        };
        self.by.iter().copied().chain(of_items)
    }

    /// How many columns its rows have.
    #[must_use]
    pub fn columns(&self) -> usize {
        if matches!(self.items, Items::Values { .. }) { 2 } else { 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Tag, TagValues};

    #[test]
    fn groups_are_numbered_by_the_values_of_tags() {
        let one_of = |name: &str, values: &[&str]| Tag {
            name: name.into(),
            values: TagValues::OneOf(values.iter().map(|&value| value.into()).collect()),
        };
        let many = |name: &str| Tag {
            name: name.into(),
            values: TagValues::Numbered { prefix: String::new(), count: 10_000_000 },
        };
        let tags = vec![one_of("site", &["a", "b"]), one_of("model", &["x", "y", "z"]), many("serial"), many("part")];
        let tags = Tags::new(3, tags).unwrap();
        let by = |by: &[TagId]| Rollup {
            items: Items::Figures { per: Some(0) },
            by: by.to_vec(),
            every: None,
            figure: Aggregate::Mean,
        };
        assert_eq!(by(&[]).group(&tags, 17), Some(17));
        for device in 0..50 {
            let expected = tags.choice(0, device) * 3 + tags.choice(1, device);
            assert_eq!(by(&[0, 1]).group(&tags, device), Some(expected));
        }
        assert!((0..50).any(|device| by(&[2, 3]).group(&tags, device).is_none()), "there are too many");
        assert_eq!(by(&[2, 1]).tags().collect::<Vec<_>>(), [2, 1, 0]);
    }
}
