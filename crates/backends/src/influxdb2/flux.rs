//! The Flux of a table in its layout. Whatever is asked, all rows come in one table, in the order that is wanted, and
//! the time of each as a whole number in the column `ns`.

use iotbench_backend_kit::{
    ask::Asked,
    line_protocol::{DEVICE, SIGNAL, VALUE, device_digits},
    percentile::not_by_server,
    span::Span,
};
use iotbench_core::{Aggregate, Error, Layout, Name, Predicate, SignalId, TableSpec};
use std::fmt::Write;

/// The column of the time in nanoseconds.
pub(crate) const TIME: &str = "ns";
/// The column of a value that stands alone.
pub(crate) const ONE_VALUE: &str = "_value";

/// A text in double quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace("${", "\\${"))
}

/// A signal's name.
pub(crate) fn signal_name(table: &TableSpec, signal: SignalId) -> &str {
    &table.schema.signals()[usize::from(signal)].name
}

/// The column that names the signal of a value.
pub(crate) fn signal_column(table: &TableSpec) -> &'static str {
    if table.layout == Layout::Narrow { SIGNAL } else { "_field" }
}

/// A pipeline under construction.
#[derive(Clone, Debug)]
pub(crate) struct Flux<'a> {
    table: &'a TableSpec,
    text: String,
}

impl<'a> Flux<'a> {
    /// The values of these devices and signals in a stretch of time; `None` where there can be none.
    pub(crate) fn new(
        bucket: &Name,
        table: &'a TableSpec,
        devices: Asked<'_>,
        signals: &[SignalId],
        span: Span,
    ) -> Option<Self> {
        let mut conditions = vec![format!("r._measurement == {}", quoted(table.name.as_str()))];
        let devices = devices.in_table(table)?;
        if let Some((name, value)) = devices.tagged(table.schema.tags()) {
            conditions.push(format!("r.{name} == \"{value}\""));
        } else if let Some(list) = devices.list() {
            let width = device_digits(table);
            let one_of = list.iter().map(|device| format!("r.{DEVICE} == \"{device:0width$}\""));
            conditions.push(format!("({})", one_of.collect::<Vec<_>>().join(" or ")));
        }
        if table.layout == Layout::Narrow {
            conditions.push(format!("r._field == {}", quoted(VALUE)));
        }
        if signals.len() < table.schema.width() {
            let column = signal_column(table);
            let one_of = signals.iter().map(|&signal| format!("r.{column} == {}", quoted(signal_name(table, signal))));
            conditions.push(format!("({})", one_of.collect::<Vec<_>>().join(" or ")));
        }
        let (first, end) = (span.first.max(i64::MIN + 2), span.last.saturating_add(1));
        let mut text = format!("from(bucket: {})", quoted(bucket.as_str()));
        let _ = write!(text, " |> range(start: time(v: {first}), stop: time(v: {end}))");
        let _ = write!(text, " |> filter(fn: (r) => {})", conditions.join(" and "));
        Some(Self { table, text })
    }

    fn then(mut self, step: &str) -> Self {
        self.text.push_str(" |> ");
        self.text.push_str(step);
        self
    }

    fn with_time(self) -> Self {
        self.then(&format!("map(fn: (r) => ({{r with {TIME}: int(v: r._time)}}))"))
    }

    /// Rows of time, device and a column a signal, by device and time, or the latest first; at most `limit`.
    pub(crate) fn points(self, signals: &[SignalId], is_latest_first: bool, limit: u64) -> String {
        let column = signal_column(self.table);
        let pivot = format!("pivot(rowKey: [\"_time\"], columnKey: [{}], valueColumn: \"_value\")", quoted(column));
        let mut columns = vec![quoted(TIME), quoted("_time")];
        let device = self.table.has_device_column().then(|| quoted(DEVICE));
        columns.extend(device.clone());
        columns.extend(signals.iter().map(|&signal| quoted(signal_name(self.table, signal))));
        let keep = format!("keep(columns: [{}])", columns.join(", "));
        let order = match (is_latest_first, device) {
            (true, _) => "sort(columns: [\"_time\"], desc: true)".to_owned(),
            (false, Some(device)) => format!("sort(columns: [{device}, \"_time\"])"),
            (false, None) => "sort(columns: [\"_time\"])".to_owned(),
        };
        // In layout narrow the field is one more column of the group, the same for all.
        let all = self.then(&pivot).with_time().then("group()").then(&keep).then(&order);
        match i64::try_from(limit) {
            Ok(limit) => all.then(&format!("limit(n: {limit})")).text,
            Err(_) => all.text,
        }
    }

