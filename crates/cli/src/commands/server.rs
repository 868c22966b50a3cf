//! `iotbench server start|stop|list`.

use crate::{
    console::{self, columns},
    signals,
    teller::kept,
};
use clap::{Args, Subcommand};
use iotbench_core::{Endpoint, Recipe};
use iotbench_engine::{Bytes, StopSignal};
use iotbench_launcher::{DEFAULT_MEMORY_BYTES, Ended, Record, Records, ServerProcess};
use iotbench_session::{ServerToKeep, SessionError, WhichServer, in_lines, shown};
use jiff::Timestamp;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  iotbench server start mariadb                                 prints its address
  iotbench run -p pmu_write -b mariadb --url \"$(iotbench server start mariadb)\"
  iotbench server start postgres --server-memory 1GiB --set synchronous_commit=off
  iotbench server start influxdb                                its address, and on a second line udp=HOST:PORT
  iotbench server start mongodb --set nodes=3                   a replica set
  iotbench server start kairosdb --with store=cassandra --set nodes=3
  psql \"$(iotbench server address postgres)\"                    another program: the address with its password
  iotbench server list
  iotbench server stop mariadb
  iotbench server stop mariadb --port 41234                     which, of several

Of each database there may be one for each folder that it was started from. Standard output of start: an address a line, \
then what iotbench needs to know of other ports, each as NAME=HOST:PORT; --url takes all of it as it is. The address has no \
password: iotbench finds it by itself, in a file that only you can read.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServerArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Start a server in a folder of its own, print its address and leave it running
    #[command(after_help = EXAMPLES)]
    Start(StartArguments),
    /// Stop the server that was started from this folder, and remove its own folder
    #[command(after_help = EXAMPLES)]
    Stop(StopArguments),
    /// Print the address of the server that was started from this folder, with its user and password, for other programs
    #[command(after_help = EXAMPLES)]
    Address(AddressArguments),
    /// List the servers that were started
    #[command(after_help = EXAMPLES)]
    List,
}

#[derive(Debug, Args)]
struct StartArguments {
    /// The database (`iotbench backends`)
    backend: String,
    /// The memory budget of its caches
    #[arg(long, env = "IOTBENCH_SERVER_MEMORY", value_name = "SIZE", default_value_t = Bytes(DEFAULT_MEMORY_BYTES))]
    server_memory: Bytes,
    /// A setting of the server, or the number of its nodes; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// A setting of the backend that decides which server is started (`iotbench backends NAME`), such as store=cassandra;
    /// repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    with: Vec<String>,
    /// Start on this folder, which `--keep` left; it is kept again
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

/// What tells servers of one name apart.
#[derive(Clone, Copy, Debug, Args)]
struct Which {
    /// Which of several: the one at this port
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Which of several: the one that has this process (`iotbench server list`)
    #[arg(long, value_name = "PID")]
    process: Option<i32>,
}

impl Which {
    fn find(self, backend: &str) -> Result<(Records, Record), SessionError> {
        WhichServer { port: self.port, process: self.process }.find(backend)
    }
}

#[derive(Debug, Args)]
struct AddressArguments {
    /// The database
    backend: String,
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, Args)]
struct StopArguments {
    /// The database
    backend: String,
    #[command(flatten)]
    which: Which,
    /// Leave its folder
    #[arg(long, conflicts_with = "remove")]
    keep: bool,
    /// Remove its folder although it was kept before
    #[arg(long)]
    remove: bool,
}

pub(super) fn server(arguments: &ServerArguments) -> Result<(), SessionError> {
    match &arguments.action {
        Action::Start(arguments) => begin(arguments),
        Action::Stop(arguments) => stop(arguments),
        Action::Address(arguments) => address(arguments),
        Action::List => list(),
    }
}

