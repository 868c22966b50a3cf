//! The SQL of a table in its layout.

use super::config::Partition;
use iotbench_backend_kit::{
    ask::{Asked, Having, Order},
    line_protocol::{DEVICE, SIGNAL, VALUE, device_digits},
    percentile::not_by_server,
    span::Span,
    sql::{Over, SelectSql},
};
use iotbench_core::{
    Aggregate, BucketWidth, Error, Layout, Predicate, Signal, SignalId, TableSpec, TagId, TagType, TypedTag, ValueType,
};

/// The column of the time.
const TIME: &str = "ts";

/// A name in double quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text in single quotes.
pub(crate) fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The statement that creates the table.
pub(crate) fn create_table(table: &TableSpec, partition_by: Partition) -> String {
    let mut columns = vec![format!("{TIME} TIMESTAMP_NS")];
    columns.extend(table.has_device_column().then(|| format!("{DEVICE} SYMBOL")));
    let tags = table.schema.tags().as_slice().iter();
    columns.extend(tags.map(|tag| format!("{} {}", quoted(&tag.name), tag_word(tag.values.tag_type()))));
    let signals = table.schema.signals();
    match table.layout {
        Layout::Narrow => {
            let value_type = signals.first().map_or(ValueType::F64, |signal| signal.value_type);
            columns.extend([format!("{SIGNAL} SYMBOL"), format!("{VALUE} {}", type_word(value_type))]);
        }
        _ => columns.extend(table.schema.first_signals().iter().map(column)),
    }
    format!(
        "CREATE TABLE {} ({}) TIMESTAMP({TIME}) PARTITION BY {} WAL",
        quoted(table.name.as_str()),
        columns.join(", "),
        partition_by.word()
    )
}

fn tag_word(tag_type: TagType) -> &'static str {
    match tag_type {
        TagType::Text => "SYMBOL",
        TagType::Integer => "LONG",
        TagType::Number => "DOUBLE",
        TagType::Truth => "BOOLEAN",
    }
}

/// The statements that add the columns of the signals that are added.
pub(crate) fn add_columns(table: &TableSpec) -> impl Iterator<Item = String> {
    let name = quoted(table.name.as_str());
    let added = table.schema.added_signals().iter();
    added.map(move |signal| format!("ALTER TABLE {name} ADD COLUMN IF NOT EXISTS {}", column(signal)))
}

fn column(signal: &Signal) -> String {
    format!("{} {}", quoted(&signal.name), type_word(signal.value_type))
}

fn type_word(value_type: ValueType) -> &'static str {
    match value_type {
        ValueType::F32 => "FLOAT",
        ValueType::F64 => "DOUBLE",
        ValueType::I64 => "LONG",
        ValueType::U16 => "INT",
        ValueType::Text => "VARCHAR",
    }
}

/// A stretch of time and some devices, as the conditions of a question.
#[derive(Clone, Debug)]
pub(crate) struct Select<'a> {
    table: &'a TableSpec,
    conditions: Vec<String>,
    having: Option<Having>,
}

impl<'a> Select<'a> {
    /// `None` where there is nothing that could be asked for.
    pub(crate) fn new(table: &'a TableSpec, devices: Asked<'_>, span: Span) -> Option<Self> {
        let mut conditions = Vec::new();
        let devices = devices.in_table(table)?;
        if let Some((name, value)) = devices.tagged(table.schema.tags()) {
            let value = match value {
                TypedTag::Text(value) => text(&value.to_string()),
                TypedTag::Number(value) => format!("{value:?}"),
                typed => typed.to_string(),
            };
            conditions.push(format!("{} = {value}", quoted(name)));
        } else if let Some(list) = devices.list() {
            let width = device_digits(table);
            let list: Vec<_> = list.iter().map(|device| format!("'{device:0width$}'")).collect();
            conditions.push(format!("{DEVICE} IN ({})", list.join(", ")));
        }
        if span.last < 0 {
            return None;
        }
        if span.first > 0 {
            conditions.push(format!("{TIME} >= {}", span.first));
        }
        if span.last < i64::MAX {
            conditions.push(format!("{TIME} <= {}", span.last));
        }
        Some(Self { table, conditions, having: None })
    }

