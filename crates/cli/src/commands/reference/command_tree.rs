//! The page of commands, from clap's tree.

use super::markdown::{self, block, code, codes, table, words};
use clap::{Arg, Command};

/// The commands below one that users are shown.
pub(super) fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help")
}

pub(super) fn page(root: &Command) -> String {
    let row = |c: &Command| [format!("[`{0}`](#iotbench-{0})", c.get_name()), words(&about(c))];
    let list = table(["command", "does"], &shown(root).map(row).collect::<Vec<_>>());
    let mut parts = vec![words(&about(root)), list, examples(root)];
    shown(root).for_each(|command| describe(command, &format!("iotbench {}", command.get_name()), 2, &mut parts));
    markdown::page("Commands", &parts)
}

fn describe(command: &Command, path: &str, depth: usize, parts: &mut Vec<String>) {
    parts.push(format!("{} {path}", "#".repeat(depth)));
    parts.push(words(&about(command)) + ".");
    let usage = command.clone().render_usage().to_string();
    parts.push(block(usage.trim_start_matches("Usage:").trim()));
    let rows = arguments(command).map(row).collect::<Vec<_>>();
    parts.push(table(["argument", "value", "default", "environment", "meaning"], &rows));
    if shown(command).next().is_none() || depth == 2 {
        parts.push(examples(command));
    }
    for below in shown(command) {
        describe(below, &format!("{path} {}", below.get_name()), depth + 1, parts);
    }
}

/// What a command takes, but for help and version.
pub(super) fn arguments(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|a| !a.is_hide_set() && !matches!(a.get_id().as_str(), "help" | "version"))
}

fn row(argument: &Arg) -> [String; 5] {
    let values = argument.get_action().takes_values();
    let default = argument.get_default_values().iter().filter(|_| values).map(|v| v.to_string_lossy());
    let environment = argument.get_env().map(|name| name.to_string_lossy()).unwrap_or_default();
    [name(argument), value(argument), code(&default.collect::<Vec<_>>().join(" ")), code(&environment), help(argument)]
}

/// `-b`, `--backend`, or what a positional argument is called.
pub(super) fn name(argument: &Arg) -> String {
    if argument.is_positional() {
        return code(argument.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str()));
    }
    let short = argument.get_short().map(|c| format!("-{c}"));
    let long = argument.get_long().map(|word| format!("--{word}"));
    codes(short.iter().chain(&long).map(String::as_str))
}

fn value(argument: &Arg) -> String {
    if !argument.get_action().takes_values() || argument.is_positional() {
        return String::new();
    }
    let possible = argument.get_possible_values();
    if !possible.is_empty() {
        return codes(possible.iter().map(clap::builder::PossibleValue::get_name));
    }
    let names = argument.get_value_names().unwrap_or_default();
    code(&names.iter().map(clap::builder::Str::as_str).collect::<Vec<_>>().join(" "))
}

pub(super) fn help(argument: &Arg) -> String {
    let text = argument.get_long_help().or(argument.get_help());
    words(&text.map(ToString::to_string).unwrap_or_default())
}

fn about(command: &Command) -> String {
    let text = command.get_long_about().or(command.get_about());
    text.map(ToString::to_string).unwrap_or_default()
}

/// The examples of its help; exit codes have their own page.
fn examples(command: &Command) -> String {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let text = text.split("\nExit codes:").next().unwrap_or_default();
    let text = text.trim_start_matches("Examples:\n").trim_start_matches("Example:\n");
    if text.trim().is_empty() {
        return String::new();
    }
    // What is said after them is no example: its lines are as long as its sentences, and whoever shows them breaks them.
    let is_prose = |line: &&str| !line.is_empty() && !line.starts_with(' ');
    let (examples, prose): (Vec<_>, Vec<_>) = text.lines().partition(|line| !is_prose(line));
    let prose = prose.join("\n");
    format!(
        "Examples:\n\n{}{}",
        block(examples.join("\n").trim_end()),
        if prose.is_empty() { prose } else { format!("\n{prose}\n") }
    )
}
