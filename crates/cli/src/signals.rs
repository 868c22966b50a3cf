//! Ctrl-C and `kill`: once to end in order, twice to end at once.

use crate::{console, error::CliError};
use iotbench_engine::StopSignal;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    iterator::Signals,
};

/// From now on the first signal asks `stop` for an orderly end, which `announcement` tells the user, and the second ends
/// the program at once.
pub(crate) fn stop_in_order(stop: StopSignal, announcement: &'static str) -> Result<(), CliError> {
    let fail = |e: std::io::Error| CliError::internal(format!("signals cannot be received: {e}"));
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(fail)?;
    let wait = move || {
        let mut received = signals.forever();
        if let Some(signal) = received.next() {
            stop.request(signal);
            console::say(announcement);
        }
        if let Some(signal) = received.next() {
            end_at_once(signal);
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
