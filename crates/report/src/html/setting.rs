//! What a run was made with, and how to make it again.

use super::table::Table;
use crate::{
    document::{Document, Resources},
    network::{received, sent},
    terminal::{
        figure::{NONE, TIE, bytes, count, or_none, significant},
        machine,
    },
    written::{written, written_later},
};
use maud::{Markup, html};

pub(super) fn section(document: &Document) -> Markup {
    let target = &document.target;
    let product = match (&target.product, &target.version) {
        (Some(product), Some(version)) => format!("{product} {version}"),
        _ => "not reached".into(),
    };
    let by = [&target.driver, &target.method].into_iter().flatten().cloned().collect::<Vec<_>>().join(", ");
    let settings = target.settings.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join("\n");
    let rows = [
        ("Database", product),
        ("Written by", by),
        ("Endpoints", target.endpoints.join(", ")),
        ("Durability", machine::durability(document)),
        ("Load", load(document)),
        ("Storage", machine::storage(document)),
        ("Server counted", document.server_counters.as_ref().map(machine::counted).unwrap_or_default()),
        ("Client", machine::client(document)),
        ("Machine", machine::machine(document)),
        ("Made by", machine::made_by(document)),
        ("Fingerprint", document.fingerprint.clone()),
    ];
    html! {
        section {
            h2 { "Environment and settings" }
            dl.setting {
                @for (name, text) in rows.iter().filter(|(_, text)| !text.is_empty()) {
                    dt { (name) } dd { (text.replace(TIE, "\u{a0}")) }
                }
                @for remark in &document.remarks { dt { "Remark" } dd { (remark) } }
            }
            @if !settings.is_empty() { details { summary { "The database's settings" } pre { (settings) } } }
            @if !document.resources.is_empty() { h3 { "Resources over the measured part" } (resources(document)) }
            @if !document.errors.is_empty() { h3 { "Errors of the measured part" } (errors(document)) }
        }
        section {
            h2 { "To repeat it" }
            pre { code { (command(document)) } }
            p.note { "With seed " (document.seed) " the same data and the same schedule." }
        }
    }
}

fn load(document: &Document) -> String {
    let counts = &document.load.counts;
    format!(
        "{}; {} operations offered, {} acknowledged, {} failed, {} without an answer, {} never started",
        document.load.model,
        count(counts.offered),
        count(counts.ok),
        count(counts.fail),
        count(counts.unknown),
        count(counts.dropped + counts.pending)
    )
}

fn resources(document: &Document) -> Markup {
    let row = |r: &Resources| {
        let name = if r.node == 0 { r.role.clone() } else { format!("{} {}", r.role, r.node) };
        let cpu = [or_none(r.cpu_pct_mean, significant), or_none(r.cpu_s, significant)];
        let sizes = [r.rss_bytes_mean, r.rss_bytes_max, r.disk_read_bytes];
        let sizes = sizes.map(|size| or_none(size, bytes));
        let network = [received(r), sent(r)];
        std::iter::once(name).chain(cpu).chain(sizes).chain([written(r)]).chain(network).collect()
    };
    let heads =
        ["role", "CPU, % of a core", "CPU, s", "RSS mean", "RSS max", "disk read", "written", "net in", "net out"];
    let table = Table::new(&heads, document.resources.iter().map(row).collect());
    let notes = document.resources.iter().map(|r| {
        let note = written_later(r).iter().chain(&r.note).map(|note| format!("; {note}")).collect::<String>();
        let gone = r.gone_at_s.map(|s| format!("; gone after {} s", significant(s))).unwrap_or_default();
        format!("{}: by {}{gone}{note}", r.role, r.method)
    });
    html! {
        (table.open("Resources"))
        p.note { @for note in notes { (note) ". " } }
    }
}

fn errors(document: &Document) -> Markup {
    let row = |e: &crate::ErrorsOfCause| {
        vec![e.cause.clone(), count(e.count), e.samples.first().cloned().unwrap_or(NONE.into())]
    };
    let table = Table::new(&["cause", "count", "first message"], document.errors.iter().map(row).collect());
    table.words(&[2]).open("Errors")
}

/// The command as a shell takes it.
pub(crate) fn command(document: &Document) -> String {
    document.command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_each_word_as_it_was() {
        let words = ["--criterion", "p99<50ms", "it's", "", "a b", "$(rm)"];
        assert_eq!(words.map(quoted), ["--criterion", "'p99<50ms'", r"'it'\''s'", "''", "'a b'", "'$(rm)'"]);
    }
}
