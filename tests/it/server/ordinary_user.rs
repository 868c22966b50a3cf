//! Servers of a user without rights: what root does by becoming another user, he does as himself.

use crate::server::place::{Place, every_server, place_program, some_servers};
use crate::soundness::assert_sound;
use rustix::process::geteuid;
use serde_json::Value;
use std::{
    fs::Permissions,
    os::unix::fs::{PermissionsExt, chown},
    path::Path,
    process::{Command, Output, Stdio},
};
use url::Url;

/// `nobody`, as Debian numbers him.
const NOBODY: u32 = 65_534;
/// A user who has no name and nothing else. (Servers whose own user is missing run as `nobody`.)
const STRANGER: u32 = 61_234;

/// It asks nobody for a password, and `server start` says so.
const OPEN_TO_ALL: &str = "influxdb2";

/// A place that is owned by a user who owns nothing else. The program is copied to where he can read it.
fn place_of(user: u32) -> Place {
    let place = Place::new();
    let program = place.root().join("iotbench");
    place_program(Path::new(env!("CARGO_BIN_EXE_iotbench")), &program);
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    for folder in [place.servers(), place.results(), place.root().join("runtime")] {
        chown(folder, Some(user), Some(user)).unwrap();
    }
    place
}

/// What he calls there.
fn call(user: u32, place: &Place, program: &Path, arguments: &[&str]) -> Output {
    let user = user.to_string();
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]).arg(program).args(arguments);
    command.current_dir(place.root());
    command.env("TMPDIR", place.servers()).env("XDG_RUNTIME_DIR", place.root().join("runtime"));
    command.env("HOME", place.root()).stdin(Stdio::null());
    // Root's servers folder is another than his own, and everybody may read it.
    command.env("IOTBENCH_SERVERS_DIR", iotbench_launcher::servers_folder());
    command.output().unwrap()
}

/// His run, as JSON.
fn run(user: u32, place: &Place, more: &[&str]) -> Output {
    let out = place.results();
    let run = ["run", "-p", "pmu_write", "--vus", "2", "--warmup", "0", "-d", "2s", "--output-format", "json", "--out"];
    call(user, place, &place.root().join("iotbench"), &[&run[..], &[out.to_str().unwrap()], more].concat())
}

/// A run of his, on a server of his, that is sound.
fn sound_run(place: &Place, backend: &str) -> Value {
    let output = run(NOBODY, place, &["-b", backend]);
    let errors = String::from_utf8_lossy(&output.stderr);
    let document = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{backend}: {e}: {errors}"));
    assert_sound(&document, output.status.code().unwrap(), format_args!("{backend}: {errors}"));
    document
}

#[expect(clippy::print_stderr, reason = "who reads the tests' output sees what was not tested")]
fn is_root() -> bool {
    let is_root = geteuid().is_root();
    if !is_root {
        eprintln!("skipped: not root, who alone can be another user too");
    }
    is_root
}

/// Of a server that another user started he has the address, and neither its password nor its files.
#[test]
fn another_user_does_not_come_in() {
    if !is_root() {
        return;
    }
    for backend in every_server().filter(|name| *name != OPEN_TO_ALL) {
        let (ours, his) = (Place::new(), place_of(STRANGER));
        let url = ours.started_without_password(&["server", "start", backend]);
        // Who started it comes in by the address alone.
        let (results, short) = (ours.results(), ["run", "-p", "pmu_write", "--vus", "1", "-d", "1s", "--warmup", "0"]);
        let target = ["-b", backend, "--url", &url, "--out", results.to_str().unwrap()];
        let (code, _, err) = ours.call(&[&short[..], &target].concat());
        // How well a busy machine lets it run is not what is tested.
        assert!([0, 11].contains(&code), "{backend}: {code} {err}");
        let output = run(STRANGER, &his, &["-b", backend, "--url", &url]);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(21), "{backend}: {:#}", document["verdict"]);
        assert!(document["verdict"]["reasons"].to_string().contains("auth: "), "{backend}: {:#}", document["verdict"]);
        let [folder] = &ours.folders()[..] else { panic!("{:?}", ours.folders()) };
        for secret in [folder.clone(), ours.root().join("runtime/iotbench")] {
            let listed = call(STRANGER, &his, Path::new("ls"), &[secret.to_str().unwrap()]);
            assert!(!listed.status.success(), "{}: {}", secret.display(), String::from_utf8_lossy(&listed.stdout));
        }
        let address: Url = ours.out(&["server", "address", backend]).trim().parse().unwrap();
        let secret = address.password().unwrap();
        assert!(ours.processes().iter().all(|(_, words)| words.iter().all(|word| !word.contains(secret))), "{backend}");
        assert_no_file_holds(&results, secret);
        ours.out(&["server", "stop", backend]);
        ours.assert_nothing_is_left();
    }
}

/// Results are passed on: nothing in the folder of a run, at any depth, holds the secret.
fn assert_no_file_holds(folder: &Path, secret: &str) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_no_file_holds(&path, secret);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()), "{}", path.display());
        }
    }
}

#[test]
fn a_user_without_rights_starts_servers() {
    if !is_root() {
        return;
    }
    for backend in some_servers() {
        let place = place_of(NOBODY);
        let document = sound_run(&place, backend);
        assert_eq!(document["points"]["stored"], document["points"]["acked"], "{backend}");
        place.assert_nothing_is_left();
    }
}
