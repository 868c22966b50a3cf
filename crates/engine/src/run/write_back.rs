//! What the database's files still owe their disk: written before the load, so that it is not charged with what was there,
//! and after it, so that it is charged with what it left.

use super::Session;
use crate::outcome::DataDisk;
use iotbench_sampler::{Medium, WriteBack};
use std::{
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// How often the user's wish to end is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// Longer the load does not wait for what was there before it.
const BEFORE: Duration = Duration::from_secs(10);
/// Longer the end does not wait for what the load left.
const AFTER: Duration = Duration::from_secs(30);

impl Session<'_> {
    /// Writes what waits before the load begins.
    pub(super) fn write_back_before(&mut self) {
        let Some(folder) = self.files() else { return };
        let medium = Medium::of(&folder).ok();
        self.outcome.machine.data_disk = DataDisk { medium, written_back: None };
        if medium == Some(Medium::Device) {
            self.write_back(&folder, BEFORE, "before the load");
        }
    }

    /// Writes what waits after the measured part; whether it was waited for, so that it can be counted.
    pub(super) fn write_back_after(&mut self) -> bool {
        let Some(folder) = self.files().filter(|_| self.outcome.machine.data_disk.medium == Some(Medium::Device))
        else {
            return false;
        };
        self.outcome.machine.data_disk.written_back = self.write_back(&folder, AFTER, "after the measured part");
        self.outcome.machine.data_disk.written_back.is_some()
    }

    /// Where the database has its files, if that is known and on this machine.
    pub(super) fn files(&self) -> Option<PathBuf> {
        let own = || self.planned.open.target.folder.clone().filter(|_| self.outcome.target.embedded);
        self.options.files.clone().or_else(own)
    }

    /// How long it took; `None`, with a remark: it was not waited for any longer, or it failed.
    fn write_back(&mut self, folder: &Path, within: Duration, when: &str) -> Option<Duration> {
        let why_not = match self.written_back(folder, within) {
            Ok(Some(took)) => return Some(took),
            Ok(None) if self.stop.requested().is_some() => return None,
            Ok(None) => format!("not done within {} s", within.as_secs()),
            Err(error) => error.to_string(),
        };
        self.outcome.plan.remarks.push(format!("what waited for the disk {when} was not written: {why_not}"));
        None
    }

    fn written_back(&self, folder: &Path, within: Duration) -> io::Result<Option<Duration>> {
        let (write_back, end) = (WriteBack::begin(folder)?, Instant::now() + within);
        while Instant::now() < end && self.stop.requested().is_none() {
            if let Some(outcome) = write_back.wait(LOOK) {
                return outcome.map(Some);
            }
        }
        Ok(None)
    }
}
