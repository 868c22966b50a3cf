//! Servers of a user without rights: what root does by becoming another user, he does as himself.

use crate::server::place::{Place, place_program, some_servers};
use crate::soundness::assert_sound;
use rustix::process::geteuid;
use serde_json::Value;
use std::{
    fs::Permissions,
    os::unix::fs::{PermissionsExt, chown},
    path::Path,
    process::{Command, Stdio},
};

/// `nobody`, as Debian numbers him.
const NOBODY: u32 = 65_534;

/// A run by a user who owns the place and nothing else. The program is copied to where he can read it.
fn run_as_nobody(place: &Place, backend: &str) -> Value {
    let program = place.root().join("iotbench");
    place_program(Path::new(env!("CARGO_BIN_EXE_iotbench")), &program);
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    for folder in [place.servers(), place.results(), place.root().join("runtime")] {
        chown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let user = NOBODY.to_string();
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]).arg(&program);
    command.args(["run", "-p", "pmu_write", "--vus", "2", "-b", backend, "--warmup", "0", "-d", "2s"]);
    command.args(["--output-format", "json", "--out"]).arg(place.results()).current_dir(place.root());
    command.env("TMPDIR", place.servers()).env("XDG_RUNTIME_DIR", place.root().join("runtime"));
    command.env("HOME", place.root()).stdin(Stdio::null());
    // Root's servers folder is another than his own, and everybody may read it.
    command.env("IOTBENCH_SERVERS_DIR", iotbench_launcher::servers_folder());
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let document = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{backend}: {e}: {errors}"));
    assert_sound(&document, output.status.code().unwrap(), format_args!("{backend}: {errors}"));
    document
}

#[test]
fn a_user_without_rights_starts_servers() {
    if !geteuid().is_root() {
        eprintln!("skipped: not root, so that all other tests are of an ordinary user");
        return;
    }
    for backend in some_servers() {
        let place = Place::new();
        let document = run_as_nobody(&place, backend);
        assert_eq!(document["points"]["stored"], document["points"]["acked"], "{backend}");
        place.assert_nothing_is_left();
    }
}
