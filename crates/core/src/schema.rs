//! What a datapoint consists of.

use crate::{TagError, Tags};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The type of one signal's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueType {
    /// 32-bit IEEE 754 number; always finite.
    F32,
    /// 64-bit IEEE 754 number; always finite.
    F64,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 16-bit integer, as an analogue-digital converter delivers it.
    U16,
    /// UTF-8 text.
    Text,
}

impl ValueType {
    /// Every type, for tests and tables.
    pub const ALL: [Self; 5] = [Self::F32, Self::F64, Self::I64, Self::U16, Self::Text];

    /// True for all types but text.
    #[must_use]
    pub fn is_number(self) -> bool {
        self != Self::Text
    }
}

/// The place of a signal in its [`Schema`].
pub type SignalId = u16;

/// One signal of a device: a name and a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// A name of `[a-z][a-z0-9_]*`, at most 48 bytes, that any database takes unquoted.
    pub name: String,
    /// The type of its values.
    pub value_type: ValueType,
    /// The longest text in bytes; 0 for numbers.
    #[serde(default)]
    pub max_text_bytes: u32,
}

/// The signals of a dataset, in order, of which every datapoint has a value, and the tags of its devices. The last of its signals may be
/// added while datapoints are written: those before lack them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "WrittenSchema", into = "WrittenSchema")]
pub struct Schema {
    signals: Vec<Signal>,
    tags: Tags,
    added: usize,
}

/// A list of signals alone where devices have no tags and no signal is added.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a schema is a list of signals, or one of signals and one of tags")]
enum WrittenSchema {
    Signals(Vec<Signal>),
    Tagged {
        signals: Vec<Signal>,
        #[serde(default)]
        tags: Tags,
        #[serde(default, skip_serializing_if = "is_none")]
        added: usize,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_none(added: &usize) -> bool {
    *added == 0
}

/// Why a list of signals is no schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// There is no signal.
    #[error("a schema needs at least one signal")]
    Empty,
    /// More signals than a [`SignalId`] can count.
    #[error("a schema takes at most {max} signals, got {got}")]
    TooMany {
        /// The limit.
        max: usize,
        /// What was given.
        got: usize,
    },
    /// A name that some database would refuse.
    #[error("signal name {0:?} is not of the form [a-z][a-z0-9_]*, at most 48 bytes")]
    BadName(String),
    /// A name that records use themselves.
    #[error("signal name {0:?} is reserved: a layout has a column of this name itself; choose another, such as {0}_1")]
    Reserved(String),
    /// Two signals of one name.
    #[error("signal name {0:?} is used twice")]
    Duplicate(String),
    /// As many signals are added as there are, or more.
    #[error("of {signals} signals at most {} can be added: datapoints have one from the beginning", signals - 1)]
    Added {
        /// How many there are.
        signals: usize,
    },
    /// Tags that do not go with the signals.
    #[error(transparent)]
    Tags(#[from] TagError),
}

/// Column names that the layouts use themselves.
const RESERVED: [&str; 10] =
    ["time", "ts", "device", "second", "ns", "value", "measurement", "measurements", "size", "m"];
const MAX_SIGNALS: usize = 10_000;

impl Schema {
    /// A schema of these signals.
    ///
    /// # Errors
    /// No signal, too many, a name that a database would refuse, or a name used twice.
    pub fn new(signals: Vec<Signal>) -> Result<Self, SchemaError> {
        if signals.is_empty() {
            return Err(SchemaError::Empty);
        }
        if signals.len() > MAX_SIGNALS {
            return Err(SchemaError::TooMany { max: MAX_SIGNALS, got: signals.len() });
        }
        let mut names = HashSet::with_capacity(signals.len());
        for signal in &signals {
            if !is_signal_name(&signal.name) {
                return Err(SchemaError::BadName(signal.name.clone()));
            }
            if is_reserved(&signal.name) {
                return Err(SchemaError::Reserved(signal.name.clone()));
            }
            if !names.insert(signal.name.as_str()) {
                return Err(SchemaError::Duplicate(signal.name.clone()));
            }
        }
        Ok(Self { signals, tags: Tags::default(), added: 0 })
    }

    /// The same, the last so many signals of which are added while datapoints are written.
    ///
    /// # Errors
    /// None would be left that is there from the beginning.
    pub fn with_added(self, added: usize) -> Result<Self, SchemaError> {
        let signals = self.signals.len();
        if added < signals { Ok(Self { added, ..self }) } else { Err(SchemaError::Added { signals }) }
    }

    /// How many of the last signals are added while datapoints are written.
    #[must_use]
    pub fn added(&self) -> usize {
        self.added
    }

    /// The signals that are there from the beginning, of which a table is created.
    #[must_use]
    pub fn first_signals(&self) -> &[Signal] {
        self.signals.get(..self.signals.len() - self.added).unwrap_or_default()
    }

    /// The same without those that are added.
    #[must_use]
    pub fn before_addition(&self) -> Self {
        Self { signals: self.first_signals().to_vec(), tags: self.tags.clone(), added: 0 }
    }

    /// The signals that are added.
    #[must_use]
    pub fn added_signals(&self) -> &[Signal] {
        self.signals.get(self.signals.len() - self.added..).unwrap_or_default()
    }

    /// The same signals, of devices with these tags.
    ///
    /// # Errors
    /// A tag has the name of a signal.
    pub fn with_tags(self, tags: Tags) -> Result<Self, SchemaError> {
        match tags.as_slice().iter().find(|tag| self.find(&tag.name).is_some()) {
            Some(tag) => Err(TagError::Duplicate(tag.name.clone()).into()),
            None => Ok(Self { tags, ..self }),
        }
    }

    /// The tags of its devices.
    #[must_use]
    pub fn tags(&self) -> &Tags {
        &self.tags
    }

    /// The signals in order.
    #[must_use]
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// How many values a datapoint has.
    #[must_use]
    pub fn width(&self) -> usize {
        self.signals.len()
    }

    /// The one type that all signals share, if they do.
    #[must_use]
    pub fn uniform_type(&self) -> Option<ValueType> {
        let first = self.signals.first()?.value_type;
        self.signals.iter().all(|s| s.value_type == first).then_some(first)
    }

    /// The place of the signal with this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<SignalId> {
        self.signals.iter().position(|s| s.name == name).and_then(|i| SignalId::try_from(i).ok())
    }
}

impl TryFrom<WrittenSchema> for Schema {
    type Error = SchemaError;
    fn try_from(written: WrittenSchema) -> Result<Self, SchemaError> {
        match written {
            WrittenSchema::Signals(signals) => Self::new(signals),
            WrittenSchema::Tagged { signals, tags, added } => Self::new(signals)?.with_tags(tags)?.with_added(added),
        }
    }
}

impl From<Schema> for WrittenSchema {
    fn from(Schema { signals, tags, added }: Schema) -> Self {
        if tags.is_empty() && added == 0 { Self::Signals(signals) } else { Self::Tagged { signals, tags, added } }
    }
}

pub(crate) fn is_signal_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_lowercase())
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && name.len() <= 48
}