    fn is_narrow(&self) -> bool {
        self.table.layout == Layout::Narrow
    }

    /// Only with a value of this signal that meets a condition, which is the only one asked for.
    pub(crate) fn holds(mut self, signal: SignalId, predicate: Predicate) -> Self {
        self.conditions.push(condition(&self.number(signal), predicate));
        self
    }

    /// Only those of the figures, each the only one of its group.
    pub(crate) fn having(self, having: Option<Having>) -> Self {
        Self { having, ..self }
    }

    /// Only these signals, where they are not columns.
    fn of_signals(mut self, signals: &[SignalId]) -> Self {
        if self.is_narrow() && signals.len() < self.table.schema.width() {
            let names: Vec<_> = signals.iter().map(|&signal| text(signal_name(self.table, signal))).collect();
            self.conditions.push(format!("{SIGNAL} IN ({})", names.join(", ")));
        }
        self
    }

    fn body(&self) -> String {
        let from = format!("FROM {}", quoted(self.table.name.as_str()));
        if self.conditions.is_empty() { from } else { format!("{from} WHERE {}", self.conditions.join(" AND ")) }
    }

    /// The column that holds a signal's values.
    fn column(&self, signal: SignalId) -> String {
        if self.is_narrow() { VALUE.to_owned() } else { quoted(signal_name(self.table, signal)) }
    }

    /// A signal's values as numbers: texts are read, and 32-bit numbers become 64-bit ones of the same value.
    fn number(&self, signal: SignalId) -> String {
        let column = self.column(signal);
        match self.table.schema.signals()[usize::from(signal)].value_type {
            ValueType::F32 | ValueType::Text => format!("{column}::double"),
            _ => column,
        }
    }

    /// Rows of a device and its tags, each combination once.
    pub(crate) fn tags(self) -> String {
        let tags = self.table.schema.tags().as_slice().iter();
        let tags: String = tags.map(|tag| format!(", {}", quoted(&tag.name))).collect();
        format!("SELECT DISTINCT {}{tags} {}", self.device(), self.body())
    }

    /// The column of a tag.
    fn tag(&self, tag: TagId) -> Option<String> {
        self.table.schema.tags().as_slice().get(usize::from(tag)).map(|tag| quoted(&tag.name))
    }

    fn device(&self) -> &'static str {
        if self.table.has_device_column() { DEVICE } else { "'0'" }
    }

    fn all_figures(
        self,
        signals: &[SignalId],
        aggregates: &[Aggregate],
        over: Over,
        label: &str,
    ) -> Result<String, Error> {
        let select = self.of_signals(signals);
        let columns = if select.is_narrow() { &signals[..1] } else { signals };
        let numbers: Vec<String> = columns.iter().map(|&signal| select.number(signal)).collect();
        let figure = |number, &aggregate: &Aggregate| Ok(format!("{}({number}){label}", word(aggregate)?));
        let figures = numbers.iter().flat_map(|number| aggregates.iter().map(move |a| figure(number, a)));
        let figures: Vec<String> = figures.collect::<Result<_, Error>>()?;
        let tag = if let Over::ByTag(tag, _) = over { select.tag(tag) } else { None };
        let device = match (&tag, over) {
            (Some(tag), _) => tag,
            (None, Over::TotalBuckets(..)) => "'0'",
            (None, _) => select.device(),
        };
        let signal = if select.is_narrow() { SIGNAL } else { "''" };
        let mut groups: Vec<&str> = Vec::new();
        groups.extend((tag.is_some() || select.table.has_device_column()).then_some(device));
        groups.extend(select.is_narrow().then_some(SIGNAL));
        let (figures, body) = (figures.join(", "), select.body());
        let (Over::Buckets(width) | Over::TotalBuckets(width, _) | Over::ByTag(_, Some(width))) = over else {
            let order = if groups.contains(&DEVICE) { format!(" ORDER BY {DEVICE}") } else { String::new() };
            let groups = if groups.is_empty() { String::new() } else { format!(" GROUP BY {}", groups.join(", ")) };
            return Ok(format!("SELECT {device} d, 0 b, {signal} s, count() c, {figures} {body}{groups}{order}"));
        };
        let sampled = format!(
            "SELECT {device} d, {TIME}::long b, {signal} s, count() c, {figures} {body} \
             SAMPLE BY {} ALIGN TO CALENDAR",
            stride(width)
        );
        let order = match over {
            Over::TotalBuckets(_, Some(newest)) => {
                // In layout narrow a bucket has at most a row a signal: these hold the newest ones whole, and maybe others.
                let rows = newest.saturating_mul(if select.is_narrow() { signals.len() as u64 } else { 1 });
                format!("b DESC LIMIT {}", i64::try_from(rows).unwrap_or(i64::MAX))
            }
            _ => "d, b".into(),
        };
        Ok(format!("SELECT * FROM ({sampled}) ORDER BY {order}"))
    }
}

