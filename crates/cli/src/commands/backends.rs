//! `iotbench backends [NAME]`.

use crate::console::{self, columns};
use clap::Args;
use iotbench_backends::BACKENDS;
use iotbench_core::{BackendInfo, Recipe, Registry, Variant};
use iotbench_launcher::Programs;
use iotbench_session::SessionError;

const EXAMPLES: &str = "\
Examples:
  iotbench backends           what can be loaded, what it promises, and what of it is installed here or missing
  iotbench backends sqlite    its layouts, abilities and settings";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BackendsArguments {
    /// Show this database with its settings
    name: Option<String>,
}

pub(super) fn backends(arguments: &BackendsArguments) -> Result<(), SessionError> {
    let registry = Registry::new(BACKENDS);
    match &arguments.name {
        Some(name) => console::print(&details(registry.find(name).map_err(SessionError::usage)?.info())),
        None => console::print(&list(&registry)),
    }
}

/// All of them, and what is missing here of those that could be started.
fn list(registry: &Registry) -> String {
    let head = ["backend", "layouts", "on this machine", "survives", "what it is"].map(str::to_owned);
    let row = |b: &BackendInfo| {
        [b.name.to_owned(), b.capabilities.layout_names(","), here(b), b.promise.survives(), b.summary.to_owned()]
    };
    let mut text =
        columns(&std::iter::once(head).chain(registry.iter().map(|backend| row(backend.info()))).collect::<Vec<_>>());
    text.push_str(
        "\nsurvives: the worst event after which acknowledged data is there, unless a setting says otherwise; a run reads\n\
         it back from the server where that tells\n",
    );
    let missing: Vec<_> = registry.iter().flat_map(|backend| missing(backend.info())).collect();
    if !missing.is_empty() {
        text.push_str("\nMissing on this machine:\n");
        text.push_str(&columns(&missing));
    }
    text
}

/// What its private server needs and is not here, and that of its other forms.
fn missing(backend: &BackendInfo) -> Vec<[String; 2]> {
    let name = backend.name;
    let alone = backend.recipe.map(|recipe| (format!("  {name}"), recipe));
    let variants = backend.variants.iter().map(|v| (format!("  {name}, {}", v.setting), v.recipe));
    let forms = alone.into_iter().chain(variants);
    forms.filter_map(|(form, recipe)| Some([form, Programs::find(recipe).err()?.to_string()])).collect()
}

/// Whether it can be used on this machine without an address.
fn here(backend: &BackendInfo) -> String {
    let Some(recipe) = backend.recipe else {
        return if backend.capabilities.embedded { "built in" } else { "only by --url" }.into();
    };
    match Programs::find(recipe) {
        Ok(programs) => format!("ready: {}", programs.version_number().as_deref().unwrap_or("no version")),
        Err(missing) => format!("missing: {}", missing.name),
    }
}

/// The private server of a backend: its program with version, or what is missing.
fn server(recipe: &'static Recipe) -> Vec<[String; 2]> {
    let found = match Programs::find(recipe) {
        Ok(programs) => {
            let version = programs.version().unwrap_or_else(|| "it does not tell its version".into());
            vec![
                ["  program".into(), programs.server().display().to_string()],
                ["  version".into(), console::printable_lines(&version)],
            ]
        }
        Err(missing) => vec![["  missing".into(), missing.to_string()]],
    };
    let variables = recipe.programs.iter().map(iotbench_core::Program::variable);
    let variables =
        variables.chain(recipe.jars.iter().map(iotbench_core::Jars::variable)).collect::<Vec<_>>().join(", ");
    let user = ["  as root it runs as".into(), recipe.user.to_owned()];
    found.into_iter().chain([user, ["  programs are named by".into(), variables]]).collect()
}

/// Whether another form of the private server is ready, or what of it is missing.
fn variant(variant: &Variant) -> [String; 2] {
    let found = match Programs::find(variant.recipe) {
        Ok(_) => "ready".into(),
        Err(missing) => format!("missing: {missing}"),
    };
    [format!("  with {}", variant.setting), found]
}

fn details(backend: &BackendInfo) -> String {
    let c = &backend.capabilities;
    let mut text = format!("{}: {}\n\nLayouts, the default first\n", backend.name, backend.summary);
    text.push_str(&columns(&c.layouts.iter().map(|l| [format!("  {l}"), l.summary().to_owned()]).collect::<Vec<_>>()));
    text.push_str("\nAbilities\n");
    let mut abilities: Vec<_> = backend.in_words().into_iter().map(|(what, is)| [format!("  {what}"), is]).collect();
    abilities.push(["  acknowledged data".into(), format!("{}, unless a setting says otherwise", backend.promise)]);
    abilities.push(["  versions met".into(), backend.met_in_words()]);
    let writes_by = (!backend.writes_by.is_empty()).then(|| ["  written by".into(), backend.writes_by.to_owned()]);
    abilities.extend(writes_by);
    let writes = if backend.statements_write { ", also such as write" } else { "" };
    let statements = backend.statements.map_or("none".into(), |language| format!("in {language}{writes}"));
    abilities.push(["  statements of your own".into(), statements]);
    text.push_str(&columns(&abilities));
    if let Some(recipe) = backend.recipe {
        let name = backend.name;
        text.push_str(&format!("\nPrivate server, without --url; its settings under [backend.{name}.server]\n"));
        text.push_str(&columns(&server(recipe)));
        text.push_str(&columns(&backend.variants.iter().map(variant).collect::<Vec<_>>()));
    } else if !c.embedded {
        text.push_str("\nNo private server: only by --url\n");
    }
    text.push_str(&format!("\nSettings, under [backend.{0}] or as --set backend.{0}.KEY=VALUE\n", backend.name));
    let setting = |s: &iotbench_core::Setting| [format!("  {} = {}", s.key, s.default), s.help.to_owned()];
    let settings: Vec<_> = backend.settings.iter().map(setting).collect();
    text.push_str(if settings.is_empty() { "  none\n" } else { "" });
    text.push_str(&columns(&settings));
    text
}
