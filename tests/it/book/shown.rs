//! Every command line that a document shows is taken by the program, and carried out as far as that needs no database.

use super::{
    documents, iotbench,
    lines::{Call, calls},
    root,
};
use std::{fs, path::Path};

/// How far a call is carried out.
#[derive(Debug, PartialEq, Eq)]
enum Depth {
    /// As it stands.
    Whole,
    /// Planned.
    DryRun,
    /// Its arguments are read.
    Arguments,
}

fn depth(call: &Call) -> Depth {
    let has = |word: &str| call.words.iter().any(|w| w == word);
    match call.words.first().map(String::as_str) {
        _ if has("--help") || has("--version") => Depth::Whole,
        // It ends with its time, or with who reads it.
        Some("generate") if has("--for") && !call.is_piped => Depth::Whole,
        Some("check" | "profiles" | "backends" | "datasets") => Depth::Whole,
        // What a shell would fill in, a suite of the user's own, and one that is gone on with are not here.
        _ if call.words.iter().any(|word| word.contains('$')) => Depth::Arguments,
        Some("run") if has("--resume") => Depth::Arguments,
        Some("suite") if has("--resume") || call.words.iter().any(|word| word.ends_with(".toml")) => Depth::Arguments,
        Some("run" | "suite") => Depth::DryRun,
        _ => Depth::Arguments,
    }
}

/// A folder with what examples speak of: a profile of the user's own, and the built-in ones as files.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(root().join("configs/profiles/compressor_insert.toml"), folder.path().join("mine.toml")).unwrap();
    let page = fs::read_to_string(root().join("docs/howto/statements.md")).unwrap();
    let own = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    fs::write(folder.path().join("means.toml"), own).unwrap();
    std::os::unix::fs::symlink(root().join("configs"), folder.path().join("configs")).unwrap();
    folder
}

fn carried_out(folder: &Path, call: &Call) -> Result<(), String> {
    let words = call.words.iter().map(String::as_str);
    let check = ["reference", "--check-command", "--"];
    let mut outputs = vec![iotbench(folder, check.into_iter().chain(words.clone()))];
    match depth(call) {
        Depth::Whole => outputs.push(iotbench(folder, words)),
        Depth::DryRun => {
            let words = words.filter(|word| *word != "--dry-run");
            outputs.push(iotbench(folder, words.chain(["--dry-run"])));
        }
        Depth::Arguments => {}
    }
    let refused = outputs.iter().find(|output| !output.status.success());
    refused.map_or(Ok(()), |output| Err(String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[test]
fn every_command_line_that_is_shown_is_taken() {
    let folder = folder();
    let mut shown = 0;
    let mut refused = Vec::new();
    for (path, text) in documents(&["docs", "docs/guide", "docs/howto"]) {
        for call in calls(&text) {
            shown += 1;
            if let Err(why) = carried_out(folder.path(), &call) {
                let at = format!("{}:{}", path.strip_prefix(root()).unwrap().display(), call.line);
                refused.push(format!("{at}: iotbench {}\n{why}", call.words.join(" ")));
            }
        }
    }
    assert!(shown >= 10, "{shown} command lines are shown");
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn a_line_that_the_program_does_not_take_is_found() {
    let folder = folder();
    let text = "```\niotbench run -p pmu_write --vu 5\niotbench server begin postgres\niotbench run -p pmu_wirte\n\
                iotbench check gone.toml\niotbench check mine.toml\niotbench server start postgres\n```\n";
    let results: Vec<_> = calls(text).iter().map(|call| carried_out(folder.path(), call).is_ok()).collect();
    assert_eq!(results, [false, false, false, false, true, true]);
}
