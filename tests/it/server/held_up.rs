//! A client that could not run is to blame for it, by its cause, and the database is not.

use crate::server::{
    on_a_server::Ended,
    place::{Place, is_here, wait_for, wait_for_series},
};
use procfs::process::Process;
use rustix::{
    process::{Pid, Signal, kill_process},
    thread::{CpuSet, sched_setaffinity},
};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};
use url::Url;

const BACKEND: &str = "influxdb";
/// More than a fair scheduler can serve in turn without anyone waiting.
const SPINNERS: usize = 40;

#[test]
fn a_client_that_was_held_up_is_to_blame_and_the_database_is_not() {
    if !is_here(BACKEND) {
        return;
    }
    let place = Place::new();
    let url: Url = place.started(&["server", "start", BACKEND]).trim().parse().unwrap();
    by_a_signal(&url);
    by_a_quota(&url);
    by_a_quota_that_others_use_up(&url);
    by_a_busy_machine(&url);
    place.out(&["server", "stop", BACKEND]);
    place.assert_nothing_is_left();
}

/// Whatever calls an undisturbed run the client's fault is a false alarm.
#[test]
#[ignore = "ten minutes, on a machine that does nothing else: scripts/long clean"]
fn fifty_clean_runs_give_at_most_one_false_alarm() {
    const RUNS: usize = 50;
    assert!(is_here(BACKEND));
    let place = Place::new();
    let url: Url = place.started(&["server", "start", BACKEND]).trim().parse().unwrap();
    let load = ["-p", "machine_write", "--arrival", "constant", "-r", "200", "-d", "10s", "--warmup", "1s"];
    let (mut alarms, mut hiccups, mut latest_ms, mut meter_cpu_pct) = (0, 0, 0.0_f64, 0.0_f64);
    for number in 1..=RUNS {
        let results = place.results().join(number.to_string());
        let target = ["-b", BACKEND, "--url", url.as_str(), "--out", results.to_str().unwrap()];
        let (code, out, err) = place.call(&[&["run", "--output-format", "json"], &load[..], &target].concat());
        let document: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {err}"));
        let client = &document["client"];
        assert!([0, 11].contains(&code), "{:#}", document["verdict"]);
        if code == 11 {
            alarms += 1;
            println!("run {number}: {:#} {:#}", document["verdict"]["reasons"], client["hiccups"]);
        }
        hiccups += client["hiccup_count"].as_u64().unwrap();
        latest_ms = latest_ms.max(client["lateness"]["max_ms"].as_f64().unwrap());
        meter_cpu_pct = meter_cpu_pct.max(client["lateness"]["cpu_pct"].as_f64().unwrap());
    }
    println!(
        "{RUNS} runs: {alarms} false alarms, {hiccups} hiccups, the latest tick {latest_ms:.1} ms late, the stall detectors' CPU at \
         most {meter_cpu_pct:.2} % of a core"
    );
    place.out(&["server", "stop", BACKEND]);
    assert!(alarms <= 1, "{alarms} of {RUNS}");
}

/// An open loop that is stopped for 0.3 s of its 4 s: more than 1 % of its operations are late, and the 99th percentile is no
/// figure.
#[test]
#[ignore = "two minutes: scripts/long clean"]
fn pacing_that_is_broken_is_flagged_each_time() {
    const RUNS: usize = 20;
    assert!(is_here(BACKEND));
    let place = Place::new();
    let url: Url = place.started(&["server", "start", BACKEND]).trim().parse().unwrap();
    let schedule = ["-p", "machine_write", "--arrival", "poisson", "-r", "400", "-d", "4s"];
    let flagged = (1..=RUNS).filter(|number| {
        let place = Place::new();
        let run =
            begin_load(&place, &url, &[&schedule[..], &["--seed", &number.to_string()]].concat(), |command| command);
        let pid = Pid::from_child(&run);
        kill_process(pid, Signal::STOP).unwrap();
        sleep(Duration::from_millis(300));
        kill_process(pid, Signal::CONT).unwrap();
        let ended = end(run.wait_with_output().unwrap());
        let range = &ended.document["latency"]["by_operation"]["response"]["ranges"]["p99"];
        range["high"].as_f64() > Some(200_000.0) && ended.document["remarks"].to_string().contains("it could not run")
    });
    assert_eq!(flagged.count(), RUNS);
    place.out(&["server", "stop", BACKEND]);
}

