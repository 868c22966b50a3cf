//! Our end of a supervisor's pipes.

use crate::{
    order::{Act, DETACH, Order, READY, Report},
    process::ProcessId,
    programs::{in_path, is_program},
};
use std::{
    env,
    fs::File,
    io::{self, BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Names the `iotbench` binary.
pub(crate) const VARIABLE: &str = "IOTBENCH_BIN";
const PROGRAM: &str = "iotbench";
/// What a supervisor gets of its caller's environment. Its servers get what its order says.
const HANDED_ON: [&str; 6] = ["PATH", "HOME", "TMPDIR", "LANG", "RUST_BACKTRACE", "LLVM_PROFILE_FILE"];
/// Reports waiting while a server starts, beside one for each of its processes.
const REPORTS: usize = 8;
/// A supervisor that has not ended so long after its server had to is stuck.
const OVERTIME: Duration = Duration::from_secs(40);
const LOOK: Duration = Duration::from_millis(10);
/// A process that is asked to stop, then killed, then started has done so by then.
const ACTED_WITHIN: Duration = Duration::from_secs(90);

type OnEnd = Box<dyn FnOnce(&str) + Send>;

/// What is known of a server after its start.
#[derive(Default)]
struct Watch {
    /// The end is wanted.
    stopping: bool,
    /// How it ended, though nobody wanted it.
    ended: Option<String>,
    on_end: Option<OnEnd>,
    /// The last report.
    last: Option<Report>,
    /// What became of the action that was asked for.
    acted: Option<Result<ProcessId, String>>,
}

/// A supervisor that runs. Dropping it closes the pipe, which ends it.
pub(crate) struct Supervisor {
    child: Child,
    id: Option<ProcessId>,
    input: Arc<Mutex<Option<ChildStdin>>>,
    reports: Receiver<Report>,
    watch: Arc<Mutex<Watch>>,
    reader: Option<JoinHandle<()>>,
    grace: Duration,
}

/// Where the `iotbench` binary is: named by IOTBENCH_BIN, beside this program, or in PATH. This program itself only if it
/// has that name.
pub(crate) fn find() -> Option<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return Some(PathBuf::from(named)).filter(|named| is_program(named));
    }
    let beside = env::current_exe().ok().and_then(|own| Some(own.parent()?.join(PROGRAM)));
    beside.filter(|beside| is_program(beside)).or_else(|| in_path(PROGRAM))
}

