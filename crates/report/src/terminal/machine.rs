//! What was used, what was promised, and on which machine.

use super::{
    figure::{NONE, bytes, count, duration, or_none, significant},
    table::{list, table},
};
use crate::{
    document::{Document, Durability, Hiccup, Resources, ServerCounter, ServerCounters},
    network::{received, sent},
    written::{written, written_later},
};
use comfy_table::CellAlignment::Right;
use iotbench_sampler::HiccupCause;

pub(super) fn sections(document: &Document, columns: u16) -> Vec<String> {
    let mut rows = vec![
        ["Storage".into(), storage(document)],
        ["Durability".into(), durability(document)],
        ["Database".into(), database(document)],
        ["Client".into(), client(document)],
        ["Client ran".into(), client_ran(document)],
        ["Machine".into(), machine(document)],
        ["Made by".into(), made_by(document)],
    ];
    let counters = document.server_counters.iter();
    rows.extend(counters.map(|counters| ["Server counted".into(), counted(counters)]));
    // Said first of all already.
    let disturbed = document.others.as_ref().and_then(|others| others.disturbed.as_ref());
    let remarks = document.remarks.iter().filter(|remark| Some(*remark) != disturbed);
    rows.extend(remarks.map(|remark| ["Remark".into(), remark.clone()]));
    resources(document, columns).into_iter().chain([list(rows, columns)]).collect()
}

/// What the runs of a sweep have in common: `document` is one of them.
pub(crate) fn of_sweep(document: &Document, remarks: &[String], columns: u16) -> String {
    let mut anywhere = document.clone();
    anywhere.target.endpoints.clear();
    let mut rows = vec![
        ["Durability".into(), durability(document)],
        ["Database".into(), database(&anywhere)],
        ["Machine".into(), machine(document)],
        ["Made by".into(), made_by(document)],
    ];
    rows.extend(remarks.iter().map(|remark| ["Remark".into(), remark.clone()]));
    list(rows, columns)
}

fn resources(document: &Document, columns: u16) -> Option<String> {
    if document.resources.is_empty() {
        return None;
    }
    let row = |r: &Resources| {
        let name = if r.node == 0 { r.role.clone() } else { format!("{} {}", r.role, r.node) };
        let percent = or_none(r.cpu_pct_mean, |pct| format!("{} %", significant(pct)));
        let sizes = [r.rss_bytes_mean, r.rss_bytes_max, r.pss_bytes_mean, r.disk_read_bytes];
        let sizes = sizes.map(|size| or_none(size, bytes));
        let network = [received(r), sent(r)];
        [name, percent].into_iter().chain(sizes).chain([written(r)]).chain(network).collect::<Vec<_>>()
    };
    let heads = ["CPU", "RSS mean", "RSS max", "PSS mean", "disk read", "written", "net in", "net out"];
    let rows = document.resources.iter().map(row).collect();
    let text = table("Resources", &heads, rows, Right, columns);
    let of_role = |r: &Resources| {
        let note = written_later(r)
            .into_iter()
            .chain(shared(r))
            .chain(r.note.clone())
            .map(|note| format!("; {note}"))
            .collect::<String>();
        let gone = r.gone_at_s.map(|s| format!("; gone after {} s", significant(s))).unwrap_or_default();
        super::paragraph(&format!("{}: by {}{gone}{note}", r.role, r.method), columns)
    };
    let notes = document.resources.iter().map(of_role);
    Some(std::iter::once(text).chain(notes).collect::<Vec<_>>().join("\n"))
}

/// That the resident sets of several processes hold the same pages, where they do.
fn shared(r: &Resources) -> Option<String> {
    let (processes, rss, pss) = (r.processes_max?, r.rss_bytes_mean?, r.pss_bytes_mean?);
    let is_counted_twice = processes > 1 && rss > pss + pss / 4;
    is_counted_twice.then(|| format!("what its {processes} processes share is in RSS once for each, and in PSS once"))
}

pub(crate) fn storage(document: &Document) -> String {
    let storage = &document.storage;
    format!(
        "{} before, {} after; {} bytes a datapoint",
        or_none(storage.bytes_before, bytes),
        or_none(storage.bytes_after, bytes),
        or_none(storage.bytes_per_point, significant)
    )
}

pub(crate) fn durability(document: &Document) -> String {
    let Some(durability) = &document.target.durability else { return "not known".into() };
    let nodes =
        if durability.nodes == 1 { "1 node".into() } else { format!("{} nodes", count(durability.nodes.into())) };
    let source = match &durability.declared_in {
        Some(place) => format!("declared: {place}"),
        None => "read back from the database".into(),
    };
    let acknowledgement = &document.target.acknowledgement;
    format!(
        "an acknowledged write {}, on {nodes} ({source}); acknowledged means {acknowledgement}",
        promise(durability)
    )
}

/// What an acknowledged write survives, in words.
fn promise(durability: &Durability) -> String {
    match durability.promise.as_str() {
        "buffered" => "may be lost at any crash".into(),
        "process_crash" => "survives a process crash".into(),
        "os_crash" => "survives an OS crash".into(),
        "os_crash_within" => {
            format!("survives an OS crash but for the last {} s", or_none(durability.within_s, significant))
        }
        other => other.into(),
    }
}

