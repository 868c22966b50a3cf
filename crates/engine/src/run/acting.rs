//! Acts on processes of the server while the load runs, on a thread of its own: a restart takes its time.

use crate::{clock::RunClock, plan::ActionPlan, scenario::Mark};
use iotbench_core::ProcessAction;
use std::{
    fmt, io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

/// How often the thread looks whether it is time, or the end.
const LOOK: Duration = Duration::from_millis(5);

/// Acts on the processes of the server under load: whoever has started it.
pub trait ServerProcesses: Send + Sync + fmt::Debug {
    /// Does this to the process of a role on a node, counted from 0. Returns when it is done.
    ///
    /// # Errors
    /// Why it could not be done, for people.
    fn act(&self, action: ProcessAction, role: &str, node: u32) -> Result<(), String>;
}

/// The actions of a scenario under way. Dropping it ends it after the action that is being carried out.
#[derive(Debug)]
pub(super) struct Acting {
    marks: Arc<Mutex<Vec<Mark>>>,
    /// How many of them were told to the observer.
    told: usize,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Acting {
    pub(super) fn start(
        actions: Vec<ActionPlan>,
        processes: Arc<dyn ServerProcesses>,
        clock: RunClock,
    ) -> io::Result<Self> {
        let (marks, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (done, stopped) = (Arc::clone(&marks), Arc::clone(&stop));
        let body = move || {
            for action in actions {
                while clock.now_ns() < action.at_ns {
                    if stopped.load(Ordering::Relaxed) {
                        return;
                    }
                    std::thread::sleep(LOOK);
                }
                carry_out(&action, &*processes, clock, &done);
            }
        };
        let thread = std::thread::Builder::new().name("iotbench-scenario".into()).spawn(body)?;
        Ok(Self { marks, told: 0, stop, thread: Some(thread) })
    }

    /// What was begun since this was asked last.
    pub(super) fn take_begun(&mut self) -> Vec<Mark> {
        let marks = lock(&self.marks);
        let begun = marks.get(self.told..).unwrap_or_default().to_vec();
        self.told = marks.len();
        begun
    }

    /// Ends it: all that was done.
    pub(super) fn finish(mut self) -> Vec<Mark> {
        self.join();
        std::mem::take(&mut *lock(&self.marks))
    }

    fn join(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // What it did is in the marks.
            let _ = thread.join();
        }
    }
}

impl Drop for Acting {
    fn drop(&mut self) {
        self.join();
    }
}

fn lock(marks: &Mutex<Vec<Mark>>) -> MutexGuard<'_, Vec<Mark>> {
    marks.lock().unwrap_or_else(PoisonError::into_inner)
}

fn carry_out(action: &ActionPlan, processes: &dyn ServerProcesses, clock: RunClock, marks: &Mutex<Vec<Mark>>) {
    let place = {
        let mut marks = lock(marks);
        marks.push(Mark { action: action.clone(), from_ns: clock.now_ns(), to_ns: None, error: None });
        marks.len() - 1
    };
    let done = processes.act(action.action, &action.role, action.node);
    if let Some(mark) = lock(marks).get_mut(place) {
        mark.to_ns = done.is_ok().then(|| clock.now_ns());
        mark.error = done.err();
    }
}
