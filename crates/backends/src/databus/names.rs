//! The names of what we create. A stream holds the values of one signal of one device: a table of ours is one stream for
//! each of them, `STEM_DEVICE_SIGNAL`, by number, because Databus takes no other character than letters, digits and `_`.

use iotbench_core::{Name, SignalId, TableSpec};

/// The table that lists ours.
pub(crate) const CATALOG: &str = "iotbench_tables";

/// What the names of a table's streams begin with. They are new with each run, because the original, by its source, keeps
/// the name of a table that was deleted.
pub(crate) fn stem(table: &TableSpec) -> String {
    let run = fnv1a(table.marker.run_id.as_bytes());
    format!("iotbench_{}_{:08x}", table.name, run & 0xffff_ffff)
}

/// The stream of a signal of a device.
pub(crate) fn stream(stem: &str, device: u32, signal: SignalId) -> String {
    format!("{stem}_{device}_{signal}")
}

/// The places in the catalog end here: its rows are told apart by a time, and the server keeps 30 days of them together.
pub(crate) const END_OF_CATALOG: u64 = 30 * 24 * 60 * 60 * 1000;

/// Where the mark of a table stands in the catalog.
pub(crate) fn place_in_catalog(table: &Name) -> u64 {
    fnv1a(table.as_str().as_bytes()) % END_OF_CATALOG
}

/// FNV-1a with 64 bits (Fowler, Noll, Vo).
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv() {
        assert_eq!((fnv1a(b""), fnv1a(b"foobar")), (0xcbf2_9ce4_8422_2325, 0x8594_4171_f739_67e8));
    }
}
