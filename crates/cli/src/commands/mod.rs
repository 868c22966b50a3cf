//! One file for each command.

mod agent;
mod agent_key;
mod backends;
mod capacity;
mod check;
mod clean;
mod compare;
mod comparing;
mod completions;
mod datasets;
mod doctor;
mod generate;
mod history;
mod learn;
mod man;
mod profiles;
mod recover;
mod reference;
mod report;
mod run;
mod sample;
mod score;
mod server;
mod show;
mod suite;
mod verify;

use crate::arguments::Arguments;
use clap::{CommandFactory, Subcommand};
use iotbench_session::SessionError;

/// What the program is asked to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a workload against one or more databases
    Run(Box<run::RunArguments>),
    /// Search the highest sustainable load, as an interval
    Capacity(Box<capacity::CapacityArguments>),
    /// Run all that answers one question, such as a study, and print its tables
    Suite(Box<suite::SuiteArguments>),
    /// List the built-in workloads, or print one
    Profiles(profiles::ProfilesArguments),
    /// List the databases with their layouts, or one with its settings
    Backends(backends::BackendsArguments),
    /// Say what this machine can run and how well, what is missing, and what brings it
    Doctor(doctor::DoctorArguments),
    /// List the simulated datasets with their parameters
    Datasets(datasets::DatasetsArguments),
    /// Check a profile and say what it means
    Check(check::CheckArguments),
    /// Write simulated data to standard output or a file
    Generate(generate::GenerateArguments),
    /// Make a profile of a recording: data that are generated as they were recorded
    Learn(learn::LearnArguments),
    /// Print a finished run again
    Show(show::ShowArguments),
    /// Read back what a run left, and name what is lost, doubled, changed or added
    Verify(verify::VerifyArguments),
    /// Make a result document of what a run left that was killed
    Recover(recover::RecoverArguments),
    /// Hold runs against earlier ones: what changed, how sure that is, and whether it is a regression
    Compare(compare::CompareArguments),
    /// Find since when the figures of many runs are otherwise
    History(history::HistoryArguments),
    /// Rank databases by a weighted score over their runs
    Score(score::ScoreArguments),
    /// Write a page, Markdown, CSV or JSON about one or more runs
    Report(report::ReportArguments),
    /// Watch CPU, memory, disk and network of processes, a cgroup or the host
    Sample(sample::SampleArguments),
    /// Make load for runs that are started elsewhere
    Agent(Box<agent::AgentArguments>),
    /// Make the key with which runs have agents act, or print its public half
    AgentKey(agent_key::AgentKeyArguments),
    /// Keep a private server of a database running for experiments of your own
    Server(server::ServerArguments),
    /// Drop what killed runs left in a server of yours: only what carries iotbench's marker
    Clean(clean::CleanArguments),
    /// Look after a private server (iotbench calls this itself)
    #[command(hide = true)]
    Supervise,
    /// Print completions for a shell
    Completions(completions::CompletionsArguments),
    /// Print the manual page
    Man(man::ManArguments),
    /// Write the reference as Markdown, or only look whether arguments would be taken
    #[command(hide = true)]
    Reference(reference::ReferenceArguments),
}

/// Carries out a command and gives its exit code.
pub(crate) fn carry_out(command: Command) -> Result<u8, SessionError> {
    match command {
        Command::Run(arguments) => run::run(&arguments, &Arguments::command()),
        Command::Capacity(arguments) => capacity::capacity(*arguments, &Arguments::command()),
        Command::Suite(arguments) => suite::suite(&arguments, &Arguments::command()),
        Command::Profiles(arguments) => profiles::profiles(&arguments).map(|()| 0),
        Command::Backends(arguments) => backends::backends(&arguments).map(|()| 0),
        Command::Doctor(arguments) => doctor::doctor(&arguments),
        Command::Datasets(arguments) => datasets::datasets(&arguments).map(|()| 0),
        Command::Check(arguments) => check::check(&arguments).map(|()| 0),
        Command::Generate(arguments) => generate::generate(&arguments).map(|()| 0),
        Command::Learn(arguments) => learn::learn(&arguments).map(|()| 0),
        Command::Agent(arguments) => agent::agent(&arguments).map(|()| 0),
        Command::AgentKey(arguments) => agent_key::agent_key(&arguments).map(|()| 0),
        Command::Server(arguments) => server::server(&arguments).map(|()| 0),
        Command::Supervise => {
            iotbench_launcher::supervise().map(|()| 0).map_err(|e| SessionError::internal(format!("supervise: {e}")))
        }
        Command::Clean(arguments) => clean::clean(&arguments).map(|()| 0),
        Command::Show(arguments) => show::show(&arguments),
        Command::Verify(arguments) => verify::verify(&arguments),
        Command::Recover(arguments) => recover::recover(&arguments).map(|()| 0),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::History(arguments) => history::history(&arguments).map(|()| 0),
        Command::Score(arguments) => score::score(&arguments).map(|()| 0),
        Command::Report(arguments) => report::report(&arguments).map(|()| 0),
        Command::Sample(arguments) => sample::sample(&arguments),
        Command::Completions(arguments) => completions::completions(&arguments, Arguments::command()).map(|()| 0),
        Command::Man(arguments) => man::man(&arguments, Arguments::command()).map(|()| 0),
        Command::Reference(arguments) => reference::reference(&arguments, Arguments::command()).map(|()| 0),
    }
}
