//! What stands for device, signal and value in every line.

use iotbench_core::TableSpec;

/// The tag that names the device, where there is more than one.
pub const DEVICE: &str = "device";
/// The tag that names the signal in layout narrow.
pub const SIGNAL: &str = "signal";
/// The field that holds the value in layout narrow.
pub const VALUE: &str = "v";

/// The digits of the tag `device`: all have as many, so that the order of their texts is that of their numbers.
pub fn device_digits(table: &TableSpec) -> usize {
    table.devices.saturating_sub(1).checked_ilog10().map_or(1, |log| log as usize + 1)
}
