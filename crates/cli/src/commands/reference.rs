//! `iotbench reference`: the pages of docs/reference, from what the program itself reads.

mod backends;
mod command_tree;
mod datasets;
mod environment;
mod markdown;
mod profile_keys;

use crate::exit_codes::EXIT_CODES;
use clap::{Args, Command};
use iotbench_engine::Profile;
use iotbench_session::{SessionError, find_written_profile};
use iotbench_workloads::{BuiltinProfile, PROFILES};
use markdown::{block, code, page, table, words};
use std::{fs, path::PathBuf};

#[derive(Debug, Args)]
pub(crate) struct ReferenceArguments {
    /// The folder of the pages; it is made
    #[arg(required_unless_present = "check_command")]
    folder: Option<PathBuf>,
    /// Only look whether the program would take the arguments after `--`
    #[arg(long, conflicts_with = "folder")]
    check_command: bool,
    #[arg(last = true, value_name = "ARGUMENT", requires = "check_command")]
    arguments: Vec<String>,
}

type Page = (&'static str, fn(&Command) -> Result<String, SessionError>);

const PAGES: &[Page] = &[
    ("backends.md", |_| Ok(backends::page())),
    ("commands.md", |root| Ok(command_tree::page(root))),
    ("datasets.md", |_| Ok(datasets::page())),
    ("environment.md", |root| Ok(environment::page(root))),
    ("exit-codes.md", |_| Ok(page("Exit codes", &["As `iotbench --help` prints them.".into(), block(EXIT_CODES)]))),
    ("profile.md", |_| profile_keys::page()),
    ("profiles.md", |_| profiles()),
];

pub(super) fn reference(arguments: &ReferenceArguments, mut root: Command) -> Result<(), SessionError> {
    let Some(folder) = &arguments.folder else { return taken(&arguments.arguments, root) };
    root.build();
    let cannot = |e| SessionError::local_io(format!("{}: {e}", folder.display()));
    fs::create_dir_all(folder).map_err(cannot)?;
    for (name, written) in PAGES {
        fs::write(folder.join(name), written(&root)?).map_err(cannot)?;
    }
    Ok(())
}

/// The page of built-in profiles.
fn profiles() -> Result<String, SessionError> {
    let row = |built_in: &BuiltinProfile| {
        let Profile { name, summary, study, .. } = find_written_profile(built_in.name)?.profile;
        Ok([code(&name), words(&summary), words(&study)])
    };
    let rows = PROFILES.iter().map(row).collect::<Result<Vec<_>, SessionError>>()?;
    let about = "`iotbench profiles NAME` prints one; its keys are explained in [profile.md](profile.md).";
    Ok(page("Built-in profiles", &[about.into(), table(["profile", "asks", "study"], &rows)]))
}

/// Whether the program takes these arguments; nothing of them is carried out.
fn taken(arguments: &[String], root: Command) -> Result<(), SessionError> {
    let words = std::iter::once("iotbench").chain(arguments.iter().map(String::as_str));
    match root.try_get_matches_from(words) {
        Err(answer) if answer.use_stderr() => Err(SessionError::usage(answer)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_taken_or_refused_without_being_carried_out() {
        let taken = |line: &str| taken(&line.split(' ').map(str::to_owned).collect::<Vec<_>>(), Arguments::command());
        for good in ["run -p none --url postgres://x", "server start x", "run --help", "clean --url x"] {
            assert!(taken(good).is_ok(), "{good}");
        }
        for bad in ["run --ful", "server begin x", "fly"] {
            assert_eq!(taken(bad).map_err(|e| e.exit_code()), Err(2), "{bad}");
        }
    }
}
