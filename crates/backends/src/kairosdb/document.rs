//! An answer to a question: for each metric that was asked about, its groups with their values.

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use std::{borrow::Cow, collections::BTreeMap, fmt};

/// `{"queries":[…]}`: one for each metric asked about, in that order.
#[derive(Debug, Deserialize)]
pub(crate) struct Document<'a> {
    #[serde(borrow)]
    pub(crate) queries: Vec<Metric<'a>>,
}

/// What was found of one metric.
#[derive(Debug, Deserialize)]
pub(crate) struct Metric<'a> {
    #[serde(borrow)]
    pub(crate) results: Vec<Group<'a>>,
}

/// The values of those series that have the same tags, as far as was asked for.
#[derive(Debug, Deserialize)]
pub(crate) struct Group<'a> {
    #[serde(default)]
    pub(crate) tags: BTreeMap<String, Vec<String>>,
    #[serde(borrow, default)]
    pub(crate) values: Vec<Datapoint<'a>>,
}

/// A time in milliseconds, and a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Datapoint<'a> {
    pub(crate) ms: i64,
    pub(crate) cell: Cell<'a>,
}

/// A value as it is written. A float that is whole is written as an integer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Integer(i64),
    Float(f64),
    Text(Cow<'a, str>),
}

impl Cell<'_> {
    /// The same cell without the document.
    pub(crate) fn into_owned(self) -> Cell<'static> {
        match self {
            Self::Integer(v) => Cell::Integer(v),
            Self::Float(v) => Cell::Float(v),
            Self::Text(v) => Cell::Text(Cow::Owned(v.into_owned())),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Datapoint<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(DatapointVisitor)
    }
}

struct DatapointVisitor;

impl<'de> Visitor<'de> for DatapointVisitor {
    type Value = Datapoint<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time and a value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<Datapoint<'de>, A::Error> {
        let missing = || serde::de::Error::custom("a datapoint without a value");
        let ms = pair.next_element()?.ok_or_else(missing)?;
        let cell = pair.next_element()?.ok_or_else(missing)?;
        while pair.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Datapoint { ms, cell })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Cell<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CellVisitor)
    }
}

struct CellVisitor;

impl<'de> Visitor<'de> for CellVisitor {
    type Value = Cell<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or a text")
    }

    fn visit_i64<E>(self, v: i64) -> Result<Cell<'de>, E> {
        Ok(Cell::Integer(v))
    }

    #[expect(clippy::cast_precision_loss, reason = "beyond i64 only floats are written without an exponent")]
    fn visit_u64<E>(self, v: u64) -> Result<Cell<'de>, E> {
        Ok(i64::try_from(v).map_or(Cell::Float(v as f64), Cell::Integer))
    }

    fn visit_f64<E>(self, v: f64) -> Result<Cell<'de>, E> {
        Ok(Cell::Float(v))
    }

    fn visit_borrowed_str<E>(self, v: &'de str) -> Result<Cell<'de>, E> {
        Ok(Cell::Text(Cow::Borrowed(v)))
    }

    fn visit_str<E>(self, v: &str) -> Result<Cell<'de>, E> {
        Ok(Cell::Text(Cow::Owned(v.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_as_the_server_writes_it() {
        let text = r#"{"queries":[{"sample_size":3,"results":[{"name":"m","group_by":[{"name":"tag","tags":["device"],
            "group":{"device":"7"}},{"name":"type","type":"number"}],"tags":{"device":["7"]},
            "values":[[-5,-0],[1,4.9E-324],[2,9223372036854775807]]}]},
            {"sample_size":1,"results":[{"name":"t","tags":{},"values":[[3,"a\"ü"]]}]},
            {"sample_size":0,"results":[{"name":"nope","tags":{},"values":[]}]}]}"#;
        let document: Document<'_> = serde_json::from_str(text).unwrap();
        let [numbers, texts, nothing] = &document.queries[..] else { panic!("{document:?}") };
        let group = &numbers.results[0];
        assert_eq!(group.tags["device"], ["7"]);
        assert!(matches!(group.values[0], Datapoint { ms: -5, cell: Cell::Float(v) } if v.is_sign_negative()));
        assert_eq!(group.values[1].cell, Cell::Float(5e-324));
        assert_eq!(group.values[2].cell, Cell::Integer(i64::MAX));
        assert_eq!(texts.results[0].values, [Datapoint { ms: 3, cell: Cell::Text("a\"ü".into()) }]);
        assert!(nothing.results[0].values.is_empty());
        for bad in [
            "{}",
            r#"{"queries":[{"results":[{"values":[[1]]}]}]}"#,
            r#"{"queries":[{"results":[{"values":[[1,null]]}]}]}"#,
        ] {
            assert!(serde_json::from_str::<Document<'_>>(bad).is_err(), "{bad}");
        }
    }
}
