//! The supervisor: a process that owns one server, of one process or of several, and ends it with all it started when
//! nobody wants it any more.

mod process_actions;

use crate::{
    folder::{FolderError, ServerFolder},
    inherited, log,
    order::{Act, DETACH, Order, ProcessOrder, READY, Report, Surroundings, VERSION},
    process::{ProcessId, descendants},
};
use rustix::process::{Signal, WaitOptions, WaitStatus, getpid, set_child_subreaper, setsid, wait};
use signal_hook::{
    consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};
use std::{
    collections::VecDeque,
    convert::Infallible,
    io::{self, BufRead, Write},
    os::fd::AsFd,
    process::{Command, Stdio},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    time::{Duration, Instant},
};

/// Events waiting for the one thread that decides.
const EVENTS: usize = 16;
/// An ended child shows at once, by a signal; a look this often is for signals that came together.
const LOOK: Duration = Duration::from_millis(500);
/// From one look to the next while the rest of the tree is killed.
const KILL_LOOK: Duration = Duration::from_millis(10);
/// Killed processes that have not ended by then never will.
const KILL_WITHIN: Duration = Duration::from_secs(30);

/// Something that the supervisor has to take note of.
enum Event {
    Line(String),
    InputClosed,
    Signal(i32),
}

/// Runs a supervisor on standard input and output until its server has ended, its folder is gone and nobody is left to
/// tell. The hidden subcommand `iotbench supervise` is nothing but this call.
///
/// It leaves the terminal's session, so that Ctrl-C reaches only those who can drain, and becomes the parent of every
/// process of the tree that loses its own. What it inherited beyond its pipes and its log is closed first: to be called before
/// anything else is opened. Whatever it has to say beyond its reports goes to standard error.
///
/// # Errors
/// The system refuses what makes a process a supervisor, or nobody gives an order.
pub fn supervise() -> io::Result<()> {
    inherited::close()?;
    // Refused to who leads a process group: then there is no terminal to leave either.
    let _ = setsid();
    std::env::set_current_dir("/")?;
    set_child_subreaper(Some(getpid()))?;
    let (sender, events) = sync_channel(EVENTS);
    forward_signals(sender.clone())?;
    forward_lines(sender)?;
    let order = match events.recv() {
        Ok(Event::Line(line)) => serde_json::from_str::<Order>(&line)?,
        _ => return Err(io::Error::other("no order came: iotbench starts its supervisor itself")),
    };
    if order.version != VERSION {
        let how = format!("the supervisor is of version {VERSION}, its caller of {}", order.version);
        report(&Report::Failed { process: None, how });
        return Ok(());
    }
    let folder = if order.fresh {
        ServerFolder::create(&order.folder, &order.marker, order.owner)
    } else {
        ServerFolder::open(&order.folder, &order.marker.backend, order.owner).map(|(folder, _)| folder)
    };
    match folder {
        Ok(folder) => Supervisor::new(events, order).run(&folder),
        Err(error) => report(&Report::Failed { process: None, how: error.to_string() }),
    }
    Ok(())
}

fn forward_signals(events: SyncSender<Event>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGCHLD])?;
    let forward = move || {
        let _ = signals.forever().try_for_each(|signal| events.send(Event::Signal(signal)));
    };
    std::thread::Builder::new().name("signals".into()).spawn(forward).map(drop)
}

fn forward_lines(events: SyncSender<Event>) -> io::Result<()> {
    let forward = move || {
        let lines = io::stdin().lock().lines().map_while(Result::ok);
        let sent = lines.map(Event::Line).chain([Event::InputClosed]).try_for_each(|event| events.send(event));
        // The thread that decides has returned.
        let _ = sent;
    };
    std::thread::Builder::new().name("input".into()).spawn(forward).map(drop)
}

/// Tells who listens, if anybody does.
fn report(report: &Report) {
    let Ok(mut line) = serde_json::to_vec(report) else { return };
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
}

struct Supervisor {
    events: Receiver<Event>,
    order: Order,
    /// Every process that was started, in the order of its start.
    started: Vec<Started>,
    /// The command that is being waited for, and how it ended.
    command: Option<(ProcessId, Option<WaitStatus>)>,
    /// How many stages are ready.
    ready: usize,
    /// What is to be done to single processes.
    acts: VecDeque<Act>,
    /// The process that is being restarted, and since when.
    restarting: Option<(usize, Instant)>,
    /// A closed pipe is no reason to end.
    detached: bool,
    /// Somebody wants the end.
    asked: bool,
}

