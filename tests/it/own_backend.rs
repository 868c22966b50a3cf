//! The example of a backend of one's own is a whole one: it behaves as is expected of every backend, and runs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../examples/own_backend.rs"]
mod example;

use async_trait::async_trait;
use example::Journal;
use iotbench::core::{Backend, Layout, OpenRequest, Settings, TableSpec, Target};
use iotbench_conformance::{Fixture, Outcome, Verdict, assert_conforms, check};
use std::{fs, path::PathBuf};
use tempfile::TempDir;

/// A folder with a file of the user's own in it.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("notes.txt"), "the user's own").unwrap();
        Self(folder)
    }

    fn file(&self, table: &TableSpec) -> PathBuf {
        self.0.path().join(format!("{}.jsonl", table.name))
    }
}

#[async_trait]
impl Fixture for Folder {
    fn backend(&self) -> &'static dyn Backend {
        &Journal
    }

    fn request(&self, table: TableSpec) -> OpenRequest {
        let target = Target { folder: Some(self.0.path().into()), ..Target::default() };
        OpenRequest { target, settings: Settings::default(), table }
    }

    async fn plant_foreign(&self, table: &TableSpec) -> bool {
        fs::write(self.file(table), [b"a journal, but whose?\n".as_slice(), &[0xff]].concat()).unwrap();
        true
    }

    async fn contents(&self) -> Option<Vec<String>> {
        let files = fs::read_dir(self.0.path()).unwrap().map(|file| file.unwrap().path());
        let mut files: Vec<_> =
            files.map(|file| format!("{}: {:?}", file.display(), fs::read(&file).unwrap())).collect();
        files.sort_unstable();
        Some(files)
    }
}

#[tokio::test]
async fn it_behaves_as_is_expected_of_every_backend() {
    let outcomes = check(&Folder::new(), Layout::Wide).await;
    assert_conforms(&outcomes);
    // It keeps no tags of devices, and its lines have all signals from the beginning.
    let is_told = |why: &str| why.contains("no tags") || why.contains("that are added later");
    let is_skipped = |outcome: &&Outcome| matches!(&outcome.verdict, Verdict::Skipped(why) if !is_told(why));
    let skipped: Vec<_> = outcomes.iter().filter(is_skipped).collect();
    assert!(skipped.is_empty() && outcomes.len() > 70, "{} checks, of which {skipped:?}", outcomes.len());
}

#[test]
fn it_runs() {
    example::main().unwrap();
}

#[test]
fn it_takes_at_most_150_lines() {
    let lines = include_str!("../../examples/own_backend.rs").lines().count();
    assert!(lines <= 150, "{lines}: a backend is short, or the seam is too wide");
}
