//! README and the book say what the program does now, and every proof that is named in the documents exists.

use crate::end_to_end::program::{iotbench, said};
use iotbench::{BACKENDS, PROFILES};
use std::{collections::BTreeSet, path::Path, process::Command};

const README: &str = include_str!("../../../README.md");
const COMMANDS: &str = include_str!("../../../docs/howto/commands.md");
const PAGE_OF_PROFILES: &str = include_str!("../../../docs/howto/profiles.md");

/// What stands between backticks and is a call of the program.
fn calls() -> Vec<Vec<&'static str>> {
    let spans = COMMANDS.split('`').skip(1).step_by(2);
    spans.filter_map(|span| span.strip_prefix("iotbench ")).map(|call| call.split_whitespace().collect()).collect()
}

#[test]
fn readme_is_short_and_so_is_its_first_result() {
    assert!(README.lines().count() <= 130, "{} lines", README.lines().count());
    let result = README.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert!(result.starts_with("VALID  pmu_write on sqlite:wide\n") && result.lines().count() <= 25, "{result}");
}

#[test]
fn readme_names_every_backend_and_no_other() {
    let listed = README.split("Backends: ").nth(1).and_then(|rest| rest.split("[Private servers").next()).unwrap();
    let named: BTreeSet<_> = listed.split('`').skip(1).step_by(2).collect();
    assert_eq!(named, BACKENDS.iter().map(|backend| backend.name()).collect());
}

#[test]
fn every_run_that_is_shown_can_be_planned() {
    let out = tempfile::tempdir().unwrap();
    let runs: Vec<_> = calls().into_iter().filter(|call| call.first() == Some(&"run")).collect();
    assert!(runs.len() >= 5, "{runs:?}");
    for mut call in runs {
        call.retain(|word| *word != "--dry-run");
        let output = iotbench(out.path(), &[&call[..], &["--dry-run"]].concat()).output().unwrap();
        assert!(output.status.success(), "iotbench {}: {}", call.join(" "), said(&output));
    }
}

#[test]
fn every_command_that_is_shown_exists() {
    let commands: Vec<_> = calls().into_iter().filter_map(|call| call.first().copied()).collect();
    assert!(commands.len() >= 10, "{commands:?}");
    for command in commands {
        let help = Command::new(env!("CARGO_BIN_EXE_iotbench")).args([command, "--help"]).output().unwrap();
        assert!(help.status.success(), "iotbench {command} --help: {}", said(&help));
    }
}

#[test]
fn the_table_of_profiles_has_every_profile() {
    let rows = PAGE_OF_PROFILES.lines().filter(|line| line.starts_with("| `") && line.matches('|').count() == 4);
    let names: BTreeSet<_> =
        rows.flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2)).collect();
    let missing: Vec<_> = PROFILES.iter().map(|p| p.name).filter(|name| !names.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?} of {names:?}");
}

/// What stands between backticks as `file.rs::function`.
#[test]
fn every_test_that_is_named_as_a_proof_exists() {
    const ROBUSTNESS: &str = include_str!("../../../docs/robustness.md");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named: Vec<_> = ROBUSTNESS.split('`').skip(1).step_by(2).filter_map(|span| span.split_once(".rs::")).collect();
    assert!(named.len() >= 50, "{named:?}");
    for (file, function) in named {
        let text =
            std::fs::read_to_string(root.join(format!("{file}.rs"))).unwrap_or_else(|e| panic!("{file}.rs: {e}"));
        let is_test = text.contains(&format!("fn {function}("));
        assert!(is_test, "{file}.rs has no {function}");
    }
}
