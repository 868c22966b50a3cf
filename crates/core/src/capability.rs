//! What a database can hold and do, as data.

use crate::{Layout, Schema, ValueType};
use serde::{Deserialize, Serialize};

/// The finest time a database stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeUnit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
}

impl TimeUnit {
    /// The unit in nanoseconds.
    #[must_use]
    pub fn ns(self) -> i64 {
        match self {
            Self::Ns => 1,
            Self::Us => 1_000,
            Self::Ms => 1_000_000,
        }
    }
}

/// What happens to a second datapoint of the same device and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplicates {
    /// Both are stored.
    Keep,
    /// The later replaces the earlier.
    Overwrite,
    /// The later is refused.
    Reject,
}

/// What an acknowledged write has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Acknowledgement {
    /// Nothing is said at all (datagrams).
    None,
    /// A queue of the server; it becomes visible later.
    Queued,
    /// The database: a later read sees it.
    Applied,
    /// Stable storage, as far as the durability promise goes.
    Durable,
}

/// Which values of a type come back exactly as they went in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Domain {
    /// All finite values of the type; any UTF-8 text within the signal's length.
    Full,
    /// The integers from `min` to `max`.
    Integers {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// Numbers come back within this relative error.
    Rounded {
        /// The greatest relative error.
        relative: f64,
    },
    /// Numbers come back within an error that depends on the other values of their signal, which share an exponent.
    RoundedTogether {
        /// The greatest error, relative to the number itself.
        relative: f64,
        /// What is added to it, relative to the greatest magnitude of the signal.
        of_greatest: f64,
    },
    /// Any UTF-8 text within the signal's length that does not hold the character U+0000.
    TextWithoutNul,
    /// Any UTF-8 text within the signal's length but the empty one.
    TextNotEmpty,
    /// Values of this type cannot be stored.
    Unsupported,
}

/// What a backend can hold and do. Planner, conformance suite and help read it.
#[derive(Clone, Debug, Serialize)]
pub struct Capabilities {
    /// The layouts it stores, the default first.
    pub layouts: &'static [Layout],
    /// The finest time it stores.
    pub time_unit: TimeUnit,
    /// What happens to datapoints of equal device and time.
    pub duplicates: Duplicates,
    /// Which values come back exactly.
    #[serde(skip)]
    pub domain: fn(ValueType) -> Domain,
    /// What an acknowledgement means.
    pub acknowledgement: Acknowledgement,
    /// Whether several requests can be one transaction.
    pub transactions: bool,
    /// The layouts in which the database itself works out figures of time buckets, of numbers and as far as they need no order
    /// of time; in the others the client does.
    pub buckets: &'static [Layout],
    /// Most writers at once; `None`: no limit of its own.
    pub most_writers: Option<u32>,
    /// Its calls block the thread: whatever it opens runs on threads of its own.
    pub blocking: bool,
    /// It runs inside the client's process: their resources cannot be told apart.
    pub embedded: bool,
    /// Datapoints can be counted and read again.
    pub stores: bool,
    /// [`Database::create`](crate::Database::create) makes its table anew, empty, also while writers are connected: they go
    /// on with the new one.
    pub empties: bool,
}

/// Why a combination cannot be run: "n/a" with its reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// The backend does not have that layout.
    #[error("{backend} has no layout {layout}: it stores {available}")]
    Layout {
        /// The backend's name.
        backend: String,
        /// The layout asked for.
        layout: Layout,
        /// What there is.
        available: String,
    },
    /// The narrow layout has one value column, hence one type.
    #[error("layout narrow stores values of one type, and this dataset mixes types")]
    MixedTypes,
    /// A type that cannot be stored.
    #[error("{backend} cannot store {value_type:?} values")]
    ValueType {
        /// The backend's name.
        backend: String,
        /// The type.
        value_type: ValueType,
    },
    /// The timestamps are finer than the database's unit.
    #[error("{backend} stores time in {unit:?} and this dataset has finer timestamps")]
    TimeUnit {
        /// The backend's name.
        backend: String,
        /// Its unit.
        unit: TimeUnit,
    },
    /// More signals than a table has columns for.
    #[error("{backend} holds at most {most} signals in layout wide, and these are {got}: take another layout")]
    Signals {
        /// The backend's name.
        backend: String,
        /// How many it holds.
        most: usize,
        /// How many there are.
        got: usize,
    },
    /// More tags than it stores.
    #[error(
        "{backend} stores {} of a device, and these have {got}: {}",
        match most {
            0 => "no tags".to_owned(),
            most => format!("at most {most} tags"),
        },
        if *recorded {
            "leave out those of the recording with dataset.recorded_tags = \"leave_out\""
        } else {
            "leave some out with dataset.tags"
        }
    )]
    Tags {
        /// The backend's name.
        backend: String,
        /// How many it stores.
        most: usize,
        /// How many there are.
        got: usize,
        /// Whether they are those of a recording.
        recorded: bool,
    },
    /// A tag that changes, where each device has one row, or one series.
    #[error(
        "{backend} keeps one set of tags of each device, and a device that is replaced changes one: have none replaced with \
         --set dataset.tags.{place}.life=0, or take a backend that keeps tags beside each datapoint"
    )]
    ChangingTags {
        /// The backend's name.
        backend: String,
        /// The place of the tag.
        place: usize,
    },
}

