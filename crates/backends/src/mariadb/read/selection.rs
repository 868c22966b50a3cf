//! Which datapoints are wanted, and the SQL and the parameters that select them.

use iotbench_backend_kit::{second::split, span::Span};
use iotbench_core::{Cause, Error, Predicate, SignalId};
use sqlx::{Arguments, mysql::MySqlArguments};

/// In which order datapoints come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// By device, then time; equal times as they were stored.
    Ascending,
    /// The reverse of ascending.
    Descending,
    /// The one whose signal is least, the earliest of equals, where the server can tell; else ascending.
    LeastFirst(SignalId),
}

/// What to select.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection<'a> {
    /// Of which devices, ascending; `None` of all. Without meaning where records name no device.
    pub(crate) devices: Option<&'a [u32]>,
    /// When.
    pub(crate) span: Span,
    /// The signals whose values are wanted, ascending.
    pub(crate) signals: &'a [SignalId],
    /// The order of the datapoints.
    pub(crate) order: Order,
    /// A condition that the server may test; the caller tests it all the same.
    pub(crate) filter: Option<(SignalId, Predicate)>,
    /// The most rows of the table.
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
    pub(crate) fn of_devices(&mut self, has_device: bool, devices: Option<&[u32]>) -> Result<(), Error> {
        match devices {
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

    /// The order, given the columns of time and the expression by which a signal's values are ordered.
    pub(crate) fn in_order(
        &mut self,
        has_device: bool,
        time: &[&str],
        order: Order,
        rank: impl Fn(SignalId) -> String,
    ) {
        let device = has_device.then_some("`device`");
        let columns: Vec<_> = device.into_iter().chain(time.iter().copied()).collect();
        match order {
            Order::Ascending => self.push(&format!(" ORDER BY {}", columns.join(", "))),
            Order::Descending => self.push(&format!(" ORDER BY {} DESC", columns.join(" DESC, "))),
            Order::LeastFirst(signal) => {
                let rank = rank(signal);
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
        statement.of_devices(true, Some(&[3, 4, 9])).unwrap();
        statement.of_span_in_two(Span { first: -1, last: 1_500_000_000 }).unwrap();
        statement.of_filter("x", Predicate::Above(1.5)).unwrap();
        statement.in_order(true, &["`second`", "`nanosecond`"], Order::Descending, |_| String::new());
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
