//! The page of databases.

use super::{
    datasets::settings,
    markdown::{self, code, codes, table, words},
};
use iotbench_backends::BACKENDS;
use iotbench_core::{BackendInfo, Layout, Origin, Query, Recipe};

const ABOUT: &str = "What can be started on a machine, and what is missing, `iotbench doctor` tells there. *Versions met* were seen running under \
iotbench's tests. Every query is answered: what a database does not work out natively, the client works out of what it reads. *Survives* is \
the worst event after which acknowledged data is there, unless a setting says otherwise.";
const OWN: &str = "[`memory`](#memory) and [`blackhole`](#blackhole) are parts of iotbench: the one that knows every answer, and the one that \
keeps nothing.";
/// What installs all that Debian does not have.
const SCRIPT: &str = "`scripts/servers --all`";

pub(super) fn page() -> String {
    let queries = Query::KINDS.iter().map(|(name, meaning)| [code(name), words(meaning)]).collect::<Vec<_>>();
    let layouts = Layout::ALL.map(|layout| [code(layout.name()), words(layout.summary())]);
    let mut parts = vec![
        ABOUT.to_owned(),
        "## Support".to_owned(),
        systems(),
        OWN.to_owned(),
        table(["layout", "stores"], &layouts),
        table(["query", "asks for"], &queries),
    ];
    BACKENDS.iter().for_each(|backend| parts.extend(describe(backend.info())));
    markdown::page("Databases", &parts)
}

/// The table of systems, which README has too.
fn systems() -> String {
    let head = ["system", "versions met", "layouts, the default first", "queries", "written by", "survives", "get it"];
    let infos = BACKENDS.iter().map(|backend| backend.info());
    table(head, &infos.filter(|info| !info.is_own()).map(system).collect::<Vec<_>>())
}

fn system(backend: &BackendInfo) -> [String; 7] {
    [
        format!("[`{0}`](#{0})", backend.name),
        words(&backend.met_in_words()),
        words(&backend.capabilities.layout_names(", ")),
        answered(backend),
        words(backend.writes_by),
        backend.promise.survives(),
        got(backend),
    ]
}

/// Which queries it answers, and by whose work.
fn answered(backend: &BackendInfo) -> String {
    let c = &backend.capabilities;
    let natively: Vec<&str> = c.layouts.iter().filter(|l| c.buckets.contains(l)).map(|layout| layout.name()).collect();
    match natively.len() {
        0 => "all; time buckets by the client".into(),
        all if all == c.layouts.len() => "all; time buckets natively".into(),
        _ => format!("all; time buckets natively in {}", natively.join(", ")),
    }
}

/// What brings it.
fn got(backend: &BackendInfo) -> String {
    let Some(recipe) = backend.recipe else {
        return if backend.capabilities.embedded { "built in" } else { "by `--url` only" }.into();
    };
    let mut packages: Vec<&str> = Vec::new();
    for program in recipe.programs {
        match program.from {
            Origin::Elsewhere(whose) => return words(whose),
            Origin::ServersScript => return SCRIPT.into(),
            Origin::Debian(names) => packages.extend(names.split(' ')),
            Origin::Extension(_) => {}
        }
    }
    packages.sort_unstable();
    packages.dedup();
    if recipe.jars.is_empty() { code(&format!("apt-get install {}", packages.join(" "))) } else { SCRIPT.into() }
}

/// How a database without an address comes to be.
fn server(backend: &BackendInfo) -> String {
    match backend.recipe {
        Some(_) => "started on demand",
        None if backend.capabilities.embedded => "in the client's process",
        None => "only by `--url`",
    }
    .into()
}

/// How many nodes a private server has, in each of its forms.
fn nodes(backend: &BackendInfo) -> String {
    let of = |recipe: &Recipe| recipe.nodes.iter().map(u32::to_string).collect::<Vec<_>>().join(" or ");
    let alone = backend.recipe.map(of);
    let forms = backend.variants.iter().map(|v| format!("{} with {}", of(v.recipe), code(v.setting)));
    alone.into_iter().chain(forms).collect::<Vec<_>>().join("; ")
}

/// Where a private server that has a password asks nobody for it, in each of its forms.
fn open_ports(backend: &BackendInfo) -> Option<[String; 2]> {
    let of = |recipe: &Recipe| {
        let ports: Vec<_> = recipe.open_ports().collect();
        (!ports.is_empty()).then(|| codes(ports.iter().map(String::as_str)))
    };
    let alone = backend.recipe.and_then(of);
    let forms = backend.variants.iter().filter_map(|v| Some(format!("{} with {}", of(v.recipe)?, code(v.setting))));
    let all: Vec<_> = alone.into_iter().chain(forms).collect();
    (!all.is_empty()).then(|| ["ports that ask nobody for its password".into(), all.join("; ")])
}

fn describe(backend: &BackendInfo) -> Vec<String> {
    let name = backend.name;
    let c = &backend.capabilities;
    let mut rows: Vec<_> = backend.in_words().into_iter().map(|(what, is)| [words(what), words(&is)]).collect();
    rows.push(["acknowledged data".into(), format!("{}, unless a setting says otherwise", backend.promise)]);
    rows.push(["versions met".into(), words(&backend.met_in_words())]);
    rows.extend((!backend.writes_by.is_empty()).then(|| ["written by".into(), words(backend.writes_by)]));
    rows.push([
        "queries".into(),
        if c.stores { codes(Query::KINDS.iter().map(|(name, _)| *name)) } else { "none".into() },
    ]);
    let writes = if backend.statements_write { ", also such as write" } else { "" };
    let statements = backend.statements.map_or("none".into(), |language| format!("{language}{writes}"));
    rows.push(["statements of your own".into(), statements]);
    let method = |key: &str| backend.settings.iter().find(|s| s.key == key);
    rows.extend(["method", "protocol"].iter().filter_map(|key| method(key)).map(|s| [s.key.into(), words(s.help)]));
    if backend.recipe.is_some() {
        rows.push(["private server".into(), format!("settings under `[backend.{name}.server]`")]);
        rows.push(["nodes".into(), nodes(backend)]);
        rows.extend(open_ports(backend));
    } else {
        rows.push(["private server".into(), server(backend)]);
    }
    let under = format!("Settings, under `[backend.{name}]` or as `--set backend.{name}.KEY=VALUE`:");
    let taken = settings("setting", backend.settings);
    let under = if taken.is_empty() { "It has no settings.".to_owned() } else { under };
    vec![format!("## {name}\n\n{}.", words(backend.summary)), table(["ability", ""], &rows), under, taken]
}
