//! What the SQL of queries must know of a layout.

use super::statement::Statement;
use crate::postgres::{
    config::{Division, Indexes},
    layout::{ColumnType, Table},
    quoting::{literal, quoted},
};
use iotbench_backend_kit::{ask::Asked, second::split, span::Span};
use iotbench_core::{Error, Layout, Predicate, SignalId, TypedTag, ValueType};
use std::sync::Arc;

/// A layout as rows named `r` with the columns `device`, those of the time, and `_place`, by which rows of equal time are
/// told apart: where a row lies is the order of storing, as nothing is ever updated or deleted. In layout bulk a record has
/// several, in the order of `_number`.
pub(crate) struct Shape {
    table: Arc<Table>,
}

/// Devices as PostgreSQL's INTEGER; those beyond it are not there.
pub(crate) fn device_numbers(devices: &[u32]) -> Vec<i32> {
    devices.iter().filter_map(|&device| i32::try_from(device).ok()).collect()
}

impl Shape {
    pub(crate) fn new(table: Arc<Table>) -> Self {
        Self { table }
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    pub(crate) fn shared_table(&self) -> Arc<Table> {
        Arc::clone(&self.table)
    }

    pub(crate) fn layout(&self) -> Layout {
        self.table.spec.layout
    }

    pub(crate) fn value_type(&self, signal: SignalId) -> ValueType {
        self.table.spec.schema.signals()[usize::from(signal)].value_type
    }

    /// Whether the table's index finds the newest rows of one device, but not of many together. Shards are asked for theirs
    /// all at once: a query that looks at one device after another cannot be sent to them.
    pub(crate) fn is_indexed_by_device(&self) -> bool {
        self.table.spec.has_device_column() && self.table.indexes == Indexes::Tag && !self.is_in_shards()
    }

    /// Whether the rows lie in shards on several servers.
    pub(crate) fn is_in_shards(&self) -> bool {
        self.table.division == Division::Shards
    }

    /// Whether the table may hold a device that is asked for: one without that column holds the first alone. Citus cannot
    /// answer a query of which it knows that no shard holds anything.
    pub(crate) fn may_hold(&self, devices: Asked<'_>) -> bool {
        self.table.spec.has_device_column() || devices.contains(0)
    }

    /// The rows as an item of FROM.
    pub(crate) fn rows(&self) -> String {
        let table = &self.table.qualified;
        let device = if self.table.spec.has_device_column() { "device" } else { "0 AS device" };
        match self.layout() {
            Layout::Wide => {
                let signals = self.table.spec.schema.signals().iter().map(|s| quoted(&s.name));
                let signals = signals.collect::<Vec<_>>().join(", ");
                format!("(SELECT {device}, ts, ctid AS _place, {signals} FROM {table}) AS r")
            }
            Layout::Document => format!("(SELECT {device}, ts, ctid AS _place, doc FROM {table}) AS r"),
            Layout::Narrow => {
                format!("(SELECT {device}, second, nanosecond, ctid AS _place, number, measurement FROM {table}) AS r")
            }
            Layout::Bulk => format!(
                "(SELECT {device}, second, (e.point->>'ns')::integer AS nanosecond, t.ctid AS _place, \
                 e.number AS _number, e.point->'m' AS m FROM {table} AS t CROSS JOIN LATERAL \
                 jsonb_array_elements(measurements->'measurements') WITH ORDINALITY AS e(point, number)) AS r"
            ),
        }
    }

    /// The same with the value of a tag of their devices as `_value`.
    pub(crate) fn rows_with(&self, tag: &str) -> String {
        let (rows, devices) = (self.rows(), &self.table.devices);
        format!(
            "{rows} JOIN (SELECT device AS _device, {} AS _value FROM {devices}) AS g ON g._device = r.device",
            quoted(tag)
        )
    }

    /// The records of layout bulk as an item of FROM, not taken apart.
    pub(crate) fn records_of_bulk(&self) -> String {
        let device = if self.table.spec.has_device_column() { "device" } else { "0 AS device" };
        let table = &self.table.qualified;
        format!("(SELECT {device}, second, ctid AS _place, measurements FROM {table}) AS r")
    }

    /// The columns of the time.
    pub(crate) fn time(&self) -> &'static [&'static str] {
        match self.layout() {
            Layout::Wide | Layout::Document => &["ts"],
            Layout::Narrow | Layout::Bulk => &["second", "nanosecond"],
        }
    }

    /// A column list in this order: `second DESC, nanosecond DESC`.
    pub(crate) fn by_time(&self, direction: &str) -> String {
        self.time().iter().map(|column| format!("{column}{direction}")).collect::<Vec<_>>().join(", ")
    }

    /// The order of storing of rows of equal device and time, in this direction.
    pub(crate) fn by_place(&self, direction: &str) -> String {
        match self.layout() {
            Layout::Bulk => format!("_place{direction}, _number{direction}"),
            Layout::Wide | Layout::Narrow | Layout::Document => format!("_place{direction}"),
        }
    }

    /// A signal's value in its own type.
    pub(crate) fn value(&self, signal: SignalId) -> String {
        let signals = self.table.spec.schema.signals();
        let signal_name = &signals[usize::from(signal)].name;
        let sql_type = ColumnType::of(self.value_type(signal)).sql();
        match self.layout() {
            Layout::Wide => quoted(signal_name),
            Layout::Document => format!("(doc->>{})::{sql_type}", literal(signal_name)),
            Layout::Narrow => "measurement".into(),
            Layout::Bulk => format!("(m->>{signal})::{sql_type}"),
        }
    }

