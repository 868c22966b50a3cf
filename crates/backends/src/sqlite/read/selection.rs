//! The conditions of the SQL that selects datapoints of one device, and its parameters.

use crate::sqlite::devices::with_value_sql;
use iotbench_backend_kit::{
    ask::{Ask, Asked},
    second::split,
};
use iotbench_core::{Predicate, TableSpec};
use rusqlite::Statement;

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

/// The condition on the devices that are asked for, where the table has that column; those with the value of a tag have the
/// parameter `:value`.
pub(crate) fn of_devices(table: &TableSpec, devices: Asked<'_>) -> String {
    if !table.has_device_column() {
        return String::new();
    }
    if let Some((tag, _)) = devices.tagged(table.schema.tags()) {
        return format!("device IN ({}) AND ", with_value_sql(table, tag));
    }
    match devices.list() {
        Some(list) => {
            let list: Vec<_> = list.iter().map(ToString::to_string).collect();
            format!("device IN ({}) AND ", list.join(", "))
        }
        None => String::new(),
    }
}

/// The columns of the devices with the greatest figure.
pub(crate) fn top_columns(table: &TableSpec, function: &str, number: &str) -> String {
    let device = if table.has_device_column() { "device" } else { "0" };
    format!("{device}, {function}({number}) + 0e0")
}

/// Binds what the SQL names of `:device`, `:first`, `:last`, both also as second and nanosecond, and `:limit`.
pub(crate) fn bind(
    statement: &mut Statement<'_>,
    device: u32,
    Ask { span, predicate, .. }: &Ask<'_>,
) -> rusqlite::Result<()> {
    let (first_second, first_nanosecond) = split(span.first);
    let (last_second, last_nanosecond) = split(span.last);
    for (name, value) in [
        (":device", i64::from(device)),
        (":first", span.first),
        (":last", span.last),
        (":first_second", first_second),
        (":first_nanosecond", first_nanosecond.into()),
        (":last_second", last_second),
        (":last_nanosecond", last_nanosecond.into()),
    ] {
        if let Some(place) = statement.parameter_index(name)? {
            statement.raw_bind_parameter(place, value)?;
        }
    }
    if let (Some(Predicate::Above(limit) | Predicate::Below(limit)), Some(place)) =
        (*predicate, statement.parameter_index(":limit")?)
    {
        statement.raw_bind_parameter(place, limit)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
    }
}
