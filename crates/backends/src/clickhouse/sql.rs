//! The SQL of a table in its layout.

use super::{config::Partition, marker::MARK, row_binary::number_of};
use iotbench_backend_kit::{
    ask::{Asked, Having, Order},
    marker::comment,
    span::Span,
    sql::{Over, SelectSql},
};
use iotbench_core::{
    Aggregate, BucketWidth, Error, Layout, Predicate, SignalId, TableSpec, TagId, TagType, TypedTag, ValueType,
};

/// The columns that are not signals or tags.
const TIME: &str = "ts";
const DEVICE: &str = "device";
const SIGNAL: &str = "signal";
const VALUE: &str = "v";
/// What a table without a column of devices has in its place.
const FIRST_DEVICE: &str = "toUInt32(0)";

/// A name in backticks.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`"))
}

/// A text in single quotes.
pub(crate) fn text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// The server takes the value before which a whole part of p · n others lie, the nearest rank is the place of ⌈p · n⌉: the same by so
/// much less, as long as n is below 10 million. Of more values it may be the one beside it.
const BELOW_LEVEL: f64 = 1e-12;

/// A number exactly: the server's own reading of decimals loses their last bits.
fn float(number: f64) -> String {
    let bytes: String = number.to_le_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("reinterpretAsFloat64(unhex('{bytes}'))")
}

/// The column of a tag. Old servers have no truths: they are 0 and 1.
fn tag_word(tag_type: TagType) -> &'static str {
    match tag_type {
        TagType::Text => "String",
        TagType::Integer => "Int64",
        TagType::Number => "Float64",
        TagType::Truth => "UInt8",
    }
}

/// A value of a tag in a condition.
fn tag_value(value: TypedTag<'_>) -> String {
    match value {
        TypedTag::Text(value) => text(&value.to_string()),
        TypedTag::Integer(value) => value.to_string(),
        TypedTag::Number(value) => float(value),
        TypedTag::Truth(value) => u8::from(value).to_string(),
    }
}

/// The statement that creates the table, which carries our marker in a column that is stored nowhere.
pub(crate) fn create_table(table: &TableSpec, partition_by: Partition) -> String {
    let mut columns = vec![format!("{TIME} Int64")];
    columns.extend(table.has_device_column().then(|| format!("{DEVICE} UInt32")));
    let tags = table.schema.tags().as_slice().iter();
    columns.extend(tags.map(|tag| format!("{} {}", quoted(&tag.name), tag_word(tag.values.tag_type()))));
    let signals = table.schema.signals();
    let mut key: Vec<&str> = Vec::new();
    key.extend(table.has_device_column().then_some(DEVICE));
    if table.layout == Layout::Narrow {
        let value_type = signals.first().map_or(ValueType::F64, |signal| signal.value_type);
        let name = |(signal, name): (SignalId, &str)| format!("{} = {}", text(name), number_of(signal));
        let names: Vec<_> = (0..).zip(signals.iter().map(|signal| signal.name.as_str())).map(name).collect();
        columns
            .extend([format!("{SIGNAL} Enum16({})", names.join(", ")), format!("{VALUE} {}", type_word(value_type))]);
        key.push(SIGNAL);
    } else {
        columns.extend(signals.iter().map(|s| format!("{} {}", quoted(&s.name), type_word(s.value_type))));
    }
    key.push(TIME);
    columns.push(format!("{MARK} String ALIAS {}", text(&comment(&table.marker))));
    let partitions = match partition_by {
        Partition::None => String::new(),
        Partition::Day => format!(" PARTITION BY intDiv({TIME}, 86400000000000)"),
        Partition::Month => format!(" PARTITION BY toYYYYMM(toDateTime(intDiv({TIME}, 1000000000)))"),
    };
    let (name, columns, key) = (quoted(table.name.as_str()), columns.join(", "), key.join(", "));
    format!("CREATE TABLE {name} ({columns}) ENGINE = MergeTree{partitions} ORDER BY ({key})")
}