impl Supervisor {
    /// Starts a supervisor and gives it its order. All that it and its server say goes to `log`.
    pub(crate) fn start(program: &PathBuf, order: &Order, log: File) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.arg("supervise").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        // It outlives its caller, whose environment may hold passwords.
        command.env_clear().envs(HANDED_ON.iter().filter_map(|name| Some((name, env::var_os(name)?))));
        let mut child = command.spawn()?;
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the supervisor has no pipes"));
        };
        let processes: usize = order.stages.iter().map(Vec::len).sum();
        let (sender, reports) = sync_channel(REPORTS + processes);
        let watch = Arc::new(Mutex::new(Watch::default()));
        let reader = {
            let watch = Arc::clone(&watch);
            let read = move || read(BufReader::new(output), &sender, &watch);
            std::thread::Builder::new().name("supervisor".into()).spawn(read)?
        };
        let id = i32::try_from(child.id()).ok().and_then(ProcessId::of);
        let stages = u32::try_from(order.stages.len()).unwrap_or(u32::MAX);
        let grace = Duration::from_millis(order.grace_ms).saturating_mul(stages);
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        let given = input.write_all(&line);
        let supervisor =
            Self { child, id, input: Arc::new(Mutex::new(Some(input))), reports, watch, reader: Some(reader), grace };
        given.map(|()| supervisor)
    }

    /// Its process.
    pub(crate) fn id(&self) -> Option<ProcessId> {
        self.id
    }

    /// The next report; `Err`: there will be none.
    pub(crate) fn report(&self, within: Duration) -> Result<Option<Report>, ()> {
        use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
        match self.reports.recv_timeout(within) {
            Ok(report) => Ok(Some(report)),
            Err(Timeout) => Ok(None),
            Err(Disconnected) => Err(()),
        }
    }

    /// Says that all processes of the present stage are ready.
    pub(crate) fn say_ready(&self) -> io::Result<()> {
        lock(&self.input).as_mut().map_or(Ok(()), |input| writeln!(input, "{READY}"))
    }

    /// Calls back, once and from another thread, when the server ends without having been asked to.
    pub(crate) fn on_end(&self, call: impl FnOnce(&str) + Send + 'static) {
        let mut watch = lock(&self.watch);
        match &watch.ended {
            Some(how) => call(how),
            None => watch.on_end = Some(Box::new(call)),
        }
    }

    /// Who acts on its processes.
    pub(crate) fn acting(&self) -> Acting {
        Acting { input: Arc::clone(&self.input), watch: Arc::clone(&self.watch) }
    }

    /// How the server ended, if nobody asked it to.
    pub(crate) fn ended(&self) -> Option<String> {
        lock(&self.watch).ended.clone()
    }

    /// Leaves supervisor and server to themselves.
    pub(crate) fn detach(&mut self) -> io::Result<()> {
        if let Some(mut input) = lock(&self.input).take() {
            writeln!(input, "{DETACH}")?;
        }
        // Not joined: it reads until the supervisor ends.
        self.reader = None;
        lock(&self.watch).stopping = true;
        Ok(())
    }

    /// Ends the server and waits for the last report; `None`: the supervisor is gone without one, or stuck.
    pub(crate) fn end(&mut self) -> Option<Report> {
        lock(&self.watch).stopping = true;
        *lock(&self.input) = None;
        let reader = self.reader.take()?;
        let start = Instant::now();
        while !reader.is_finished() && start.elapsed() < self.grace + OVERTIME {
            std::thread::sleep(LOOK);
        }
        if reader.is_finished() {
            let _ = self.child.wait();
        }
        lock(&self.watch).last.take()
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // Without a reader it is detached, or has ended.
        if self.reader.is_some() {
            self.end();
        }
    }
}

/// Asks a supervisor to act on single processes, from any thread.
#[derive(Clone)]
pub(crate) struct Acting {
    input: Arc<Mutex<Option<ChildStdin>>>,
    watch: Arc<Mutex<Watch>>,
}

impl Acting {
    /// Has something done, and waits until it is: the process as it is then. One at a time.
    pub(crate) fn act(&self, act: &Act) -> Result<ProcessId, String> {
        lock(&self.watch).acted = None;
        let mut line = serde_json::to_vec(act).map_err(|e| e.to_string())?;
        line.push(b'\n');
        let written = lock(&self.input).as_mut().map(|input| input.write_all(&line));
        written.ok_or("the server has been stopped")?.map_err(|e| format!("its supervisor does not listen: {e}"))?;
        let since = Instant::now();
        while since.elapsed() < ACTED_WITHIN {
            let mut watch = lock(&self.watch);
            if let Some(acted) = watch.acted.take() {
                return acted;
            }
            if watch.stopping || watch.ended.is_some() {
                return Err("the server has ended".into());
            }
            drop(watch);
            std::thread::sleep(LOOK);
        }
        Err(format!("not done within {} s", ACTED_WITHIN.as_secs()))
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads reports until the supervisor ends.
fn read(output: impl BufRead, start: &SyncSender<Report>, watch: &Mutex<Watch>) {
    let lines = output.lines().map_while(Result::ok);
    for report in lines.filter_map(|line| serde_json::from_str::<Report>(&line).ok()) {
        if let Report::Exited { how, .. } = &report {
            note_end(watch, how);
        }
        if let Report::Acted(acted) = &report {
            lock(watch).acted = Some(acted.clone());
            continue;
        }
        lock(watch).last = Some(report.clone());
        // Nobody listens once the server has started, and there is room for all that can come.
        let _ = start.try_send(report);
    }
    if !matches!(lock(watch).last, Some(Report::Removed | Report::Kept | Report::NotRemoved(_) | Report::Failed { .. }))
    {
        note_end(watch, "its supervisor was killed");
    }
}

fn note_end(watch: &Mutex<Watch>, how: &str) {
    let call = {
        let mut watch = lock(watch);
        if watch.stopping || watch.ended.is_some() {
            return;
        }
        watch.ended = Some(how.into());
        watch.on_end.take()
    };
    if let Some(call) = call {
        call(how);
    }
}
