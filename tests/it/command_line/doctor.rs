//! `iotbench doctor`, and the line of it that a run prints.

use crate::command_line::program::{Said, ended, iotbench_in};
use serde_json::Value;
use std::{
    path::Path,
    process::{Command, Stdio},
};

const VERDICTS: [&str; 4] = ["ok", "note", "warning", "missing"];

/// The report as JSON, with its exit code, of a machine that has nothing in PATH and no folder of servers.
fn of_a_bare_machine(folder: &Path) -> (i32, Value) {
    let mut command = iotbench_in(folder, &["doctor", "--json", "--out", "results"]);
    command.env("PATH", "").env("IOTBENCH_SERVERS_DIR", folder.join("no-servers"));
    command.env("IOTBENCH_INFLUXD_BIN", "/nonexistent/influxd");
    let Said { code, out, err } = ended(&mut command);
    assert_eq!(err, "");
    (code, serde_json::from_str(&out).unwrap())
}

fn texts<'a>(findings: &'a Value, key: &str) -> Vec<&'a str> {
    findings.as_array().unwrap().iter().map(|finding| finding[key].as_str().unwrap()).collect()
}

#[test]
fn a_bare_machine_is_told_what_is_missing_and_the_commands_that_bring_it() {
    let folder = tempfile::tempdir().unwrap();
    let (code, report) = of_a_bare_machine(folder.path());
    assert_eq!(report["schema"], "iotbench-doctor/1.0");
    assert_eq!(code, if report["fit"] == true { 0 } else { 10 });
    let servers = &report["servers"];
    for backend in iotbench::BACKENDS {
        assert!(texts(servers, "name").contains(&backend.info().name), "{}", backend.info().name);
    }
    let of = |name: &str| {
        let server = servers.as_array().unwrap().iter().find(|s| s["name"] == name && s["setting"].is_null()).unwrap();
        (server["finding"]["fitness"].as_str().unwrap(), server["finding"]["advice"].as_str().unwrap())
    };
    assert_eq!(of("sqlite"), ("ok", ""));
    assert_eq!(of("mysql"), ("missing", "scripts/servers --all, in iotbench's source"));
    assert_eq!(of("databus").0, "note");
    let (fitness, advice) = of("influxdb");
    assert!(fitness == "missing" && advice.contains("IOTBENCH_INFLUXD_BIN names /nonexistent/influxd"), "{advice}");
    assert!(texts(&report["install"], "command").contains(&"scripts/servers --all"));
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "something was left");
}

#[test]
fn the_machine_is_judged_by_facts_that_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let (_, report) = of_a_bare_machine(folder.path());
    let about = texts(&report["findings"], "about");
    for what in
        ["foreign load", "clock", "timers", "memory", "open files", "disk of private servers", "disk of results"]
    {
        assert!(about.contains(&what), "{what}: {about:?}");
    }
    let machine = &report["machine"];
    assert!(machine["clock"]["reading_ns"].as_f64() > Some(0.0) && machine["memory"]["total_bytes"].as_u64() > Some(0));
    assert!(machine["others"]["seconds"].as_f64() >= Some(2.0), "{machine}");
    assert_eq!(machine["folders"][1]["path"].as_str(), folder.path().to_str(), "results would be made in it");
    let spoiled = texts(&report["findings"], "fitness").contains(&"warning");
    assert_eq!(report["fit"] == true, !spoiled && report["can_start"] == true, "{report}");
}

#[test]
fn for_people_there_is_a_verdict_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let Said { code, out, err } = ended(&mut iotbench_in(folder.path(), &["doctor"]));
    assert!(err.is_empty() && [0, 10].contains(&code), "{code} {err}");
    let section = |head: &str| {
        let lines = out.lines().skip_while(move |line| *line != head).skip(1).take_while(|line| !line.is_empty());
        lines.map(|line| line.split_whitespace().next().unwrap()).collect::<Vec<_>>()
    };
    let (servers, machine) = (section("Servers"), section("Machine"));
    assert!(servers.len() > iotbench::BACKENDS.len() && machine.len() > 8, "{out}");
    assert!(servers.iter().chain(&machine).all(|verdict| VERDICTS.contains(verdict)), "{out}");
    let last = out.lines().last().unwrap();
    assert_eq!(last.starts_with("Not fit (exit code 10): "), code == 10, "{out}");
    assert_eq!(last == "Nothing here would spoil what is measured.", code == 0, "{out}");
}

/// A run that may open few files, so that there is one thing to warn of whatever else the machine does.
fn run_with_few_files(folder: &Path, more: &[&str]) -> Said {
    let run = ["run", "-p", "machine_write", "-b", "memory", "-d", "1s", "--warmup", "0s", "--rate", "50"];
    let program = iotbench_in(folder, &[]);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 1024 && exec \"$@\"", "sh"]).arg(program.get_program()).args(run).args(more);
    command.current_dir(folder).stdin(Stdio::null());
    ended(&mut command)
}

#[test]
fn a_run_says_in_a_line_what_of_the_machine_would_spoil_it_unless_it_is_to_be_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let err = run_with_few_files(folder.path(), &[]).err;
    let lines: Vec<_> = err.lines().filter(|line| line.starts_with("warning: this machine: ")).collect();
    let [line] = lines[..] else { panic!("{err}") };
    assert!(line.contains("open files at most 1024") && line.ends_with(" (iotbench doctor)"), "{line}");
    let quiet = run_with_few_files(folder.path(), &["--output-format", "quiet"]).err;
    assert!(!quiet.contains("this machine"), "{quiet}");
}
