//! Starting the program.

use crate::soundness::assert_sound;
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};
use tempfile::TempDir;

/// The program with these arguments, and results in `out`.
pub fn iotbench(out: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotbench"));
    command.args(arguments).arg("--out").arg(out).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, _) in std::env::vars().filter(|(name, _)| ["IOTBENCH_", "OTEL_"].iter().any(|own| name.starts_with(own)))
    {
        command.env_remove(name);
    }
    command
}

/// A run that came to its end.
pub struct Run {
    pub folder: PathBuf,
    pub document: Value,
    pub code: i32,
    _out: TempDir,
}

impl Run {
    /// A figure of the document by its path, such as `points.acked`.
    pub fn figure(&self, path: &str) -> &Value {
        let found = path.split('.').try_fold(&self.document, |value, key| value.get(key));
        found.unwrap_or_else(|| panic!("the document has no {path}: {:#}", self.document))
    }

    pub fn count(&self, path: &str) -> u64 {
        self.figure(path).as_u64().unwrap_or_else(|| panic!("{path} is no count: {}", self.figure(path)))
    }

    #[track_caller]
    pub fn assert_sound(&self) {
        assert_sound(&self.document, self.code, "");
    }
}

/// `iotbench run …` with its one JSON document.
pub fn run(arguments: &[&str]) -> Run {
    run_in(tempfile::tempdir().unwrap(), arguments)
}

/// The same with results in a folder that goes with them.
pub fn run_in(out: TempDir, arguments: &[&str]) -> Run {
    let output = iotbench(out.path(), &[&["run", "--output-format", "json"], arguments].concat()).output().unwrap();
    let document = document(&output);
    let folder = only_folder(out.path());
    let code = output.status.code().unwrap();
    Run { folder, document, code, _out: out }
}

/// A run in which everything that was due was sent: a machine that stands still for a while loses datapoints of a sensor, and
/// leaves operations of an open loop. It is made anew then, ten times at most.
pub fn in_full(arguments: &[&str]) -> Run {
    let is_lacking = |run: &Run| {
        let lacks = ["points.dropped", "points.pending", "load.dropped", "load.pending", "load.unknown"];
        lacks.iter().any(|count| run.count(count) > 0)
    };
    let mut made = run(arguments);
    for _ in 1..10 {
        if is_lacking(&made) {
            made = run(arguments);
        }
    }
    made
}

/// Runs that the machine disturbs are invalid, and left out of means and comparisons: these are made anew, ten times at most.
pub fn undisturbed(mut made: impl FnMut() -> Output) -> Output {
    const DISTURBED: Option<i32> = Some(11);
    let mut output = made();
    for _ in 1..10 {
        if output.status.code() == DISTURBED {
            output = made();
        }
    }
    output
}

/// The one JSON document on standard output.
pub fn document(output: &Output) -> Value {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e} in {text:?}, said {}", said(output)))
}

/// What was said on standard error.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The one folder in a folder.
pub fn only_folder(out: &Path) -> PathBuf {
    let entries: Vec<_> = out.read_dir().unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries.into_iter().next().unwrap()
}
