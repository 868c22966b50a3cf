//! The iotbench command line: reads arguments, calls the libraries, prints.
//!
//! # Invariants
//! - Standard output carries results only, standard error everything else; neither being closed is ever a panic.
//! - No measurement, verdict or figure is made here.
//! - `process::exit` is called nowhere but on a second signal.

mod arguments;
mod commands;
mod console;
mod dashboard;
mod diagnostics;
mod exit_codes;
mod fault;
mod form;
mod nats;
mod passwords;
mod progress;
mod signals;
mod suggestions;
mod teller;
mod views;

use arguments::Arguments;
use clap::{CommandFactory, Parser};
use iotbench_session::exit_code;
use std::{panic::AssertUnwindSafe, process::ExitCode};

/// What the program `iotbench` does: reads its arguments, carries them out, and says how it ended.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(answer) => return answer_of_clap(answer),
    };
    fault::tell_faults_of_libraries_in_a_line();
    let code = std::panic::catch_unwind(AssertUnwindSafe(|| match commands::carry_out(arguments.command) {
        Ok(code) => code,
        Err(error) => {
            console::say(&format!("error: {}", diagnostics::told(&error)));
            error.exit_code()
        }
    }));
    ExitCode::from(code.unwrap_or(exit_code::INTERNAL))
}

/// Prints help, version or what is wrong with the arguments.
fn answer_of_clap(answer: clap::Error) -> ExitCode {
    let root = Arguments::command();
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let answer = suggestions::improved(answer, suggestions::called(&root, words));
    // Nobody reads any more: that is no reason to fail.
    let _ = answer.print();
    u8::try_from(answer.exit_code()).map_or(ExitCode::from(exit_code::USAGE), ExitCode::from)
}
