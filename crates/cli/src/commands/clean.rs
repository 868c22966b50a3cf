//! `iotbench clean`: what killed runs left in a server of the user's, and the folders that runs kept.

use crate::{
    console::{self, printable_lines},
    error::CliError,
    exit_codes::EXIT_CODES,
};
use clap::Args;
use iotbench_backends::BACKENDS;
use iotbench_core::{
    Backend, Database, Error, Layout, Marker, Name, OpenRequest, OwnedObject, Registry, Schema, Settings, Signal,
    TableSpec, Target, ValueType,
};
use iotbench_engine::{cause_exit_code, changed, contacted};
use iotbench_launcher::{KeptServer, Records};
use iotbench_session::{admitted, endpoints, lock_targets};
use std::{sync::Arc, time::Duration};

const EXAMPLES: &str = "\
Examples:
  iotbench clean --url mysql://root@127.0.0.1:3306/ --dry-run     only lists
  iotbench clean --url postgres://me@db.example/iot
  IOTBENCH_URL=http://me:secret@127.0.0.1:8086/ iotbench clean
  iotbench clean                                                  the folders that run --keep left of private servers

Only what carries iotbench's own marker is dropped.";

/// A server that does not answer by then is not there.
const PATIENCE: Duration = Duration::from_secs(60);
/// What is large is not dropped at once.
const DROPPED_WITHIN: Duration = Duration::from_secs(300);

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

pub(super) fn clean(arguments: &CleanArguments) -> Result<(), CliError> {
    let endpoints = admitted(endpoints(&arguments.url)?);
    if endpoints.is_empty() {
        return clean_kept(arguments);
    }
    let target = Target { endpoints, insecure: arguments.insecure, ..Target::default() };
    let (backend, database) = open(arguments.backend.as_deref(), &target)?;
    // What a run that goes on has made carries the marker too.
    let addresses = target.endpoints.iter().map(|endpoint| (backend, endpoint));
    let _locks = if arguments.dry_run { Vec::new() } else { lock_targets(addresses)? };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::internal)?;
    let call = |e: Error| CliError::with_code(cause_exit_code(e.cause), printable_lines(&e.to_string()));
    let late = |within: Duration| CliError::with_code(20, format!("no answer within {} s", within.as_secs()));
    let listing = Arc::clone(&database);
    let owned = contacted(PATIENCE, async move { listing.owned().await }).map_err(call)?;
    runtime.block_on(async {
        for object in &owned {
            let OwnedObject { name, run_id } = object;
            if arguments.dry_run {
                console::print(&format!("{name}, of run {}\n", printable_lines(run_id)))?;
                continue;
            }
            let dropping = changed(&*database, database.drop_owned(object));
            let dropped = tokio::time::timeout(DROPPED_WITHIN, dropping).await;
            dropped.map_err(|_| late(DROPPED_WITHIN))?.map_err(call)?;
            console::print(&format!("dropped {name}, of run {}\n", printable_lines(run_id)))?;
        }
        if owned.is_empty() {
            console::say("nothing here carries iotbench's marker");
        }
        Ok(())
    })
}

/// Removes the folders that runs kept of their servers.
fn clean_kept(arguments: &CleanArguments) -> Result<(), CliError> {
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

/// The database at an address: of the backend that is named, else of the one whose name the address begins with, else of the
/// only one that takes it.
fn open(backend: Option<&str>, target: &Target) -> Result<(&'static dyn Backend, Arc<dyn Database>), CliError> {
    let open = |backend: &'static dyn Backend| {
        let opened =
            backend.open(OpenRequest { target: target.clone(), settings: Settings::default(), table: no_table()? });
        opened.map(|database| (backend, database)).map_err(|e| CliError::usage(printable_lines(&e.to_string())))
    };
    let scheme = target.endpoints.first().map(|endpoint| endpoint.expose().scheme());
    let named_by_address = || BACKENDS.iter().map(|backend| backend.info().name).find(|&name| Some(name) == scheme);
    match backend.or_else(named_by_address) {
        Some(name) => open(Registry::new(BACKENDS).find(name).map_err(CliError::usage)?),
        None => {
            let stores = BACKENDS.iter().filter(|b| !b.info().capabilities.embedded || b.info().name == "sqlite");
            let mut found = stores.filter_map(|&backend| open(backend).ok());
            match (found.next(), found.next()) {
                (Some(database), None) => Ok(database),
                (None, _) => Err(CliError::usage("no database takes this address: name one with --backend")),
                (Some(_), Some(_)) => {
                    Err(CliError::usage("several databases take this address: name one with --backend"))
                }
            }
        }
    }
}

/// Opening a database asks for a table; this one is never made.
pub(super) fn no_table() -> Result<TableSpec, CliError> {
    let signal = Signal { name: "none".into(), value_type: ValueType::F64, max_text_bytes: 0 };
    Ok(TableSpec {
        name: Name::new("iotbench_clean").map_err(CliError::internal)?,
        layout: Layout::Wide,
        schema: Schema::new(vec![signal]).map_err(CliError::internal)?,
        devices: 1,
        marker: Marker { run_id: "clean".into(), fingerprint: String::new() },
    })
}