/// SIGSTOP three times: each is found, with its size.
fn by_a_signal(url: &Url) {
    let place = Place::new();
    let run = begin(&place, url, "6s", |command| command);
    let pid = Pid::from_child(&run);
    let stopped: Vec<f64> = [100, 300, 700]
        .into_iter()
        .map(|ms| {
            let since = Instant::now();
            kill_process(pid, Signal::STOP).unwrap();
            // A thread that waits for a processor does not stop before it has one.
            wait_for("every thread to stop", || is_stopped(pid));
            sleep(Duration::from_millis(ms));
            kill_process(pid, Signal::CONT).unwrap();
            let stopped = since.elapsed();
            sleep(Duration::from_millis(200));
            stopped.as_secs_f64() * 1e3
        })
        .collect();
    let ended = end(run.wait_with_output().unwrap());
    assert_client_is_to_blame(&ended, "it was stopped");
    let lengths_ms = lengths_ms(&ended, "stopped");
    assert_eq!(lengths_ms.len(), 3, "{:#}", ended.document["client"]);
    // What the stall detectors see begins with their next tick, and ends when the machine lets them run.
    for (length_ms, (at_least_ms, at_most_ms)) in lengths_ms.iter().zip([98.0, 298.0, 698.0].into_iter().zip(stopped)) {
        assert!((at_least_ms..at_most_ms + 500.0).contains(length_ms), "{length_ms} of {at_most_ms}");
    }
}

/// Whether each thread of a process is stopped.
fn is_stopped(pid: Pid) -> bool {
    let tasks = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).unwrap();
    tasks.map(|task| fs::read_to_string(task.unwrap().path().join("stat")).unwrap()).all(|stat| {
        let state = stat.rsplit(')').next().unwrap_or_default();
        state.trim_start().starts_with('T')
    })
}

/// A twentieth of a core for a client that could use several.
fn by_a_quota(url: &Url) {
    let Some(group) = Group::with_quota(5_000, 100_000) else {
        skipped("no cgroup hierarchy with CPU quotas, or no right to make a group");
        return;
    };
    let place = Place::new();
    let run = begin(&place, url, "3s", |command| group.entered_by(&command));
    let ended = end(run.wait_with_output().unwrap());
    // It used up its quota, or was held back by it before it had: in either case it is the quota that is named.
    let causes = ["of the 0.05 cores that it may use", "CPU quotas of its cgroups held it back"];
    assert_client_is_to_blame_by_one_of(&ended, &causes);
    assert!(!lengths_ms(&ended, "cpu_quota").is_empty(), "{:#}", ended.document["client"]);
    assert_eq!(ended.document["client"]["cores_allowed"], 0.05);
}

/// A fifth of a core, of which others in the client's group use all there is: however little it needs itself, it stands still
/// with them. In periods of 20 ms the pauses are too short for a hiccup.
fn by_a_quota_that_others_use_up(url: &Url) {
    let processors = rustix::thread::sched_getaffinity(None).unwrap().count();
    for (period_us, stalls) in [(100_000, true), (20_000, false)] {
        let Some(group) = Group::with_quota(period_us / 5, period_us) else { return };
        let place = Place::new();
        // Beside other tests it takes a while until the others run, and they use up less.
        let run = begin(&place, url, "10s", |command| group.entered_by(&command));
        let spinners = Spinners::start(processors as usize, |command| group.entered_by(&command));
        sleep(Duration::from_secs(5));
        drop(spinners);
        let ended = end(run.wait_with_output().unwrap());
        assert_client_is_to_blame(&ended, "CPU quotas of its cgroups held it back");
        assert!(!stalls || !lengths_ms(&ended, "cpu_quota").is_empty(), "{:#}", ended.document["client"]);
        assert_eq!(ended.document["client"]["cores_allowed"], 0.2);
    }
}

/// Forty processes on the client's only processor, and the client is the least of them.
fn by_a_busy_machine(url: &Url) {
    let place = Place::new();
    // What a thread starts inherits its processors.
    let ended = std::thread::scope(|scope| {
        let on_one_processor = || {
            let own = rustix::thread::sched_getaffinity(None).unwrap();
            let mut one = CpuSet::new();
            one.set((0..CpuSet::MAX_CPU).find(|&cpu| own.is_set(cpu)).unwrap());
            sched_setaffinity(None, &one).unwrap();
            let run = begin(&place, url, "5s", |command| nice(&command));
            let spinners = Spinners::start(SPINNERS, |command| command);
            sleep(Duration::from_secs(2));
            drop(spinners);
            end(run.wait_with_output().unwrap())
        };
        scope.spawn(on_one_processor).join().unwrap()
    });
    assert_client_is_to_blame(&ended, "other programs had the processors");
    assert!(!lengths_ms(&ended, "run_queue").is_empty(), "{:#}", ended.document["client"]);
}

