//! Acts on processes of the server while the load runs, on a thread of its own: a restart takes its time.

use crate::{clock::RunClock, plan::ActionPlan, scenario::ActionTaken};
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
    /// Does this to the process of a role on a node, counted from 0. Returns when it is done: the process's id where another
    /// one has been started in its place.
    ///
    /// # Errors
    /// Why it could not be done, for people.
    fn act(&self, action: ProcessAction, role: &str, node: u32) -> Result<Option<u32>, String>;
}

/// A process that was started in the place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Successor {
    pub(super) role: String,
    pub(super) node: u32,
    pub(super) pid: i32,
}

/// What the thread has done.
#[derive(Debug, Default)]
struct Done {
    marks: Vec<ActionTaken>,
    successors: Vec<Successor>,
}

/// The actions of a scenario under way. Dropping it ends it after the action that is being carried out.
#[derive(Debug)]
pub(super) struct ScenarioActions {
    done: Arc<Mutex<Done>>,
    /// How many of them were told to the observer.
    told: usize,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ScenarioActions {
    pub(super) fn start(
        actions: Vec<ActionPlan>,
        processes: Arc<dyn ServerProcesses>,
        clock: RunClock,
    ) -> io::Result<Self> {
        let (done, stop) = (Arc::new(Mutex::new(Done::default())), Arc::new(AtomicBool::new(false)));
        let (doing, stopped) = (Arc::clone(&done), Arc::clone(&stop));
        let body = move || {
            for action in actions {
                while clock.now_ns() < action.at_ns {
                    if stopped.load(Ordering::Relaxed) {
                        return;
                    }
                    std::thread::sleep(LOOK);
                }
                carry_out(&action, &*processes, clock, &doing);
            }
        };
        let thread = std::thread::Builder::new().name("iotbench-scenario".into()).spawn(body)?;
        Ok(Self { done, told: 0, stop, thread: Some(thread) })
    }

    /// What was begun since this was asked last.
    pub(super) fn take_begun(&mut self) -> Vec<ActionTaken> {
        let done = lock(&self.done);
        let begun = done.marks.get(self.told..).unwrap_or_default().to_vec();
        self.told = done.marks.len();
        begun
    }

    /// What was started again since this was asked last.
    pub(super) fn take_successors(&mut self) -> Vec<Successor> {
        std::mem::take(&mut lock(&self.done).successors)
    }

    /// Ends it: all that was done.
    pub(super) fn finish(mut self) -> Vec<ActionTaken> {
        self.join();
        std::mem::take(&mut lock(&self.done).marks)
    }

    fn join(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // What it did is in the marks.
            let _ = thread.join();
        }
    }
}

impl Drop for ScenarioActions {
    fn drop(&mut self) {
        self.join();
    }
}

fn lock(done: &Mutex<Done>) -> MutexGuard<'_, Done> {
    done.lock().unwrap_or_else(PoisonError::into_inner)
}

fn carry_out(action: &ActionPlan, processes: &dyn ServerProcesses, clock: RunClock, done: &Mutex<Done>) {
    let place = {
        let mut done = lock(done);
        done.marks.push(ActionTaken { action: action.clone(), from_ns: clock.now_ns(), to_ns: None, error: None });
        done.marks.len() - 1
    };
    let acted = processes.act(action.action, &action.role, action.node);
    let mut done = lock(done);
    if let Some(mark) = done.marks.get_mut(place) {
        mark.to_ns = acted.is_ok().then(|| clock.now_ns());
        mark.error = acted.as_ref().err().cloned();
    }
    let pid = acted.ok().flatten().and_then(|pid| i32::try_from(pid).ok());
    done.successors.extend(pid.map(|pid| Successor { role: action.role.clone(), node: action.node, pid }));
}
