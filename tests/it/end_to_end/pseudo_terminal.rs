//! A program in a terminal that is a program too.

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{Mode, OFlags, open},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize},
};
use std::{
    fs::File,
    io::{Read, Write},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

pub struct PseudoTerminal {
    pub child: Child,
    user: File,
    parser: Arc<Mutex<vt100::Parser>>,
    closes: Arc<AtomicBool>,
    reader: JoinHandle<()>,
    /// Its settings last as long as somebody has it open.
    _terminal: File,
}

impl PseudoTerminal {
    /// Starts a program whose standard input and error are a terminal of this size; standard output is a pipe.
    pub fn start(program: &Command, rows: u16, columns: u16) -> Self {
        let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&user).unwrap();
        unlockpt(&user).unwrap();
        let user = File::from(user);
        let name = ptsname(&user, Vec::new()).unwrap();
        let terminal = open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let terminal = File::from(terminal);
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size).unwrap();
        // A session of its own, with this terminal.
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(program.get_program()).args(program.get_args());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        command.stdin(terminal.try_clone().unwrap()).stderr(terminal.try_clone().unwrap()).stdout(Stdio::piped());
        let child = command.spawn().unwrap();
        drop(command);
        let parser = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0)));
        let (mut read, parsed) = (user.try_clone().unwrap(), Arc::clone(&parser));
        let closes = Arc::new(AtomicBool::new(false));
        let closed = Arc::clone(&closes);
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while !closed.load(Ordering::Relaxed) {
                let look = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
                if poll(&mut [PollFd::new(&read, PollFlags::IN)], Some(&look)).unwrap_or(0) == 0 {
                    continue;
                }
                let Ok(read @ 1..) = read.read(&mut bytes) else { break };
                parsed.lock().unwrap().process(&bytes[..read]);
            }
        });
        Self { child, user, parser, closes, reader, _terminal: terminal }
    }

    /// Closes it, as one does a window, under the program that runs in it.
    pub fn close(self) -> Child {
        let Self { child, user, closes, reader, _terminal: terminal, .. } = self;
        closes.store(true, Ordering::Relaxed);
        reader.join().unwrap();
        drop((user, terminal));
        child
    }

    pub fn press(&mut self, keys: &str) {
        self.user.write_all(keys.as_bytes()).unwrap();
    }

    /// What is on the screen.
    pub fn text(&self) -> String {
        self.screen().contents()
    }

    pub fn screen(&self) -> vt100::Screen {
        self.parser.lock().unwrap().screen().clone()
    }

    /// Looks until the screen is as it should be; the limit is only there to end a test that would hang.
    pub fn wait_for(&self, what: &str, is_there: impl Fn(&str) -> bool) {
        let start = Instant::now();
        while !is_there(&self.text()) {
            assert!(start.elapsed() < Duration::from_secs(60), "waited in vain for {what}:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether keys are made lines of and shown, as a shell needs it.
    pub fn takes_lines(&self) -> bool {
        let modes = tcgetattr(&self.user).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    /// Checks that the terminal is as it was before the program, as soon as all that it wrote has come.
    pub fn assert_given_back(&self) {
        self.wait_for("the terminal to be given back", |_| !self.screen().alternate_screen());
        assert!(!self.screen().hide_cursor(), "the cursor is hidden");
        assert!(self.takes_lines(), "the terminal is raw");
    }
}
