//! The names of metrics and tags. Each signal has a metric of its own, `iotbench_TABLE.SIGNAL`, so that values of any type
//! have their place; the device is a tag. All are letters, digits, `_` and `.`: none needs escaping in JSON, in a line or in
//! an address.

use crate::percentile::not_by_server;
use iotbench_core::{Aggregate, Error, Name, SignalId, TableSpec};

/// What the name of each metric of ours begins with. A server has no databases that would keep ours apart.
pub const PREFIX: &str = "iotbench_";
/// The tag that names the device. A datapoint must have a tag: it is there with one device too.
pub const DEVICE: &str = "device";

/// What the names of a table's metrics begin with.
pub fn prefix(table: &Name) -> String {
    format!("{PREFIX}{table}.")
}

/// The metric of a signal.
pub fn metric(table: &TableSpec, signal: SignalId) -> String {
    format!("{}{}", prefix(&table.name), table.schema.signals()[usize::from(signal)].name)
}

/// The servers' name of a figure.
///
/// # Errors
/// Client for a percentile.
pub fn name_of(aggregate: Aggregate) -> Result<&'static str, Error> {
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
