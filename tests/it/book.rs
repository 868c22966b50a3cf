//! The documents say what the program does: the reference is its own, README stays short and links to it, and every command
//! that is shown is taken.

#![expect(clippy::unwrap_used, reason = "a test that cannot start the program has failed")]

mod lines;
mod method;
mod reference;
mod shown;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

const README: &str = include_str!("../../README.md");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The program with no environment of its own, in this folder.
fn iotbench<'a>(folder: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotbench"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("IOTBENCH_")) {
        command.env_remove(name);
    }
    command.output().unwrap()
}

/// README and the documents of these folders, by their paths.
fn documents(folders: &[&str]) -> Vec<(PathBuf, String)> {
    let files = folders.iter().filter_map(|folder| fs::read_dir(root().join(folder)).ok()).flatten();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "md"));
    files.push(root().join("README.md"));
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn readme_is_short() {
    // The table of systems is generated, and has a line for each.
    let lines = README.lines().filter(|line| !line.starts_with("| [`")).count();
    assert!(lines <= 118, "README.md has {lines} lines");
    let output = README.lines().skip_while(|line| *line != "```text").skip(1).take_while(|line| *line != "```").count();
    assert!(output <= 25, "the first output in README.md has {output} lines");
}

#[test]
fn readme_names_every_database_and_links_to_what_each_can_do() {
    const NOT_FOR_MEASURING: [&str; 3] = ["memory", "blackhole", "databus"];
    let readme = README.to_lowercase();
    let names = iotbench::BACKENDS.iter().map(|backend| backend.info().name);
    let missing: Vec<_> =
        names.filter(|name| !NOT_FOR_MEASURING.contains(name)).filter(|name| !readme.contains(name)).collect();
    assert!(missing.is_empty(), "README.md does not name {missing:?}");
    assert!(README.contains("docs/reference/backends.md"), "README.md does not link to what each database can do");
}

/// They were true once. What depends on the program is for the reference.
#[test]
fn no_document_repeats_what_is_not_so_any_more() {
    const FALSE: [&str; 3] = ["comparing runs is not built", "each has one", "are not compared yet"];
    let folders = ["docs", "docs/guide", "docs/howto", "docs/reference"];
    for (path, text) in documents(&folders) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for statement in FALSE {
            assert!(!text.contains(statement), "{}: {statement}", path.display());
        }
    }
}
