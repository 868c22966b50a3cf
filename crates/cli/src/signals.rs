//! Ctrl-C, `kill` and a terminal that is closed: once to end in order, twice to end at once.

use crate::{console, dashboard::Screen};
use iotbench_engine::StopSignal;
use iotbench_session::SessionError;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM},
    iterator::Signals,
    low_level::emulate_default_handler,
};

/// From now on the first signal asks `stop` for an orderly end, which `announcement` tells the user, and the second ends
/// the program at once.
pub(crate) fn stop_in_order(stop: StopSignal, announcement: &'static str) -> Result<(), SessionError> {
    stop_in_order_on(None, stop, announcement)
}

/// The same where a dashboard may have taken the terminal. It tells itself what the announcement says; and whichever signal
/// ends the program, the terminal is given back before.
pub(crate) fn stop_in_order_on(
    screen: Option<Screen>,
    stop: StopSignal,
    announcement: &'static str,
) -> Result<(), SessionError> {
    let fail = |e: std::io::Error| SessionError::internal(format!("signals cannot be received: {e}"));
    // Whoever calls with nohup wants what runs to outlive the terminal.
    let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    let quit = screen.as_ref().map(|_| SIGQUIT);
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hang_up).chain(quit)).map_err(fail)?;
    let wait = move || {
        for signal in signals.forever() {
            if signal == SIGHUP {
                // There is no terminal to draw on any more.
                screen.iter().for_each(Screen::leave);
            }
            if signal == SIGQUIT {
                screen.iter().for_each(Screen::leave);
                // Only what cannot be emulated comes back from this.
                let _ = emulate_default_handler(signal);
            } else if stop.requested().is_some() {
                screen.iter().for_each(Screen::leave);
                end_at_once(signal);
            } else {
                stop.request(signal);
                if !screen.as_ref().is_some_and(Screen::is_taken) {
                    console::say(announcement);
                }
            }
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait).map(drop).map_err(fail)
}

#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "the user insists: what is on disk is whole up to the last second, and nothing may delay the end"
)]
fn end_at_once(signal: i32) -> ! {
    console::say("");
    std::process::exit(128 + signal)
}

/// Whether this process was started with the signal ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (signal - 1)) != 0
}
