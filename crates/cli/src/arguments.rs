//! What the command line takes, as a tree for clap.

use crate::{
    commands::{
        AgentArguments, AgentKeyArguments, BackendsArguments, CapacityArguments, CheckArguments, CleanArguments,
        CompareArguments, CompletionsArguments, DatasetsArguments, GenerateArguments, HistoryArguments, LearnArguments,
        ManArguments, ProfilesArguments, RecoverArguments, ReferenceArguments, ReportArguments, RunArguments,
        SampleArguments, ScoreArguments, ServerArguments, ShowArguments, SuiteArguments, VerifyArguments,
    },
    exit_codes::EXIT_CODES,
};
use clap::{Parser, Subcommand};

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

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a workload against one or more databases
    Run(Box<RunArguments>),
    /// Search the highest sustainable load, as an interval
    Capacity(Box<CapacityArguments>),
    /// Run all that answers one question, such as a study, and print its tables
    Suite(Box<SuiteArguments>),
    /// List the built-in workloads, or print one
    Profiles(ProfilesArguments),
    /// List the databases with their layouts, or one with its settings
    Backends(BackendsArguments),
    /// List the simulated datasets with their parameters
    Datasets(DatasetsArguments),
    /// Check a profile and say what it means
    Check(CheckArguments),
    /// Write simulated data to standard output or a file
    Generate(GenerateArguments),
    /// Make a profile of a recording: data that are generated as they were recorded
    Learn(LearnArguments),
    /// Print a finished run again
    Show(ShowArguments),
    /// Read back what a run left, and name what is lost, doubled, changed or added
    Verify(VerifyArguments),
    /// Make a result document of what a run left that was killed
    Recover(RecoverArguments),
    /// Hold runs against earlier ones: what changed, how sure that is, and whether it is a regression
    Compare(CompareArguments),
    /// Find since when the figures of many runs are otherwise
    History(HistoryArguments),
    /// Rank databases by a weighted score over their runs
    Score(ScoreArguments),
    /// Write a page, Markdown, CSV or JSON about one or more runs
    Report(ReportArguments),
    /// Watch CPU, memory, disk and network of processes, a cgroup or the host
    Sample(SampleArguments),
    /// Make load for runs that are started elsewhere
    Agent(Box<AgentArguments>),
    /// Make the key with which runs have agents act, or print its public half
    AgentKey(AgentKeyArguments),
    /// Keep a private server of a database running for experiments of your own
    Server(ServerArguments),
    /// Drop what killed runs left in a server of yours: only what carries iotbench's marker
    Clean(CleanArguments),
    /// Look after a private server (iotbench calls this itself)
    #[command(hide = true)]
    Supervise,
    /// Print completions for a shell
    Completions(CompletionsArguments),
    /// Print the manual page
    Man(ManArguments),
    /// Write the reference as Markdown, or only look whether arguments would be taken
    #[command(hide = true)]
    Reference(ReferenceArguments),
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