/// A process of the server.
struct Started {
    id: ProcessId,
    stage: usize,
    name: String,
    order: ProcessOrder,
    /// Its end is wanted, and no reason to end all.
    away: bool,
    /// How it ended.
    status: Option<WaitStatus>,
}

/// Why a server does not go on.
enum Over {
    Asked,
    Failed { process: Option<usize>, how: String },
    Exited { process: usize, how: String },
}

impl Supervisor {
    fn new(events: Receiver<Event>, order: Order) -> Self {
        Self {
            events,
            order,
            started: Vec::new(),
            command: None,
            ready: 0,
            acts: VecDeque::new(),
            restarting: None,
            detached: false,
            asked: false,
        }
    }

    fn run(mut self, folder: &ServerFolder) {
        let Err(over) = self.serve(folder);
        let exited = matches!(over, Over::Exited { .. });
        match over {
            Over::Asked => {}
            Over::Failed { process, how } => report(&Report::Failed { process, how }),
            Over::Exited { process, how } => report(&Report::Exited { process, how }),
        }
        self.stop();
        self.kill_rest();
        // Who was not told to end it may want to look.
        while exited && !self.detached && !self.asked {
            self.wait_for_event(LOOK);
        }
        report(&match folder.remove_unless_kept(self.order.owner) {
            Ok(true) => Report::Removed,
            Ok(false) => Report::Kept,
            Err(error) => Report::NotRemoved(error.to_string()),
        });
    }

    /// Starts stage after stage, joins the processes, and looks after them until it is over.
    fn serve(&mut self, folder: &ServerFolder) -> Result<Infallible, Over> {
        for (number, stage) in std::mem::take(&mut self.order.stages).into_iter().enumerate() {
            let first = self.started.len();
            for (process, order) in (first..).zip(&stage) {
                self.prepare(process, order, folder)?;
            }
            for (process, order) in (first..).zip(stage) {
                let id = self.spawn(&order.start, &order.surroundings);
                let id = id.map_err(|how| Over::Failed { process: Some(process), how })?;
                let name = name(&order.start, &order.surroundings);
                self.started.push(Started { id, stage: number, name, order, away: false, status: None });
                report(&Report::Started { process, id });
            }
            self.wait_until(|supervisor| (supervisor.ready > number).then_some(()))?;
        }
        if self.order.fresh {
            let (join, join_in) = (std::mem::take(&mut self.order.join), self.order.join_in.clone());
            self.complete(None, &join, &join_in)?;
        }
        report(&Report::Joined);
        self.wait_until(|supervisor| {
            supervisor.act();
            None
        })
    }

    /// Makes and fills the folder of a process, unless it is there, and writes its files.
    fn prepare(&mut self, process: usize, order: &ProcessOrder, folder: &ServerFolder) -> Result<(), Over> {
        let fail = |e: FolderError| Over::Failed { process: None, how: e.to_string() };
        let (owner, of) = (self.order.owner, &order.surroundings);
        if self.order.fresh {
            folder.make_part(&of.folder, owner).map_err(fail)?;
        }
        for (path, text) in &order.files {
            folder.write(path, text, owner).map_err(fail)?;
        }
        if self.order.fresh { self.complete(Some(process), &order.init, of) } else { Ok(()) }
    }

    /// Runs commands to their end, one after the other. Each must succeed.
    fn complete(&mut self, process: Option<usize>, commands: &[Vec<String>], of: &Surroundings) -> Result<(), Over> {
        for command in commands {
            let fail = |how| Over::Failed { process, how };
            let id = self.spawn(command, of).map_err(fail)?;
            self.command = Some((id, None));
            let status = self.wait_until(|supervisor| supervisor.command?.1)?;
            if status.exit_status() != Some(0) {
                return Err(fail(format!("{} {}", name(command, of), how(status))));
            }
        }
        Ok(())
    }

