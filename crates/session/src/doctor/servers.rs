//! Which servers can be started on this machine, and what brings those that cannot.

use iotbench_backends::BACKENDS;
use iotbench_core::{BackendInfo, Origin, Recipe};
use iotbench_engine::{Finding, Fitness};
use iotbench_launcher::{Missing, Programs, lacks_setpriv};
use serde::Serialize;
use std::{collections::BTreeSet, env, ffi::OsStr};

/// The script that installs all but what nobody brings.
const SCRIPT: &str = "scripts/servers --all";

/// What can be run, or is needed for it.
#[derive(Clone, Debug, Serialize)]
pub struct ServerFacts {
    /// Its name.
    pub name: String,
    /// The setting that asks for this form of it; `None`: its usual form.
    pub setting: Option<String>,
    /// What it is to a run.
    pub kind: ServerKind,
    /// What its program says of its version.
    pub version: Option<String>,
    /// What is found of it.
    pub finding: Finding,
    /// The packages of Debian that it lacks.
    pub debian: Vec<String>,
    /// Whether `scripts/servers` alone brings something that it lacks.
    pub by_script: bool,
}

/// What something is to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerKind {
    /// A database in this process.
    BuiltIn,
    /// A database whose private server a run starts.
    Private,
    /// A database that is reached by its address alone.
    ByUrl,
    /// A broker that runs with agents, or through MQTT, start.
    Broker,
    /// What servers are started by.
    Tool,
}

/// A command that brings what is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Install {
    /// The command.
    pub command: String,
    /// What it brings, and where it is carried out.
    pub brings: String,
}

impl ServerFacts {
    /// Whether it is a server that a run could start.
    #[must_use]
    pub fn is_startable(&self) -> bool {
        self.kind == ServerKind::Private && self.finding.fitness != Fitness::Missing
    }

    /// Whether it is not a tool without which no server is started.
    pub(super) fn blocks_nothing(&self) -> bool {
        self.kind != ServerKind::Tool || self.finding.fitness != Fitness::Missing
    }

    fn of(name: &str, setting: Option<&str>, kind: ServerKind, finding: Finding) -> Self {
        let about = setting.map_or_else(|| name.to_owned(), |setting| format!("{name}, {setting}"));
        let finding = Finding { about, ..finding };
        let (name, setting) = (name.to_owned(), setting.map(str::to_owned));
        Self { name, setting, kind, version: None, finding, debian: Vec::new(), by_script: false }
    }
}

/// All databases in all their forms, the brokers, and what servers are started by.
pub(super) fn all() -> Vec<ServerFacts> {
    let mut all = Vec::new();
    for info in BACKENDS.iter().map(|backend| backend.info()) {
        let ok = |found: &str| Finding::ok("", found);
        all.push(match info.recipe {
            Some(recipe) => judged(private(info.name, None, ServerKind::Private, recipe), info),
            None if info.capabilities.embedded => ServerFacts::of(info.name, None, ServerKind::BuiltIn, ok("built in")),
            None => ServerFacts::of(
                info.name,
                None,
                ServerKind::ByUrl,
                Finding::of("", Fitness::Note, "only by --url", "give the address of a running one with --url"),
            ),
        });
        let variants = info.variants.iter();
        let variant = |setting, recipe| private(info.name, Some(setting), ServerKind::Private, recipe);
        all.extend(variants.map(|v| judged(variant(v.setting, v.recipe), info)));
    }
    all.push(private("mosquitto", Some("--via mqtt"), ServerKind::Broker, &iotbench_broker::RECIPE));
    all.push(private("nats-server", Some("--agents N"), ServerKind::Broker, &iotbench_cluster::RECIPE));
    all.extend(search_path(env::var_os("PATH").as_deref()));
    if lacks_setpriv() {
        let found = "not found: root starts no server without it";
        let finding = Finding::of("", Fitness::Missing, found, "apt-get install util-linux, or be another user");
        let tool = ServerFacts::of("setpriv", None, ServerKind::Tool, finding);
        all.push(ServerFacts { debian: vec!["util-linux".into()], ..tool });
    }
    all
}

/// What is said where programs are looked for nowhere. Pure.
fn search_path(path: Option<&OsStr>) -> Option<ServerFacts> {
    let is_empty = path.is_none_or(OsStr::is_empty);
    let advice =
        "what is missing may be there: set it, as in PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    let finding = Finding::of("", Fitness::Note, "empty or not set", advice);
    is_empty.then(|| ServerFacts::of("PATH", None, ServerKind::Tool, finding))
}

