//! The names of what marks our tables.

use iotbench_backend_kit::metrics::PREFIX;
use iotbench_core::Name;

/// The table's name that would meet the markers.
pub(crate) const RESERVED_TABLE: &str = "marker";
/// The table's name that would meet the flags.
pub(crate) const RESERVED_FOR_FLAGS: &str = "flag";
/// The tag of a flag.
pub(crate) const OWNER: &str = "owner";
/// The tag of a marker.
pub(crate) const OBJECT: &str = "object";

/// What a marker's name begins with; the table's name follows.
pub(crate) fn markers() -> String {
    format!("{PREFIX}{RESERVED_TABLE}.")
}

/// The metric whose values say who uses a table.
pub(crate) fn flags(table: &Name) -> String {
    format!("{PREFIX}{RESERVED_FOR_FLAGS}.{table}")
}

/// The metric that marks a table.
pub(crate) fn marker(table: &Name) -> String {
    format!("{}{table}", markers())
}
