//! The steps of action.yml, as a job calls them.

use crate::end_to_end::program::{said, undisturbed};
use serde_json::{Value, json};
use std::{
    env, fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};
use tempfile::TempDir;

/// A job: the files and folders that a runner gives to its steps.
struct Job(TempDir);

impl Job {
    fn new() -> Self {
        let job = Self(tempfile::tempdir().unwrap());
        fs::create_dir(job.path("temp")).unwrap();
        job
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A step, with these variables and this program on its path.
    fn step(&self, step: &str, variables: &[(&str, &str)]) -> Output {
        let program = Path::new(env!("CARGO_BIN_EXE_iotbench")).parent().unwrap();
        let path = format!("{}:{}", program.display(), env::var("PATH").unwrap());
        let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/action").join(step));
        for (name, _) in env::vars().filter(|(name, _)| name.starts_with("IOTBENCH_")) {
            command.env_remove(name);
        }
        command.env("PATH", path).env("RUNNER_TEMP", self.path("temp"));
        for (name, file) in [("OUTPUT", "outputs"), ("PATH", "path"), ("STEP_SUMMARY", "summary.md")] {
            command.env(format!("GITHUB_{name}"), self.path(file));
        }
        command.envs(variables.iter().copied()).current_dir(self.0.path()).stdin(Stdio::null()).output().unwrap()
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }
}

/// Users who wait between their operations: a machine that stands still for a moment makes no other figure of it.
const LOAD: &str = "--vus\n2\n--operations\n6\n--warmup\n0s\n--set\nthink_time=200ms\n";
const GATE: &str = "--metric\noperations_per_s\n\n--threshold\n50%";

/// Runs the profile into a folder; a run that the machine disturbed is made anew in a job of its own.
fn run(baseline: &Path, results: &Path, arguments: &str) -> (Job, Output) {
    let mut job = Job::new();
    let output = undisturbed(|| {
        let _ = fs::remove_dir_all(results);
        job = Job::new();
        let [baseline, results] = [baseline, results].map(|path| path.to_str().unwrap());
        let variables = [("PROFILE", "pmu_write"), ("BACKEND", "blackhole"), ("RUNS", "3")];
        let places = [("BASELINE", baseline), ("RESULTS", results), ("ARGUMENTS", arguments)];
        job.step("run", &[&variables[..], &places].concat())
    });
    (job, output)
}

/// What a job's summary says, and what the job's output `compared` is.
fn summary(job: &Job, results: &Path, code: &str) -> (String, String) {
    let outputs = job.text("outputs");
    let output = |name: &str| {
        let line = outputs.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_else(|| panic!("{name} is missing: {outputs}")).to_owned()
    };
    assert_eq!((output("exit-code"), output("results")), (code.to_owned(), results.display().to_string()));
    let compared = output("compared");
    let variables = [("CODE", code), ("COMPARED", &compared), ("RESULTS", results.to_str().unwrap())];
    let written = job.step("summary", &variables);
    assert!(written.status.success(), "{}", said(&written));
    (job.text("summary.md"), compared)
}

#[test]
fn runs_are_held_against_a_baseline_as_soon_as_there_is_one_and_the_summary_says_which() {
    let folder = tempfile::tempdir().unwrap();
    let [main, branch, nowhere] = ["main", "branch", "nowhere"].map(|name| folder.path().join(name));
    let (job, first) = run(&nowhere, &main, LOAD);
    assert_eq!(first.status.code(), Some(0), "{}", said(&first));
    assert!(String::from_utf8_lossy(&first.stdout).contains("::notice::no runs in"), "{first:?}");
    let (text, compared) = summary(&job, &main, "0");
    assert_eq!(compared, "false");
    assert!(text.starts_with("## iotbench: run, and not compared\n") && text.contains("| blackhole:wide |"), "{text}");

    let gated = format!("{LOAD}{GATE}");
    let (job, equal) = run(&main, &branch, &gated);
    assert_eq!(equal.status.code(), Some(0), "{}", said(&equal));
    let (text, compared) = summary(&job, &branch, "0");
    assert_eq!(compared, "true");
    assert!(text.starts_with("## iotbench: no regression found\n") && text.contains("NO REGRESSION"), "{text}");

    // Runs that were ten times as fast make the next ones a regression.
    for run in main.read_dir().unwrap() {
        let file = run.unwrap().path().join("run.json");
        let mut document: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let rate = document["throughput"]["operations_per_s"].as_f64().unwrap();
        document["throughput"]["operations_per_s"] = json!(rate * 10.0);
        fs::write(&file, document.to_string()).unwrap();
    }
    let (job, slower) = run(&main, &branch, &gated);
    assert_eq!(slower.status.code(), Some(13), "{}", said(&slower));
    let (text, _) = summary(&job, &branch, "13");
    assert!(text.starts_with("## iotbench: REGRESSION\n"), "{text}");
    assert!(text.contains("    blackhole:wide") && text.contains("REGRESSION of operations_per_s"), "{text}");
}

#[test]
fn what_goes_wrong_ends_the_step_with_its_code_and_is_told_in_the_summary() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results");
    let (job, wrong) = run(Path::new(""), &results, "--no-such-option");
    assert_eq!(wrong.status.code(), Some(2), "{}", said(&wrong));
    let (text, _) = summary(&job, &results, "2");
    assert!(text.starts_with("## iotbench: ended with exit code 2\n") && text.contains("--no-such-option"), "{text}");
    // What is in the folder already would be taken for runs of this job.
    fs::write(results.join("older"), "").unwrap();
    let job = Job::new();
    let full = job.step(
        "run",
        &[("PROFILE", "pmu_write"), ("BACKEND", "blackhole"), ("RUNS", "1"), ("RESULTS", results.to_str().unwrap())],
    );
    assert!(full.status.code() == Some(2) && said(&full).contains("is not empty"), "{full:?}");
    let empty = job.step("summary", &[("CODE", ""), ("COMPARED", ""), ("RESULTS", "")]);
    assert!(
        empty.status.success() && job.text("summary.md") == "## iotbench: not run\n\n",
        "{}",
        job.text("summary.md")
    );
}

