//! Servers of several roles on several nodes, made of small fake programs: this one, which is also their supervisor and, where
//! a test needs one that can be killed, the program that starts them.
//!
//! It runs its tests one after the other: `cargo test -p iotbench-launcher --test cluster [-- NAME]`.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests fail by panicking and say what they do")]

mod fake;
mod place;
mod scenarios;

use std::env;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match *words {
        ["supervise"] => iotbench_launcher::supervise().unwrap(),
        ["fake", ref rest @ ..] => fake::run(rest),
        ["parent", ref rest @ ..] => scenarios::parent(rest),
        _ => test(words.into_iter().find(|word| !word.starts_with('-')).unwrap_or_default()),
    }
}

fn test(wanted: &str) {
    for (name, scenario) in scenarios::ALL {
        if name.contains(wanted) {
            println!("cluster: {name} …");
            scenario();
        }
    }
    println!("cluster: all passed");
}
