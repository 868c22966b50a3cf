//! What is known of a device and never changes: where it stands, what it is, who made it.

mod check;
mod typed;

use check::check_values;
use serde::{Deserialize, Serialize};
use std::{fmt, num::NonZeroU32};
pub use typed::{TagType, TypedTag};

/// The place of a tag in its [`Tags`].
pub type TagId = u16;

/// The most tags of a device.
pub const MAX_TAGS: usize = 32;
/// The longest value, and the longest beginning of one, in bytes.
const MAX_VALUE_BYTES: usize = 48;
/// Names that records use themselves, and the word for every device.
const RESERVED: [&str; 10] =
    ["signal", "v", "number", "nanosecond", "doc", "id", "tags", "db", "iotbench_table", "all"];
/// Of the seed, the number that the draw of what units have behind them begins with.
const UNITS: u64 = u64::MAX - 11;
/// Columns that each table of PostgreSQL has (its documentation, "System Columns").
const SYSTEM_COLUMNS: [&str; 6] = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"];

/// The values of a tag. Which one a device has follows from the seed, the tag and the device alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TagValues {
    /// One of these, by chance.
    OneOf(Vec<String>),
    /// A number below `count`, by chance, after `prefix`.
    Numbered {
        /// What each begins with.
        prefix: String,
        /// How many there are.
        count: u32,
    },
    /// One of the list that stands where the value of an earlier tag stands among its own: a data centre of a region.
    Within {
        /// The earlier tag.
        tag: TagId,
        /// A list for each of its values.
        lists: Vec<Vec<String>>,
    },
    /// As it was recorded.
    Listed {
        /// The values.
        values: Vec<String>,
        /// Which of them each device has, from device 0 on.
        of: Vec<u32>,
    },
    /// The serial number of the unit that stands in the device's place: `prefix`, the device, `-`, and how many stood there
    /// before it. A unit is replaced after so many datapoints, the first one of a device after a part of them; none where it is so many
    /// as 0.
    Serial {
        /// What each begins with.
        prefix: String,
        /// Datapoints of a unit; 0: it is never replaced.
        life: u32,
    },
    /// One of the numbers `from`, `from + step`, …, by chance, each so many units of the last of `decimals` decimal places, as in
    /// 125 with one of them for 12.5.
    Steps {
        /// The least.
        from: i64,
        /// How far it is to the next.
        step: i64,
        /// How many there are.
        count: u32,
        /// Decimal places.
        decimals: u8,
    },
    /// Values of another type than text, each as its canonical text ([`TagType`]).
    Typed {
        /// The type.
        tag_type: TagType,
        /// The values: a list of some kind, or steps.
        values: Box<TagValues>,
    },
}

/// A tag: an attribute of each device, a text or a value of another type, which databases index.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tag {
    /// A name as those of signals.
    pub name: String,
    /// What it can be.
    pub values: TagValues,
}

/// The tags of a dataset's devices, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "WrittenTags", into = "WrittenTags")]
pub struct Tags {
    seed: u64,
    tags: Vec<Tag>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTags {
    seed: u64,
    tags: Vec<Tag>,
}

/// Why a list is none of tags.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TagError {
    /// Too many tags.
    #[error("a device has at most {MAX_TAGS} tags, got {0}")]
    TooMany(usize),
    /// A name that some database would refuse, or that records use themselves.
    #[error("tag name {0:?} is not of the form [a-z][a-z0-9_]*, at most 48 bytes")]
    BadName(String),
    /// A name that records or databases use themselves.
    #[error("tag name {0:?} is reserved: records or databases use it themselves; choose another, such as {0}_1")]
    Reserved(String),
    /// Two tags, or a tag and a signal, of one name.
    #[error("the name {0:?} is used twice, by tags or by a tag and a signal")]
    Duplicate(String),
    /// A value that some database would not take unquoted.
    #[error("tag {tag}: {value:?} is no value: write 1 to {MAX_VALUE_BYTES} letters, digits, `.`, `-` or `_`")]
    BadValue {
        /// The tag's name.
        tag: String,
        /// What was given.
        value: String,
    },
    /// No value at all, too many, or one twice.
    #[error("tag {tag}: {message}")]
    BadValues {
        /// The tag's name.
        tag: String,
        /// What is wrong.
        message: String,
    },
}