    /// A row for each combination of a device and its tags.
    pub(crate) fn tags(self) -> String {
        let names = self.table.schema.tags().as_slice().iter().map(|tag| tag.name.as_str());
        let columns: Vec<_> = [DEVICE].into_iter().chain(names).map(quoted).collect();
        let columns = columns.join(", ");
        let of_each = format!("group(columns: [{columns}])");
        self.then("first()")
            .then(&format!("keep(columns: [{columns}])"))
            .then(&of_each)
            .then("limit(n: 1)")
            .then("group()")
            .text
    }

    /// One row of time and value: the first or last, of those that meet a predicate.
    pub(crate) fn nearest(self, predicate: Option<Predicate>, is_backward: bool) -> String {
        let condition = predicate.map(|predicate| match predicate {
            Predicate::Above(limit) => format!("filter(fn: (r) => float(v: r._value) > {})", number(limit)),
            Predicate::Below(limit) => format!("filter(fn: (r) => float(v: r._value) < {})", number(limit)),
        });
        let with_condition = match condition {
            Some(condition) => self.then(&condition),
            None => self,
        };
        let sort = format!("sort(columns: [\"_time\"], desc: {is_backward})");
        with_condition.then("group()").then(&sort).then("limit(n: 1)").with_time().text
    }

    /// One row of time and value: the least, the earliest of equals.
    pub(crate) fn minimum(self) -> String {
        self.then("group()")
            .then("map(fn: (r) => ({r with n: float(v: r._value)}))")
            .then("sort(columns: [\"n\", \"_time\"])")
            .then("limit(n: 1)")
            .with_time()
            .text
    }

    /// One row: the greatest number of the first `limit` values.
    pub(crate) fn max_of_first(self, limit: u64) -> String {
        let sorted = self.then("group()").then("sort(columns: [\"_time\"])");
        let some = match i64::try_from(limit) {
            Ok(limit) => sorted.then(&format!("limit(n: {limit})")),
            Err(_) => sorted,
        };
        some.then("map(fn: (r) => ({_value: float(v: r._value)}))").then("max()").text
    }

    /// A row a device and signal: one figure, which is no percentile.
    pub(crate) fn figure(self, aggregate: Aggregate) -> Result<String, Error> {
        let numbers = self.by_series().then("map(fn: (r) => ({r with _value: float(v: r._value)}))");
        let figure = match aggregate {
            Aggregate::First => numbers.then("sort(columns: [\"_time\"])").then("first()"),
            Aggregate::Last => numbers.then("sort(columns: [\"_time\"])").then("last()"),
            Aggregate::Min => numbers.then("min()"),
            Aggregate::Mean => numbers.then("mean()"),
            Aggregate::Max => numbers.then("max()"),
            Aggregate::Sum => numbers.then("sum()"),
            Aggregate::Count => numbers.then("count()"),
            Aggregate::Percentile(percentile) => return Err(not_by_server(percentile)),
        };
        Ok(figure.then("group()").text)
    }

    /// A row a device and signal: how many values.
    pub(crate) fn count(self) -> String {
        self.by_series().then("count()").then("group()").text
    }

    fn by_series(self) -> Self {
        let mut columns = vec![quoted(signal_column(self.table))];
        columns.extend(self.table.has_device_column().then(|| quoted(DEVICE)));
        self.then(&format!("group(columns: [{}])", columns.join(", ")))
    }
}

