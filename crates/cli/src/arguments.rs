//! What the command line takes, as a tree for clap.

use crate::{commands::Command, exit_codes::EXIT_CODES};
use clap::Parser;

const EXAMPLES: &str = "\
Examples:
  iotbench run --profile pmu_write                    how many devices can SQLite take?
  iotbench run -p machine_write -b mariadb:bulk       the same load on a server that is started for it and removed
  iotbench run -p machine_read -b postgres:wide -d 20s
  iotbench capacity -p pmu_write --criterion 'p99<50ms'
  iotbench suite quick                                which of the databases here? a first look in three minutes
  iotbench compare old/* -- new/*                     what changed, and is it a regression?
  iotbench score results/*                            the ranking of what was run
  iotbench report results/* -o page.html              one page of what was run
  iotbench profiles                                   what can be run
  iotbench generate --dataset pmu --format influx | head
";

/// Which database carries this sensor load, how much of it, at what latency and cost, and does it keep every datapoint
/// it acknowledged?
#[derive(Debug, Parser)]
#[command(name = "iotbench", version, max_term_width = 120, after_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_tree_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_has_examples_in_its_help() {
        let mut tree = Arguments::command();
        for command in tree.get_subcommands_mut().filter(|command| !command.is_hide_set()) {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Example"), "{} has none:\n{help}", command.get_name());
        }
    }
}