impl SelectSql for Select<'_> {
    fn since(mut self, time_ns: i64) -> Self {
        self.conditions.push(format!("{TIME} >= {time_ns}"));
        self
    }

    fn points(self, signals: &[SignalId], order: Order, limit: u64) -> String {
        let select = self.of_signals(signals);
        let columns: Vec<String> = if select.is_narrow() {
            vec![SIGNAL.to_owned(), VALUE.to_owned()]
        } else {
            signals.iter().map(|&signal| select.column(signal)).collect()
        };
        let (device, body) = (select.device(), select.body());
        let order = match order {
            Order::Newest => format!("{TIME} DESC"),
            _ if select.table.has_device_column() => format!("{DEVICE}, {TIME}"),
            _ => TIME.to_owned(),
        };
        let limit = i64::try_from(limit).map_or(String::new(), |limit| format!(" LIMIT {limit}"));
        format!("SELECT {TIME}::long, {device}, {} {body} ORDER BY {order}{limit}", columns.join(", "))
    }

    /// Not of layout narrow, whose newest row of a signal is no datapoint.
    fn latest(self, signals: &[SignalId]) -> String {
        let columns = signals.iter().map(|&signal| format!(", {}", self.column(signal))).collect::<String>();
        let body = self.body();
        format!(
            "SELECT {TIME}::long, {DEVICE}{columns} FROM (SELECT * {body} LATEST ON {TIME} PARTITION BY {DEVICE}) \
             ORDER BY {DEVICE}"
        )
    }

    fn reach(self, rows: u64) -> String {
        format!("SELECT min(t) FROM (SELECT {TIME}::long t {} ORDER BY {TIME} DESC LIMIT {rows})", self.body())
    }

    fn nearest(self, signal: SignalId, predicate: Option<Predicate>, is_backward: bool) -> String {
        let mut select = self.of_signals(&[signal]);
        let number = select.number(signal);
        select.conditions.push(match predicate {
            Some(predicate) => condition(&number, predicate),
            None => format!("{} IS NOT NULL", select.column(signal)),
        });
        let direction = if is_backward { " DESC" } else { "" };
        let column = select.column(signal);
        format!("SELECT {TIME}::long, {column} {} ORDER BY {TIME}{direction} LIMIT 1", select.body())
    }

    fn minimum(self, signal: SignalId) -> String {
        let mut select = self.of_signals(&[signal]);
        let (number, column) = (select.number(signal), select.column(signal));
        select.conditions.push(format!("{number} IS NOT NULL"));
        format!(
            "SELECT t, v FROM (SELECT {TIME}::long t, {column} v, {number} n {}) ORDER BY n, t LIMIT 1",
            select.body()
        )
    }

    fn max_of_first(self, signal: SignalId, limit: u64) -> String {
        let select = self.of_signals(&[signal]);
        let limit = i64::try_from(limit).map_or(String::new(), |limit| format!(" LIMIT {limit}"));
        let number = select.number(signal);
        format!("SELECT max(n) FROM (SELECT {number} n {} ORDER BY {TIME}{limit})", select.body())
    }

    fn top(self, signal: SignalId, aggregate: Aggregate, limit: u64) -> Result<String, Error> {
        let select = self.of_signals(&[signal]);
        let (device, number, body) = (select.device(), select.number(signal), select.body());
        let group = if select.table.has_device_column() { format!(" GROUP BY {DEVICE}") } else { String::new() };
        Ok(format!(
            "SELECT d, f FROM (SELECT {device} d, {}({number}) f, count({number}) c {body}{group}) WHERE c > 0 \
             ORDER BY f DESC, d{}",
            word(aggregate)?,
            i64::try_from(limit).map_or(String::new(), |limit| format!(" LIMIT {limit}"))
        ))
    }

    fn figures(self, signals: &[SignalId], aggregates: &[Aggregate], over: Over) -> Result<String, Error> {
        let Some(having) = self.having else { return self.all_figures(signals, aggregates, over, "") };
        let (all, holds) = (self.all_figures(signals, aggregates, over, " f")?, condition("f", having.predicate));
        let Some(at_least) = having.at_least else {
            return Ok(format!("SELECT d, b, s, c, f FROM ({all}) WHERE {holds} ORDER BY d, b"));
        };
        Ok(format!(
            "SELECT * FROM (SELECT d, 0 b, s, count() c, count()::double f FROM ({all}) WHERE {holds}) \
             WHERE c >= {at_least} ORDER BY d"
        ))
    }
}

