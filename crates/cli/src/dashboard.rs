//! `--ui`: a run on the whole terminal while it lasts, drawn on standard error by a thread of its own.

mod draw;
mod screen;
mod state;

pub(crate) use screen::Screen;

use iotbench_engine::{Event, Observer, Plan, StopSignal};
use iotbench_session::SessionError;
use ratatui::crossterm::event::{self, KeyCode, KeyEventKind, KeyModifiers};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::{consts::SIGINT, low_level::raise};
use state::State;
use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// How often keys are looked for and the picture is drawn.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// A terminal that was closed while it was read keeps its reader, which then ends with the program.
const PATIENCE: Duration = Duration::from_secs(2);

/// An observer that draws. The terminal is taken as long as it lives.
pub(crate) struct Dashboard {
    state: Arc<Mutex<State>>,
    screen: Screen,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Dashboard {
    /// Takes the terminal for a run of this plan, which `stop` ends. `among`: where it is in its suite, if it is of one.
    ///
    /// # Errors
    /// The terminal cannot be taken.
    pub(crate) fn new(plan: &Plan, among: &str, screen: Screen, stop: StopSignal) -> Result<Self, SessionError> {
        let not_taken = |e: io::Error| SessionError::local_io(format!("--ui cannot draw on the terminal: {e}"));
        let state = Arc::new(Mutex::new(State::new(plan, among)));
        let mut dashboard = Self { state, screen, ended: Arc::default(), thread: None };
        let mut terminal = dashboard.screen.take().map_err(not_taken)?;
        let (state, screen, ended) =
            (Arc::clone(&dashboard.state), dashboard.screen.clone(), Arc::clone(&dashboard.ended));
        let show = move || {
            while screen.is_taken() && !ended.load(Ordering::Relaxed) {
                // Copied, so that the run never waits for the terminal.
                let now = state.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let ending = stop.requested().is_some();
                // A terminal that is gone is no reason to end a run.
                let _ = terminal.draw(|frame| draw::draw(frame, &now, ending));
                match keys() {
                    Keys::Gone => break,
                    Keys::None => {}
                    Keys::Some => follow(&stop),
                }
            }
        };
        let thread = std::thread::Builder::new().name("dashboard".into()).spawn(show).map_err(not_taken)?;
        dashboard.thread = Some(thread);
        Ok(dashboard)
    }
}

/// What the terminal has for who reads its keys.
enum Keys {
    Some,
    None,
    /// It was closed.
    Gone,
}

/// Waits for keys, a tick at most. Only a terminal that is there is read: of one that was closed crossterm reads for ever.
fn keys() -> Keys {
    let stderr = io::stderr();
    let mut terminal = [PollFd::new(&stderr, PollFlags::IN)];
    match poll(&mut terminal, Some(&TICK)) {
        Err(_) => Keys::None,
        Ok(_) if terminal[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) => Keys::Gone,
        Ok(_) if terminal[0].revents().contains(PollFlags::IN) => Keys::Some,
        Ok(_) => Keys::None,
    }
}

/// Takes what was pressed. The terminal makes no signals of keys while it is taken.
fn follow(stop: &StopSignal) {
    while event::poll(Duration::ZERO).unwrap_or(false) {
        let Ok(event::Event::Key(key)) = event::read() else { continue };
        let is_ctrl_c = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        let quits = key.code == KeyCode::Char('q') && stop.requested().is_none();
        if key.kind == KeyEventKind::Press && (is_ctrl_c || quits) {
            // As if it came from the terminal: once to end in order, twice to end at once.
            let _ = raise(SIGINT);
        }
    }
}

impl Observer for Dashboard {
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).event(event);
        Ok(())
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let since = Instant::now();
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) && since.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.screen.leave();
    }
}
