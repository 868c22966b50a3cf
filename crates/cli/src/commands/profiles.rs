//! `iotbench profiles [NAME]`.

use crate::console::{self, columns};
use clap::Args;
use iotbench_session::{SessionError, find_written_profile};
use iotbench_workloads::{PROFILES, find_profile};

const EXAMPLES: &str = "\
Examples:
  iotbench profiles
  iotbench profiles pmu_write > mine.toml    a start for a profile of your own
  iotbench run -p ./mine.toml";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ProfilesArguments {
    /// Print this profile
    name: Option<String>,
}

pub(super) fn profiles(arguments: &ProfilesArguments) -> Result<(), SessionError> {
    if let Some(name) = &arguments.name {
        return console::print(find_profile(name).map_err(SessionError::usage)?.toml);
    }
    let mut rows = Vec::new();
    for built_in in PROFILES {
        let profile = find_written_profile(built_in.name)?.profile;
        rows.push([format!("  {}", profile.name), profile.summary]);
    }
    console::print(&columns(&rows))
}