impl TagError {
    /// The name of the tag that is at fault, where it is one.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        match self {
            Self::TooMany(_) => None,
            Self::BadName(tag) | Self::Reserved(tag) | Self::Duplicate(tag) => Some(tag),
            Self::BadValue { tag, .. } | Self::BadValues { tag, .. } => Some(tag),
        }
    }
}

/// A value of a tag, as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagValue<'a> {
    text: &'a str,
    rest: Rest,
}

/// What follows the text of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Nothing,
    Number(u32),
    /// A device, and how many units stood in its place before.
    Unit(u32, u64),
    /// So many units of the last of so many decimal places.
    Decimal(i64, u8),
}

impl fmt::Display for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Number(number) => write!(f, "{number}"),
            Self::Unit(device, unit) => write!(f, "{device}-{unit}"),
            Self::Decimal(units, decimals) => typed::write_decimal(*units, *decimals, f),
        }
    }
}

impl<'a> TagValue<'a> {
    /// The same in a type; as text where it is none of that type. Allocates nothing.
    #[must_use]
    pub fn typed(self, tag_type: TagType) -> TypedTag<'a> {
        typed::of(self, tag_type)
    }

    /// Whether it is this text.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        match (text.strip_prefix(self.text), self.rest) {
            (Some(rest), Rest::Nothing) => rest.is_empty(),
            (Some(rest), of_value) => *rest == *of_value.to_string(),
            (None, _) => false,
        }
    }

    /// Appends it.
    pub fn push(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.text.as_bytes());
        // Writing to a Vec cannot fail.
        let _ = std::io::Write::write_fmt(out, format_args!("{}", self.rest));
    }
}

impl fmt::Display for TagValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.text, self.rest)
    }
}

impl Tags {
    /// These tags; `seed` decides which device has which value.
    ///
    /// # Errors
    /// Too many, a name or a value that a database would refuse or that stands there twice, or lists that do not fit the
    /// tag that they are within.
    pub fn new(seed: u64, tags: Vec<Tag>) -> Result<Self, TagError> {
        if tags.len() > MAX_TAGS {
            return Err(TagError::TooMany(tags.len()));
        }
        for (place, tag) in tags.iter().enumerate() {
            let name = tag.name.as_str();
            if !crate::schema::is_signal_name(name) {
                return Err(TagError::BadName(name.into()));
            }
            if crate::schema::is_reserved(name) || RESERVED.contains(&name) || SYSTEM_COLUMNS.contains(&name) {
                return Err(TagError::Reserved(name.into()));
            }
            let before = &tags[..place];
            if before.iter().any(|earlier| earlier.name == tag.name) {
                return Err(TagError::Duplicate(tag.name.clone()));
            }
            check_values(tag, before)?;
            if tag.values.is_serial() && before.iter().any(|earlier| earlier.values.is_serial()) {
                let message = "a device has one serial number: another tag before it is one".into();
                return Err(TagError::BadValues { tag: tag.name.clone(), message });
            }
        }
        // Of none all are the same.
        let seed = if tags.is_empty() { 0 } else { seed };
        Ok(Self { seed, tags })
    }

