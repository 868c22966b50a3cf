//! README says what the program does now, and every proof that is named in the documents exists.

use crate::end_to_end::program::{iotbench, said};
use std::{path::Path, process::Command};

const README: &str = include_str!("../../../README.md");

/// What stands between backticks and is a call of the program.
fn calls() -> Vec<Vec<&'static str>> {
    let spans = README.split('`').skip(1).step_by(2);
    spans.filter_map(|span| span.strip_prefix("iotbench ")).map(|call| call.split_whitespace().collect()).collect()
}

#[test]
fn every_run_that_is_shown_can_be_planned() {
    let out = tempfile::tempdir().unwrap();
    let runs: Vec<_> = calls().into_iter().filter(|call| call.first() == Some(&"run")).collect();
    assert!(runs.len() >= 4, "{runs:?}");
    for mut call in runs {
        call.retain(|word| *word != "--dry-run");
        let output = iotbench(out.path(), &[&call[..], &["--dry-run"]].concat()).output().unwrap();
        assert!(output.status.success(), "iotbench {}: {}", call.join(" "), said(&output));
    }
}

#[test]
fn every_command_that_is_shown_exists() {
    let commands: Vec<_> = calls().into_iter().filter_map(|call| call.first().copied()).collect();
    assert!(commands.len() >= 8, "{commands:?}");
    for command in commands {
        let help = Command::new(env!("CARGO_BIN_EXE_iotbench")).args([command, "--help"]).output().unwrap();
        assert!(help.status.success(), "iotbench {command} --help: {}", said(&help));
    }
}

/// What stands between backticks as `file.rs::function`.
#[test]
fn every_test_that_is_named_as_a_proof_exists() {
    const PROOFS: [&str; 2] = [include_str!("../../../docs/robustness.md"), include_str!("../../../SECURITY.md")];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let spans = PROOFS.iter().flat_map(|page| page.split('`').skip(1).step_by(2));
    let named: Vec<_> = spans.filter_map(|span| span.split_once(".rs::")).collect();
    assert!(named.len() >= 70, "{named:?}");
    for (file, function) in named {
        let text =
            std::fs::read_to_string(root.join(format!("{file}.rs"))).unwrap_or_else(|e| panic!("{file}.rs: {e}"));
        let is_test = text.contains(&format!("fn {function}("));
        assert!(is_test, "{file}.rs has no {function}");
    }
}
