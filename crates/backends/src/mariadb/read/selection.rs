//! Which rows are wanted, and the SQL and the parameters that select them.

use iotbench_backend_kit::{
    ask::{Ask, Asked, Order},
    second::split,
    span::Span,
};
use iotbench_core::{Cause, Error, Predicate};
use sqlx::{Arguments, mysql::MySqlArguments};

/// What to select. A condition on values may be tested by the server; the caller tests it all the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection<'a> {
    pub(crate) ask: Ask<'a>,
    /// The most rows of the table: how many there are for the datapoints asked for, the caller knows.
    pub(crate) most_rows: Option<u64>,
}

/// A statement under construction.
#[derive(Debug, Default)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) arguments: MySqlArguments,
}

impl Statement {
    pub(crate) fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), arguments: MySqlArguments::default() }
    }

    pub(crate) fn push(&mut self, sql: &str) {
        self.sql.push_str(sql);
    }

    /// Appends SQL with one place in it, and the value for that place.
    pub(crate) fn bind<'q, T>(&mut self, sql: &str, value: T) -> Result<(), Error>
    where
        T: sqlx::Encode<'q, sqlx::MySql> + sqlx::Type<sqlx::MySql> + 'q,
    {
        self.push(sql);
        self.arguments.add(value).map_err(|e| Error::new(Cause::Client, e))
    }

    /// The devices, as a condition that others follow.
    pub(crate) fn of_devices(&mut self, has_device: bool, devices: Asked<'_>) -> Result<(), Error> {
        match devices.list() {
            Some([device]) if has_device => self.bind("`device` = ? AND ", *device),
            Some(devices) if has_device => {
                for (place, device) in devices.iter().enumerate() {
                    self.bind(if place == 0 { "`device` IN (?" } else { ",?" }, *device)?;
                }
                self.push(") AND ");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A time in a column of nanoseconds.
    pub(crate) fn of_span(&mut self, span: Span) -> Result<(), Error> {
        self.bind("`ts` BETWEEN ?", span.first)?;
        self.bind(" AND ?", span.last)
    }

    /// A time in two columns, written so that the server sees ranges of their index.
    pub(crate) fn of_span_in_two(&mut self, span: Span) -> Result<(), Error> {
        let ((first, first_ns), (last, last_ns)) = (split(span.first), split(span.last));
        self.bind("(`second` > ?", first)?;
        self.bind(" OR (`second` = ?", first)?;
        self.bind(" AND `nanosecond` >= ?)) AND", first_ns)?;
        self.bind(" (`second` < ?", last)?;
        self.bind(" OR (`second` = ?", last)?;
        self.bind(" AND `nanosecond` <= ?))", last_ns)
    }

    /// The condition on a number that a filter means.
    pub(crate) fn of_filter(&mut self, number: &str, predicate: Predicate) -> Result<(), Error> {
        match predicate {
            Predicate::Above(limit) => self.bind(&format!(" AND {number} > ?"), limit),
            Predicate::Below(limit) => self.bind(&format!(" AND {number} < ?"), limit),
        }
    }

    /// The order, given the columns of time and the expression by which a signal's values are ordered. Equal times come as they
    /// were stored.
    pub(crate) fn in_order(&mut self, has_device: bool, time: &[&str], order: Order, rank: impl FnOnce() -> String) {
        let device = has_device.then_some("`device`");
        let columns: Vec<_> = device.into_iter().chain(time.iter().copied()).collect();
        match order {
            Order::Stretch | Order::Oldest | Order::After => {
                self.push(&format!(" ORDER BY {}", columns.join(", ")));
            }
            Order::Newest | Order::Before => self.push(&format!(" ORDER BY {} DESC", columns.join(" DESC, "))),
            Order::Least => {
                let rank = rank();
                self.push(&format!(" AND {rank} IS NOT NULL ORDER BY {rank}, {}", time.join(", ")));
            }
        }
    }

    pub(crate) fn limited(&mut self, most_rows: Option<u64>) -> Result<(), Error> {
        match most_rows {
            Some(rows) => self.bind(" LIMIT ?", rows),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_its_value() {
        let mut statement = Statement::new("SELECT 1 FROM t WHERE ");
        statement.of_devices(true, Asked::Some(&[3, 4, 9])).unwrap();
        statement.of_span_in_two(Span { first: -1, last: 1_500_000_000 }).unwrap();
        statement.of_filter("x", Predicate::Above(1.5)).unwrap();
        statement.in_order(true, &["`second`", "`nanosecond`"], Order::Newest, String::new);
        statement.limited(Some(7)).unwrap();
        assert_eq!(
            statement.sql,
            "SELECT 1 FROM t WHERE `device` IN (?,?,?) AND (`second` > ? OR (`second` = ? AND `nanosecond` >= ?)) AND \
             (`second` < ? OR (`second` = ? AND `nanosecond` <= ?)) AND x > ? \
             ORDER BY `device` DESC, `second` DESC, `nanosecond` DESC LIMIT ?"
        );
        assert_eq!(statement.sql.matches('?').count(), statement.arguments.len());
    }
}