fn private(name: &str, setting: Option<&str>, kind: ServerKind, recipe: &'static Recipe) -> ServerFacts {
    let Ok(programs) = Programs::find(recipe) else {
        return lacking(name, setting, kind, &Programs::missing(recipe));
    };
    let version = programs.version_number();
    let found = version.clone().unwrap_or_else(|| "does not tell its version".into());
    let finding = Finding { details: programs.server().display().to_string(), ..Finding::ok("", found) };
    ServerFacts { version, ..ServerFacts::of(name, setting, kind, finding) }
}

/// A server that can be started, and of which no such version was ever met, is told as that. Pure.
fn judged(server: ServerFacts, info: &BackendInfo) -> ServerFacts {
    if server.version.as_ref().is_none_or(|version| info.has_met(version)) {
        return server;
    }
    let advice = match info.met {
        [] => "iotbench never met a real one: look twice at what it says of it".to_owned(),
        versions => format!("iotbench was tried with {}, and not with this version", versions.join(", ")),
    };
    let finding = Finding { fitness: Fitness::Note, advice, ..server.finding };
    ServerFacts { finding, ..server }
}

/// Something that lacks these. Pure.
fn lacking(name: &str, setting: Option<&str>, kind: ServerKind, missing: &[Missing]) -> ServerFacts {
    let names: Vec<&str> = missing.iter().map(|missing| missing.name.as_str()).collect();
    let found = format!("{} not found", names.join(", "));
    let debian = packages(missing);
    let by_script = missing.iter().any(|missing| missing.named.is_none() && missing.from == Origin::ServersScript);
    let apt = (!debian.is_empty()).then(|| format!("apt-get install {}", debian.join(" ")));
    let script = by_script.then(|| format!("{SCRIPT}, in iotbench's source"));
    let own = missing.iter().filter_map(by_hand);
    let advice: Vec<String> = apt.into_iter().chain(script).chain(own).collect();
    let finding = Finding::of("", Fitness::Missing, found, advice.join("; "));
    ServerFacts { debian, by_script, ..ServerFacts::of(name, setting, kind, finding) }
}

/// The packages of Debian that bring what is missing, each once.
fn packages(missing: &[Missing]) -> Vec<String> {
    let mut packages: Vec<String> = Vec::new();
    for missing in missing.iter().filter(|missing| missing.named.is_none()) {
        let Origin::Debian(names) = missing.from else { continue };
        let new = names.split(' ').filter(|name| !packages.iter().any(|there| there == name));
        packages.extend(new.map(str::to_owned).collect::<Vec<_>>());
    }
    packages
}

/// What no command brings.
fn by_hand(missing: &Missing) -> Option<String> {
    let Missing { name, variable, named, from, .. } = missing;
    if let Some(named) = named {
        return Some(format!("{variable} names {}, which is not {name}: correct or unset it", named.display()));
    }
    match from {
        Origin::Debian(_) | Origin::ServersScript => None,
        Origin::Elsewhere(whose) => Some(format!("install {whose}, and name it by {variable}")),
        Origin::Extension(_) => {
            Some(format!("install this extension for that server, or name by {variable} one that has it"))
        }
    }
}

