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

pub(crate) use agent::AgentArguments;
pub(crate) use agent_key::AgentKeyArguments;
pub(crate) use backends::BackendsArguments;
pub(crate) use capacity::CapacityArguments;
pub(crate) use check::CheckArguments;
pub(crate) use clean::CleanArguments;
pub(crate) use compare::CompareArguments;
pub(crate) use completions::CompletionsArguments;
pub(crate) use datasets::DatasetsArguments;
pub(crate) use generate::GenerateArguments;
pub(crate) use history::HistoryArguments;
pub(crate) use learn::LearnArguments;
pub(crate) use man::ManArguments;
pub(crate) use profiles::ProfilesArguments;
pub(crate) use recover::RecoverArguments;
pub(crate) use reference::ReferenceArguments;
pub(crate) use report::ReportArguments;
pub(crate) use run::RunArguments;
pub(crate) use sample::SampleArguments;
pub(crate) use score::ScoreArguments;
pub(crate) use server::ServerArguments;
pub(crate) use show::ShowArguments;
pub(crate) use suite::SuiteArguments;
pub(crate) use verify::VerifyArguments;

use crate::{
    arguments::{Arguments, Command},
    error::CliError,
};
use clap::CommandFactory;

/// Carries out a command and gives its exit code.
pub(crate) fn carry_out(command: Command) -> Result<u8, CliError> {
    match command {
        Command::Run(arguments) => run::run(&arguments, &Arguments::command()),
        Command::Capacity(arguments) => capacity::capacity(*arguments, &Arguments::command()),
        Command::Suite(arguments) => suite::suite(&arguments, &Arguments::command()),
        Command::Profiles(arguments) => profiles::profiles(&arguments).map(|()| 0),
        Command::Backends(arguments) => backends::backends(&arguments).map(|()| 0),
        Command::Datasets(arguments) => datasets::datasets(&arguments).map(|()| 0),
        Command::Check(arguments) => check::check(&arguments).map(|()| 0),
        Command::Generate(arguments) => generate::generate(&arguments).map(|()| 0),
        Command::Learn(arguments) => learn::learn(&arguments).map(|()| 0),
        Command::Agent(arguments) => agent::agent(&arguments).map(|()| 0),
        Command::AgentKey(arguments) => agent_key::agent_key(&arguments).map(|()| 0),
        Command::Server(arguments) => server::server(&arguments).map(|()| 0),
        Command::Supervise => {
            iotbench_launcher::supervise().map(|()| 0).map_err(|e| CliError::internal(format!("supervise: {e}")))
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
