//! The SQL of figures over many datapoints.

use super::{shape::Shape, statement::Statement};
use iotbench_backend_kit::{ask::Asked, span::Span};
use iotbench_core::{Aggregate, Error, Layout, SignalId};

/// What is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Figures<'a> {
    pub(crate) devices: Asked<'a>,
    pub(crate) signals: &'a [SignalId],
    pub(crate) aggregates: &'a [Aggregate],
    pub(crate) span: Span,
}

impl Figures<'_> {
    /// One row a device, ascending: the device, then for each aggregate asked for an array with a figure a signal.
    /// Arrays, because a row of an answer has at most 1664 columns.
    pub(crate) fn statement(&self, shape: &Shape) -> Result<Statement, Error> {
        match (shape.layout(), shape.is_in_shards()) {
            (Layout::Narrow, true) => self.of_values_in_shards(shape),
            (Layout::Narrow, false) => self.of_values(shape),
            (_, true) => self.of_points_in_shards(shape),
            (_, false) => self.of_points(shape),
        }
    }

    /// Whether the newest datapoints are asked for, or figures over all.
    pub(super) fn needs(&self, last: bool) -> bool {
        self.aggregates.iter().any(|&aggregate| (aggregate == Aggregate::Last) == last)
    }

    /// The arrays in the order asked for, by their names.
    pub(super) fn arrays(&self) -> String {
        self.aggregates.iter().map(|&aggregate| format!(", {}", name(aggregate))).collect()
    }

    /// Rows that hold all signals: grouped by device, and the newest row of each.
    fn of_points(&self, shape: &Shape) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let grouped = if self.needs(false) {
            self.grouped_points(shape, &mut statement)?
        } else {
            shape.devices(&mut statement, self.devices)?
        };
        let newest = if self.needs(true) {
            let within = shape.within(&mut statement, self.span)?;
            let (last, order) = (self.array(shape, "", "last"), shape.by_time(" DESC"));
            format!(
                " CROSS JOIN LATERAL (SELECT {last} FROM {} WHERE r.device = d.device AND {within} \
                 ORDER BY {order} LIMIT 1) AS l",
                shape.rows()
            )
        } else {
            String::new()
        };
        statement.sql = format!("SELECT d.device{} FROM {grouped}{newest} ORDER BY d.device", self.arrays());
        Ok(statement)
    }

    /// A figure of each signal as an array of this name.
    pub(super) fn array(&self, shape: &Shape, function: &str, label: &str) -> String {
        let figures = self.signals.iter().map(|&signal| format!("{function}({})", shape.number(signal)));
        format!("ARRAY[{}]::double precision[] AS {label}", figures.collect::<Vec<_>>().join(", "))
    }

    /// The figures over all rows of each device, as an item of FROM named `d`.
    pub(super) fn grouped_points(&self, shape: &Shape, statement: &mut Statement) -> Result<String, Error> {
        let condition = shape.condition(statement, self.devices, self.span)?;
        let array = |function, label| self.array(shape, function, label);
        let (least, mean, greatest) = (array("min", "least"), array("avg", "mean"), array("max", "greatest"));
        let rows = shape.rows();
        Ok(format!("(SELECT device, {least}, {mean}, {greatest} FROM {rows} WHERE {condition} GROUP BY device) AS d"))
    }

    /// The number in a row of layout narrow.
    pub(super) fn number(&self, shape: &Shape) -> String {
        self.signals.first().map_or_else(|| "measurement".into(), |&signal| shape.number(signal))
    }

    /// The figures over all rows of each device and number, as an item of FROM named `s`.
    pub(super) fn grouped_values(&self, shape: &Shape, statement: &mut Statement) -> Result<String, Error> {
        let condition = shape.condition(statement, self.devices, self.span)?;
        let (number, rows, of_signals) = (self.number(shape), shape.rows(), shape.of_signals(self.signals));
        Ok(format!(
            "(SELECT device, number, min({number}) AS least, avg({number}) AS mean, max({number}) AS greatest \
             FROM {rows} WHERE {condition}{of_signals} GROUP BY device, number) AS s"
        ))
    }

    /// The figures of each number as arrays in the order of the signals, from rows named `s`.
    pub(super) fn united(&self) -> String {
        let array = |&aggregate: &Aggregate| {
            let label = name(aggregate);
            let places = self.signals.iter().map(|signal| format!("min({label}) FILTER (WHERE s.number = {signal})"));
            format!(", ARRAY[{}]::double precision[]", places.collect::<Vec<_>>().join(", "))
        };
        self.aggregates.iter().map(array).collect()
    }

    /// Rows that hold a value each: by device and number, then united to arrays in the order of the signals.
    fn of_values(&self, shape: &Shape) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let number = self.number(shape);
        let series = if self.needs(false) {
            self.grouped_values(shape, &mut statement)?
        } else {
            let devices = shape.devices(&mut statement, self.devices)?;
            let numbers = self.signals.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            format!(
                "(SELECT device, number FROM {devices} CROSS JOIN unnest(ARRAY[{numbers}]::integer[]) AS n(number)) AS s"
            )
        };
        let newest = if self.needs(true) {
            let within = shape.within(&mut statement, self.span)?;
            let order = shape.by_time(" DESC");
            format!(
                " CROSS JOIN LATERAL (SELECT {number} AS last FROM {} WHERE r.device = s.device \
                 AND r.number = s.number AND {within} ORDER BY {order} LIMIT 1) AS l",
                shape.rows()
            )
        } else {
            String::new()
        };
        let united = self.united();
        statement.sql = format!("SELECT s.device{united} FROM {series}{newest} GROUP BY s.device ORDER BY s.device");
        Ok(statement)
    }
}

fn name(aggregate: Aggregate) -> &'static str {
    match aggregate {
        Aggregate::Last => "last",
        Aggregate::Min => "least",
        Aggregate::Mean => "mean",
        Aggregate::Max => "greatest",
    }
}
