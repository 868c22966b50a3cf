//! The unit of an agent.

use super::{assert_is_a_command, folder};
use serde_json::Value;
use std::{fs, process::Command};

const PROGRAM: &str = "/usr/local/bin/iotbench";
/// What systemd counts as exposed, of all that it knows, and what the agent needs it for.
const NEEDED: [(&str, &str); 9] = [
    ("PrivateNetwork=", "a broker and a database on other machines"),
    ("RestrictAddressFamilies=~AF_(INET|INET6)", "the same"),
    ("IPAddressDeny=", "where they are, only who installs it knows"),
    ("RestrictAddressFamilies=~AF_UNIX", "a database on this machine, and names that a service of it looks up"),
    ("RestrictAddressFamilies=~AF_NETLINK", "sockets are counted"),
    ("ProtectProc=", "processes that a run names are sampled"),
    ("ProcSubset=", "load, processors and pressure of the machine are sampled"),
    ("RootDirectory=/RootImage=", "names and certificates are the machine's"),
    ("DeviceAllow=", "ProtectClock=yes lets the clock be read"),
];
/// Tenths, as systemd 252 adds up those; more is worse.
const EXPOSURE: &str = "13";

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

/// Whether systemd can be asked. Where it must be there, its absence fails the test.
#[expect(clippy::print_stderr, reason = "who reads the tests' output sees what was not tested")]
fn systemd_is_here() -> bool {
    let is_here = Command::new("systemd-analyze").arg("--version").output().is_ok();
    if !is_here {
        assert!(std::env::var_os("IOTBENCH_REQUIRE_SERVERS").is_none(), "systemd-analyze not found");
        eprintln!("skipped: systemd-analyze not found");
    }
    is_here
}

/// What systemd says of the security of a unit, without starting it.
fn analyzed(unit: &str, more: &[&str]) -> (bool, String) {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("iotbench-agent.service");
    fs::write(&file, unit).unwrap();
    let fixed = ["security", "--offline=true", "--no-pager"];
    let output = Command::new("systemd-analyze").args(fixed).args(more).arg(&file).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

fn exposed(unit: &str) -> Vec<String> {
    let (_, said) = analyzed(unit, &["--json=short"]);
    let all: Vec<Value> = serde_json::from_str(&said).unwrap_or_else(|why| panic!("{why}: {said}"));
    let exposed = all.iter().filter(|setting| setting["set"] == false);
    exposed.map(|setting| setting["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn it_has_what_it_needs_and_no_protection_can_be_taken_out_unseen() {
    if !systemd_is_here() {
        return;
    }
    let unit = unit();
    let known: Vec<_> = exposed(&unit);
    let unknown: Vec<_> = known.iter().filter(|name| !NEEDED.iter().any(|(needed, _)| needed == name)).collect();
    assert!(unknown.is_empty(), "protect it of these, or say what it needs them for: {unknown:?}");
    let (is_within, said) = analyzed(&unit, &["--threshold", EXPOSURE]);
    assert!(is_within, "{said}");
    let (_, protections) = unit.split_once("\nCapabilityBoundingSet=").unwrap();
    let implied = ["NoNewPrivileges=", "RestrictSUIDSGID=", "SystemCallErrorNumber="];
    for line in protections.lines().skip(1).filter(|line| line.contains('=') && !line.starts_with('#')) {
        if !line.starts_with("WantedBy=") && !implied.iter().any(|name| line.starts_with(name)) {
            let less = unit.replace(&format!("\n{line}\n"), "\n");
            assert_ne!(exposed(&less), known, "without {line}");
        }
    }
}

#[test]
fn systemd_takes_every_line_of_it() {
    if !systemd_is_here() {
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
