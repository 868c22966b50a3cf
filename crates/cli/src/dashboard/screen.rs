//! The terminal as a dashboard takes it, and as it is given back on every way out.

use iotbench_session::SessionError;
use ratatui::{
    Terminal,
    backend::CrosstermBackend,
    crossterm::{
        cursor::Show,
        execute,
        terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
    },
};
use std::{
    io::{self, IsTerminal, Write},
    panic,
    sync::{Arc, Mutex, PoisonError},
};

/// Standard error's terminal. Whoever gives it back first, its owner, a panic or a signal, does; the others find it done.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    is_taken: Arc<Mutex<bool>>,
}

/// What is drawn, one whole picture at a time, as long as the terminal is taken.
pub(super) struct Canvas {
    picture: Vec<u8>,
    screen: Screen,
}

impl Screen {
    /// The terminal, not taken yet. From now on a panic gives it back before it is told.
    ///
    /// # Errors
    /// Standard error is no terminal on which can be drawn.
    pub(crate) fn new() -> Result<Self, SessionError> {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if !io::stderr().is_terminal() || is_dumb {
            return Err(SessionError::usage(
                "--ui draws on a terminal, and standard error is none: leave it out, and progress comes as lines",
            ));
        }
        let screen = Self { is_taken: Arc::default() };
        let (of_panics, tell) = (screen.clone(), panic::take_hook());
        panic::set_hook(Box::new(move |panic| {
            of_panics.leave();
            tell(panic);
        }));
        Ok(screen)
    }

    /// Takes the terminal: its own picture, and keys as they are pressed.
    pub(super) fn take(&self) -> io::Result<Terminal<CrosstermBackend<Canvas>>> {
        {
            let mut is_taken = self.lock();
            *is_taken = true;
            enable_raw_mode()?;
            execute!(io::stderr(), EnterAlternateScreen)?;
        }
        Terminal::new(CrosstermBackend::new(Canvas { picture: Vec::new(), screen: self.clone() }))
    }

    /// Gives the terminal back, if it is taken. Nothing is drawn afterwards.
    pub(crate) fn leave(&self) {
        let mut is_taken = self.lock();
        if std::mem::take(&mut *is_taken) {
            let _ = execute!(io::stderr(), LeaveAlternateScreen, Show);
            let _ = disable_raw_mode();
        }
    }

    pub(crate) fn is_taken(&self) -> bool {
        *self.lock()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, bool> {
        self.is_taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Canvas {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.picture.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let is_taken = self.screen.lock();
        let drawn = if *is_taken { io::stderr().write_all(&self.picture) } else { Ok(()) };
        self.picture.clear();
        drawn
    }
}

#[cfg(test)]
#[expect(dead_code, reason = "other tests look at pictures and press keys")]
#[path = "../../../../tests/it/end_to_end/pseudo_terminal.rs"]
mod pseudo_terminal;

#[cfg(test)]
mod tests {
    use super::{pseudo_terminal::PseudoTerminal, *};
    use std::process::Command;

    #[test]
    fn a_panic_gives_the_terminal_back_and_is_told_on_it() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "--nocapture", "dashboard::screen::tests::panics"]);
        let mut terminal = PseudoTerminal::start(&command, 24, 80);
        assert_eq!(terminal.child.wait().unwrap().code(), Some(101));
        terminal.assert_given_back();
        terminal.wait_for("the panic's message", |text| text.contains("a fault of the program"));
    }

    #[test]
    #[ignore = "panics: another test runs it in a terminal"]
    fn panics() {
        let screen = Screen::new().unwrap();
        let mut terminal = screen.take().unwrap();
        terminal.draw(|frame| frame.render_widget("a picture", frame.area())).unwrap();
        assert!(screen.is_taken());
        panic!("a fault of the program");
    }
}
