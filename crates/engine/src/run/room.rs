//! Ends a ramp before the disk of its database is full.

use super::{Session, load::Running};
use crate::plan::MIN_FREE_BYTES;
use rustix::fs::statvfs;
use std::path::Path;

impl Session<'_> {
    /// Once a second, where the database's files are known. A fixed load may fill a disk on purpose.
    pub(super) fn look_at_room(&self, running: &mut Running) {
        if self.planned.plan.ramp.is_none() || running.ending.free_bytes_at_end.is_some() {
            return;
        }
        let free = self.files().and_then(|folder| free_bytes(&folder));
        running.ending.free_bytes_at_end = free.filter(|&free| free < MIN_FREE_BYTES);
    }
}

/// What is free where a folder is, or will be made; `None`: the system does not tell.
#[must_use]
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let folder = std::path::absolute(folder).ok()?;
    let system = folder.ancestors().find_map(|folder| statvfs(folder).ok())?;
    // Some have no blocks at all, and are not full.
    (system.f_blocks > 0).then(|| system.f_bavail.saturating_mul(system.f_frsize))
}