fn type_word(value_type: ValueType) -> &'static str {
    match value_type {
        ValueType::F32 => "Float32",
        ValueType::F64 => "Float64",
        ValueType::I64 => "Int64",
        ValueType::U16 => "UInt16",
        ValueType::Text => "String",
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
            conditions.push(format!("{} = {}", quoted(name), tag_value(value)));
        } else if let Some(list) = devices.list() {
            let list: Vec<_> = list.iter().map(ToString::to_string).collect();
            conditions.push(format!("{DEVICE} IN ({})", list.join(", ")));
        }
        if span.first > i64::MIN {
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

    /// The same with a condition more.
    fn body_and(mut self, condition: String) -> String {
        self.conditions.push(condition);
        self.body()
    }

    /// The column that holds a signal's values.
    fn column(&self, signal: SignalId) -> String {
        if self.is_narrow() { VALUE.to_owned() } else { quoted(signal_name(self.table, signal)) }
    }

    /// A signal's values as numbers: texts are read, and what is none is nothing.
    fn number(&self, signal: SignalId) -> String {
        let column = self.column(signal);
        match self.table.schema.signals()[usize::from(signal)].value_type {
            ValueType::Text => format!("toFloat64OrNull({column})"),
            _ => format!("toFloat64({column})"),
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
        if self.table.has_device_column() { DEVICE } else { FIRST_DEVICE }
    }

    fn all_figures(self, signals: &[SignalId], aggregates: &[Aggregate], over: Over) -> String {
        let select = self.of_signals(signals);
        let columns = if select.is_narrow() { &signals[..1] } else { signals };
        let mut figures: Vec<String> = Vec::with_capacity(columns.len() * aggregates.len());
        for number in columns.iter().map(|&signal| select.number(signal)) {
            figures.extend(aggregates.iter().map(|&aggregate| figure(&number, aggregate)));
        }
        if select.having.is_some() {
            figures.iter_mut().for_each(|figure| figure.push_str(" AS iotbench_f"));
        }
        let tag = if let Over::ByTag(tag, _) = over { select.tag(tag) } else { None };
        let of_all = matches!(over, Over::TotalBuckets(..));
        let device = match &tag {
            Some(tag) => tag,
            None if of_all => FIRST_DEVICE,
            None => select.device(),
        };
        let signal = if select.is_narrow() { SIGNAL } else { "''" };
        let bucket = width_of(over).map(start_of);
        let mut groups: Vec<&str> = Vec::new();
        groups.extend((tag.is_some() || select.table.has_device_column() && !of_all).then_some(device));
        groups.extend(bucket.as_deref());
        groups.extend(select.is_narrow().then_some(SIGNAL));
        let groups = if groups.is_empty() { String::new() } else { format!(" GROUP BY {}", groups.join(", ")) };
        let order = match over {
            Over::TotalBuckets(_, Some(newest)) => {
                // In layout narrow a bucket has at most a row a signal: these hold the newest ones whole, and maybe others.
                let rows = newest.saturating_mul(if select.is_narrow() { signals.len() as u64 } else { 1 });
                format!("iotbench_b DESC{}", limited(rows))
            }
            _ => "iotbench_d, iotbench_b".into(),
        };
        let (figures, body, bucket) = (figures.join(", "), select.body(), bucket.as_deref().unwrap_or("0"));
        format!(
            "SELECT {device} AS iotbench_d, {bucket} AS iotbench_b, {signal} AS iotbench_s, count() AS iotbench_c, {figures} \
             {body}{groups} ORDER BY {order}"
        )
    }
}

impl SelectSql for Select<'_> {
    fn since(mut self, time_ns: i64) -> Self {
        self.conditions.push(format!("{TIME} >= {time_ns}"));
        self
    }

    /// Of equal times those of an earlier insert come first, as far as they lie in different parts.
    fn points(self, signals: &[SignalId], order: Order, limit: u64) -> String {
        let select = self.of_signals(signals);
        let columns = if select.is_narrow() {
            format!(", {SIGNAL}, {VALUE}")
        } else {
            signals.iter().map(|&signal| format!(", {}", select.column(signal))).collect()
        };
        let (device, body) = (select.device(), select.body());
        let by_signal = if select.is_narrow() { format!("{SIGNAL}, ") } else { String::new() };
        let order = match order {
            Order::Newest => format!("{TIME} DESC, _part_index DESC"),
            _ if select.table.has_device_column() => format!("{DEVICE}, {TIME}, {by_signal}_part_index"),
            _ => format!("{TIME}, {by_signal}_part_index"),
        };
        format!("SELECT {TIME}, {device}{columns} {body} ORDER BY {order}{}", limited(limit))
    }

    fn latest(self, signals: &[SignalId]) -> String {
        let (device, body) = (self.device(), self.body());
        let by_device = if self.table.has_device_column() { format!(" GROUP BY {DEVICE}") } else { String::new() };
        if self.is_narrow() {
            let key = if by_device.is_empty() { TIME.into() } else { format!("({DEVICE}, {TIME})") };
            let keys = if by_device.is_empty() { String::new() } else { format!("{DEVICE}, ") };
            let newest = format!("{key} IN (SELECT {keys}max({TIME}) {body}{by_device})");
            let body = self.body_and(newest);
            return format!("SELECT {TIME}, {device}, {SIGNAL}, {VALUE} {body} ORDER BY {device}, {SIGNAL}");
        }
        // Each takes the same one of several rows with the newest time: they see them in the same order.
        let values: String =
            signals.iter().map(|&signal| format!(", argMax({}, {TIME})", self.column(signal))).collect();
        format!("SELECT max({TIME}), {device}{values} {body}{by_device} HAVING count() > 0 ORDER BY {device}")
    }

    fn reach(self, rows: u64) -> String {
        let body = self.body();
        format!(
            "SELECT if(count() = 0, NULL, min({TIME})) FROM (SELECT {TIME} {body} ORDER BY {TIME} DESC{})",
            limited(rows)
        )
    }

    fn nearest(self, signal: SignalId, predicate: Option<Predicate>, is_backward: bool) -> String {
        let mut select = self.of_signals(&[signal]);
        let number = select.number(signal);
        select.conditions.extend(predicate.map(|predicate| condition(&number, predicate)));
        let direction = if is_backward { " DESC" } else { "" };
        let column = select.column(signal);
        format!("SELECT {TIME}, {column} {} ORDER BY {TIME}{direction} LIMIT 1", select.body())
    }

    fn minimum(self, signal: SignalId) -> String {
        let select = self.of_signals(&[signal]);
        let (number, column) = (select.number(signal), select.column(signal));
        let body = select.body_and(format!("isNotNull({number})"));
        format!("SELECT {TIME}, {column} {body} ORDER BY {number}, {TIME} LIMIT 1")
    }

    fn max_of_first(self, signal: SignalId, limit: u64) -> String {
        let select = self.of_signals(&[signal]);
        let (number, body) = (select.number(signal), select.body());
        format!(
            "SELECT if(count(iotbench_f) = 0, NULL, max(iotbench_f)) FROM (SELECT {number} AS iotbench_f {body} ORDER BY {TIME}{})",
            limited(limit)
        )
    }

    fn top(self, signal: SignalId, aggregate: Aggregate, limit: u64) -> Result<String, Error> {
        let select = self.of_signals(&[signal]);
        let (device, number, body) = (select.device(), select.number(signal), select.body());
        let group = if select.table.has_device_column() { format!(" GROUP BY {DEVICE}") } else { String::new() };
        Ok(format!(
            "SELECT iotbench_d, iotbench_f FROM (SELECT {device} AS iotbench_d, {} AS iotbench_f, count({number}) AS iotbench_c \
             {body}{group}) WHERE iotbench_c > 0 ORDER BY iotbench_f DESC, iotbench_d{}",
            figure(&number, aggregate),
            limited(limit)
        ))
    }

    fn figures(self, signals: &[SignalId], aggregates: &[Aggregate], over: Over) -> Result<String, Error> {
        let Some(Having { predicate, at_least }) = self.having else {
            return Ok(self.all_figures(signals, aggregates, over));
        };
        let (all, holds) = (self.all_figures(signals, aggregates, over), condition("iotbench_f", predicate));
        let Some(at_least) = at_least else {
            return Ok(format!(
                "SELECT iotbench_d, iotbench_b, iotbench_s, iotbench_c, iotbench_f FROM ({all}) WHERE {holds} \
                 ORDER BY iotbench_d, iotbench_b"
            ));
        };
        Ok(format!(
            "SELECT iotbench_d, 0, iotbench_s, count(), toFloat64(count()) FROM ({all}) WHERE {holds} \
             GROUP BY iotbench_d, iotbench_s HAVING count() >= {at_least} ORDER BY iotbench_d"
        ))
    }
}