    /// A signal's value as the number that it is compared by.
    pub(crate) fn number(&self, signal: SignalId) -> String {
        format!("{}::double precision", self.value(signal))
    }

    /// A signal's value as what it is ordered by: integers beyond 2^53 keep their order.
    pub(crate) fn rank(&self, signal: SignalId) -> String {
        if self.value_type(signal) == ValueType::Text { self.number(signal) } else { self.value(signal) }
    }

    /// The condition that a row holds a value of one of these signals; nothing where every row holds all.
    pub(crate) fn of_signals(&self, signals: &[SignalId]) -> String {
        if self.layout() != Layout::Narrow || signals.len() >= self.table.spec.schema.width() {
            return String::new();
        }
        if let [signal] = signals {
            return format!(" AND number = {signal}");
        }
        let numbers = signals.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        if numbers.is_empty() { " AND false".into() } else { format!(" AND number IN ({numbers})") }
    }

    /// How many rows a datapoint with these signals has at most.
    pub(crate) fn rows_of_point(&self, signals: &[SignalId]) -> u64 {
        if self.layout() == Layout::Narrow { signals.len() as u64 } else { 1 }
    }

    /// The condition on devices and time.
    pub(crate) fn condition(&self, to: &mut Statement, devices: Asked<'_>, span: Span) -> Result<String, Error> {
        Ok(format!("{}{}", self.of_devices(to, devices)?, self.within(to, span)?))
    }

    /// The condition on records of layout bulk: those of the seconds that the span touches.
    pub(crate) fn condition_on_records(
        &self,
        to: &mut Statement,
        devices: Asked<'_>,
        span: Span,
    ) -> Result<String, Error> {
        let device = self.of_devices(to, devices)?;
        let (first, last) = (to.argument(split(span.first).0)?, to.argument(split(span.last).0)?);
        Ok(format!("{device}second BETWEEN {first} AND {last}"))
    }

    /// The condition on the time.
    pub(crate) fn within(&self, to: &mut Statement, span: Span) -> Result<String, Error> {
        if self.time() == ["ts"] {
            let (first, last) = (to.argument(span.first)?, to.argument(span.last)?);
            return Ok(format!("ts BETWEEN {first} AND {last}"));
        }
        let ((first, first_ns), (last, last_ns)) = (split(span.first), split(span.last));
        let first = (to.argument(first)?, to.argument(first_ns)?);
        let last = (to.argument(last)?, to.argument(last_ns)?);
        // The first part is what an index on the second alone can use.
        Ok(format!(
            "second BETWEEN {0} AND {2} AND (second, nanosecond) >= ({0}, {1}) AND (second, nanosecond) <= ({2}, {3})",
            first.0, first.1, last.0, last.1
        ))
    }

    /// The condition that a predicate means.
    pub(crate) fn holds(&self, to: &mut Statement, signal: SignalId, predicate: Predicate) -> Result<String, Error> {
        let number = self.number(signal);
        Ok(match predicate {
            Predicate::Above(limit) => format!("{number} > {}", to.argument(limit)?),
            Predicate::Below(limit) => format!("{number} < {}", to.argument(limit)?),
        })
    }

    /// Every device asked for, as an item of FROM named `d`: stored ones by looking from one to the next in the index.
    pub(crate) fn devices(&self, to: &mut Statement, devices: Asked<'_>) -> Result<String, Error> {
        if let Some(found) = self.with_value(to, devices)? {
            return Ok(format!("({found}) AS d"));
        }
        let listed = match devices {
            Asked::All if !self.table.spec.has_device_column() => return Ok("(SELECT 0 AS device) AS d".into()),
            Asked::All => {
                let table = &self.table.qualified;
                return Ok(format!(
                    "(WITH RECURSIVE d(device) AS (SELECT min(device) FROM {table} UNION ALL \
                     SELECT (SELECT min(t.device) FROM {table} AS t WHERE t.device > d.device) FROM d \
                     WHERE d.device IS NOT NULL) SELECT device FROM d WHERE device IS NOT NULL) AS d"
                ));
            }
            Asked::One(device) => device_numbers(&[device]),
            Asked::Some(list) => device_numbers(list),
            Asked::Tagged(tagged) => device_numbers(&tagged.devices),
        };
        Ok(format!("unnest({}) AS d(device)", to.argument(listed)?))
    }

    /// The devices with the value of a tag that are asked for, as a query of the table of devices; `None`: something else is
    /// asked for.
    fn with_value(&self, to: &mut Statement, devices: Asked<'_>) -> Result<Option<String>, Error> {
        let Some((tag, value)) = devices.tagged(self.table.spec.schema.tags()) else { return Ok(None) };
        let value = match value {
            TypedTag::Text(value) => to.argument(value.to_string())?,
            TypedTag::Integer(value) => to.argument(value)?,
            TypedTag::Number(value) => to.argument(value)?,
            TypedTag::Truth(value) => to.argument(value)?,
        };
        Ok(Some(format!("SELECT device FROM {} WHERE {} = {value}", self.table.devices, quoted(tag))))
    }

    fn of_devices(&self, to: &mut Statement, devices: Asked<'_>) -> Result<String, Error> {
        if let Some(found) = self.with_value(to, devices)? {
            return Ok(format!("device IN ({found}) AND "));
        }
        Ok(match devices {
            Asked::All => String::new(),
            Asked::One(device) => format!("device = {} AND ", to.argument(i32::try_from(device).unwrap_or(-1))?),
            Asked::Some(list) => format!("device = ANY({}) AND ", to.argument(device_numbers(list))?),
            Asked::Tagged(tagged) => format!("device = ANY({}) AND ", to.argument(device_numbers(&tagged.devices))?),
        })
    }
}