/// A release in a folder, of a program that says its version.
fn release(folder: &Path, version: &str, target: &str) -> PathBuf {
    let place = folder.join("me/iotbench/releases/download").join(version);
    let name = format!("iotbench-{version}-{target}");
    fs::create_dir_all(place.join(&name)).unwrap();
    let program = place.join(&name).join("iotbench");
    fs::write(&program, format!("#!/bin/sh\necho the released {version}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let script = format!("tar -czf {name}.tar.gz {name} && sha256sum {name}.tar.gz > SHA256SUMS");
    assert!(Command::new("sh").args(["-c", &script]).current_dir(&place).status().unwrap().success());
    place
}

#[test]
fn a_released_program_is_installed_when_its_digest_is_the_released_one() {
    if Command::new("curl").arg("--version").output().is_err() {
        assert!(env::var_os("IOTBENCH_REQUIRE_SERVERS").is_none(), "no curl");
        eprintln!("skipped: curl not found");
        return;
    }
    let server = tempfile::tempdir().unwrap();
    let place = release(server.path(), "v9.8.7", "x86_64-unknown-linux-musl");
    let url = format!("file://{}", server.path().display());
    let runner = [("GITHUB_SERVER_URL", url.as_str()), ("ACTION_REPOSITORY", "me/iotbench"), ("RUNNER_OS", "Linux")];
    let install = |job: &Job, more: &[(&str, &str)]| {
        let output = job.step("install", &[&runner[..], more].concat());
        (output.status.code().unwrap(), String::from_utf8_lossy(&output.stdout).into_owned() + &said(&output))
    };
    // By the input, or by the ref of the action itself.
    for (version, action) in [("v9.8.7", "main"), ("", "v9.8.7")] {
        let job = Job::new();
        let (code, text) = install(&job, &[("RUNNER_ARCH", "X64"), ("VERSION", version), ("ACTION_REF", action)]);
        assert!(code == 0 && text.ends_with("the released v9.8.7\n"), "{text}");
        assert_eq!(job.text("path"), format!("{}\n", job.path("temp/iotbench").display()));
    }
    let refused = |variables: &[(&str, &str)], words: &str| {
        let job = Job::new();
        let (code, text) = install(&job, variables);
        assert!(code != 0 && text.contains(words) && job.text("path").is_empty(), "{code}: {text}");
    };
    refused(&[("RUNNER_ARCH", "X64"), ("VERSION", "v1.2.3")], "curl");
    refused(&[("RUNNER_ARCH", "RISCV"), ("VERSION", "v9.8.7")], "no program is released for Linux on RISCV");
    refused(&[("RUNNER_ARCH", "X64"), ("VERSION", "latest")], "version is 'latest'");
    let archive = place.join("iotbench-v9.8.7-x86_64-unknown-linux-musl.tar.gz");
    let digests = fs::read_to_string(place.join("SHA256SUMS")).unwrap();
    fs::write(&archive, [fs::read(&archive).unwrap(), b"more".to_vec()].concat()).unwrap();
    refused(&[("RUNNER_ARCH", "X64"), ("VERSION", "v9.8.7")], "FAILED");
    // A list of other files vouches for nothing.
    fs::write(place.join("SHA256SUMS"), digests.replace("x86_64", "aarch64")).unwrap();
    refused(&[("RUNNER_ARCH", "X64"), ("VERSION", "v9.8.7")], "");
}
