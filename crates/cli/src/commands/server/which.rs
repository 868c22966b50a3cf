//! Which of the servers of a name is meant: never another folder's by mistake.

use crate::error::CliError;
use iotbench_launcher::Record;
use std::path::Path;
use url::Url;

/// What tells servers of one name apart.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Which {
    /// Which of several: the one at this port
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Which of several: the one that has this process (`iotbench server list`)
    #[arg(long, value_name = "PID")]
    process: Option<i32>,
}

impl Which {
    /// The server of this name that is meant, where `here` is the working folder. One that ended elsewhere, left by a program
    /// that was killed, is not mistaken for a running one or one of here: it is meant only if it is named, or alone.
    pub(super) fn of(self, backend: &str, records: &[Record], here: &Path) -> Result<Record, CliError> {
        let is_candidate = |record: &&Record| record.is_alive() || is_of(record, here);
        let candidates: Vec<_> = records.iter().filter(is_candidate).cloned().collect();
        match self.is_named() || candidates.is_empty() {
            true => self.among(backend, records, here),
            false => self.among(backend, &candidates, here),
        }
    }

    fn is_named(self) -> bool {
        self.port.is_some() || self.process.is_some()
    }

    fn among(self, backend: &str, records: &[Record], here: &Path) -> Result<Record, CliError> {
        let fits = |record: &&Record| {
            self.port.is_none_or(|port| ports(record).any(|of| of == port))
                && self.process.is_none_or(|pid| record.processes.iter().any(|process| process.id.pid == pid))
        };
        let fitting: Vec<_> = records.iter().filter(fits).collect();
        match (records, fitting.as_slice()) {
            ([], _) => Err(CliError::usage(format!("no server of {backend} was started here"))),
            (_, [one]) if self.is_named() || is_of(one, here) => Ok((*one).clone()),
            (_, []) => Err(CliError::usage(format!("no server of {backend} is that one:\n{}", list(records)))),
            ([_], _) => {
                let message = format!("the server of {backend} was started elsewhere. If that one is meant:");
                Err(CliError::usage(format!("{message}\n{}", list(records))))
            }
            _ => {
                let message = format!("{} servers of {backend} were started. Say which is meant:", records.len());
                Err(CliError::usage(format!("{message}\n{}", list(records))))
            }
        }
    }
}

/// Whether a server was started from this folder. Of those of earlier versions it is not known.
pub(super) fn is_of(record: &Record, here: &Path) -> bool {
    record.started_in.as_os_str().is_empty() || record.started_in == here
}

fn ports(record: &Record) -> impl Iterator<Item = u16> {
    record.urls.iter().filter_map(|url| url.parse::<Url>().ok()?.port_or_known_default())
}

/// What to type for each.
fn list(records: &[Record]) -> String {
    let line = |record: &Record| {
        let named = match (ports(record).next(), record.processes.first()) {
            (Some(port), _) => format!("--port {port}"),
            (None, process) => format!("--process {}", process.map_or(0, |process| process.id.pid)),
        };
        let place = match record.started_in.as_os_str().is_empty() {
            true => record.folder.display(),
            false => record.started_in.display(),
        };
        let ended = if record.is_alive() { "" } else { ", ended" };
        format!("  iotbench server stop {} {named}    of {place}{ended}", record.backend)
    };
    records.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// Of a server that has ended: no process has this id.
    fn ended(port: u16, pid: i32, started_in: &str) -> Record {
        record(port, &json!({"pid": pid, "start_ticks": 0}), started_in)
    }

    /// Of a server that runs: its process is this one.
    fn running(port: u16, started_in: &str) -> Record {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        let (_, after_name) = stat.rsplit_once(") ").unwrap();
        // Field 22 of proc(5), and after the name stands field 3.
        let start_ticks: u64 = after_name.split(' ').nth(19).unwrap().parse().unwrap();
        record(port, &json!({"pid": std::process::id(), "start_ticks": start_ticks}), started_in)
    }

    fn record(port: u16, id: &Value, started_in: &str) -> Record {
        let process = json!({"role": "server", "node": 0, "id": id, "log": "l", "address": null});
        let record = json!({
            "backend": "postgres", "urls": [format!("postgres://postgres@127.0.0.1:{port}/postgres")],
            "processes": [process], "supervisor": id, "folder": "/tmp/f", "owner": null,
            "started_in": started_in, "log": "l", "since_s": 1,
        });
        serde_json::from_value(record).unwrap()
    }

    const NONE: Which = Which { port: None, process: None };

    fn chosen(which: Which, records: &[Record]) -> Result<String, String> {
        let chosen = which.of("postgres", records, Path::new("/a"));
        chosen.map(|record| record.urls.concat()).map_err(|e| e.to_string())
    }

    #[test]
    fn the_only_one_of_this_folder_needs_no_more_words() {
        for here in ["/a", ""] {
            assert!(chosen(NONE, &[ended(5001, 7, here)]).unwrap().contains(":5001"));
            assert!(chosen(NONE, &[running(5001, here)]).unwrap().contains(":5001"));
        }
        assert!(chosen(NONE, &[]).is_err());
    }

    #[test]
    fn several_and_another_folders_are_asked_for_with_what_to_type() {
        let both = [ended(5001, 7, "/a"), running(5002, "/b")];
        let asked = chosen(NONE, &both).unwrap_err();
        for line in ["2 servers of postgres", "stop postgres --port 5001    of /a, ended", "--port 5002    of /b"] {
            assert!(asked.contains(line), "{asked}");
        }
        let asked = chosen(NONE, &both[1..]).unwrap_err();
        assert!(asked.contains("started elsewhere") && asked.contains("--port 5002"), "{asked}");
        assert!(chosen(Which { port: Some(5002), ..NONE }, &both).unwrap().contains(":5002"));
        assert!(chosen(Which { process: Some(7), ..NONE }, &both).unwrap().contains(":5001"));
        assert!(chosen(Which { port: Some(5003), ..NONE }, &both).unwrap_err().contains("is that one"));
        assert!(chosen(Which { port: Some(5001), process: Some(8) }, &both).is_err());
    }

    #[test]
    fn one_that_ended_elsewhere_is_meant_only_if_it_is_named() {
        let left = ended(5003, 7, "/b");
        for here in [running(5001, "/a"), ended(5001, 8, "/a")] {
            let both = [left.clone(), here];
            assert!(chosen(NONE, &both).unwrap().contains(":5001"));
            assert!(chosen(Which { port: Some(5003), ..NONE }, &both).unwrap().contains(":5003"));
        }
        assert!(chosen(NONE, std::slice::from_ref(&left)).unwrap_err().contains("started elsewhere"));
        assert!(chosen(NONE, &[left.clone(), ended(5004, 8, "/c")]).unwrap_err().contains("2 servers"));
        assert!(chosen(NONE, &[left, running(5001, "/a"), running(5002, "/a")]).unwrap_err().contains("2 servers"));
    }
}