    fn spawn(&self, command: &[String], of: &Surroundings) -> Result<ProcessId, String> {
        let mut words = self.order.prefix.iter().chain(command);
        let Some(program) = words.next() else { return Err("an empty command".into()) };
        let fail = |e: io::Error| format!("{program} cannot be started: {e}");
        // What a single process says goes where our own errors go: the log.
        let log = || match &of.log {
            Some(log) => log::open(log).map(Stdio::from),
            None => io::stderr().as_fd().try_clone_to_owned().map(Stdio::from),
        };
        let mut command = Command::new(program);
        command.args(words).env_clear().envs(of.environment.iter().cloned());
        command.current_dir(&of.folder).stdin(Stdio::null());
        command.stdout(log().map_err(fail)?).stderr(log().map_err(fail)?);
        // Waited for by reap(), as are those that are adopted.
        let child = command.spawn().map_err(fail)?;
        let pid = i32::try_from(child.id()).map_err(|e| e.to_string())?;
        ProcessId::of(pid).ok_or_else(|| format!("{program} is not in /proc"))
    }

    /// Waits until `look` sees what it looks for, unless it is over before.
    fn wait_until<T>(&mut self, mut look: impl FnMut(&mut Self) -> Option<T>) -> Result<T, Over> {
        loop {
            self.reap();
            if let Some(seen) = look(self) {
                return Ok(seen);
            }
            let ended = |(process, started): (usize, &Started)| {
                if started.away {
                    return None;
                }
                let how = format!("{} {}", started.name, how(started.status?));
                Some(Over::Exited { process, how })
            };
            if let Some(over) = self.started.iter().enumerate().find_map(ended) {
                return Err(over);
            }
            if self.asked {
                return Err(Over::Asked);
            }
            self.wait_for_event(LOOK);
        }
    }

    /// Takes note of every child that has ended.
    fn reap(&mut self) {
        reap_all(|pid, status| {
            if let Some(started) = self.started.iter_mut().find(|s| s.id.pid == pid && s.status.is_none()) {
                started.status = Some(status);
            } else if let Some((id, ended)) = &mut self.command
                && id.pid == pid
            {
                *ended = Some(status);
            }
            // All others were adopted from a process of the server.
        });
    }

    /// Asks the processes to stop, the last stage first, and waits for each stage as long as it is granted.
    fn stop(&mut self) {
        let stages = self.started.last().map_or(0, |last| last.stage + 1);
        for stage in (0..stages).rev() {
            for started in self.started.iter().rev().filter(|s| s.stage == stage && s.status.is_none()) {
                // One that cannot be asked is killed with the rest.
                let _ = started.ask_to_stop();
            }
            let end = Instant::now() + Duration::from_millis(self.order.grace_ms);
            while self.lives(stage) && Instant::now() < end {
                self.wait_for_event(end.saturating_duration_since(Instant::now()).min(LOOK));
            }
        }
    }

    /// Whether a process of this stage has not ended yet.
    fn lives(&mut self, stage: usize) -> bool {
        self.reap();
        self.started.iter().any(|started| started.stage == stage && started.status.is_none())
    }

    fn wait_for_event(&mut self, within: Duration) {
        match self.events.recv_timeout(within) {
            Ok(Event::Line(line)) if line == DETACH => self.detached = true,
            Ok(Event::Line(line)) if line == READY => self.ready += 1,
            Ok(Event::Line(line)) => self.acts.extend(serde_json::from_str::<Act>(&line).ok()),
            Ok(Event::InputClosed) => self.asked |= !self.detached,
            Ok(Event::Signal(SIGTERM | SIGINT)) => self.asked = true,
            // SIGCHLD only wakes, and a terminal that closes is not ours.
            Ok(Event::Signal(_)) | Err(_) => {}
        }
    }

    /// Kills all that is left of the tree, also what has left its group or its session.
    fn kill_rest(&self) {
        let start = Instant::now();
        loop {
            reap_all(|_, _| {});
            match descendants(getpid().as_raw_nonzero().get()) {
                Ok(rest) if rest.is_empty() => return,
                Ok(rest) => rest.iter().for_each(|process| drop(process.signal(Signal::KILL))),
                Err(_) => return,
            }
            if start.elapsed() >= KILL_WITHIN {
                return;
            }
            std::thread::sleep(KILL_LOOK);
        }
    }
}

fn reap_all(mut ended: impl FnMut(i32, WaitStatus)) {
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        ended(pid.as_raw_nonzero().get(), status);
    }
}

/// The name of a command's program, and which of several processes it belongs to.
fn name(command: &[String], of: &Surroundings) -> String {
    let program = command.first().map_or("", |program| program.rsplit('/').next().unwrap_or(program));
    format!("{program}{}", of.of)
}

fn how(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".into(),
    }
}
