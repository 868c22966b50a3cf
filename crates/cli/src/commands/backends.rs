//! `iotbench backends [NAME]`.

use crate::{
    console::{self, columns},
    error::CliError,
};
use clap::Args;
use iotbench_backends::BACKENDS;
use iotbench_core::{Acknowledgement, Backend, Capabilities, Duplicates, Registry, TimeUnit};

const EXAMPLES: &str = "\
Examples:
  iotbench backends
  iotbench backends sqlite    its layouts, abilities and settings";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BackendsArguments {
    /// Show this database with its settings
    name: Option<String>,
}

pub(super) fn backends(arguments: &BackendsArguments) -> Result<(), CliError> {
    let registry = Registry::new(BACKENDS);
    match &arguments.name {
        Some(name) => console::print(&details(registry.find(name).map_err(CliError::usage)?)),
        None => {
            let row =
                |b: &'static dyn Backend| [b.name().to_owned(), layouts(b.capabilities()), b.summary().to_owned()];
            console::print(&columns(&registry.iter().map(row).collect::<Vec<_>>()))
        }
    }
}

fn layouts(capabilities: &Capabilities) -> String {
    capabilities.layouts.iter().map(|l| l.name()).collect::<Vec<_>>().join(",")
}

fn details(backend: &dyn Backend) -> String {
    let c = backend.capabilities();
    let mut text = format!("{}: {}\n\nLayouts, the default first\n", backend.name(), backend.summary());
    text.push_str(&columns(&c.layouts.iter().map(|l| [format!("  {l}"), l.summary().to_owned()]).collect::<Vec<_>>()));
    text.push_str("\nAbilities\n");
    text.push_str(&columns(&abilities(c)));
    text.push_str(&format!("\nSettings, under [backend.{0}] or as --set backend.{0}.KEY=VALUE\n", backend.name()));
    let setting = |s: &iotbench_core::Setting| [format!("  {} = {}", s.key, s.default), s.help.to_owned()];
    let settings: Vec<_> = backend.settings().iter().map(setting).collect();
    text.push_str(if settings.is_empty() { "  none\n" } else { "" });
    text.push_str(&columns(&settings));
    text
}

fn abilities(c: &Capabilities) -> Vec<[String; 2]> {
    let yes = |is: bool| if is { "yes" } else { "no" };
    let unit = match c.time_unit {
        TimeUnit::Ns => "nanoseconds",
        TimeUnit::Us => "microseconds",
        TimeUnit::Ms => "milliseconds",
    };
    let duplicates = match c.duplicates {
        Duplicates::Keep => "both are kept",
        Duplicates::Overwrite => "the later replaces the earlier",
        Duplicates::Reject => "the later is refused",
    };
    let acknowledged = match c.acknowledgement {
        Acknowledgement::None => "nothing",
        Acknowledgement::Queued => "queued: it becomes visible later",
        Acknowledgement::Applied => "applied: a later read sees it",
        Acknowledgement::Durable => "durable, as far as its settings promise",
    };
    let writers = c.most_writers.map_or("no limit of its own".to_owned(), |n| n.to_string());
    let row = |what: &str, is: &str| [format!("  {what}"), is.to_owned()];
    vec![
        row("time", unit),
        row("equal device and time", duplicates),
        row("acknowledged means", acknowledged),
        row("transactions", yes(c.transactions)),
        row("most writers", &writers),
        row("inside the client's process", yes(c.embedded)),
        row("stores what it is sent", yes(c.stores)),
    ]
}
