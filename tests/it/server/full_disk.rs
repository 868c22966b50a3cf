//! Servers whose disk fills in the middle of a run.

use crate::server::{
    on_a_server::{Ended, arguments},
    place::{Place, is_here},
};
use std::{path::PathBuf, process::Command};

/// What an empty folder of each server takes, and some: MiB.
const SERVERS: [(&str, u32); 3] = [("mariadb", 176), ("postgres", 64), ("influxdb", 16)];

/// A small disk in place of a folder; it goes with its owner.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` where none can be had, which is told.
    #[expect(clippy::print_stderr, reason = "who reads the tests' output sees what was not tested")]
    fn at(place: &Place, mib: u32) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: not root, and only root mounts a small disk");
            return None;
        }
        let folder = place.servers();
        let size = format!("size={mib}m,mode=755");
        let output = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&folder).output().unwrap();
        if !output.status.success() {
            eprintln!("skipped: no small disk: {}", String::from_utf8_lossy(&output.stderr));
            return None;
        }
        Some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // At once where nothing uses it, else with the end of what does.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

fn assert_result_is_valid_in_itself(ended: &Ended, case: &str) {
    let schema: serde_json::Value = serde_json::from_str(include_str!("../../../docs/run.schema.json")).unwrap();
    let errors: Vec<_> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(&ended.document)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{case}: {errors:?}");
    let count = |pointer| ended.count(pointer);
    assert!(count("/points/acked") > 0, "{case}");
    assert!(count("/load/fail") + count("/load/unknown") > 0, "{case}");
    assert_eq!(
        count("/points/sent"),
        count("/points/acked") + count("/points/failed") + count("/points/unknown"),
        "{case}"
    );
}

#[test]
fn a_full_disk_ends_the_run_and_is_named() {
    for (backend, mib) in SERVERS.into_iter().filter(|(b, _)| is_here(b)) {
        let place = Place::new();
        let Some(disk) = SmallDisk::at(&place, mib) else { return };
        let results = place.results();
        let load = ["--vus", "4", "--batch", "500", "--set", "think_time=0s", "-d", "1h"];
        let run = arguments(backend, &[&load[..], &["--out", results.to_str().unwrap()]].concat());
        let (code, out, err) = place.call(&run);
        let ended = Ended { code, document: serde_json::from_str(&out).unwrap_or_default(), err };
        assert_eq!(ended.code, 24, "{backend}: {} {}", ended.reasons(), ended.err);
        assert_eq!(ended.document["verdict"]["status"], "failed", "{backend}");
        let reasons = ended.reasons();
        // The one client that hears of it may be the one that has gone.
        let named = reasons.contains("full: ") && reasons.contains("make room on the server's disk");
        assert!(named || reasons.contains("its disk is full"), "{reasons}");
        assert_result_is_valid_in_itself(&ended, backend);
        place.assert_nothing_is_left();
        drop(disk);
    }
}