impl Capabilities {
    /// Checks that datapoints of this schema, whose timestamps are multiples of `resolution_ns`, can be held in this
    /// layout by the backend of this name.
    ///
    /// # Errors
    /// The first reason why not.
    pub fn fit(&self, backend: &str, layout: Layout, schema: &Schema, resolution_ns: i64) -> Result<(), Misfit> {
        if !self.layouts.contains(&layout) {
            let available = self.layout_names(", ");
            return Err(Misfit::Layout { backend: backend.into(), layout, available });
        }
        if layout == Layout::Narrow && schema.uniform_type().is_none() {
            return Err(Misfit::MixedTypes);
        }
        for signal in schema.signals() {
            if matches!((self.domain)(signal.value_type), Domain::Unsupported) {
                return Err(Misfit::ValueType { backend: backend.into(), value_type: signal.value_type });
            }
        }
        if resolution_ns % self.time_unit.ns() != 0 {
            return Err(Misfit::TimeUnit { backend: backend.into(), unit: self.time_unit });
        }
        Ok(())
    }

    /// The names of its layouts, the default first, with this between them.
    #[must_use]
    pub fn layout_names(&self, separator: &str) -> String {
        self.layouts.iter().map(|layout| layout.name()).collect::<Vec<_>>().join(separator)
    }

    /// What it can hold and do, for people: each with what it is about.
    #[must_use]
    pub fn in_words(&self) -> Vec<(&'static str, String)> {
        let yes = |is: bool| if is { "yes".to_owned() } else { "no".to_owned() };
        let unit = match self.time_unit {
            TimeUnit::Ns => "nanoseconds",
            TimeUnit::Us => "microseconds",
            TimeUnit::Ms => "milliseconds",
        };
        let duplicates = match self.duplicates {
            Duplicates::Keep => "both are kept",
            Duplicates::Overwrite => "the later replaces the earlier",
            Duplicates::Reject => "the later is refused",
        };
        let acknowledged = match self.acknowledgement {
            Acknowledgement::None => "nothing",
            Acknowledgement::Queued => "queued: it becomes visible later",
            Acknowledgement::Applied => "applied: a later read sees it",
            Acknowledgement::Durable => "durable, as far as its settings promise",
        };
        vec![
            ("time", unit.into()),
            ("equal device and time", duplicates.into()),
            ("acknowledged means", acknowledged.into()),
            ("transactions", yes(self.transactions)),
            ("figures of time buckets", self.buckets_in_words()),
            ("most writers", self.most_writers.map_or("no limit of its own".to_owned(), |n| n.to_string())),
            ("inside the client's process", yes(self.embedded)),
            ("stores what it is sent", yes(self.stores)),
            ("is emptied under its writers", yes(self.empties)),
        ]
    }

    /// Who works them out.
    fn buckets_in_words(&self) -> String {
        let by_server = self.layouts.iter().filter(|layout| self.buckets.contains(layout)).map(|layout| layout.name());
        let by_server: Vec<_> = by_server.collect();
        match by_server.len() {
            _ if !self.stores => "none: it stores nothing".into(),
            0 => "the client's work".into(),
            n if n == self.layouts.len() => "the database's work".into(),
            _ => format!("the database's work in layouts {}, else the client's", by_server.join(", ")),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Signal;

    pub(crate) const fn capabilities() -> Capabilities {
        Capabilities {
            layouts: &[Layout::Narrow, Layout::Wide],
            time_unit: TimeUnit::Ms,
            duplicates: Duplicates::Keep,
            domain: |t| if t == ValueType::Text { Domain::Unsupported } else { Domain::Full },
            acknowledgement: Acknowledgement::Applied,
            transactions: false,
            buckets: &[],
            most_writers: None,
            blocking: false,
            embedded: false,
            stores: true,
            empties: false,
        }
    }

    fn schema(types: &[ValueType]) -> Schema {
        let signals = types.iter().enumerate();
        let signals = signals.map(|(i, &value_type)| Signal { name: format!("s{i}"), value_type, max_text_bytes: 0 });
        Schema::new(signals.collect()).unwrap()
    }

    #[test]
    fn every_gap_has_its_reason() {
        let numbers = schema(&[ValueType::F32, ValueType::F32]);
        let c = capabilities();
        assert_eq!(c.fit("x", Layout::Narrow, &numbers, 1_000_000), Ok(()));
        assert!(matches!(c.fit("x", Layout::Bulk, &numbers, 1_000_000), Err(Misfit::Layout { .. })));
        assert!(matches!(c.fit("x", Layout::Wide, &numbers, 1), Err(Misfit::TimeUnit { .. })));
        let mixed = schema(&[ValueType::F32, ValueType::U16]);
        assert_eq!(c.fit("x", Layout::Narrow, &mixed, 1_000_000), Err(Misfit::MixedTypes));
        let text = schema(&[ValueType::Text]);
        assert!(matches!(c.fit("x", Layout::Wide, &text, 1_000_000), Err(Misfit::ValueType { .. })));
    }
}
