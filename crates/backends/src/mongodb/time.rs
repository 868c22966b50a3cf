//! Times as fields of documents: a coarse one and the nanoseconds beside it.

use super::config::Precision;
use iotbench_backend_kit::{second, span::Span};
use mongodb::bson::{Bson, DateTime, Document, RawBsonRef, RawDocument, doc};

const MILLISECOND_NS: i64 = 1_000_000;

/// A time as its millisecond, rounded down, and the nanosecond within it.
#[expect(clippy::cast_possible_truncation, reason = "below 10^6")]
pub(crate) fn milliseconds(timestamp_ns: i64) -> (i64, i32) {
    (timestamp_ns.div_euclid(MILLISECOND_NS), timestamp_ns.rem_euclid(MILLISECOND_NS) as i32)
}

/// The fields that hold a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeFields {
    /// `time`, a date, and `ns`, the nanoseconds within its millisecond.
    Date,
    /// `time`, a date, alone.
    DateAlone,
    /// `second` and `nanosecond`.
    Second,
    /// `time`, a date that is a whole second: that of a record of many datapoints.
    WholeSecond,
}

impl TimeFields {
    /// Those of a datapoint in a document that has a date.
    pub(crate) fn of(precision: Precision) -> Self {
        match precision {
            Precision::Ns => Self::Date,
            Precision::Ms => Self::DateAlone,
        }
    }

    /// The field by which times are ordered first.
    pub(crate) fn coarse(self) -> &'static str {
        if self == Self::Second { "second" } else { "time" }
    }

    /// The field by which they are ordered then.
    pub(crate) fn fine(self) -> Option<&'static str> {
        match self {
            Self::Date => Some("ns"),
            Self::Second => Some("nanosecond"),
            Self::DateAlone | Self::WholeSecond => None,
        }
    }

    /// The names in their order.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.coarse()).chain(self.fine())
    }

    /// The greatest fine value.
    fn last_fine(self) -> i32 {
        match self {
            Self::Second => 999_999_999,
            _ => 999_999,
        }
    }

    fn split(self, timestamp_ns: i64) -> (Bson, i32) {
        match self {
            Self::Second => {
                let (second, nanosecond) = second::split(timestamp_ns);
                (Bson::Int64(second), nanosecond)
            }
            Self::WholeSecond => (date(second::split(timestamp_ns).0.saturating_mul(1000)), 0),
            Self::Date | Self::DateAlone => {
                let (millisecond, nanosecond) = milliseconds(timestamp_ns);
                (date(millisecond), nanosecond)
            }
        }
    }

    /// The conditions that a time lies in a span, on fields with `prefix` before their names. An end that no time can pass
    /// is left out.
    pub(crate) fn within(self, prefix: &str, span: Span) -> Document {
        let coarse = format!("{prefix}{}", self.coarse());
        let (mut of_coarse, mut of_fine) = (Document::new(), Vec::new());
        if span.first > i64::MIN {
            let (first, rest) = self.split(span.first);
            if rest > 0 {
                of_fine.push(self.beyond(prefix, "$gt", &first, "$gte", rest));
            }
            of_coarse.insert("$gte", first);
        }
        if span.last < i64::MAX {
            let (last, rest) = self.split(span.last);
            if self.fine().is_some() && rest < self.last_fine() {
                of_fine.push(self.beyond(prefix, "$lt", &last, "$lte", rest));
            }
            of_coarse.insert("$lte", last);
        }
        let mut conditions = Document::new();
        if !of_coarse.is_empty() {
            conditions.insert(coarse, of_coarse);
        }
        if !of_fine.is_empty() {
            conditions.insert("$and", of_fine);
        }
        conditions
    }

    /// At the coarse value of an end only those count whose fine value lies within; where there is none, it is zero.
    fn beyond(self, prefix: &str, past: &str, coarse: &Bson, at: &str, rest: i32) -> Document {
        let passed = doc! { format!("{prefix}{}", self.coarse()): { past: coarse.clone() } };
        match self.fine() {
            Some(fine) => doc! { "$or": [passed, { format!("{prefix}{fine}"): { at: rest } }] },
            None => passed,
        }
    }

    /// The time in nanoseconds as an expression, of fields with `prefix` before their names.
    pub(crate) fn ns(self, prefix: &str) -> Bson {
        let coarse = format!("${prefix}{}", self.coarse());
        let coarse: Bson = match self {
            Self::Second => doc! { "$multiply": [{ "$toLong": coarse }, 1_000_000_000_i64] }.into(),
            _ => doc! { "$multiply": [{ "$toLong": coarse }, MILLISECOND_NS] }.into(),
        };
        match self.fine() {
            Some(fine) => doc! { "$add": [coarse, format!("${prefix}{fine}")] }.into(),
            None => coarse,
        }
    }

    /// The time that a document holds; `None` where it holds none.
    pub(crate) fn read(self, document: &RawDocument) -> Option<i64> {
        let fine = match self.fine() {
            Some(name) => match document.get(name).ok()?? {
                RawBsonRef::Int32(fine) => i64::from(fine),
                _ => return None,
            },
            None => 0,
        };
        match document.get(self.coarse()).ok()?? {
            RawBsonRef::DateTime(date) if self != Self::Second => {
                date.timestamp_millis().checked_mul(MILLISECOND_NS)?.checked_add(fine)
            }
            RawBsonRef::Int64(second) if self == Self::Second => second::join(second, fine),
            _ => None,
        }
    }
}

fn date(milliseconds: i64) -> Bson {
    Bson::DateTime(DateTime::from_millis(milliseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_comes_back() {
        for time in
            [-1_000_000_001, -1, 0, 1, 999_999, 1_000_000, 1_700_000_000_123_456_789, i64::MAX, i64::MIN + 999_999]
        {
            for fields in [TimeFields::Date, TimeFields::Second] {
                let (coarse, fine) = fields.split(time);
                let document = doc! { fields.coarse(): coarse, fields.fine().unwrap(): fine };
                let raw = mongodb::bson::RawDocumentBuf::try_from(&document).unwrap();
                assert_eq!(fields.read(&raw), Some(time), "{fields:?}");
            }
        }
    }

    #[test]
    fn only_ends_that_cut_a_millisecond_ask_for_the_nanoseconds() {
        let within = |first, last| TimeFields::Date.within("", Span { first, last });
        assert_eq!(within(i64::MIN, i64::MAX), doc! {});
        let dates = |a, b| doc! { "time": { "$gte": date(a), "$lte": date(b) } };
        assert_eq!(within(2_000_000, 3_999_999), dates(2, 3));
        let mut cut = dates(2, 3);
        let after = doc! { "$or": [{ "time": { "$gt": date(2) } }, { "ns": { "$gte": 1 } }] };
        let before = doc! { "$or": [{ "time": { "$lt": date(3) } }, { "ns": { "$lte": 4 } }] };
        cut.insert("$and", vec![after, before]);
        assert_eq!(within(2_000_001, 3_000_004), cut);
        // Without nanoseconds a date stands for its very beginning.
        let alone = TimeFields::DateAlone.within("", Span { first: 2_000_001, last: 3_000_004 });
        let mut expected = dates(2, 3);
        expected.insert("$and", vec![doc! { "time": { "$gt": date(2) } }]);
        assert_eq!(alone, expected);
    }
}
