//! `iotbench sample`.

use crate::command_line::program::{call, ended, iotbench};
use std::process::{Command, Stdio};

fn own_pid() -> String {
    std::process::id().to_string()
}

#[test]
fn csv_has_a_head_and_a_row_an_interval() {
    let said = call(&["sample", "--pid", &own_pid(), "--interval", "100ms", "-d", "450ms", "--csv"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let rows: Vec<Vec<&str>> = said.out.lines().map(|line| line.split(',').collect()).collect();
    assert!(rows.len() >= 3, "{}", said.out);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{}", said.out);
    assert_eq!(rows[0][0], "at_s");
}

#[test]
fn a_table_ends_with_the_total() {
    for target in [&["--host"][..], &["--pid", &own_pid()]] {
        let said = call(&[&["sample", "--interval", "100ms", "-d", "350ms"], target].concat());
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        assert!(said.out.contains("cpu %") && said.out.contains("\ntotal: CPU "), "{}", said.out);
    }
}

#[test]
fn it_ends_with_its_target() {
    let mut target = Command::new("sleep").arg("0.3").stdout(Stdio::null()).spawn().unwrap();
    let pid = target.id().to_string();
    let mut sampling = iotbench(&["sample", "--pid", &pid, "--interval", "50ms"]);
    let child = sampling.spawn().unwrap();
    target.wait().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn it_ends_quietly_when_nobody_reads_on() {
    let mut child = iotbench(&["sample", "--host", "--interval", "20ms", "--csv"]).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_cgroup_that_does_not_exist_is_refused() {
    let said = ended(&mut iotbench(&["sample", "--cgroup", "/no/such/group", "-d", "1s"]));
    assert_eq!(said.code, 2, "{}", said.err);
}
