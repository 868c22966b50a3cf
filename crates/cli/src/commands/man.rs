//! `iotbench man`.

use crate::console;
use clap::{Args, Command};
use clap_mangen::Man;
use iotbench_core::closest;
use iotbench_session::SessionError;

const EXAMPLES: &str = "\
Examples:
  iotbench man | man -l -
  iotbench man run > iotbench-run.1";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManArguments {
    /// Whose page; without it that of iotbench itself
    command: Option<String>,
}

pub(super) fn man(arguments: &ManArguments, mut root: Command) -> Result<(), SessionError> {
    root.build();
    let page = match &arguments.command {
        None => root,
        Some(name) => command_of(&root, name)?,
    };
    let mut text = Vec::new();
    Man::new(page).render(&mut text).map_err(SessionError::internal)?;
    console::print(&String::from_utf8_lossy(&text))
}

fn command_of(root: &Command, name: &str) -> Result<Command, SessionError> {
    let found = root.find_subcommand(name).cloned();
    found.map(|c| c.name(format!("iotbench-{name}"))).ok_or_else(|| {
        let near = closest(name, root.get_subcommands().map(Command::get_name));
        let near = near.map(|n| format!(" (did you mean {n}?)")).unwrap_or_default();
        SessionError::usage(format!("there is no command {name:?}{near}"))
    })
}
