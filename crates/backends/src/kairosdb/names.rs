//! The names of metrics and tags. Each signal has a metric of its own, `iotbench_TABLE.SIGNAL`, so that values of any type
//! have their place; the device is a tag. All are letters, digits, `_` and `.`: none needs escaping in JSON or in a line.

use iotbench_core::{Name, SignalId, TableSpec};

/// What the name of each metric of ours begins with. A server has no databases that would keep ours apart.
const PREFIX: &str = "iotbench_";
/// The table's name that would meet the markers.
pub(crate) const RESERVED_TABLE: &str = "marker";
/// What a marker's name begins with; the table's name follows.
pub(crate) const MARKERS: &str = "iotbench_marker.";
/// The tag that names the device. A datapoint must have a tag: it is there with one device too.
pub(crate) const DEVICE: &str = "device";
/// The tag of a marker.
pub(crate) const OBJECT: &str = "object";

/// What the names of a table's metrics begin with.
pub(crate) fn prefix(table: &Name) -> String {
    format!("{PREFIX}{table}.")
}

/// The metric of a signal.
pub(crate) fn metric(table: &TableSpec, signal: SignalId) -> String {
    format!("{}{}", prefix(&table.name), table.schema.signals()[usize::from(signal)].name)
}

/// The metric that marks a table.
pub(crate) fn marker(table: &Name) -> String {
    format!("{MARKERS}{table}")
}
