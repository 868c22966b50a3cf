//! An agent's part of a run at work: a thread of its own, which does what it is told and tells what it did.

use crate::message::Seen;
use iotbench_core::{Backend, Cause};
use iotbench_engine::{Orders, PartLoad, Planned, ReadTerms, Told};
use std::{
    panic::AssertUnwindSafe,
    sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel},
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tokio::sync::{mpsc, oneshot};

/// How often the thread looks at its orders.
const LOOK: Duration = Duration::from_millis(50);
/// So often it tells how it stands, if nothing happened.
const AT_LEAST: Duration = Duration::from_secs(1);
/// Before what was created is dropped, the other agents end as well.
const OTHERS_END: Duration = Duration::from_secs(2);

/// Commands that wait for the thread. More than one is rare.
const COMMANDS: usize = 64;

/// What the thread is told.
enum Command {
    Start(Instant),
    Follow(Orders),
    /// The coordinator is not heard of; whether it is known to be gone will be told.
    Abandon(oneshot::Receiver<bool>),
}

/// A part at work. Dropped, it gives up what is under way.
#[derive(Debug)]
pub(crate) struct Work {
    commands: SyncSender<Command>,
    thread: JoinHandle<()>,
}

/// What an agent's threads tell: a part's news with its run, what is seen of what runs beside it, or a sentence for whoever
/// watches the agent.
#[derive(Debug)]
pub(crate) enum News {
    Told(String, Told),
    Seen(Seen),
    Said(String),
}

impl Work {
    /// Plans a part and opens its connections, on a thread of its own: a fault of either ends that and no more. `connected` is
    /// told when they are open, or why they cannot be; `news` what the part did from its start on. `drops`: a part whose
    /// coordinator is gone drops what the run created.
    ///
    /// # Errors
    /// No thread can be started.
    pub(crate) fn begin(
        run: &str,
        plan: impl FnOnce() -> Result<Planned, String> + Send + 'static,
        (backend, reading): (&'static dyn Backend, ReadTerms),
        drops: bool,
        news: mpsc::Sender<News>,
        connected: oneshot::Sender<Result<(), String>>,
    ) -> std::io::Result<Self> {
        let (commands, received) = sync_channel(COMMANDS);
        let run = run.to_owned();
        let thread = std::thread::Builder::new().name("part".into()).spawn(move || {
            let load =
                plan().and_then(|planned| PartLoad::connect(&planned, backend, reading).map_err(|e| e.to_string()));
            // Whoever asked may be gone: then nobody starts the load either.
            match load {
                Ok(load) => {
                    if connected.send(Ok(())).is_ok() {
                        make_safely(&run, load, &received, &news, drops);
                    }
                }
                Err(why) => drop(connected.send(Err(why))),
            }
        })?;
        Ok(Self { commands, thread })
    }

    /// Begins the load at this instant.
    pub(crate) fn start(&self, epoch: Instant) {
        // A thread that has ended has said why.
        let _ = self.commands.send(Command::Start(epoch));
    }

    /// Has it do what the control thread wants.
    pub(crate) fn follow(&self, orders: Orders) {
        // Orders are repeated: a thread that is far behind need not have all of them.
        let _ = self.commands.try_send(Command::Follow(orders));
    }

    /// Ends the load of a coordinator that is not heard of; `is_gone` tells later whether that is known to be gone.
    pub(crate) fn abandon(self, is_gone: oneshot::Receiver<bool>) -> JoinHandle<()> {
        let _ = self.commands.send(Command::Abandon(is_gone));
        self.thread
    }

    /// Ends the load, whose coordinator may live: what it created stays.
    pub(crate) fn give_up(self) -> JoinHandle<()> {
        self.thread
    }
}

/// A fault of the program is told as what ended the part.
fn make_safely(run: &str, load: PartLoad, commands: &Receiver<Command>, news: &mpsc::Sender<News>, drops: bool) {
    let made = std::panic::catch_unwind(AssertUnwindSafe(|| make(run, load, commands, news, drops)));
    if made.is_err() {
        let failure = Some((Cause::Client, "an agent's part ended by a fault of iotbench".to_owned()));
        let told = Told { failure, is_finished: true, ..Told::default() };
        // Without a receiver the agent is over.
        let _ = news.blocking_send(News::Told(run.to_owned(), told));
    }
}

fn make(run: &str, mut load: PartLoad, commands: &Receiver<Command>, news: &mpsc::Sender<News>, drops: bool) {
    let mut abandoned = None;
    let mut is_started = false;
    // Nobody wants it before it has begun.
    while !is_started && abandoned.is_none() {
        match commands.recv() {
            Ok(Command::Start(epoch)) => {
                load.start(epoch);
                is_started = true;
            }
            Ok(Command::Follow(orders)) => load.obey(orders),
            Ok(Command::Abandon(is_gone)) => abandoned = Some(is_gone),
            Err(_) => return,
        }
    }
    if is_started {
        abandoned = drive(run, &mut load, commands, news);
    }
    if drops && abandoned.is_some_and(|is_gone| is_gone.blocking_recv() == Ok(true)) {
        std::thread::sleep(OTHERS_END);
        let said = match load.drop_created() {
            Ok(()) => format!("what the run {run} created is dropped: its coordinator is gone"),
            Err(error) => format!("what the run {run} created is not dropped: {error}; iotbench clean drops it"),
        };
        let _ = news.blocking_send(News::Said(said));
    }
    // What a fault of the program ended was told as a failure.
    let _ = load.join();
}

/// Drives the load to its end; what will tell whether its coordinator is gone, where it was abandoned.
fn drive(
    run: &str,
    load: &mut PartLoad,
    commands: &Receiver<Command>,
    news: &mpsc::Sender<News>,
) -> Option<oneshot::Receiver<bool>> {
    let mut last = Instant::now();
    let mut abandoned = None;
    loop {
        loop {
            match commands.try_recv() {
                Ok(Command::Start(_)) => {}
                Ok(Command::Follow(orders)) => load.obey(orders),
                Ok(Command::Abandon(is_gone)) => {
                    abandoned = Some(is_gone);
                    load.obey(Orders::give_up());
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    load.obey(Orders::give_up());
                    break;
                }
            }
        }
        let told = load.tell(LOOK);
        let is_last = told.is_finished;
        if is_last || told.is_news() || last.elapsed() >= AT_LEAST {
            last = Instant::now();
            if news.blocking_send(News::Told(run.to_owned(), told)).is_err() {
                load.obey(Orders::give_up());
            }
        }
        if is_last {
            return abandoned;
        }
    }
}
