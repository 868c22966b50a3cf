//! One chunk of an answer to InfluxQL: a JSON document whose rows lie flat behind one another.

use iotbench_backend_kit::cell::Cell;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error as _, SeqAccess, Visitor},
};
use std::{collections::BTreeMap, fmt};

/// A JSON document: `{"results":[{"series":[…]}]}`.
#[derive(Debug, Deserialize)]
pub(crate) struct Document<'a> {
    /// There, but where there is an error.
    #[serde(borrow, default)]
    pub(crate) results: Option<Vec<StatementResult<'a>>>,
    #[serde(default)]
    pub(crate) error: Option<String>,
}

/// What one statement has for this chunk.
#[derive(Debug, Deserialize)]
pub(crate) struct StatementResult<'a> {
    #[serde(borrow, default)]
    pub(crate) series: Vec<Series<'a>>,
    #[serde(default)]
    pub(crate) error: Option<String>,
}

/// Rows of one series.
#[derive(Debug, Deserialize)]
pub(crate) struct Series<'a> {
    #[serde(default)]
    pub(crate) name: String,
    /// Of the tags that the statement grouped by.
    #[serde(default)]
    pub(crate) tags: BTreeMap<String, String>,
    pub(crate) columns: Vec<String>,
    #[serde(borrow, default)]
    values: Flat<'a>,
}

impl<'a> Series<'a> {
    /// The rows, each as wide as there are columns.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[Cell<'a>]> {
        self.values.0.chunks_exact(self.columns.len().max(1))
    }

    /// Whether every row has as many cells as there are columns.
    pub(crate) fn is_regular(&self) -> bool {
        !self.columns.is_empty() && self.values.0.len().is_multiple_of(self.columns.len())
    }
}

/// The cells of all rows.
#[derive(Debug, Default)]
struct Flat<'a>(Vec<Cell<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Flat<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut cells = Vec::new();
        deserializer.deserialize_seq(RowsVisitor(&mut cells))?;
        Ok(Self(cells))
    }
}

struct RowsVisitor<'c, 'a>(&'c mut Vec<Cell<'a>>);

impl<'de: 'a, 'a> Visitor<'de> for RowsVisitor<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        let mut width = None;
        let mut cells = 0;
        while rows.next_element_seed(Row(self.0))?.is_some() {
            let added = self.0.len() - cells;
            cells = self.0.len();
            if *width.get_or_insert(added) != added {
                return Err(A::Error::custom("rows of different width"));
            }
        }
        Ok(())
    }
}

struct Row<'c, 'a>(&'c mut Vec<Cell<'a>>);

impl<'de: 'a, 'a> DeserializeSeed<'de> for Row<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de: 'a, 'a> Visitor<'de> for Row<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut row: A) -> Result<(), A::Error> {
        while let Some(cell) = row.next_element()? {
            self.0.push(cell);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_come_out_exactly() {
        let text = r#"{"results":[{"statement_id":0,"series":[{"name":"m","tags":{"device":"07"},
            "columns":["time","a","b"],"partial":true,
            "values":[[-1,9223372036854775807,-0],[2,5e-324,"a\"b\\"],[3,100000000000000000000,null]]}]}]}"#;
        let document: Document<'_> = serde_json::from_str(text).unwrap();
        let series = &document.results.as_ref().unwrap()[0].series[0];
        assert!(series.is_regular());
        assert_eq!((series.tags["device"].as_str(), series.columns.len()), ("07", 3));
        let rows: Vec<_> = series.rows().collect();
        assert_eq!(rows[0][..2], [Cell::Integer(-1), Cell::Integer(i64::MAX)]);
        assert!(matches!(rows[0][2], Cell::Float(zero) if zero == 0.0 && zero.is_sign_negative()));
        assert_eq!(rows[1][1..], [Cell::Float(5e-324), Cell::Text("a\"b\\".into())]);
        assert_eq!(rows[2][1..], [Cell::Float(1e20), Cell::Null]);
    }

    #[test]
    fn rows_of_different_width_are_no_answer() {
        let of = |values: &str| {
            let text = format!(r#"{{"results":[{{"series":[{{"columns":["time","a"],"values":{values}}}]}}]}}"#);
            serde_json::from_str::<Document<'_>>(&text).map(|d| d.results.unwrap()[0].series[0].is_regular()).ok()
        };
        assert_eq!(of("[[1,2],[3,4]]"), Some(true));
        assert_eq!(of("[[1,2],[3]]"), None);
        assert_eq!(of("[[1,2,3]]"), Some(false));
        assert_eq!(of("[]"), Some(true));
    }

    #[test]
    fn a_document_of_great_depth_is_refused() {
        let deep = format!(r#"{{"results":[{{"series":[{{"columns":["a"],"values":{}"#, "[".repeat(200_000));
        assert!(serde_json::from_str::<Document<'_>>(&deep).is_err());
        let deep = format!(r#"{{"x":{}"#, "[".repeat(200_000));
        assert!(serde_json::from_str::<Document<'_>>(&deep).is_err());
    }
}
