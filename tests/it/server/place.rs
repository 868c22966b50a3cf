//! A place of a test's own, in which nothing may be left, and the servers that there are.

use iotbench_backends::BACKENDS;
use iotbench_cluster::SigningKey;
use iotbench_core::Recipe;
use iotbench_launcher::Programs;
use procfs::process::{Process, all_processes};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    ffi::OsStr,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Servers to which the tests speak by a client program too, and whose logins and certificates they know.
pub const SERVERS: [&str; 4] = ["mariadb", "postgres", "influxdb", "mongodb"];

/// Servers without a client program of their own: the tests speak HTTP to them.
pub const OVER_HTTP: [&str; 4] = ["kairosdb", "questdb", "victoriametrics", "clickhouse"];

/// Those of the first list that are here, and of the second where `scripts/test --full` sets `IOTBENCH_FULL`: they speak
/// HTTP by the same code as InfluxDB, and conformance shows what each leaves alone and drops.
pub fn known_servers() -> impl Iterator<Item = &'static str> {
    let over_http = OVER_HTTP.into_iter().filter(|_| is_full());
    SERVERS.into_iter().chain(over_http).filter(|b| is_here(b))
}

fn is_full() -> bool {
    std::env::var_os("IOTBENCH_FULL").is_some()
}

/// Every server of which iotbench starts one of its own, as far as its programs are here; without those of the long set.
pub fn every_server() -> impl Iterator<Item = &'static str> {
    let servers = BACKENDS.iter().filter(|b| b.info().recipe.is_some()).map(|b| b.info().name);
    servers.filter(|&name| !IN_THE_LONG_SET.contains(&name) && is_here(name))
}

/// For what iotbench does alike with each: one of many processes, one of documents, one over HTTP; every server where
/// `scripts/test --full` sets `IOTBENCH_FULL`.
pub fn some_servers() -> impl Iterator<Item = &'static str> {
    every_server().filter(|name| is_full() || ["postgres", "mongodb", "influxdb"].contains(name))
}

/// For what is the same code for each and takes long: one that speaks SQL and one that speaks HTTP; every server where
/// `scripts/test --full` sets `IOTBENCH_FULL`.
pub fn two_servers() -> impl Iterator<Item = &'static str> {
    every_server().filter(|name| is_full() || ["postgres", "influxdb"].contains(name))
}

/// They take a minute to start: tests of the long set alone start them.
pub const IN_THE_LONG_SET: [&str; 1] = ["opentsdb"];

/// No package brings them: they may be missing where all others must be there.
const MAY_BE_MISSING: [&str; 1] = ["influxdb2"];

pub fn recipe(backend: &str) -> &'static Recipe {
    BACKENDS.iter().find(|b| b.info().name == backend).and_then(|b| b.info().recipe).unwrap()
}

/// Whether a server's programs are here. Where they must be, their absence fails the test.
#[expect(clippy::print_stderr, reason = "who reads the tests' output sees what was not tested")]
pub fn is_here(backend: &str) -> bool {
    match Programs::find(recipe(backend)) {
        Ok(_) => true,
        Err(missing) => {
            let is_needed =
                std::env::var_os("IOTBENCH_REQUIRE_SERVERS").is_some() && !MAY_BE_MISSING.contains(&backend);
            assert!(!is_needed, "{missing}");
            eprintln!("skipped: {} not found", missing.name);
            false
        }
    }
}

const AGENT_KEY: &str = "agent.key";

