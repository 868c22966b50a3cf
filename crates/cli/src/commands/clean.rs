//! `iotbench clean`: what killed runs left in a server of the user's, and the folders that runs kept.

use crate::{
    console::{self, printable_lines},
    exit_codes::EXIT_CODES,
};
use clap::Args;
use iotbench_core::{OwnedObject, Target};
use iotbench_launcher::{KeptServer, Records};
use iotbench_session::{Leftovers, SessionError, admitted, endpoints};

const EXAMPLES: &str = "\
Examples:
  iotbench clean --url mysql://root@127.0.0.1:3306/ --dry-run     only lists
  iotbench clean --url postgres://me@db.example/iot
  IOTBENCH_URL=http://me:secret@127.0.0.1:8086/ iotbench clean
  iotbench clean                                                  the folders that run --keep left of private servers

Only what carries iotbench's own marker is dropped.";

#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct CleanArguments {
    /// Where the database is; without it the folders that `run --keep` left of private servers are removed. Repeatable for
    /// the servers of one cluster. With a password better as IOTBENCH_URL (one a line), which other users cannot see
    #[arg(long, env = "IOTBENCH_URL", hide_env_values = true, value_delimiter = '\n')]
    url: Vec<String>,
    /// The database, where its address does not tell (`iotbench backends`)
    #[arg(long, short, env = "IOTBENCH_BACKEND", value_name = "NAME")]
    backend: Option<String>,
    /// Certificates are not checked
    #[arg(long, env = "IOTBENCH_INSECURE")]
    insecure: bool,
    /// Only list what would be dropped
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn clean(arguments: &CleanArguments) -> Result<(), SessionError> {
    let endpoints = admitted(endpoints(&arguments.url)?);
    if endpoints.is_empty() {
        return clean_kept(arguments);
    }
    let target = Target { endpoints, insecure: arguments.insecure, ..Target::default() };
    let leftovers = Leftovers::find(arguments.backend.as_deref(), &target, !arguments.dry_run)?;
    for object in leftovers.owned() {
        let OwnedObject { name, run_id } = object;
        if !arguments.dry_run {
            leftovers.drop(object)?;
        }
        let dropped = if arguments.dry_run { "" } else { "dropped " };
        console::print(&format!("{dropped}{name}, of run {}\n", printable_lines(run_id)))?;
    }
    if leftovers.owned().is_empty() {
        console::say("nothing here carries iotbench's marker");
    }
    Ok(())
}

/// Removes the folders that runs kept of their servers.
fn clean_kept(arguments: &CleanArguments) -> Result<(), SessionError> {
    let records = Records::open()?;
    let is_meant = |kept: &KeptServer| arguments.backend.as_ref().is_none_or(|name| *name == kept.backend);
    let kept: Vec<_> = records.kept()?.into_iter().filter(is_meant).collect();
    for server in &kept {
        let KeptServer { backend, folder, .. } = server;
        if arguments.dry_run {
            console::print(&format!("{}, of {backend}\n", folder.display()))?;
            continue;
        }
        records.remove_kept(server)?;
        console::print(&format!("removed {}, of {backend}\n", folder.display()))?;
    }
    if kept.is_empty() {
        console::say("no run kept a server here; say with --url where else to clean");
    }
    Ok(())
}
