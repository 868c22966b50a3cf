//! The page of environment variables.

use super::{
    command_tree::{arguments, help, name, shown},
    markdown::{self, code, table, words},
};
use clap::Command;
use iotbench_backends::BACKENDS;
use iotbench_core::{Jars, Program, Setting};
use std::collections::{BTreeMap, BTreeSet};

/// Where it stands in place of which option, and what that says.
type Options = BTreeMap<String, (BTreeSet<String>, BTreeSet<String>, String)>;

/// What neither an option nor the help of a setting names.
const OTHERS: [(&str, &str); 6] = [
    ("IOTBENCH_SERVERS_DIR", "the folder of the servers that `scripts/servers` installs"),
    (
        "IOTBENCH_MARIADB_PASSWORD",
        "the password for `mariadb` and `mysql`, where neither URL nor `password_file` tells it",
    ),
    ("IOTBENCH_POSTGRES_PASSWORD", "the same for `postgres`"),
    ("IOTBENCH_MONGODB_PASSWORD", "the same for `mongodb`"),
    (
        "OTEL_EXPORTER_OTLP_HEADERS",
        "what requests to the collector of `--otlp` carry beside: `name=value`, with commas between them, values percent-encoded",
    ),
    (
        "OTEL_EXPORTER_OTLP_CERTIFICATE",
        "a PEM file of the authorities that it is trusted by, in place of the public ones",
    ),
];

pub(super) fn page(root: &Command) -> String {
    let mut options = Options::new();
    shown(root).for_each(|command| collect(command, command.get_name(), &mut options));
    let row = |(variable, (options, commands, help)): (String, (BTreeSet<String>, BTreeSet<String>, String))| {
        let list = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>().join(", ");
        [code(&variable), list(options), list(commands), help]
    };
    let rows = options.into_iter().map(row).collect::<Vec<_>>();
    let parts = [
        "## Options\n\nAn option that is given counts more than its variable.".to_owned(),
        table(["variable", "option", "of", "meaning"], &rows),
        "## Programs of private servers\n\nWhich file, or folder of jars, in place of the one that is found."
            .to_owned(),
        table(["variable", "of"], &programs()),
        "## Named in settings\n\nSee [backends.md](backends.md).".to_owned(),
        table(["variable", "setting", "meaning"], &settings()),
        "## Others".to_owned(),
        table(["variable", "meaning"], &OTHERS.map(|(name, meaning)| [code(name), words(meaning)])),
    ];
    markdown::page("Environment variables", &parts)
}

fn collect(command: &Command, path: &str, options: &mut Options) {
    for argument in arguments(command) {
        let Some(variable) = argument.get_env() else { continue };
        let known = options.entry(variable.to_string_lossy().into_owned()).or_default();
        known.0.insert(name(argument));
        known.1.insert(code(path));
        if known.2.is_empty() {
            known.2 = help(argument);
        }
    }
    shown(command).for_each(|below| collect(below, &format!("{path} {}", below.get_name()), options));
}

fn programs() -> Vec<[String; 2]> {
    let mut variables = BTreeMap::<String, BTreeSet<&str>>::new();
    for backend in BACKENDS.iter().map(|backend| backend.info()) {
        for recipe in backend.recipe.into_iter().chain(backend.variants.iter().map(|v| v.recipe)) {
            let names = recipe.programs.iter().map(Program::variable).chain(recipe.jars.iter().map(Jars::variable));
            for name in names {
                variables.entry(name).or_default().insert(backend.name);
            }
        }
    }
    variables.into_iter().map(|(name, of)| [code(&name), markdown::codes(of)]).collect()
}

/// Variables that the help of a backend's setting names.
fn settings() -> Vec<[String; 3]> {
    let mut rows = Vec::new();
    for backend in BACKENDS.iter().map(|backend| backend.info()) {
        for Setting { key, help, .. } in backend.settings {
            let names = help.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            for name in names.filter(|word| word.starts_with("IOTBENCH_")) {
                rows.push([code(name), code(&format!("backend.{}.{key}", backend.name)), words(help)]);
            }
        }
    }
    rows
}
