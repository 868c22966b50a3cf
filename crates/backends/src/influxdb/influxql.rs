//! The words of InfluxQL: names, texts, numbers, stretches of time.

use iotbench_backend_kit::{
    ask::Asked,
    line_protocol::{DEVICE, SIGNAL, VALUE, device_digits},
    span::Span,
};
use iotbench_core::{BucketWidth, Layout, Predicate, SignalId, TableSpec};
use std::fmt::Write;

/// The earliest and the latest time that InfluxDB 1.x stores.
pub(crate) const EARLIEST_NS: i64 = i64::MIN + 2;
/// See [`EARLIEST_NS`].
pub(crate) const LATEST_NS: i64 = i64::MAX - 1;
/// All times that InfluxDB can hold.
pub(crate) const ALL: Span = Span { first: EARLIEST_NS, last: LATEST_NS };

/// A name in double quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// A text in single quotes.
pub(crate) fn text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n"))
}

/// A number as InfluxQL takes it: without an exponent, and never taken for an integer.
pub(crate) fn number(value: f64) -> String {
    let mut digits = value.to_string();
    if !digits.contains('.') {
        digits.push_str(".0");
    }
    digits
}

/// A condition on a field.
pub(crate) fn condition(field: &str, predicate: Predicate) -> String {
    match predicate {
        Predicate::Above(limit) => format!("{field} > {}", number(limit)),
        Predicate::Below(limit) => format!("{field} < {}", number(limit)),
    }
}

/// The condition on the devices: `Some("")` for all of them, `None` when none is meant.
pub(crate) fn devices_condition(table: &TableSpec, devices: Asked<'_>) -> Option<String> {
    let devices = devices.in_table(table)?;
    if let Some((name, value)) = devices.tagged(table.schema.tags()) {
        return Some(format!("{} = {}", quoted(name), text(&value.to_string())));
    }
    let Some(list) = devices.list() else { return Some(String::new()) };
    let width = device_digits(table);
    let one_of = list.iter().map(|device| format!("{} = '{device:0width$}'", quoted(DEVICE)));
    Some(format!("({})", one_of.collect::<Vec<_>>().join(" OR ")))
}

/// The field that holds a signal's values, quoted.
pub(crate) fn field(table: &TableSpec, signal: SignalId) -> String {
    if table.layout == Layout::Narrow { quoted(VALUE) } else { quoted(signal_name(table, signal)) }
}

/// The condition that leaves the values of these signals, where the layout needs one.
pub(crate) fn signals_condition(table: &TableSpec, signals: &[SignalId]) -> String {
    if table.layout != Layout::Narrow || signals.len() == table.schema.width() {
        return String::new();
    }
    let one_of = signals.iter().map(|&signal| format!("{} = {}", quoted(SIGNAL), text(signal_name(table, signal))));
    format!("({})", one_of.collect::<Vec<_>>().join(" OR "))
}

/// A signal's name.
pub(crate) fn signal_name(table: &TableSpec, signal: SignalId) -> &str {
    &table.schema.signals()[usize::from(signal)].name
}

/// A SELECT under construction.
#[derive(Clone, Debug)]
pub(crate) struct Select {
    text: String,
    has_condition: bool,
}

impl Select {
    /// `SELECT what FROM measurement`.
    pub(crate) fn new(what: &str, table: &TableSpec) -> Self {
        Self { text: format!("SELECT {what} FROM {}", quoted(table.name.as_str())), has_condition: false }
    }

    /// One more condition; an empty one is none.
    pub(crate) fn filter(mut self, condition: &str) -> Self {
        if !condition.is_empty() {
            self.text.push_str(if self.has_condition { " AND " } else { " WHERE " });
            self.text.push_str(condition);
            self.has_condition = true;
        }
        self
    }

    /// Bounds on the time, where it has any.
    pub(crate) fn during(self, span: Span) -> Self {
        let from = if span.first > EARLIEST_NS { format!("time >= {}", span.first) } else { String::new() };
        let to = if span.last < LATEST_NS { format!("time <= {}", span.last) } else { String::new() };
        self.filter(&from).filter(&to)
    }

