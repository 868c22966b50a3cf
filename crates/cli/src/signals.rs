//! Ctrl-C and `kill`: once to end in order, twice to end at once.

use crate::{console, dashboard::Screen, error::CliError};
use iotbench_engine::StopSignal;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM},
    iterator::Signals,
    low_level::emulate_default_handler,
};

/// From now on the first signal asks `stop` for an orderly end, which `announcement` tells the user, and the second ends
/// the program at once.
pub(crate) fn stop_in_order(stop: StopSignal, announcement: &'static str) -> Result<(), CliError> {
    stop_in_order_on(None, stop, announcement)
}

/// The same where a dashboard may have taken the terminal. It tells itself what the announcement says; and whichever signal
/// ends the program, the terminal is given back before.
pub(crate) fn stop_in_order_on(
    screen: Option<Screen>,
    stop: StopSignal,
    announcement: &'static str,
) -> Result<(), CliError> {
    let fail = |e: std::io::Error| CliError::internal(format!("signals cannot be received: {e}"));
    let others: &[i32] = if screen.is_some() { &[SIGHUP, SIGQUIT] } else { &[] };
    let mut signals = Signals::new([SIGINT, SIGTERM].iter().chain(others)).map_err(fail)?;
    let wait = move || {
        for signal in signals.forever() {
            if others.contains(&signal) {
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
