//! `iotbench completions SHELL`.

use crate::console;
use clap::{Args, Command};
use clap_complete::Shell;
use iotbench_session::SessionError;

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

pub(super) fn completions(arguments: &CompletionsArguments, mut tree: Command) -> Result<(), SessionError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut tree, "iotbench", &mut script);
    console::print(&String::from_utf8_lossy(&script))
}