/// A number as Flux takes it: without an exponent, and never taken for an integer.
fn number(value: f64) -> String {
    let mut digits = value.to_string();
    if !digits.contains('.') {
        digits.push_str(".0");
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::with_tags::{in_the_west, with_tags};
    use iotbench_core::{Marker, Schema, Signal, ValueType};

    fn table(layout: Layout, devices: u32) -> TableSpec {
        let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::U16, max_text_bytes: 0 };
        TableSpec {
            name: Name::new("t").unwrap(),
            layout,
            schema: Schema::new(vec![signal("a"), signal("b")]).unwrap(),
            devices,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        }
    }

    const SPAN: Span = Span { first: 5, last: 9 };

    #[test]
    fn each_layout_has_its_questions() {
        let bucket = Name::new("iotbench_t").unwrap();
        let (wide, narrow) = (table(Layout::Wide, 2), table(Layout::Narrow, 1));
        let start = "from(bucket: \"iotbench_t\") |> range(start: time(v: 5), stop: time(v: 10)) |> filter(fn: (r) => \
                     r._measurement == \"t\"";
        let ns = "map(fn: (r) => ({r with ns: int(v: r._time)}))";
        let of = |table, signals: &[SignalId]| Flux::new(&bucket, table, Asked::All, signals, SPAN).unwrap();
        assert_eq!(
            of(&wide, &[0, 1]).points(&[0, 1], false, 3),
            format!(
                "{start}) |> pivot(rowKey: [\"_time\"], columnKey: [\"_field\"], valueColumn: \"_value\") |> {ns} |> group() \
                 |> keep(columns: [\"ns\", \"_time\", \"device\", \"a\", \"b\"]) |> sort(columns: [\"device\", \"_time\"]) |> limit(n: 3)"
            )
        );
        assert_eq!(
            of(&narrow, &[1]).nearest(Some(Predicate::Above(4.0)), true),
            format!(
                "{start} and r._field == \"v\" and (r.signal == \"b\")) |> filter(fn: (r) => float(v: r._value) > 4.0) |> \
                 group() |> sort(columns: [\"_time\"], desc: true) |> limit(n: 1) |> {ns}"
            )
        );
        assert_eq!(
            of(&wide, &[0]).figure(Aggregate::Mean).unwrap(),
            format!(
                "{start} and (r._field == \"a\")) |> group(columns: [\"_field\", \"device\"]) |> \
                 map(fn: (r) => ({{r with _value: float(v: r._value)}})) |> mean() |> group()"
            )
        );
        assert_eq!(
            of(&narrow, &[0, 1]).count(),
            format!("{start} and r._field == \"v\") |> group(columns: [\"signal\"]) |> count() |> group()")
        );
    }

    #[test]
    fn devices_are_chosen_by_their_tag() {
        let bucket = Name::new("b").unwrap();
        let wide = table(Layout::Wide, 11);
        let text = Flux::new(&bucket, &wide, Asked::Some(&[3, 10]), &[0, 1], Span::ALL).unwrap().count();
        assert!(text.contains("(r.device == \"03\" or r.device == \"10\")"), "{text}");
        assert!(text.contains("stop: time(v: 9223372036854775807)"), "{text}");
        assert!(Flux::new(&bucket, &wide, Asked::Some(&[]), &[0], Span::ALL).is_none());
        assert!(Flux::new(&bucket, &table(Layout::Wide, 1), Asked::One(1), &[0], Span::ALL).is_none());
    }

    #[test]
    fn devices_of_a_tag_are_chosen_by_it() {
        let (bucket, west) = (Name::new("b").unwrap(), in_the_west());
        let wide = with_tags(table(Layout::Wide, 2));
        let text = Flux::new(&bucket, &wide, Asked::Tagged(&west), &[0, 1], Span::ALL).unwrap().count();
        assert!(text.contains("filter(fn: (r) => r._measurement == \"t\" and r.site == \"west\")"), "{text}");
    }

    #[test]
    fn texts_cannot_break_out() {
        assert_eq!(quoted("a\"b\\c${d}"), "\"a\\\"b\\\\c\\${d}\"");
        assert_eq!((number(1e21), number(-0.5)), ("1000000000000000000000.0".into(), "-0.5".into()));
    }
}