/// A run that has begun to measure, started as `how` says. It sends as fast as the database answers: such a load has no
/// schedule that could be broken.
fn begin(place: &Place, url: &Url, duration: &str, how: impl FnOnce(Command) -> Command) -> Child {
    let load = ["-p", "machine_write", "--set", "model=closed", "--set", "load.users=8", "-d", duration];
    begin_load(place, url, &load, how)
}

fn begin_load(place: &Place, url: &Url, load: &[&str], how: impl FnOnce(Command) -> Command) -> Child {
    let results = place.results();
    let target = ["-b", BACKEND, "--url", url.as_str(), "--warmup", "0", "--out", results.to_str().unwrap()];
    let run = [&["run", "--output-format", "json"], load, &target].concat();
    let run = how(place.iotbench(&run)).spawn().unwrap();
    wait_for_series(place);
    run
}

fn end(output: Output) -> Ended {
    let err = String::from_utf8(output.stderr).unwrap();
    let document = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {err}"));
    Ended { code: output.status.code().unwrap(), document, err }
}

fn assert_client_is_to_blame(ended: &Ended, cause: &str) {
    assert_client_is_to_blame_by_one_of(ended, &[cause]);
}

fn assert_client_is_to_blame_by_one_of(ended: &Ended, causes: &[&str]) {
    let verdict = &ended.document["verdict"];
    assert_eq!((ended.code, &verdict["status"]), (11, &"invalid".into()), "{verdict:#} {}", ended.err);
    let reasons: Vec<&str> = verdict["reasons"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(reasons.iter().all(|reason| reason.starts_with("the client was the limit")), "{reasons:?}");
    let is_told = |cause: &&str| reasons.iter().any(|reason| reason.contains(*cause));
    assert!(causes.iter().any(is_told), "{reasons:?}");
    assert_eq!(ended.document["errors"].as_array().map(Vec::len), Some(0), "{:#}", ended.document["errors"]);
}

/// How long the hiccups of a cause took, in the order of time.
fn lengths_ms(ended: &Ended, cause: &str) -> Vec<f64> {
    let hiccups = ended.document["client"]["hiccups"].as_array().unwrap();
    hiccups.iter().filter(|h| h["cause"] == cause).map(|h| h["length_ms"].as_f64().unwrap()).collect()
}

#[expect(clippy::print_stderr, reason = "who reads the tests' output sees what was not tested")]
fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}

/// The same command through another program, which becomes it.
fn through(program: &str, arguments: &[&str], command: &Command) -> Command {
    let mut through = Command::new(program);
    through.args(arguments).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => through.env(name, value),
            None => through.env_remove(name),
        };
    }
    through.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    through
}

fn nice(command: &Command) -> Command {
    through("nice", &["-n", "19"], command)
}

/// Processes that want all the time there is.
struct Spinners(Vec<Child>);

impl Spinners {
    fn start(count: usize, how: impl Fn(Command) -> Command) -> Self {
        let spin = || {
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do :; done"]);
            how(command).spawn().unwrap()
        };
        Self((0..count).map(|_| spin()).collect())
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        for spinner in &mut self.0 {
            let _ = spinner.kill();
            let _ = spinner.wait();
        }
    }
}

/// A cgroup that is removed at the end.
struct Group(PathBuf);

impl Group {
    /// One that may run for so many microseconds of each period: of the v1 controller, or of the unified hierarchy.
    fn with_quota(quota_us: u32, period_us: u32) -> Option<Self> {
        let mounts = Process::myself().unwrap().mountinfo().unwrap();
        let v1 = mounts.iter().find(|mount| mount.fs_type == "cgroup" && mount.super_options.contains_key("cpu"));
        let v2 = mounts.iter().find(|mount| mount.fs_type == "cgroup2");
        let limit = |hierarchy: &Path, files: &[(&str, String)]| {
            let group = Self(hierarchy.join(format!("iotbench-test-{}", std::process::id())));
            fs::create_dir(&group.0).ok()?;
            files.iter().try_for_each(|(file, text)| fs::write(group.0.join(file), text)).ok()?;
            Some(group)
        };
        let of_v1 = [("cpu.cfs_period_us", period_us.to_string()), ("cpu.cfs_quota_us", quota_us.to_string())];
        v1.and_then(|mount| limit(&mount.mount_point, &of_v1))
            .or_else(|| limit(&v2?.mount_point, &[("cpu.max", format!("{quota_us} {period_us}"))]))
    }

    /// The same command from within the group.
    fn entered_by(&self, command: &Command) -> Command {
        let enter = r#"echo $$ > "$0" && exec "$@""#;
        let procs = self.0.join("cgroup.procs");
        through("sh", &["-c", enter, procs.to_str().unwrap()], command)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}
