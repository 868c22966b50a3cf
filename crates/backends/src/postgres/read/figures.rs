//! The SQL of figures over many datapoints.

use super::{shape::Shape, statement::Statement};
use iotbench_backend_kit::{ask::Asked, span::Span};
use iotbench_core::{Aggregate, Error, Layout, Percentile, Predicate, SignalId};
use std::fmt::Write;

/// What is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Figures<'a> {
    pub(crate) devices: Asked<'a>,
    pub(crate) signals: &'a [SignalId],
    pub(crate) aggregates: &'a [Aggregate],
    pub(crate) span: Span,
    /// Only of the rows with such a value, where no order of time is needed.
    pub(crate) holds: Option<(SignalId, Predicate)>,
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

    /// The figures that are worked out by grouping: the function, and the label of its array.
    pub(super) fn functions(&self) -> impl Iterator<Item = (Function, String)> {
        self.aggregates.iter().filter_map(|&aggregate| Some((function(aggregate)?, name(aggregate))))
    }

    /// The ends of the stretch of which values are asked for: the label of its array, and the direction in which it is first.
    pub(super) fn ends(&self) -> impl Iterator<Item = (String, &'static str)> {
        self.aggregates.iter().filter_map(|&aggregate| match aggregate {
            Aggregate::First => Some((name(aggregate), "")),
            Aggregate::Last => Some((name(aggregate), " DESC")),
            _ => None,
        })
    }

    /// The arrays in the order asked for, by their names.
    pub(super) fn arrays(&self) -> String {
        self.aggregates.iter().map(|&aggregate| format!(", {}", name(aggregate))).collect()
    }

    /// Rows that hold all signals: grouped by device, and the newest row of each.
    fn of_points(&self, shape: &Shape) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let mut from = match self.functions().next() {
            Some(_) => self.grouped_points(shape, &mut statement)?,
            None => shape.devices(&mut statement, self.devices)?,
        };
        for (label, direction) in self.ends() {
            let within = shape.within(&mut statement, self.span)?;
            let (array, order) = (self.array(shape, Function::None, &label), shape.by_time(direction));
            let _ = write!(
                from,
                " CROSS JOIN LATERAL (SELECT {array} FROM {} WHERE r.device = d.device AND {within} \
                 ORDER BY {order} LIMIT 1) AS of_{label}",
                shape.rows()
            );
        }
        statement.sql = format!("SELECT d.device{} FROM {from} ORDER BY d.device", self.arrays());
        Ok(statement)
    }

    /// A figure of each signal as an array of this name.
    pub(super) fn array(&self, shape: &Shape, function: Function, label: &str) -> String {
        let figures = self.signals.iter().map(|&signal| function.of(&shape.number(signal)));
        format!("ARRAY[{}]::double precision[] AS {label}", figures.collect::<Vec<_>>().join(", "))
    }

    /// The figures over all rows of each device, as an item of FROM named `d`.
    pub(super) fn grouped_points(&self, shape: &Shape, statement: &mut Statement) -> Result<String, Error> {
        let condition = self.condition(shape, statement)?;
        let arrays = self.functions().map(|(function, label)| format!(", {}", self.array(shape, function, &label)));
        let (arrays, rows) = (arrays.collect::<String>(), shape.rows());
        Ok(format!("(SELECT device{arrays} FROM {rows} WHERE {condition} GROUP BY device) AS d"))
    }

    /// The condition on the rows.
    pub(super) fn condition(&self, shape: &Shape, statement: &mut Statement) -> Result<String, Error> {
        let mut condition = shape.condition(statement, self.devices, self.span)?;
        if let Some((signal, predicate)) = self.holds {
            let _ = write!(condition, " AND {}", shape.holds(statement, signal, predicate)?);
        }
        Ok(condition)
    }

    /// The number in a row of layout narrow.
    pub(super) fn number(&self, shape: &Shape) -> String {
        self.signals.first().map_or_else(|| "measurement".into(), |&signal| shape.number(signal))
    }

    /// The figures over all rows of each device and number, as an item of FROM named `s`.
    pub(super) fn grouped_values(&self, shape: &Shape, statement: &mut Statement) -> Result<String, Error> {
        let condition = self.condition(shape, statement)?;
        let (number, rows, of_signals) = (self.number(shape), shape.rows(), shape.of_signals(self.signals));
        let figures = self.functions().map(|(function, label)| format!(", {} AS {label}", function.of(&number)));
        let figures: String = figures.collect();
        Ok(format!(
            "(SELECT device, number{figures} FROM {rows} WHERE {condition}{of_signals} GROUP BY device, number) AS s"
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
        let mut from = if self.functions().next().is_some() {
            self.grouped_values(shape, &mut statement)?
        } else {
            let devices = shape.devices(&mut statement, self.devices)?;
            let numbers = self.signals.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            format!(
                "(SELECT device, number FROM {devices} CROSS JOIN unnest(ARRAY[{numbers}]::integer[]) AS n(number)) AS s"
            )
        };
        for (label, direction) in self.ends() {
            let within = shape.within(&mut statement, self.span)?;
            let order = shape.by_time(direction);
            let _ = write!(
                from,
                " CROSS JOIN LATERAL (SELECT {number} AS {label} FROM {} WHERE r.device = s.device \
                 AND r.number = s.number AND {within} ORDER BY {order} LIMIT 1) AS of_{label}",
                shape.rows()
            );
        }
        let united = self.united();
        statement.sql = format!("SELECT s.device{united} FROM {from} GROUP BY s.device ORDER BY s.device");
        Ok(statement)
    }
}

/// What is made of a number.
#[derive(Clone, Copy)]
pub(super) enum Function {
    /// Nothing.
    None,
    /// What a function makes of all numbers of a group.
    Named(&'static str),
    /// That of a group which stands so far from its least to its greatest: a stored one, by nearest rank.
    Percentile(Percentile),
}

impl Function {
    /// The SQL.
    pub(super) fn of(self, number: &str) -> String {
        match self {
            Self::None => format!("({number})"),
            Self::Named(function) => format!("{function}({number})"),
            Self::Percentile(percentile) => {
                format!("percentile_disc({}) WITHIN GROUP (ORDER BY {number})", percentile.fraction())
            }
        }
    }
}

/// Whether a figure is worked out by grouping, without an order of time.
pub(super) fn is_grouped(aggregate: Aggregate) -> bool {
    function(aggregate).is_some()
}

/// The function that gives a figure of grouped rows.
fn function(aggregate: Aggregate) -> Option<Function> {
    Some(Function::Named(match aggregate {
        Aggregate::First | Aggregate::Last => return None,
        Aggregate::Min => "min",
        Aggregate::Mean => "avg",
        Aggregate::Max => "max",
        Aggregate::Sum => "sum",
        Aggregate::Count => "count",
        Aggregate::Percentile(percentile) => return Some(Function::Percentile(percentile)),
    }))
}

/// The label of a figure's array.
fn name(aggregate: Aggregate) -> String {
    let name = match aggregate {
        Aggregate::First => "first",
        Aggregate::Last => "last",
        Aggregate::Min => "least",
        Aggregate::Mean => "mean",
        Aggregate::Max => "greatest",
        Aggregate::Sum => "total",
        Aggregate::Count => "many",
        Aggregate::Percentile(percentile) => return percentile.to_string().replace('.', "_"),
    };
    name.into()
}