    /// A series each, in ascending order of these tags; and within it a row each bucket that is not empty.
    pub(crate) fn group_by(mut self, tags: &[&str], width: Option<BucketWidth>) -> Self {
        let time = width.map(|width| format!("time({}ns)", width.as_ns()));
        let groups: Vec<_> = tags.iter().map(|tag| quoted(tag)).chain(time).collect();
        if !groups.is_empty() {
            self.push(format_args!(" GROUP BY {}", groups.join(", ")));
        }
        if width.is_some() {
            self.text.push_str(" fill(none)");
        }
        self
    }

    /// The latest rows first.
    pub(crate) fn latest_first(mut self) -> Self {
        self.text.push_str(" ORDER BY time DESC");
        self
    }

    /// At most so many rows, of which there is at least one: InfluxQL takes 0 for no limit.
    pub(crate) fn limit(mut self, rows: u64) -> Self {
        debug_assert!(rows > 0, "LIMIT 0 means all rows");
        if i64::try_from(rows).is_ok() {
            self.push(format_args!(" LIMIT {rows}"));
        }
        self
    }

    /// Without the first rows.
    pub(crate) fn offset(mut self, rows: u64) -> Self {
        self.push(format_args!(" OFFSET {rows}"));
        self
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.text.write_fmt(text);
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::with_tags::{in_the_west, with_tags};
    use iotbench_core::{Marker, Name, Schema, Signal, ValueType};
    use proptest::prelude::*;

    fn table(devices: u32) -> TableSpec {
        let signal = Signal { name: "a".into(), value_type: ValueType::U16, max_text_bytes: 0 };
        TableSpec {
            name: Name::new("t").unwrap(),
            layout: Layout::Wide,
            schema: Schema::new(vec![signal]).unwrap(),
            devices,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        }
    }

    #[test]
    fn a_statement_is_put_together() {
        let of = |devices, table: &TableSpec| devices_condition(table, devices).unwrap();
        let select = Select::new("\"a\"", &table(11))
            .filter(&of(Asked::Some(&[0, 10]), &table(11)))
            .during(Span { first: 5, last: 6 })
            .filter(&condition("\"a\"", Predicate::Above(-0.5)))
            .group_by(&[DEVICE], None);
        assert_eq!(
            select.into_text(),
            "SELECT \"a\" FROM \"t\" WHERE (\"device\" = '00' OR \"device\" = '10') AND time >= 5 AND time <= 6 \
             AND \"a\" > -0.5 GROUP BY \"device\""
        );
        let all = Select::new("*", &table(1)).filter(&of(Asked::All, &table(1))).during(ALL);
        let newest = all.latest_first().limit(3).offset(2);
        assert_eq!(newest.into_text(), "SELECT * FROM \"t\" ORDER BY time DESC LIMIT 3 OFFSET 2");
        assert_eq!(Select::new("*", &table(1)).limit(u64::MAX).into_text(), "SELECT * FROM \"t\"");
        assert_eq!(devices_condition(&table(1), Asked::One(1)), None);
        assert_eq!(devices_condition(&table(2), Asked::Some(&[])), None);
    }

    #[test]
    fn devices_of_a_tag_are_chosen_by_it() {
        let west = in_the_west();
        let condition = devices_condition(&with_tags(table(2)), Asked::Tagged(&west));
        assert_eq!(condition.as_deref(), Some("\"site\" = 'west'"));
    }

    #[test]
    fn names_and_texts_cannot_break_out() {
        assert_eq!(quoted("a\"; DROP DATABASE x; --\\"), "\"a\\\"; DROP DATABASE x; --\\\\\"");
        assert_eq!(text("a'\\ü\n"), "'a\\'\\\\ü\\n'");
    }

    #[test]
    fn numbers_have_no_exponent_and_are_no_integers() {
        for (value, shown) in
            [(31.0, "31.0"), (-500.25, "-500.25"), (1e22, "10000000000000000000000.0"), (1e-7, "0.0000001")]
        {
            assert_eq!(number(value), shown);
        }
    }

    proptest! {
        #[test]
        fn every_number_comes_back(value in any::<f64>().prop_filter("finite", |v| v.is_finite())) {
            prop_assert_eq!(number(value).parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
    }
}