/// Whether the layouts use it themselves.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(name: &str) -> Signal {
        Signal { name: name.into(), value_type: ValueType::F64, max_text_bytes: 0 }
    }

    #[test]
    fn names_that_need_quoting_are_refused() {
        for bad in ["", "1a", "A", "a b", "a;--", "a\"", "ä"] {
            assert_eq!(Schema::new(vec![signal(bad)]), Err(SchemaError::BadName(bad.into())));
        }
        for reserved in RESERVED {
            let error = Schema::new(vec![signal(reserved)]).unwrap_err();
            assert_eq!(error, SchemaError::Reserved(reserved.into()));
            let told = error.to_string();
            assert!(told.contains("is reserved") && !told.contains("of the form"), "{told}");
        }
        assert!(Schema::new(vec![signal("x_1")]).is_ok());
    }

    #[test]
    fn duplicates_and_emptiness_are_refused() {
        assert_eq!(Schema::new(vec![]), Err(SchemaError::Empty));
        assert_eq!(Schema::new(vec![signal("a"), signal("a")]), Err(SchemaError::Duplicate("a".into())));
    }

    #[test]
    fn tags_go_with_signals_of_other_names_and_survive_serialisation() {
        let tags = |name: &str| {
            let values = crate::TagValues::OneOf(vec!["x".into()]);
            Tags::new(3, vec![crate::Tag { name: name.into(), values }]).unwrap()
        };
        let schema = || Schema::new(vec![signal("a"), signal("b")]).unwrap();
        let error = schema().with_tags(tags("b")).unwrap_err();
        assert_eq!(error, SchemaError::Tags(TagError::Duplicate("b".into())));
        let tagged = schema().with_tags(tags("site")).unwrap();
        for schema in [schema(), tagged] {
            let text = serde_json::to_string(&schema).unwrap();
            assert_eq!(serde_json::from_str::<Schema>(&text).unwrap(), schema, "{text}");
        }
    }

    #[test]
    fn the_last_signals_may_be_added_and_the_first_may_not() {
        let schema = || Schema::new(vec![signal("a"), signal("b"), signal("c")]).unwrap();
        let added = schema().with_added(2).unwrap();
        let names = |signals: &[Signal]| signals.iter().map(|signal| signal.name.clone()).collect::<Vec<_>>();
        assert_eq!(
            (names(added.first_signals()), names(added.added_signals())),
            (names(&[signal("a")]), names(&[signal("b"), signal("c")]))
        );
        assert_eq!(added.before_addition(), Schema::new(vec![signal("a")]).unwrap());
        assert_eq!((schema().first_signals().len(), schema().added_signals().len()), (3, 0));
        assert_eq!(schema().with_added(3), Err(SchemaError::Added { signals: 3 }));
        let text = serde_json::to_string(&added).unwrap();
        assert_eq!(serde_json::from_str::<Schema>(&text).unwrap(), added, "{text}");
        assert!(serde_json::from_str::<Schema>(&text.replace("\"added\":2", "\"added\":3")).is_err());
    }

    #[test]
    fn a_mixed_schema_has_no_uniform_type() {
        let mut text = signal("b");
        text.value_type = ValueType::Text;
        let mixed = Schema::new(vec![signal("a"), text]).unwrap();
        assert_eq!(mixed.uniform_type(), None);
        assert_eq!(Schema::new(vec![signal("a"), signal("b")]).unwrap().uniform_type(), Some(ValueType::F64));
    }
}
