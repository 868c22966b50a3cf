//! `iotbench completions SHELL`.

use crate::{arguments::Arguments, console, error::CliError};
use clap::{Args, CommandFactory};
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  iotbench completions bash > /etc/bash_completion.d/iotbench
  iotbench completions zsh > \"${fpath[1]}/_iotbench\"
  iotbench completions fish > ~/.config/fish/completions/iotbench.fish";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

pub(super) fn completions(arguments: &CompletionsArguments) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "iotbench", &mut script);
    console::print(&String::from_utf8_lossy(&script))
}