fn width_of(over: Over) -> Option<BucketWidth> {
    match over {
        Over::All => None,
        Over::Buckets(width) | Over::TotalBuckets(width, _) => Some(width),
        Over::ByTag(_, width) => width,
    }
}

/// One row: how many datapoints, how many values. No column is without a value; in layout narrow a device has as many datapoints as
/// its fullest signal has rows.
pub(crate) fn count(table: &TableSpec) -> String {
    let name = quoted(table.name.as_str());
    if table.layout != Layout::Narrow {
        return format!("SELECT count(), count() * {} FROM {name}", table.schema.width());
    }
    let device = if table.has_device_column() { DEVICE } else { FIRST_DEVICE };
    format!(
        "SELECT sum(iotbench_m), sum(iotbench_s) FROM (SELECT max(iotbench_c) AS iotbench_m, sum(iotbench_c) AS iotbench_s FROM \
         (SELECT {device} AS iotbench_d, count() AS iotbench_c FROM {name} GROUP BY iotbench_d, {SIGNAL}) GROUP BY iotbench_d)"
    )
}

fn limited(rows: u64) -> String {
    i64::try_from(rows).map_or(String::new(), |rows| format!(" LIMIT {rows}"))
}

fn condition(number: &str, predicate: Predicate) -> String {
    match predicate {
        Predicate::Above(limit) => format!("{number} > {}", float(limit)),
        Predicate::Below(limit) => format!("{number} < {}", float(limit)),
    }
}

/// The beginning of the bucket that a time lies in, also one before 1970.
fn start_of(width: BucketWidth) -> String {
    let width = format!("toInt64({})", width.as_ns());
    format!("{TIME} - ({TIME} % {width} + {width}) % {width}")
}

fn figure(number: &str, aggregate: Aggregate) -> String {
    match aggregate {
        Aggregate::First => format!("argMin({number}, {TIME})"),
        Aggregate::Last => format!("argMax({number}, {TIME})"),
        Aggregate::Min => format!("min({number})"),
        Aggregate::Mean => format!("avg({number})"),
        Aggregate::Max => format!("max({number})"),
        Aggregate::Sum => format!("sum({number})"),
        Aggregate::Count => format!("count({number})"),
        Aggregate::Percentile(percentile) => {
            format!("quantileExact({:.12})({number})", percentile.fraction() - BELOW_LEVEL)
        }
    }
}

/// A signal's name.
pub(crate) fn signal_name(table: &TableSpec, signal: SignalId) -> &str {
    &table.schema.signals()[usize::from(signal)].name
}

#[cfg(test)]
mod tests;
