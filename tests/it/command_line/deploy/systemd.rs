//! The unit of an agent.

use super::{assert_is_a_command, folder};
use std::{fs, process::Command};

const PROGRAM: &str = "/usr/local/bin/iotbench";

fn unit() -> String {
    fs::read_to_string(folder().join("systemd/iotbench-agent.service")).unwrap()
}

#[test]
fn it_starts_a_command_of_iotbench() {
    let unit = unit();
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let words: Vec<_> = start.split(' ').collect();
    assert_eq!(words[0], PROGRAM);
    assert_is_a_command(&words[1..]);
    // It is set, so that the unit starts without a file of the user's.
    assert!(unit.contains("\nEnvironment=IOTBENCH_NATS=nats://") && !start.contains("--nats"));
}

#[test]
fn systemd_takes_every_line_of_it() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        assert!(std::env::var_os("IOTBENCH_REQUIRE_SERVERS").is_none(), "systemd-analyze not found");
        eprintln!("skipped: systemd-analyze not found");
        return;
    }
    let verified = |unit: &str| {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("iotbench-agent.service");
        // The program has to be there.
        fs::write(&file, unit.replace(PROGRAM, env!("CARGO_BIN_EXE_iotbench"))).unwrap();
        let output = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&file).output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(verified(&unit()), (true, String::new()));
    let (_, said) = verified(&unit().replace("\nLimitNOFILE=", "\nLimitFiles="));
    assert!(said.contains("LimitFiles"), "what it does not know it says: {said}");
}