/// Looks until something has happened; the limit is only there to end a test that would hang.
pub fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(90), "waited in vain for {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// What a process says until it ends; one that does not is killed, since a test that hangs says nothing.
pub fn output(child: Child) -> Output {
    let pid = Pid::from_child(&child);
    let (ended, end) = mpsc::sync_channel::<()>(0);
    let watch = thread::spawn(move || {
        let hangs = end.recv_timeout(Duration::from_secs(300)) == Err(mpsc::RecvTimeoutError::Timeout);
        if hangs {
            // It is not waited for as long as it runs: the number is still its own.
            kill_process(pid, Signal::KILL).unwrap();
        }
        hangs
    });
    let output = child.wait_with_output().unwrap();
    drop(ended);
    assert!(!watch.join().unwrap(), "it did not end: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Waits until the run in a place measures: its series has rows.
pub fn wait_for_series(place: &Place) {
    wait_for("the series to have rows", || series(place).lines().count() > 2);
}

/// Waits until the series of the run in a place tells of datapoints that were acknowledged.
pub fn wait_for_acknowledged(place: &Place) {
    wait_for_acknowledged_points(place, 1);
}

/// Waits until it tells of so many.
pub fn wait_for_acknowledged_points(place: &Place, least: u64) {
    wait_for("acknowledged datapoints", || {
        let series = series(place);
        let mut rows = series.lines().map(|row| row.split(','));
        let column = rows.next().and_then(|mut heads| heads.position(|head| head == "points_acked"));
        let acked = |column| rows.filter_map(|mut row| row.nth(column)?.parse::<u64>().ok()).sum::<u64>();
        column.map_or(0, acked) >= least
    });
}

/// The series of the run in a place; empty where there is none yet.
fn series(place: &Place) -> String {
    let folder = place.results().read_dir().ok().and_then(|mut d| d.next()).and_then(Result::ok);
    folder.and_then(|f| fs::read_to_string(f.path().join("series.csv")).ok()).unwrap_or_default()
}

pub fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

/// A copy of a program under another name. Another process writes it: a descriptor of this one's, open for writing, would
/// be inherited by whatever another test starts at that moment, and the copy could not be executed ("text file busy").
pub fn place_program(of: &Path, to: &Path) {
    assert!(Command::new("cp").args([of, to]).status().unwrap().success());
}

pub fn parent(pid: i32) -> i32 {
    Process::new(pid).unwrap().stat().unwrap().ppid
}

/// A process and all that descend from it.
pub fn tree(root: i32) -> Vec<i32> {
    let children = |pid| {
        let all = all_processes().unwrap().filter_map(|process| process.ok()?.stat().ok());
        all.filter(move |stat| stat.ppid == pid).map(|stat| stat.pid)
    };
    std::iter::once(root).chain(children(root).flat_map(tree)).collect()
}

pub fn is_alive(pid: i32) -> bool {
    Process::new(pid).and_then(|process| process.stat()).is_ok_and(|stat| stat.state != 'Z')
}

/// Folders for servers, for the records of those that are kept running, and for results.
pub struct Place {
    root: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self::at(tempfile::tempdir().unwrap())
    }

    /// One on a disk, wherever temporary files lie.
    pub fn on_disk() -> Self {
        Self::at(tempfile::tempdir_in("/var/tmp").unwrap())
    }

    fn at(root: TempDir) -> Self {
        for folder in ["servers", "runtime", "results"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        // The users that servers become have to get through.
        for folder in [root.path().to_owned(), root.path().join("servers")] {
            fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
        }
        SigningKey::create(&root.path().join(AGENT_KEY)).unwrap();
        Self { root }
    }

    /// The file of the key that runs have agents act with.
    pub fn agent_key(&self) -> PathBuf {
        self.root.path().join(AGENT_KEY)
    }

    /// The folder around all the others, which every user may enter.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    pub fn servers(&self) -> PathBuf {
        self.root.path().join("servers")
    }

    pub fn results(&self) -> PathBuf {
        self.root.path().join("results")
    }

    /// The program with these arguments, at home here.
    pub fn iotbench(&self, arguments: &[&str]) -> Command {
        self.program(env!("CARGO_BIN_EXE_iotbench"), arguments)
    }

    /// Another program that calls ours, with these arguments, at home here.
    pub fn program(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("IOTBENCH_")) {
            command.env_remove(name);
        }
        command.env("TMPDIR", self.servers()).env("XDG_RUNTIME_DIR", self.root.path().join("runtime"));
        // Runs have agents act that are started here, and these may reach what is started here.
        command.env("IOTBENCH_AGENT_KEY", self.agent_key());
        command.env("IOTBENCH_TRUST", SigningKey::read(&self.agent_key()).unwrap().public());
        command.env("IOTBENCH_ALLOW_TARGET", "127.0.0.1:*").env("IOTBENCH_ALLOW_DIR", self.root.path());
        command
    }

    /// A call that came to its end: exit code, standard output, standard error.
    pub fn call(&self, arguments: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = output(self.iotbench(arguments).spawn().unwrap());
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (out, err) = (text(stdout), text(stderr));
        assert!(!err.contains("panicked"), "{err}");
        (status.code().unwrap(), out, err)
    }

    /// A call that must succeed; gives standard output.
    pub fn out(&self, arguments: &[&str]) -> String {
        let (code, out, err) = self.call(arguments);
        assert_eq!(code, 0, "{arguments:?}: {err}");
        out
    }

    /// A server's start that must succeed; gives its address with the password in one piece, as `--url` takes it too.
    pub fn started(&self, arguments: &[&str]) -> String {
        let started = self.out(arguments);
        let backend = arguments.get(2).unwrap();
        let address = self.out(&["server", "address", backend]);
        let named = started.trim().split_once('\n').map_or("", |(_, named)| named);
        assert!(named.lines().all(|line| address.contains(line)), "{started} {address}");
        address.trim().to_owned()
    }

    /// A server's start that must succeed; gives its address as it is printed, in one piece.
    pub fn started_without_password(&self, arguments: &[&str]) -> String {
        let out = self.out(arguments);
        let (address, named) = out.trim().split_once('\n').unwrap_or((out.trim(), ""));
        let separator = if named.is_empty() { "" } else { "?" };
        format!("{address}{separator}{}", named.replace('\n', "&"))
    }

    /// The servers' folders that there are.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.servers().read_dir().unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    /// Living processes that have to do with this place: servers have a folder here as their home.
    pub fn processes(&self) -> Vec<(i32, Vec<String>)> {
        let root = self.root.path().to_str().unwrap();
        let here = |process: &Process| {
            let home = process.environ().ok().and_then(|environment| environment.get(OsStr::new("HOME")).cloned());
            let home = home.is_some_and(|home| Path::new(&home).starts_with(root));
            let command = process.cmdline().unwrap_or_default();
            let named = command.iter().any(|word| word.contains(root));
            (home || named).then_some((process.pid, command))
        };
        all_processes().unwrap().filter_map(|process| here(&process.ok()?)).filter(|(pid, _)| is_alive(*pid)).collect()
    }

    pub fn assert_nothing_is_left(&self) {
        wait_for("the end of all", || self.processes().is_empty() && self.folders().is_empty());
    }

    /// The process of the server that `iotbench server start` left running.
    pub fn server(&self, backend: &str) -> i32 {
        let list = self.out(&["server", "list"]);
        let line = list.lines().find(|line| line.starts_with(backend)).unwrap_or_else(|| panic!("{list}"));
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Place {
    /// A test that failed leaves no server either.
    fn drop(&mut self) {
        for (pid, _) in self.processes() {
            let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
        }
    }
}