fn begin(arguments: &StartArguments) -> Result<(), SessionError> {
    let server = ServerToKeep {
        backend: arguments.backend.clone(),
        memory_bytes: arguments.server_memory.0,
        settings: arguments.set.clone(),
        with: arguments.with.clone(),
        folder: arguments.folder.clone(),
    };
    let stop = StopSignal::default();
    signals::stop_in_order(stop.clone(), "\nending")?;
    let (record, recipe) = server.start(&stop)?;
    console::say(&usage(&record, recipe, &arguments.with));
    let ports: Vec<_> = recipe.roles.iter().flat_map(|role| role.ports).copied().collect();
    console::print(&record.urls.iter().map(|url| in_lines(url, &ports)).collect::<String>())
}

/// Whom a server that runs lets in.
fn admission(record: &Record, recipe: &Recipe) -> String {
    let backend = &record.backend;
    if !record.asks_for_password() {
        return format!("\nwarning: {backend} asks nobody for a password: every user of this machine can use it");
    }
    let open = recipe.open_ports().collect::<Vec<_>>().join(", ");
    let warning = match &*open {
        "" => String::new(),
        _ => format!("\nwarning: nobody is asked for it at {open}: every user of this machine can use what is there"),
    };
    format!("\nlog in:  iotbench server address {backend} (with the password, for other programs){warning}")
}

/// How to go on with a server that runs.
fn usage(record: &Record, recipe: &Recipe, with: &[String]) -> String {
    let Record { backend, urls, processes, folder, log, .. } = record;
    let pids = processes.iter().map(|process| process.id.pid.to_string()).collect::<Vec<_>>();
    let runs_as = if pids.len() == 1 { "process" } else { "processes" };
    let urls: String = urls.iter().map(|url| format!(" --url '{url}'")).collect();
    let with: String = with.iter().map(|pair| format!(" --set backend.{backend}.{pair}")).collect();
    format!(
        "{backend} runs as {runs_as} {} in {}\nits log: {}\nload it: iotbench run -p pmu_write -b {backend}{urls}{with}\n\
         end it:  iotbench server stop {backend}{}",
        pids.join(", "),
        folder.display(),
        log.display(),
        admission(record, recipe),
    )
}

fn address(arguments: &AddressArguments) -> Result<(), SessionError> {
    let (_, record) = arguments.which.find(&arguments.backend)?;
    let line = |endpoint: &Endpoint| format!("{}\n", endpoint.expose());
    console::print(&record.endpoints().iter().map(line).collect::<String>())
}

fn stop(arguments: &StopArguments) -> Result<(), SessionError> {
    let backend = &arguments.backend;
    let (records, record) = arguments.which.find(backend)?;
    let keep = match (arguments.keep, arguments.remove) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    match records.stop(&record, keep)? {
        Ended::Removed => console::say(&format!(
            "{backend} at {} is stopped and its folder {} removed",
            shown(&record.urls.join("\n")),
            record.folder.display()
        )),
        Ended::Kept(folder) => console::say(&kept(backend, &folder)),
    }
    Ok(())
}

fn list() -> Result<(), SessionError> {
    let head = ["server", "process", "address", "folder", "since", "started in"].map(str::to_owned);
    let rows = Records::open()?.list()?.into_iter().flat_map(|record| rows(&record));
    console::print(&columns(&[head].into_iter().chain(rows).collect::<Vec<_>>()))
}

/// A row for each process of a server; the server's name stands before the process's where there are several.
fn rows(record: &Record) -> Vec<[String; 6]> {
    let since = i64::try_from(record.since_s).ok().and_then(|s| Timestamp::from_second(s).ok());
    let since = since.map(|time| time.to_string()).unwrap_or_default();
    let row = |process: &ServerProcess| {
        let name = match record.processes.len() {
            1 => record.backend.clone(),
            _ => format!("{}/{}-{}", record.backend, process.role, process.node),
        };
        let pid = if process.id.is_alive() { process.id.pid.to_string() } else { "ended".into() };
        [
            name,
            pid,
            record.urls.join(" "),
            record.folder.display().to_string(),
            since.clone(),
            record.started_in.display().to_string(),
        ]
    };
    record.processes.iter().map(row).collect()
}
