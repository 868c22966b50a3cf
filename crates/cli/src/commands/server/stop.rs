//! `iotbench server stop`: which of a user's servers is meant. They are the user's, whatever folder a command is called in.

use super::{address::address, kept, recipe_of};
use crate::{console, error::CliError};
use clap::Args;
use iotbench_launcher::{Ended, Record, Records};
use url::Url;

#[derive(Debug, Args)]
pub(super) struct StopArguments {
    /// The database; where several of it run, with the port or the process id of one
    #[arg(value_name = "NAME[:PORT]")]
    server: String,
    /// Leave its folder
    #[arg(long, conflicts_with = "remove")]
    keep: bool,
    /// Remove its folder although it was kept before
    #[arg(long)]
    remove: bool,
}

pub(super) fn stop(arguments: &StopArguments) -> Result<(), CliError> {
    let (backend, number) = read(&arguments.server)?;
    recipe_of(backend)?;
    let records = Records::open()?;
    let meant = meant(backend, number, records.of(backend)?).map_err(CliError::usage)?;
    let keep = match (arguments.keep, arguments.remove) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    for record in meant {
        match records.stop(&record, keep)? {
            Ended::Removed => console::say(&format!("{} is stopped and its folder removed", title(&record))),
            Ended::Kept(folder) => console::say(&kept(backend, &folder)),
        }
    }
    Ok(())
}

/// What ends this server and no other: the last word of a command.
pub(super) fn word(record: &Record) -> String {
    let pid = || record.processes.first().map(|process| process.id.pid.to_string());
    let number = ports(record).next().map(|port| port.to_string()).or_else(pid);
    number.map_or(record.backend.clone(), |number| format!("{}:{number}", record.backend))
}

/// `NAME` or `NAME:NUMBER`.
fn read(server: &str) -> Result<(&str, Option<i64>), CliError> {
    let Some((backend, number)) = server.split_once(':') else { return Ok((server, None)) };
    let number = number.parse().map_err(|_| {
        CliError::usage(format!(
            "{number:?} is neither the port nor the process id of a server: see iotbench server list"
        ))
    })?;
    Ok((backend, Some(number)))
}

/// The one server that is meant, or all that are no longer alive. Of several that run none is taken for another.
fn meant(backend: &str, number: Option<i64>, of_backend: Vec<Record>) -> Result<Vec<Record>, String> {
    let (running, left): (Vec<_>, Vec<_>) = of_backend.into_iter().partition(Record::is_alive);
    let Some(number) = number else {
        return match (running.len(), left.is_empty()) {
            (0, true) => Err(format!("no server of {backend} was started here")),
            (0, false) => Ok(left),
            (1, _) => Ok(running),
            _ => Err(which(backend, &running)),
        };
    };
    let all = || running.iter().chain(&left);
    let with_port = all().find(|record| ports(record).any(|port| i64::from(port) == number));
    let with_pid = || all().find(|record| record.processes.iter().any(|p| i64::from(p.id.pid) == number));
    let found = with_port.or_else(with_pid).cloned();
    found.map(|record| vec![record]).ok_or_else(|| match running.as_slice() {
        [] => format!("no server of {backend} runs"),
        running => format!("no server of {backend} has the port or the process {number}\n{}", which(backend, running)),
    })
}

fn which(backend: &str, running: &[Record]) -> String {
    let count = if running.len() == 1 { "one server".into() } else { format!("{} servers", running.len()) };
    let line = |record: &Record| format!("\n  iotbench server stop {}  ends {}", word(record), title(record));
    format!(
        "{count} of {backend} that you started, in whatever folder: say which{}",
        running.iter().map(line).collect::<String>()
    )
}

/// Its name, address and folder.
fn title(record: &Record) -> String {
    let urls = record.urls.iter().map(|url| address(url)).collect::<Vec<_>>();
    format!("{} at {} in {}", record.backend, urls.join(" "), record.folder.display())
}

fn ports(record: &Record) -> impl Iterator<Item = u16> {
    record.urls.iter().filter_map(|url| Url::parse(url).ok()?.port())
}
