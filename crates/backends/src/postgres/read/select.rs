//! The SQL that selects datapoints.

use super::{
    shape::{Asked, Shape},
    span::Span,
    statement::Statement,
};
use iotbench_core::{Error, Layout, Predicate, SignalId};

/// Which datapoints are wanted, and in which order.
pub(crate) struct Wanted<'a> {
    pub(crate) devices: Asked<'a>,
    /// Ascending.
    pub(crate) signals: &'a [SignalId],
    pub(crate) span: Span,
    /// A condition on the first signal.
    pub(crate) predicate: Option<Predicate>,
    /// What follows ORDER BY.
    pub(crate) order: String,
    /// At most so many datapoints.
    pub(crate) limit: u64,
}

impl<'a> Wanted<'a> {
    pub(crate) fn of(devices: Asked<'a>, signals: &'a [SignalId], span: Span) -> Self {
        Self { devices, signals, span, predicate: None, order: String::new(), limit: u64::MAX }
    }

    pub(crate) fn ordered(self, order: String, limit: u64) -> Self {
        Self { order, limit, ..self }
    }
}

impl Shape {
    /// Rows of datapoints: device, time, and the values, or in layout narrow a number and its value.
    pub(crate) fn select(&self, wanted: &Wanted<'_>) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let condition = self.condition(&mut statement, wanted.devices, wanted.span)?;
        let of_signals = self.of_signals(wanted.signals);
        let holds = match (wanted.predicate, wanted.signals) {
            (Some(predicate), [signal, ..]) => {
                format!(" AND {}", self.holds(&mut statement, *signal, predicate)?)
            }
            _ => String::new(),
        };
        let limit = self.limit(&mut statement, wanted.signals, wanted.limit)?;
        let (columns, rows, order) = (self.columns(wanted.signals), self.rows(), &wanted.order);
        statement.sql =
            format!("SELECT {columns} FROM {rows} WHERE {condition}{of_signals}{holds} ORDER BY {order}{limit}");
        Ok(statement)
    }

    /// The newest datapoints of each device, and the newest of those.
    pub(crate) fn newest_of_each(
        &self,
        devices: Asked<'_>,
        signals: &[SignalId],
        limit: u64,
    ) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let devices = self.devices(&mut statement, devices)?;
        let limit = self.limit(&mut statement, signals, limit)?;
        let (columns, rows, newest_first) = (self.columns(signals), self.rows(), self.by_time(" DESC"));
        // Rows of one datapoint must stay together where datapoints of one device and time are several.
        let (place, by_place) = if self.layout() == Layout::Narrow { (", place", ", place DESC") } else { ("", "") };
        statement.sql = format!(
            "SELECT p.* FROM {devices} CROSS JOIN LATERAL (SELECT {columns}{place} FROM {rows} \
             WHERE r.device = d.device ORDER BY {newest_first}, place DESC{limit}) AS p \
             ORDER BY {newest_first}, p.device{by_place}{limit}"
        );
        Ok(statement)
    }

    /// The greatest number of a signal over the first datapoints of a stretch.
    pub(crate) fn max_of_first(
        &self,
        device: u32,
        signal: SignalId,
        span: Span,
        limit: u64,
    ) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let condition = self.condition(&mut statement, Asked::One(device), span)?;
        let of_signal = self.of_signals(&[signal]);
        let limit = self.limit(&mut statement, &[signal], limit)?;
        let (number, rows, by_time) = (self.number(signal), self.rows(), self.by_time(""));
        statement.sql = format!(
            "SELECT max(number_of_point) FROM (SELECT {number} AS number_of_point FROM {rows} \
             WHERE {condition}{of_signal} ORDER BY {by_time}, place{limit}) AS first"
        );
        Ok(statement)
    }

    /// Whole records of layout bulk: device, second, text.
    pub(crate) fn records(&self, devices: Asked<'_>, span: Span) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let rows = self.records_of_bulk();
        let condition = self.condition_on_records(&mut statement, devices, span)?;
        statement.sql = format!(
            "SELECT device, second, measurements::text FROM {rows} WHERE {condition} ORDER BY device, second, place"
        );
        Ok(statement)
    }

    fn columns(&self, signals: &[SignalId]) -> String {
        let time = self.by_time("");
        if self.layout() == Layout::Narrow {
            return format!("device, {time}, number, measurement");
        }
        let values = signals.iter().map(|&signal| format!(", {}", self.value(signal)));
        format!("device, {time}{}", values.collect::<String>())
    }

    /// LIMIT, in rows. One row is written out, so that the plan can be made for it.
    fn limit(&self, to: &mut Statement, signals: &[SignalId], points: u64) -> Result<String, Error> {
        let rows = points.saturating_mul(self.rows_of_point(signals));
        Ok(match i64::try_from(rows) {
            Ok(1) => " LIMIT 1".into(),
            Ok(rows) => format!(" LIMIT {}", to.argument(rows)?),
            Err(_) => String::new(),
        })
    }
}
