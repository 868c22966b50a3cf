//! What datapoints are put together by where figures over them are asked for, and how a database's name of a group is read.

use crate::{ask::What, total::known};
use iotbench_core::{Cause, Error, TagId, Tags};

/// What the datapoints of a figure have in common, beside the bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupedBy {
    /// The device.
    Device,
    /// Nothing: all are one group.
    Nothing,
    /// The value of a tag of their devices.
    Tag(TagId),
}

impl GroupedBy {
    /// That of what is asked for.
    #[must_use]
    pub fn of(what: What<'_>) -> Self {
        match what {
            What::TotalBuckets(..) => Self::Nothing,
            What::ByTag(tag, ..) => Self::Tag(tag),
            What::Datapoints
            | What::FirstOfEach
            | What::Greatest
            | What::Figures(_)
            | What::Buckets(..)
            | What::Top(_)
            | What::Consecutive(_)
            | What::Count => Self::Device,
        }
    }

    /// The name of the tag, where it is one.
    ///
    /// # Errors
    /// Client where the table has no such tag.
    pub fn tag(self, tags: &Tags) -> Result<Option<&str>, Error> {
        match self {
            Self::Tag(tag) => known(tags, tag).map(|tag| Some(tag.name.as_str())),
            Self::Device | Self::Nothing => Ok(None),
        }
    }
}

/// The place of a value among those of its tag.
///
/// # Errors
/// Protocol for a text that is none of them, and for none at all.
pub fn place_of(tags: &Tags, tag: TagId, value: Option<&str>) -> Result<u32, Error> {
    let place = value.and_then(|value| tags.choice_of(tag, value));
    place.ok_or_else(|| {
        let name = known(tags, tag).map_or("?", |tag| &tag.name);
        let shown = value.map_or("nothing".into(), |value| format!("{value:?}"));
        Error::new(Cause::Protocol, format!("{shown} is no value of tag {name}: the answer is not of what was written"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Aggregate, BucketWidth, Tag, TagValues};

    #[test]
    fn a_group_is_named_by_the_value_of_the_tag() {
        let values = TagValues::OneOf(["x", "y"].map(Into::into).to_vec());
        let tags = Tags::new(0, vec![Tag { name: "site".into(), values }]).unwrap();
        let by = |what| GroupedBy::of(what).tag(&tags).map_err(|error| error.cause);
        let figures = &[Aggregate::Mean];
        assert_eq!(by(What::ByTag(0, figures, None)), Ok(Some("site")));
        assert_eq!(by(What::ByTag(1, figures, None)), Err(Cause::Client));
        assert_eq!(by(What::Figures(figures)), Ok(None));
        assert_eq!(GroupedBy::of(What::TotalBuckets(figures, BucketWidth::SECOND)), GroupedBy::Nothing);
        assert_eq!(place_of(&tags, 0, Some("y")).unwrap(), 1);
        for value in [None, Some("z"), Some("")] {
            let error = place_of(&tags, 0, value).unwrap_err();
            assert!(error.cause == Cause::Protocol && error.to_string().contains("no value of tag site"), "{error}");
        }
    }
}
