//! What was probably meant by an option that there is not: one of nearly this name, or what other load generators call so.

use clap::{
    Command,
    error::{ContextKind, ContextValue, ErrorKind},
};
use iotbench_core::closest;

/// Names elsewhere, and ours.
const ELSEWHERE: [(&str, &str); 20] = [
    ("users", "vus"),
    ("clients", "vus"),
    ("threads", "vus"),
    ("workers", "vus"),
    ("concurrency", "vus"),
    ("time", "duration"),
    ("runtime", "duration"),
    ("length", "duration"),
    ("requests", "operations"),
    ("count", "operations"),
    ("target", "rate"),
    ("throughput", "rate"),
    ("rps", "rate"),
    ("qps", "rate"),
    ("repeat", "runs"),
    ("repetitions", "runs"),
    ("database", "backend"),
    ("host", "url"),
    ("workload", "profile"),
    ("output", "out"),
];

/// The error of a command's options with a better tip, where there is one.
pub(crate) fn improved(mut error: clap::Error, command: &Command) -> clap::Error {
    let meant = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(given)) if error.kind() == ErrorKind::UnknownArgument => meant(given, command),
        _ => None,
    };
    if let Some(meant) = meant {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{meant}")));
    }
    error
}

/// The command of the tree that these words call.
pub(crate) fn called(root: &Command, words: impl IntoIterator<Item = String>) -> &Command {
    words.into_iter().fold(root, |command, word| command.find_subcommand(&word).unwrap_or(command))
}

fn meant(given: &str, command: &Command) -> Option<String> {
    let name = given.strip_prefix("--")?.split('=').next()?;
    let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
    let options: Vec<&str> = shown.filter_map(|argument| argument.get_long()).collect();
    let by_another_name = || {
        let known = ELSEWHERE.iter().filter(|(_, ours)| options.contains(ours));
        let other = closest(name, known.clone().map(|(other, _)| *other))?;
        known.clone().find(|(name, _)| *name == other).map(|(_, ours)| *ours)
    };
    closest(name, options.iter().copied()).or_else(by_another_name).map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::{CommandFactory, Parser};

    /// What the program says to these words.
    fn said(words: &[&str]) -> String {
        let error = Arguments::try_parse_from([&["iotbench"], words].concat()).unwrap_err();
        let root = Arguments::command();
        improved(error, called(&root, words.iter().map(ToString::to_string))).to_string()
    }

    #[test]
    fn what_is_called_otherwise_elsewhere_is_pointed_at() {
        let root = Arguments::command();
        for (other, ours) in ELSEWHERE {
            let option = format!("--{other}");
            assert!(said(&["run", "-p", "x", &option, "3"]).contains(&format!("'--{ours}'")), "{option}");
            let run = root.find_subcommand("run").unwrap();
            assert!(run.get_arguments().all(|argument| argument.get_long() != Some(other)), "{other} is an option");
        }
    }

    #[test]
    fn a_near_name_comes_first_and_a_command_without_the_option_does_not_get_it() {
        assert!(said(&["run", "--durration", "3s"]).contains("'--duration'"));
        assert!(said(&["run", "--sesions=3"]).contains("'--sessions'"));
        assert!(said(&["capacity", "-p", "x", "--trails", "3"]).contains("'--trials'"));
        assert!(!said(&["generate", "--dataset", "pmu", "--users", "3"]).contains("vus"));
        assert!(said(&["server", "start", "postgres", "--server-memroy", "1"]).contains("'--server-memory'"));
        assert!(!said(&["run", "-p", "x", "--xyzzy"]).contains("similar"));
    }
}
