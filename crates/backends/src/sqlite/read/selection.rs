//! Which datapoints of one device are wanted, and the parameters of the SQL that selects them.

use crate::sqlite::time::split;
use iotbench_core::{Predicate, SignalId, TableSpec, TimeRange};
use rusqlite::Statement;
use std::ops::Bound;

/// All times from `first` to `last`, both within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl Span {
    pub(crate) const ALL: Self = Self { first: i64::MIN, last: i64::MAX };

    /// The times of a range; `None` when there is none.
    pub(crate) fn of(range: TimeRange) -> Option<Self> {
        let first = match range.from {
            Bound::Included(time) => time,
            Bound::Excluded(time) => time.checked_add(1)?,
            Bound::Unbounded => i64::MIN,
        };
        let last = match range.to {
            Bound::Included(time) => time,
            Bound::Excluded(time) => time.checked_sub(1)?,
            Bound::Unbounded => i64::MAX,
        };
        (first <= last).then_some(Self { first, last })
    }

    pub(crate) fn from(first: i64) -> Self {
        Self { first, ..Self::ALL }
    }

    pub(crate) fn contains(self, time: i64) -> bool {
        (self.first..=self.last).contains(&time)
    }
}

/// In which order datapoints of one device come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// By time; equal times as they were stored.
    Ascending,
    /// The reverse of ascending.
    Descending,
    /// The one whose signal is least, the earliest of equals, where SQLite can tell; else ascending.
    LeastFirst(SignalId),
}

/// What to select of one device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection<'a> {
    /// The signals whose values are wanted, ascending.
    pub(crate) signals: &'a [SignalId],
    /// The order of the datapoints.
    pub(crate) order: Order,
    /// A condition that SQLite may test; the caller tests it all the same.
    pub(crate) filter: Option<(SignalId, Predicate)>,
}

impl<'a> Selection<'a> {
    pub(crate) fn ascending(signals: &'a [SignalId]) -> Self {
        Self { signals, order: Order::Ascending, filter: None }
    }
}

/// The condition on a number that a filter means, with its parameter.
pub(crate) fn condition(number: &str, predicate: Predicate) -> String {
    match predicate {
        Predicate::Above(_) => format!(" AND {number} > :limit"),
        Predicate::Below(_) => format!(" AND {number} < :limit"),
    }
}

/// A predicate that holds for the shortest decimal form of every `f32` for which the given one holds: that form lies
/// within half a step of the number.
pub(crate) fn widened(predicate: Predicate) -> Predicate {
    let step = |limit: f64| limit.abs() * f64::from(f32::EPSILON) + f64::from(f32::MIN_POSITIVE);
    match predicate {
        Predicate::Above(limit) => Predicate::Above(limit - step(limit)),
        Predicate::Below(limit) => Predicate::Below(limit + step(limit)),
    }
}

/// The condition on the device, where the table has that column.
pub(crate) fn of_device(table: &TableSpec) -> &'static str {
    if table.has_device_column() { "device = :device AND " } else { "" }
}

/// Binds what the SQL names of `:device`, `:first`, `:last`, both also as second and nanosecond, and `:limit`.
pub(crate) fn bind(
    statement: &mut Statement<'_>,
    device: u32,
    span: Span,
    filter: Option<(SignalId, Predicate)>,
) -> rusqlite::Result<()> {
    let (first_second, first_nanosecond) = split(span.first);
    let (last_second, last_nanosecond) = split(span.last);
    for (name, value) in [
        (":device", i64::from(device)),
        (":first", span.first),
        (":last", span.last),
        (":first_second", first_second),
        (":first_nanosecond", first_nanosecond),
        (":last_second", last_second),
        (":last_nanosecond", last_nanosecond),
    ] {
        if let Some(place) = statement.parameter_index(name)? {
            statement.raw_bind_parameter(place, value)?;
        }
    }
    if let (Some((_, Predicate::Above(limit) | Predicate::Below(limit))), Some(place)) =
        (filter, statement.parameter_index(":limit")?)
    {
        statement.raw_bind_parameter(place, limit)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bound() -> impl Strategy<Value = Bound<i64>> {
        let time = prop_oneof![Just(i64::MIN), Just(i64::MAX), -3..3_i64];
        (time, 0..3).prop_map(|(time, kind)| match kind {
            0 => Bound::Included(time),
            1 => Bound::Excluded(time),
            _ => Bound::Unbounded,
        })
    }

    proptest! {
        #[test]
        fn no_decimal_form_falls_through_a_widened_predicate(bits in any::<u32>(), limit_bits in any::<u32>()) {
            let (value, limit) = (f32::from_bits(bits), f32::from_bits(limit_bits));
            prop_assume!(value.is_finite() && limit.is_finite());
            let decimal: f64 = value.to_string().parse().unwrap();
            let neighbours = [f64::from(value).next_down(), f64::from(value).next_up(), f64::from(limit)];
            for limit in neighbours {
                for predicate in [Predicate::Above(limit), Predicate::Below(limit)] {
                    if predicate.holds(f64::from(value)) {
                        prop_assert!(widened(predicate).holds(decimal), "{predicate:?} {value}");
                    }
                }
            }
        }

        #[test]
        fn a_span_holds_the_times_of_its_range(from in bound(), to in bound(), time in -4..4_i64) {
            let range = TimeRange { from, to };
            for time in [time, i64::MIN, i64::MAX] {
                prop_assert_eq!(Span::of(range).is_some_and(|span| span.contains(time)), range.contains(time));
            }
        }
    }
}