/// The commands that bring what is missing: the script all of it, and one of Debian's own its packages.
pub(super) fn install(servers: &[ServerFacts], as_root: bool) -> Vec<Install> {
    let mut packages = BTreeSet::new();
    servers.iter().for_each(|server| packages.extend(server.debian.iter().map(String::as_str)));
    let by_script = servers.iter().any(|server| server.by_script);
    let of = |command: String, brings: &str| Install { command, brings: brings.into() };
    let script = match (packages.is_empty(), by_script) {
        (true, false) => None,
        (true, true) => Some("in iotbench's source: what Debian does not have"),
        (false, _) => Some("in iotbench's source: all that is named here with a command; no service is left running"),
    };
    let sudo = if as_root { "" } else { "sudo " };
    let apt = (!packages.is_empty()).then(|| {
        let packages = packages.into_iter().collect::<Vec<_>>().join(" ");
        of(
            format!("{sudo}apt-get install {packages}"),
            "without the source: what Debian has, with its services started",
        )
    });
    script.map(|brings| of(SCRIPT.into(), brings)).into_iter().chain(apt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(name: &str, from: Origin, named: Option<&str>) -> Missing {
        let variable = format!("IOTBENCH_{}_BIN", name.to_uppercase());
        Missing { name: name.into(), variable, named: named.map(Into::into), places: vec![], from }
    }

    fn of(missing: &[Missing]) -> ServerFacts {
        lacking("x", Some("nodes = 2"), ServerKind::Private, missing)
    }

    #[test]
    fn programs_that_are_looked_for_nowhere_are_no_server_that_is_missing() {
        for path in [None, Some(OsStr::new(""))] {
            let said = search_path(path).unwrap();
            assert!(said.finding.fitness == Fitness::Note && said.blocks_nothing(), "{said:?}");
            assert!(said.finding.advice.contains("may be there"));
        }
        assert!(search_path(Some(OsStr::new("/bin"))).is_none());
    }

    #[test]
    fn a_server_lacks_all_that_it_lacks_at_once_and_says_what_brings_it() {
        let debian = Origin::Debian("x-server x-client");
        let all = [missing("xd", debian, None), missing("xc", Origin::Debian("x-client"), None)];
        let lacking = of(&[&all[..], &[missing("y-*.jar", Origin::ServersScript, None)]].concat());
        assert_eq!((lacking.finding.about.as_str(), lacking.finding.fitness), ("x, nodes = 2", Fitness::Missing));
        assert_eq!(lacking.finding.found, "xd, xc, y-*.jar not found");
        assert_eq!(
            lacking.finding.advice,
            "apt-get install x-server x-client; scripts/servers --all, in iotbench's source"
        );
        assert!(lacking.by_script && !lacking.is_startable());
    }

    #[test]
    fn what_no_command_brings_is_said_in_words() {
        let advice = |from, named| of(&[missing("xd", from, named)]).finding.advice;
        let elsewhere = advice(Origin::Elsewhere("the maker's package x"), None);
        assert_eq!(elsewhere, "install the maker's package x, and name it by IOTBENCH_XD_BIN");
        assert!(advice(Origin::Extension(&[]), None).contains("install this extension"));
        let wrong = advice(Origin::Debian("x"), Some("/nowhere/xd"));
        assert_eq!(wrong, "IOTBENCH_XD_BIN names /nowhere/xd, which is not xd: correct or unset it");
    }

    #[test]
    fn one_command_brings_all_packages_and_the_script_what_debian_does_not_have() {
        let commands = |servers: &[ServerFacts], as_root| -> Vec<String> {
            install(servers, as_root).into_iter().map(|install| install.command).collect()
        };
        let debian = |packages| of(&[missing("xd", Origin::Debian(packages), None)]);
        let script = of(&[missing("yd", Origin::ServersScript, None)]);
        let by_hand = of(&[missing("zd", Origin::Elsewhere("z"), None)]);
        assert_eq!(commands(&[by_hand], true), Vec::<String>::new());
        assert_eq!(commands(std::slice::from_ref(&script), true), [SCRIPT]);
        let both = [debian("b a"), script, debian("a c")];
        assert_eq!(commands(&both, true), [SCRIPT, "apt-get install a b c"]);
        assert_eq!(commands(&both, false)[1], "sudo apt-get install a b c");
    }

    #[test]
    fn a_version_that_was_never_met_is_a_note_and_can_be_started() {
        let info = BACKENDS.iter().map(|backend| backend.info()).find(|info| info.name == "postgres").unwrap();
        let of = |version: &str, info| {
            let found = ServerFacts::of("x", None, ServerKind::Private, Finding::ok("", version));
            judged(ServerFacts { version: Some(version.into()), ..found }, info)
        };
        let (known, new) = (of("15.2", info), of("99.1", info));
        assert_eq!((known.finding.fitness, new.finding.fitness), (Fitness::Ok, Fitness::Note));
        assert!(known.is_startable() && new.is_startable());
        assert!(new.finding.advice.contains("tried with 15."), "{}", new.finding.advice);
        let never = BackendInfo { met: &[], ..info.clone() };
        assert!(of("15.2", &never).finding.advice.contains("never met a real one"));
    }

    /// What `scripts/servers` installs is of the versions that lists say were met. A machine of another kind has others.
    #[test]
    fn what_the_script_installs_was_met() {
        if env::var("IOTBENCH_REQUIRE_SERVERS").as_deref() != Ok("1") {
            println!("skipped: what is installed here need not be what scripts/servers installs");
            return;
        }
        let all = all();
        let private = all.iter().filter(|server| server.kind == ServerKind::Private && server.name != "influxdb2");
        let notes: Vec<_> = private.filter(|server| server.finding.fitness == Fitness::Note).collect();
        assert!(notes.is_empty(), "{notes:?}");
    }

    #[test]
    fn every_database_is_listed_in_each_of_its_forms() {
        let all = all();
        for info in BACKENDS.iter().map(|backend| backend.info()) {
            let forms = all.iter().filter(|server| server.name == info.name).count();
            assert_eq!(forms, 1 + info.variants.len(), "{}", info.name);
        }
        assert!(all.iter().all(|server| !server.finding.about.is_empty() && !server.finding.found.is_empty()));
    }
}
