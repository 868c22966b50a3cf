//! Servers of several roles on several nodes, made of small fake programs: this one, which is also their supervisor and, where
//! a test needs one that can be killed, the program that starts them.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod fake;
mod place;
mod scenarios;

use libtest_mimic::{Arguments, Trial};
use std::{env, process::ExitCode};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match *words {
        ["supervise"] => iotbench_launcher::supervise().unwrap(),
        ["fake", ref rest @ ..] => fake::run(rest),
        ["parent", ref rest @ ..] => scenarios::parent(rest),
        _ => return tests(),
    }
    ExitCode::SUCCESS
}

fn tests() -> ExitCode {
    let test = |(name, scenario): &(&str, fn())| {
        let scenario = *scenario;
        Trial::test(*name, move || {
            scenario();
            Ok(())
        })
    };
    libtest_mimic::run(&Arguments::from_args(), scenarios::ALL.iter().map(test).collect()).exit_code()
}