/// One row: how many datapoints, how many values. In layout narrow a device has as many datapoints as its fullest
/// signal has values. Signals that are added count where the table has their columns.
pub(crate) fn count(table: &TableSpec, has_added: bool) -> String {
    let name = quoted(table.name.as_str());
    if table.layout == Layout::Narrow {
        let device = if table.has_device_column() { DEVICE } else { "'0'" };
        return format!(
            "SELECT sum(m), sum(s) FROM (SELECT d, max(c) m, sum(c) s FROM \
             (SELECT {device} d, {SIGNAL} g, count({VALUE}) c FROM {name}))"
        );
    }
    let signals = if has_added { table.schema.signals() } else { table.schema.first_signals() };
    let values: Vec<_> = signals.iter().map(|s| format!("count({})", quoted(&s.name))).collect();
    format!("SELECT count(), {} FROM {name}", values.join(" + "))
}

fn condition(number: &str, predicate: Predicate) -> String {
    match predicate {
        Predicate::Above(limit) => format!("{number} > {limit:?}"),
        Predicate::Below(limit) => format!("{number} < {limit:?}"),
    }
}

/// A span as SAMPLE BY takes it, in the greatest unit that it is a multiple of.
fn stride(width: BucketWidth) -> String {
    const UNITS: [(i64, &str); 4] = [(1_000_000_000, "s"), (1_000_000, "T"), (1000, "U"), (1, "n")];
    let ns = width.as_ns();
    let unit = UNITS.iter().find(|(length, _)| ns % length == 0);
    unit.map_or(format!("{ns}n"), |(length, unit)| format!("{}{unit}", ns / length))
}

/// # Errors
/// Client for a percentile.
fn word(aggregate: Aggregate) -> Result<&'static str, Error> {
    Ok(match aggregate {
        Aggregate::First => "first",
        Aggregate::Last => "last",
        Aggregate::Min => "min",
        Aggregate::Mean => "avg",
        Aggregate::Max => "max",
        Aggregate::Sum => "sum",
        Aggregate::Count => "count",
        Aggregate::Percentile(percentile) => return Err(not_by_server(percentile)),
    })
}

/// A signal's name.
pub(crate) fn signal_name(table: &TableSpec, signal: SignalId) -> &str {
    &table.schema.signals()[usize::from(signal)].name
}

#[cfg(test)]
mod tests;
