//! Private servers that are kept running for their user's own experiments: started, found again and stopped. Which of several of
//! a name is meant is never another folder's by mistake.

use crate::{clean::no_table, error::SessionError, join::join};
use iotbench_backends::BACKENDS;
use iotbench_core::{Backend, OpenRequest, Recipe, Registry, SettingError, Settings, Target};
use iotbench_engine::StopSignal;
use iotbench_launcher::{Launch, Record, RecordError, Records, ServerSettings, planned_endpoints, start};
use std::{
    env,
    path::{Path, PathBuf},
};
use url::Url;

/// A server that is to be kept running.
#[derive(Clone, Debug)]
pub struct ServerToKeep {
    /// The database.
    pub backend: String,
    /// The memory budget of its caches.
    pub memory_bytes: u64,
    /// Settings of the server, each as `key=value`.
    pub settings: Vec<String>,
    /// Settings of the backend that decide which server it is, likewise.
    pub with: Vec<String>,
    /// Start on this folder, which a run left; it is kept again.
    pub folder: Option<PathBuf>,
}

impl ServerToKeep {
    /// Starts it from the working folder, and leaves it running: its record, and the recipe that it was started by. `stop` ends the
    /// start.
    ///
    /// # Errors
    /// There is no such server, one runs already that was started here, or it does not start.
    pub fn start(&self, stop: &StopSignal) -> Result<(Record, &'static Recipe), SessionError> {
        let backend = find(&self.backend)?;
        let recipe = recipe_with(backend, &self.with)?;
        let (records, here) = (Records::open()?, env::current_dir().unwrap_or_default());
        if let Some(record) = records.of(&self.backend)?.into_iter().find(|record| is_of(record, &here)) {
            if record.is_alive() {
                return Err(RecordError::Running { url: record.urls.join(" "), backend: record.backend }.into());
            }
            // What was left of it when the machine, or its supervisor, went down.
            records.stop(&record, None)?;
        }
        let log = records.fresh_log(&self.backend, &here)?;
        let server = start(&self.launch(recipe, log.clone())?, &|| stop.ends())?;
        if self.folder.is_some() {
            server.keep()?;
        }
        join(backend, &server)?;
        let gone = || SessionError::internal("the supervisor is not in /proc");
        let record = server.record(&log).ok_or_else(gone)?;
        records.add(&record)?;
        server.detach().map_err(|e| SessionError::internal(format!("the supervisor does not listen: {e}")))?;
        Ok((record, recipe))
    }

    fn launch(&self, recipe: &'static Recipe, log: PathBuf) -> Result<Launch, SessionError> {
        let settings = ServerSettings::new(pairs("--set", &self.settings)?, recipe).map_err(SessionError::usage)?;
        let launch = Launch::new(&self.backend, recipe, log).memory_bytes(self.memory_bytes).settings(settings);
        let Some(folder) = &self.folder else { return Ok(launch) };
        let folder = folder.canonicalize().map_err(|e| SessionError::usage(format!("{}: {e}", folder.display())))?;
        Ok(launch.on_kept_folder(folder))
    }
}

/// Keys and values as given.
fn pairs(option: &str, given: &[String]) -> Result<Vec<(String, String)>, SessionError> {
    let pair = |text: &String| {
        let pair = text.split_once('=').map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
        pair.ok_or_else(|| SessionError::usage(format!("{option}: write KEY=VALUE")))
    };
    given.iter().map(pair).collect()
}

/// The recipe that these settings of the backend ask for; what they say is checked as a run would.
fn recipe_with(backend: &'static dyn Backend, with: &[String]) -> Result<&'static Recipe, SessionError> {
    recipe_of(backend)?;
    // As in a profile: numbers, true and false are such, all else is text.
    let value = |text: String| serde_json::from_str(&text).unwrap_or(serde_json::Value::String(text));
    let pairs = pairs("--with", with)?.into_iter();
    let settings = Settings(pairs.map(|(key, text)| (key, value(text))).collect());
    let recipe = backend.recipe_for(&settings);
    let endpoints = match recipe {
        Some(recipe) => planned_endpoints(recipe, recipe.nodes.first().copied().unwrap_or(1)),
        None => Ok(Vec::new()),
    };
    let target = Target { endpoints: endpoints.map_err(SessionError::internal)?, ..Target::default() };
    let opened = backend.open(OpenRequest { target, settings, table: no_table()? });
    let unfit = |e: SettingError| {
        let meant = e.suggestion.as_ref().map(|meant| format!(" (did you mean {meant}?)")).unwrap_or_default();
        SessionError::usage(format!("--with {e}{meant}"))
    };
    opened.map_err(unfit)?;
    recipe.ok_or_else(|| SessionError::usage("--with: these settings ask for no server that iotbench could start"))
}

/// The recipe of a backend's private server.
fn recipe_of(backend: &'static dyn Backend) -> Result<&'static Recipe, SessionError> {
    let info = backend.info();
    let none = || SessionError::usage(format!("{} has no server that iotbench could start", info.name));
    info.recipe.ok_or_else(none)
}

fn find(backend: &str) -> Result<&'static dyn Backend, SessionError> {
    Ok(Registry::new(BACKENDS).find(backend)?)
}

/// What tells servers of one name apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct WhichServer {
    /// It listens at this port.
    pub port: Option<u16>,
    /// It has this process.
    pub process: Option<i32>,
}