    /// Whether devices have none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty()
    }

    /// How many each device has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tags.len()
    }

    /// Each, in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Tag] {
        &self.tags
    }

    /// The place of the tag with this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<TagId> {
        self.tags.iter().position(|tag| tag.name == name).and_then(|place| TagId::try_from(place).ok())
    }

    /// How many values a tag has; 0 where there is no such tag.
    #[must_use]
    pub fn choices(&self, tag: TagId) -> u32 {
        self.tags.get(usize::from(tag)).map_or(0, |tag| tag.values.count())
    }

    /// Which of a tag's values a device has, from 0. Allocates nothing.
    #[must_use]
    pub fn choice(&self, tag: TagId, device: u32) -> u32 {
        let Some(of) = self.tags.get(usize::from(tag)) else { return 0 };
        let below = |count: u32| {
            let variate = mixed(mixed(self.seed ^ u64::from(tag)) ^ u64::from(device));
            u32::try_from((u128::from(variate) * u128::from(count)) >> 64).unwrap_or(0)
        };
        match of.values.plain() {
            TagValues::OneOf(list) => below(counted(list.len())),
            TagValues::Numbered { count, .. } | TagValues::Steps { count, .. } => below(*count),
            TagValues::Serial { .. } | TagValues::Typed { .. } => 0,
            TagValues::Listed { of, .. } => {
                usize::try_from(device).ok().and_then(|device| of.get(device)).copied().unwrap_or(0)
            }
            TagValues::Within { tag, lists } => {
                let outer = usize::try_from(self.choice(*tag, device)).unwrap_or(0);
                let before: usize = lists.iter().take(outer).map(Vec::len).sum();
                counted(before) + below(lists.get(outer).map_or(0, |list| counted(list.len())))
            }
        }
    }

    /// A value of a tag by its place among them; `None` where there is none.
    #[must_use]
    pub fn value(&self, tag: TagId, choice: u32) -> Option<TagValue<'_>> {
        let of = self.tags.get(usize::from(tag))?;
        let place = usize::try_from(choice).ok()?;
        match of.values.plain() {
            TagValues::OneOf(list) | TagValues::Listed { values: list, .. } => {
                list.get(place).map(|text| TagValue { text, rest: Rest::Nothing })
            }
            TagValues::Numbered { prefix, count } => {
                (choice < *count).then_some(TagValue { text: prefix, rest: Rest::Number(choice) })
            }
            TagValues::Within { lists, .. } => {
                lists.iter().flatten().nth(place).map(|text| TagValue { text, rest: Rest::Nothing })
            }
            &TagValues::Steps { from, step, count, decimals } => {
                let units = from.saturating_add(step.saturating_mul(choice.into()));
                (choice < count).then_some(TagValue { text: "", rest: Rest::Decimal(units, decimals) })
            }
            // They are no choice, and have no end.
            TagValues::Serial { .. } | TagValues::Typed { .. } => None,
        }
    }

    /// The tags of a device with its values, in order, as they are at its first datapoint. Allocates nothing.
    pub fn of(&self, device: u32) -> impl Iterator<Item = (&Tag, TagValue<'_>)> {
        self.at(device, 0)
    }

    /// The tags of a device with its values, in order, as they are at one of its datapoints. Allocates nothing.
    pub fn at(&self, device: u32, index: u64) -> impl Iterator<Item = (&Tag, TagValue<'_>)> {
        (0..).zip(&self.tags).filter_map(move |(id, tag)| {
            let value = match &tag.values {
                TagValues::Serial { prefix, .. } => {
                    TagValue { text: prefix, rest: Rest::Unit(device, self.unit(device, index)) }
                }
                _ => self.value(id, self.choice(id, device))?,
            };
            Some((tag, value))
        })
    }

    /// Datapoints of a unit, where a device is replaced from time to time.
    #[must_use]
    pub fn life(&self) -> Option<NonZeroU32> {
        self.tags.iter().find_map(|tag| tag.values.life())
    }

    /// How many units stood in the place of a device before the one that sends this datapoint.
    #[must_use]
    pub fn unit(&self, device: u32, index: u64) -> u64 {
        self.life().map_or(0, |life| index.saturating_add(self.lived(device, life)) / u64::from(life.get()))
    }

    /// The first datapoint of the unit after the one that sends this one; none has it where nothing is replaced.
    #[must_use]
    pub fn next_unit(&self, device: u32, index: u64) -> u64 {
        match self.life() {
            Some(_) => self.first_of_unit(device, self.unit(device, index).saturating_add(1)),
            None => u64::MAX,
        }
    }

    /// The first datapoint that a unit of a device could send.
    #[must_use]
    pub fn first_of_unit(&self, device: u32, unit: u64) -> u64 {
        let Some(life) = self.life() else { return 0 };
        unit.saturating_mul(life.get().into()).saturating_sub(self.lived(device, life))
    }

    /// How many datapoints of its life the first unit of a device has behind it.
    fn lived(&self, device: u32, life: NonZeroU32) -> u64 {
        mixed(mixed(self.seed ^ UNITS) ^ u64::from(device)) % u64::from(life.get())
    }

    /// The value of a tag that a device has, as the number that it reads as; `None` where it reads as none.
    #[must_use]
    pub fn number(&self, tag: TagId, device: u32) -> Option<f64> {
        let number = self.value(tag, self.choice(tag, device))?.to_string().parse::<f64>().ok()?;
        number.is_finite().then_some(number)
    }

    /// The place of a value among those of its tag.
    #[must_use]
    pub fn choice_of(&self, tag: TagId, text: &str) -> Option<u32> {
        let of = self.tags.get(usize::from(tag))?;
        match of.values.plain() {
            TagValues::OneOf(list) | TagValues::Listed { values: list, .. } => {
                list.iter().position(|value| value == text).map(counted)
            }
            TagValues::Within { lists, .. } => lists.iter().flatten().position(|value| value == text).map(counted),
            TagValues::Numbered { prefix, count } => {
                let digits = text.strip_prefix(prefix.as_str())?;
                let number = digits.parse().ok().filter(|number| number < count)?;
                // Neither `+7` nor `07`.
                (u32::to_string(&number) == digits).then_some(number)
            }
            &TagValues::Steps { from, step, decimals, .. } => {
                let above = typed::units_of(text, decimals)?.checked_sub(from)?;
                let choice = u32::try_from(above.checked_div(step)?).ok()?;
                self.value(tag, choice).filter(|value| value.is(text)).map(|_| choice)
            }
            TagValues::Serial { .. } | TagValues::Typed { .. } => None,
        }
    }
}

