//! Telling real storage devices from layers above them.

use std::path::Path;

/// Whether a block device is hardware (or the hypervisor's), not a partition, loop, RAID or mapper device that passes
/// on what another counts already.
pub(crate) fn is_physical(major: u32, minor: u32) -> bool {
    let device = Path::new("/sys/dev/block").join(format!("{major}:{minor}"));
    device.join("device").exists() && !device.join("partition").exists()
}