impl WhichServer {
    /// The server of this database that is meant, as seen from the working folder, and all that are recorded.
    ///
    /// # Errors
    /// There is none, or it is not clear which.
    pub fn find(self, backend: &str) -> Result<(Records, Record), SessionError> {
        recipe_of(find(backend)?)?;
        let records = Records::open()?;
        let record = self.of(backend, &records.of(backend)?, &env::current_dir().unwrap_or_default())?;
        Ok((records, record))
    }

    /// The server of this name that is meant, where `here` is the working folder: the one that was started here, unless another
    /// one is named.
    fn of(self, backend: &str, records: &[Record], here: &Path) -> Result<Record, SessionError> {
        let is_named = self.port.is_some() || self.process.is_some();
        let own: Vec<_> = records.iter().filter(|record| is_of(record, here)).collect();
        if let ([one], false) = (own.as_slice(), is_named) {
            return Ok((*one).clone());
        }
        let fits = |record: &&Record| {
            self.port.is_none_or(|port| ports(record).any(|of| of == port))
                && self.process.is_none_or(|pid| record.processes.iter().any(|process| process.id.pid == pid))
        };
        let fitting: Vec<_> = records.iter().filter(fits).collect();
        let unclear = |what: String| Err(SessionError::usage(format!("{what}\n{}", list(records))));
        match (records, fitting.as_slice()) {
            ([], _) => Err(SessionError::usage(format!("no server of {backend} was started here"))),
            (_, [one]) if is_named => Ok((*one).clone()),
            (_, []) => unclear(format!("no server of {backend} is that one:")),
            ([_], _) => unclear(format!("the server of {backend} was started elsewhere. If that one is meant:")),
            _ => unclear(format!("{} servers of {backend} were started. Say which is meant:", records.len())),
        }
    }
}

/// Whether a server was started from this folder. Of those of earlier versions it is not known.
fn is_of(record: &Record, here: &Path) -> bool {
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

    const NONE: WhichServer = WhichServer { port: None, process: None };

    fn chosen(which: WhichServer, records: &[Record]) -> Result<String, String> {
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
    fn the_one_of_this_folder_is_meant_whatever_others_there_are() {
        for other in [ended(5003, 7, "/b"), running(5003, "/b")] {
            for here in [running(5001, "/a"), ended(5001, 8, "/a")] {
                let both = [other.clone(), here];
                assert!(chosen(NONE, &both).unwrap().contains(":5001"));
                assert!(chosen(WhichServer { port: Some(5003), ..NONE }, &both).unwrap().contains(":5003"));
            }
        }
    }

    #[test]
    fn several_and_another_folders_are_asked_for_with_what_to_type() {
        let both = [ended(5001, 7, "/c"), running(5002, "/b")];
        let asked = chosen(NONE, &both).unwrap_err();
        for line in ["2 servers of postgres", "stop postgres --port 5001    of /c, ended", "--port 5002    of /b"] {
            assert!(asked.contains(line), "{asked}");
        }
        // As earlier versions recorded them, without the folder.
        assert!(chosen(NONE, &[ended(5001, 7, ""), running(5002, "")]).unwrap_err().contains("2 servers"));
        let asked = chosen(NONE, &both[1..]).unwrap_err();
        assert!(asked.contains("started elsewhere") && asked.contains("--port 5002"), "{asked}");
        assert!(chosen(WhichServer { port: Some(5002), ..NONE }, &both).unwrap().contains(":5002"));
        assert!(chosen(WhichServer { process: Some(7), ..NONE }, &both).unwrap().contains(":5001"));
        assert!(chosen(WhichServer { port: Some(5003), ..NONE }, &both).unwrap_err().contains("is that one"));
        assert!(chosen(WhichServer { port: Some(5001), process: Some(8) }, &both).is_err());
    }
}
