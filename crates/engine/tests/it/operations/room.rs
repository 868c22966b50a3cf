//! A ramp on a disk that fills.

use crate::operations::planned;
use iotbench_backends::BACKENDS;
use iotbench_core::Registry;
use iotbench_engine::{Event, MIN_FREE_BYTES, Observer, Reason, RunOptions, StopSignal, run};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

const RAMP: &str = ramp!("steps = [1, 2, 3, 4, 5, 6]\n");

/// A small disk in place of a folder; it goes with its owner.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` where none can be had, which is told.
    #[expect(clippy::print_stderr, reason = "who reads the tests' output sees what was not tested")]
    fn at(folder: &Path, bytes: u64) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: not root, and only root mounts a small disk");
            return None;
        }
        let size = format!("size={bytes}");
        let output = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder).output().unwrap();
        if !output.status.success() {
            eprintln!("skipped: no small disk: {}", String::from_utf8_lossy(&output.stderr));
            return None;
        }
        Some(Self(folder.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// Somebody else fills the disk when the first step has ended.
struct Filler(PathBuf);

impl Observer for Filler {
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        match event {
            Event::StepEnded { .. } => std::fs::write(&self.0, vec![1; 32 << 20]).map_err(|e| e.to_string()),
            _ => Ok(()),
        }
    }
}

#[test]
fn a_search_ends_before_the_disk_is_full_and_keeps_what_it_knows() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::at(folder.path(), MIN_FREE_BYTES + (24 << 20)) else { return };
    let sqlite = Registry::new(BACKENDS).find("sqlite").unwrap();
    let planned = planned(sqlite, folder.path(), RAMP, &[]);
    let mut filler = Filler(folder.path().join("somebody-elses"));
    let outcome = run(planned, sqlite, RunOptions::default(), &mut filler, &StopSignal::default());
    let [Reason::NoRoom { free_bytes }] = outcome.verdict.reasons[..] else { panic!("{:?}", outcome.verdict) };
    assert!(free_bytes < MIN_FREE_BYTES, "{free_bytes}");
    assert_eq!(outcome.verdict.exit_code(), 30);
    let steps = outcome.capacity.unwrap().steps.len();
    assert!((1..6).contains(&steps), "{steps} steps");
    assert_eq!(outcome.stored.counts.unwrap().points, outcome.points.acked, "what was stored is counted all the same");
    drop(disk);
}
