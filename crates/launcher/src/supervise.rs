//! The supervisor: a process that owns one server, and ends it with all it started when nobody wants it any more.

use crate::{
    folder::ServerFolder,
    order::{DETACH, Order, Report, VERSION},
    process::{ProcessId, descendants},
};
use rustix::process::{Signal, WaitOptions, WaitStatus, getpid, set_child_subreaper, setsid, wait};
use signal_hook::{
    consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};
use std::{
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
/// process of the tree that loses its own. Whatever it has to say beyond its reports goes to standard error.
///
/// # Errors
/// The system refuses what makes a process a supervisor, or nobody gives an order.
pub fn supervise() -> io::Result<()> {
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
        report(&Report::Failed(format!("the supervisor is of version {VERSION}, its caller of {}", order.version)));
        return Ok(());
    }
    let folder = if order.fresh { ServerFolder::create } else { ServerFolder::open };
    match folder(&order.folder, &order.backend, order.owner) {
        Ok(folder) => Supervisor { events, order, detached: false, asked: false }.run(&folder),
        Err(error) => report(&Report::Failed(error.to_string())),
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
    /// A closed pipe is no reason to end.
    detached: bool,
    /// Somebody wants the end.
    asked: bool,
}

/// How a wait for a process ended.
enum Waited {
    Exited(WaitStatus),
    Asked,
}

impl Supervisor {
    fn run(mut self, folder: &ServerFolder) {
        if let Err(message) = self.serve() {
            report(&Report::Failed(message));
        }
        self.kill_rest();
        report(&match folder.remove_unless_kept(self.order.owner) {
            Ok(true) => Report::Removed,
            Ok(false) => Report::Kept,
            Err(error) => Report::NotRemoved(error.to_string()),
        });
    }

    /// Fills the folder, starts the server, and returns when it has ended and may be forgotten.
    fn serve(&mut self) -> Result<(), String> {
        let init = if self.order.fresh { std::mem::take(&mut self.order.init) } else { Vec::new() };
        for command in &init {
            let process = self.spawn(command)?;
            match self.wait_for(process) {
                Waited::Asked => return Ok(()),
                Waited::Exited(status) if status.exit_status() == Some(0) => {}
                Waited::Exited(status) => return Err(format!("{} {}", name(command), how(status))),
            }
        }
        let start = std::mem::take(&mut self.order.start);
        let server = self.spawn(&start)?;
        report(&Report::Started(server));
        match self.wait_for(server) {
            Waited::Asked => self.stop(server),
            Waited::Exited(status) => {
                report(&Report::Exited(format!("{} {}", name(&start), how(status))));
                self.kill_rest();
                while !self.detached && !self.asked {
                    self.wait_for_event(LOOK);
                }
            }
        }
        Ok(())
    }

    fn spawn(&self, command: &[String]) -> Result<ProcessId, String> {
        let mut words = self.order.prefix.iter().chain(command);
        let Some(program) = words.next() else { return Err("an empty command".into()) };
        let fail = |e: io::Error| format!("{program} cannot be started: {e}");
        // What a server says goes where our own errors go: the log.
        let log = || io::stderr().as_fd().try_clone_to_owned().map(Stdio::from);
        let mut command = Command::new(program);
        command.args(words).env_clear().envs(self.order.environment.iter().cloned());
        command.current_dir(&self.order.folder).stdin(Stdio::null());
        command.stdout(log().map_err(fail)?).stderr(log().map_err(fail)?);
        // Waited for by reap(), as are those that are adopted.
        let child = command.spawn().map_err(fail)?;
        let pid = i32::try_from(child.id()).map_err(|e| e.to_string())?;
        ProcessId::of(pid).ok_or_else(|| format!("{program} is not in /proc"))
    }

    fn wait_for(&mut self, process: ProcessId) -> Waited {
        loop {
            if let Some(status) = reap(process) {
                return Waited::Exited(status);
            }
            if self.asked {
                return Waited::Asked;
            }
            self.wait_for_event(LOOK);
        }
    }

    /// Asks the server to stop, and waits as long as it is granted.
    fn stop(&mut self, server: ProcessId) {
        let signal = Signal::from_named_raw(self.order.stop_signal).unwrap_or(Signal::TERM);
        let asked = server.signal(signal);
        let end = Instant::now() + Duration::from_millis(self.order.grace_ms);
        while asked.is_ok() && reap(server).is_none() && Instant::now() < end {
            self.wait_for_event(end.saturating_duration_since(Instant::now()).min(LOOK));
        }
    }

    fn wait_for_event(&mut self, within: Duration) {
        match self.events.recv_timeout(within) {
            Ok(Event::Line(line)) if line == DETACH => self.detached = true,
            Ok(Event::InputClosed) => self.asked |= !self.detached,
            Ok(Event::Signal(SIGTERM | SIGINT)) => self.asked = true,
            // SIGCHLD only wakes, and a terminal that closes is not ours.
            Ok(Event::Line(_) | Event::Signal(_)) | Err(_) => {}
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

/// Takes note of every child that has ended; gives how this one did.
fn reap(process: ProcessId) -> Option<WaitStatus> {
    let mut found = None;
    reap_all(|pid, status| {
        if pid == process.pid {
            found = Some(status);
        }
    });
    found
}

fn reap_all(mut ended: impl FnMut(i32, WaitStatus)) {
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        ended(pid.as_raw_nonzero().get(), status);
    }
}

fn name(command: &[String]) -> &str {
    command.first().map_or("", |program| program.rsplit('/').next().unwrap_or(program))
}

fn how(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".into(),
    }
}