impl TagValues {
    /// The type that a database with such columns stores them in.
    #[must_use]
    pub fn tag_type(&self) -> TagType {
        if let Self::Typed { tag_type, .. } = self { *tag_type } else { TagType::Text }
    }

    /// The same as texts.
    fn plain(&self) -> &Self {
        if let Self::Typed { values, .. } = self { values } else { self }
    }

    /// How many there are.
    fn count(&self) -> u32 {
        match self.plain() {
            Self::OneOf(list) | Self::Listed { values: list, .. } => counted(list.len()),
            Self::Numbered { count, .. } | Self::Steps { count, .. } => *count,
            Self::Within { lists, .. } => counted(lists.iter().map(Vec::len).sum()),
            Self::Serial { .. } | Self::Typed { .. } => 0,
        }
    }

    /// Whether they are serial numbers, by which nobody is asked for.
    #[must_use]
    pub fn is_serial(&self) -> bool {
        matches!(self, Self::Serial { .. })
    }

    /// Datapoints of a unit, of a serial number of units that are replaced.
    #[must_use]
    pub fn life(&self) -> Option<NonZeroU32> {
        if let Self::Serial { life, .. } = self { NonZeroU32::new(*life) } else { None }
    }
}

/// At most as many as a tag may have, which [`Tags::new`] holds.
fn counted(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// A bijection of 64 bits whose outputs look independent: the finaliser of `SplitMix64` (Steele, Lea, Flood 2014).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl TryFrom<WrittenTags> for Tags {
    type Error = TagError;
    fn try_from(written: WrittenTags) -> Result<Self, TagError> {
        Self::new(written.seed, written.tags)
    }
}

impl From<Tags> for WrittenTags {
    fn from(tags: Tags) -> Self {
        Self { seed: tags.seed, tags: tags.tags }
    }
}

#[cfg(test)]
mod tests;