fn database(document: &Document) -> String {
    let target = &document.target;
    let product = match (&target.product, &target.version) {
        (Some(product), Some(version)) => format!("{product} {version}"),
        _ => "not reached".into(),
    };
    let by = target.driver.iter().map(|driver| format!(" by {driver}")).collect::<String>();
    let method = target.method.iter().map(|method| format!(", {method}")).collect::<String>();
    let settings = target.settings.iter().map(|(key, value)| format!(", {key} = {value}")).collect::<String>();
    let at = if target.endpoints.is_empty() { String::new() } else { format!("; {}", target.endpoints.join(", ")) };
    format!("{product}{by}{method}{settings}{at}")
}

/// What the server counted of itself a second, where something happened, and what asking it cost.
pub(crate) fn counted(counters: &ServerCounters) -> String {
    let figure = |counter: &ServerCounter| {
        let shown =
            or_none(counter.per_s, |per_s| if counter.is_of_bytes() { bytes_per_s(per_s) } else { significant(per_s) });
        format!("{} {shown}", counter.name)
    };
    let told: Vec<_> = counters.counters.iter().filter(|counter| counter.growth > 0).map(figure).collect();
    let told = if told.is_empty() {
        "nothing".into()
    } else {
        format!("a second, by what it had told by then: {}", told.join(", "))
    };
    let failed =
        if counters.failed_looks > 0 { format!(", {} of which failed,", counters.failed_looks) } else { String::new() };
    format!("{told}; {} looks{failed} took {}", count(counters.looks), duration(counters.looks_ms * 1e3))
}

fn bytes_per_s(per_s: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size in bytes")]
    bytes(per_s.max(0.0) as u64)
}

pub(crate) fn client(document: &Document) -> String {
    let client = &document.client;
    let error = &client.pacing_error_us;
    let cpu = client.cpu_pct.map(|pct| format!("; CPU {} %", significant(pct))).unwrap_or_default();
    format!(
        "pacing error p50 {}, p99 {}, max {} over {} operations{cpu}; sampling {} % of a core; {} measurements lost",
        or_none(error.p50, duration),
        or_none(error.p99, duration),
        or_none(error.max, duration),
        count(error.count),
        or_none(client.sampler_cpu_pct, significant),
        or_none(client.samples_dropped, count)
    )
}

/// Whether the client could run when it had to, and how much room it had.
fn client_ran(document: &Document) -> String {
    let client = &document.client;
    let mut parts = vec![match (client.hiccup_count, &client.hiccups) {
        (Some(0), _) => "never held up for 50 ms or more".into(),
        (Some(n), Some(hiccups)) => held_up(n, client.stalled_ms.unwrap_or_default(), hiccups),
        _ => "not known whether it was held up".into(),
    }];
    if let (Some(cores), Some(allowed)) = (client.cores, client.cores_allowed) {
        let busiest = client.busiest_thread_pct.map(|pct| format!(", busiest thread {} %", significant(pct)));
        let (cores, allowed) = (significant(cores), significant(allowed));
        parts.push(format!("{cores} of {allowed} cores{}", busiest.unwrap_or_default()));
    }
    if let (Some(ratio), Some(ceiling_per_s)) = (client.ceiling_ratio, client.ceiling_per_s) {
        let (pct, most) = (significant(ratio * 100.0), significant(ceiling_per_s));
        parts.push(format!("{pct} % of its ceiling of {most} operations/s"));
    }
    parts.extend(client.exempt.iter().map(|why| format!("processor and ceiling are not judged: {why}")));
    parts.join("; ")
}

/// Stretches in which the client could not run, the longest one by one.
fn held_up(count: u64, stalled_ms: f64, hiccups: &[Hiccup]) -> String {
    const TOLD: usize = 3;
    let mut longest: Vec<&Hiccup> = hiccups.iter().collect();
    longest.sort_by(|a, b| b.stalled_ms.total_cmp(&a.stalled_ms));
    let told = longest.iter().take(TOLD).map(|hiccup| {
        let cause = HiccupCause::of_name(&hiccup.cause).map_or_else(|| hiccup.cause.clone(), |cause| cause.to_string());
        format!("{} at {} s ({cause})", duration(hiccup.length_ms * 1e3), significant(hiccup.at_s))
    });
    let told = told.collect::<Vec<_>>().join(", ");
    let rest = if hiccups.len() > TOLD || count > TOLD as u64 { ", …" } else { "" };
    let times = if count == 1 { "once".into() } else { format!("{} times", super::figure::count(count)) };
    format!("held up {times}, {} in all: {told}{rest}", duration(stalled_ms * 1e3))
}

pub(crate) fn machine(document: &Document) -> String {
    let machine = &document.environment;
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| NONE.into());
    let filesystem = machine.database_filesystem.as_ref().or(machine.filesystem.as_ref());
    format!(
        "{}, {} processors, {}, {}, kernel {}, {}, governor {}, steal {} %",
        text(&machine.cpu),
        or_none(machine.cores, count),
        or_none(machine.memory_bytes, bytes),
        text(&machine.os),
        text(&machine.kernel),
        filesystem.map_or(NONE, |f| f.kind.as_str()),
        text(&machine.governor),
        or_none(machine.steal_pct, significant)
    )
}

pub(crate) fn made_by(document: &Document) -> String {
    let tool = &document.tool;
    let git = tool.git.iter().map(|git| format!(" ({git})")).collect::<String>();
    let started = document.started.split('.').next().unwrap_or_default().trim_end_matches('Z').replace('T', " ");
    format!("iotbench {}{git}, started {started} UTC, seed {}", tool.version, document.seed)
}
