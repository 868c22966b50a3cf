//! Load, datapoints and throughput.

use super::{
    figure::{NONE, count, duration, or_none, significant},
    reads,
    table::{paragraph, table},
};
use crate::document::{Document, Group, Operation, SchemaChange, Spread, Visibility};
use comfy_table::CellAlignment::{Left, Right};

pub(super) fn sections(document: &Document, columns: u16) -> Vec<String> {
    let mut sections = vec![fates(document, columns)];
    sections.extend(throughput(document, columns));
    sections.extend(reads::answers(document, columns));
    sections.extend(errors(document, columns));
    sections
}

fn fates(document: &Document, columns: u16) -> String {
    let (load, points) = (&document.load.counts, &document.points.counts);
    // Only a broker between devices and writers may not deliver.
    let is_carried = load.undelivered > 0 || points.undelivered > 0;
    let undelivered = is_carried.then_some("undelivered");
    let heads = ["offered", "sent", "acknowledged", "failed", "unknown", "dropped", "pending"];
    let heads: Vec<_> = heads.into_iter().chain(undelivered).chain(["stored"]).collect();
    let row = |name: &str, numbers: [u64; 7], undelivered: u64, stored: String| {
        let numbers = numbers.into_iter().chain(is_carried.then_some(undelivered)).map(count);
        std::iter::once(name.to_owned()).chain(numbers).chain([stored]).collect::<Vec<_>>()
    };
    let operations = [load.offered, load.started, load.ok, load.fail, load.unknown, load.dropped, load.pending];
    let datapoints =
        [points.generated, points.sent, points.acked, points.failed, points.unknown, points.dropped, points.pending];
    let rows = vec![
        row("operations", operations, load.undelivered, String::new()),
        row("datapoints", datapoints, points.undelivered, or_none(document.points.stored, count)),
    ];
    let mut text = table("Load", &heads, rows, Right, columns);
    let has_warmup = document.measured.as_ref().is_some_and(|part| part.from_s > Some(0.0));
    if has_warmup && points.generated > 0 && document.capacity.is_none() {
        text.push_str("\noperations: of the measured part; datapoints: of the whole load, its warm-up with it");
    }
    if points.sent_again > 0 {
        text.push_str(&format!(
            "\n{} of the datapoints sent were second sends, as the dataset asks.",
            count(points.sent_again)
        ));
    }
    if document.points.replaced > 0 {
        text.push_str(&format!(
            "\n{} of the acknowledged add none: of two of the same device and time one is kept.",
            count(document.points.replaced)
        ));
    }
    if let Some(change) = &document.schema_change {
        text.push_str(&format!("\n{}", paragraph(&schema_change(change), columns)));
    }
    let all_steps = all_steps(document);
    if !all_steps.is_empty() {
        let said = format!("counted{all_steps}; the figures below are those of the load quoted");
        text.push_str(&format!("\n{}", paragraph(&said, columns)));
    }
    let acknowledged = document.points.to_be_stored();
    if let Some(stored) = document.points.stored.filter(|&stored| stored < acknowledged) {
        #[expect(clippy::cast_precision_loss, reason = "a percentage to be read")]
        let part = stored as f64 / acknowledged as f64 * 100.0;
        text.push_str(&format!("\n{} % of the acknowledged datapoints are stored.", significant(part)));
    }
    if document.points.preloaded > 0 {
        let among = if document.points.stored.is_some() { "; they are among the stored" } else { "" };
        text.push_str(&format!("\n{} datapoints were written before{among}.", count(document.points.preloaded)));
    }
    let groups: Vec<_> =
        document.load.groups.iter().map(|g| paragraph(&group(g, document.capacity.is_some()), columns)).collect();
    format!("{text}\n{}", groups.join("\n"))
}

/// Since when devices sent more signals, and what the database did for it.
pub(crate) fn schema_change(change: &SchemaChange) -> String {
    let from = or_none(change.from_s, |s| duration(s * 1e6));
    let names = change.signals.join(", ");
    let altered = match change.altered_s {
        Some(s) => format!("; writers that had them waited {} for the database to alter its table", duration(s * 1e6)),
        None => String::new(),
    };
    format!("From {from} on devices sent signals that were added ({names}){altered}.")
}

/// Of which loads the counts are, where they are not of one: ` in all 25 steps, those that failed with them`.
pub(super) fn all_steps(document: &Document) -> String {
    match document.capacity.as_ref().map_or(0, |capacity| capacity.steps.len()) {
        0 | 1 => String::new(),
        steps => format!(" in all {steps} steps, those that failed with them"),
    }
}

/// `pmus: closed, 16 users, think time 1.00 s, datapoints a request: since_last, 1 connection`, and where a group has
/// several operations, a line for each.
fn group(group: &Group, ramp: bool) -> String {
    let from = if ramp { "from " } else { "" };
    let users = group.users.map(|users| format!(", {from}{} users", count(users.into())));
    let think = group.think_ms.map(|ms| format!(", think time {}", duration(ms * 1e3)));
    let of_sessions = |mean| format!(" sessions of {} operations in the mean", significant(mean));
    let of = group.session_operations.map(of_sessions).unwrap_or_default();
    let rate = group.rate_per_s.map(|rate| format!(", {from}{}{of} a second", significant(rate)));
    let devices = group.devices.map(|devices| format!(", {from}{} devices", count(devices.into())));
    let window = group.window_s.map(|s| format!(" within {}", duration(s * 1e6)));
    let interval = group.interval_s.map(|s| format!(" of each {}", duration(s * 1e6)));
    let shape = group.shape.as_ref().map(|shape| format!(", {shape}"));
    let details: String = [users, think, rate, shape, devices, window, interval].into_iter().flatten().collect();
    let plural = if group.connections == 1 { "" } else { "s" };
    let connections = format!("{} connection{plural}", count(group.connections.into()));
    let head = format!("{}: {}{details}", group.name, group.model);
    match group.operations.as_slice() {
        [] => format!("{head}, datapoints a request: {}, {connections}", group.datapoints),
        [only] => format!("{head}, {}, {connections}", operation(only)),
        several => {
            let all: f64 = several.iter().filter_map(|o| o.share).sum();
            let line = |o: &Operation| {
                let share = or_none(o.share, |share| format!("{} %", significant(share / all * 100.0)));
                format!("\n{}: {share}, {}", o.name, operation(o))
            };
            format!("{head}, {connections}{}", several.iter().map(line).collect::<String>())
        }
    }
}

/// `10 requests as a transaction, pauses of 2.00 ms, datapoints a request: 1 of each of 1,000 devices`
fn operation(operation: &Operation) -> String {
    let mut parts = Vec::new();
    match (operation.requests, operation.transaction) {
        (1, false) => {}
        (1, true) => parts.push("a transaction of 1 request".into()),
        (n, false) => parts.push(format!("{} requests", count(n.into()))),
        (n, true) => parts.push(format!("a transaction of {} requests", count(n.into()))),
    }
    if operation.requests > 1 && operation.pause_ms > 0.0 {
        parts.push(format!("pauses of {}", duration(operation.pause_ms * 1e3)));
    }
    if let Some(asks) = &operation.asks {
        parts.push(format!("asks for {asks}"));
        return parts.join(", ");
    }
    let devices = match operation.devices {
        1 => String::new(),
        n => format!(" of each of {} devices", count(n.into())),
    };
    parts.push(format!("datapoints a request: {}{devices}", operation.datapoints));
    parts.join(", ")
}

fn throughput(document: &Document, columns: u16) -> Option<String> {
    let throughput = document.throughput.as_ref()?;
    let windows = throughput.windows.as_ref();
    let row = |name: &str, mean: Option<f64>, spread: Option<&Spread>| {
        let figures = match spread {
            Some(s) => [s.min, s.q1, s.median, s.q3, s.max].map(|f| or_none(f, significant)),
            None => [NONE; 5].map(Into::into),
        };
        [name.to_owned(), or_none(mean, significant)].into_iter().chain(figures).collect::<Vec<_>>()
    };
    let mut rows = vec![row("operations", throughput.operations_per_s, windows.map(|w| &w.operations_per_s))];
    // A load that only reads acknowledges no datapoint.
    if document.points.counts.sent > 0 {
        rows.push(row("datapoints", throughput.points_per_s, windows.map(|w| &w.points_per_s)));
        rows.push(row("values", throughput.values_per_s, windows.map(|w| &w.values_per_s)));
    }
    if document.answers.is_some() {
        rows.push(row("rows read", throughput.rows_read_per_s, None));
        rows.push(row("kB", throughput.bytes_per_s.map(|bytes| bytes / 1e3), None));
    }
    let heads = ["mean", "min", "q1", "median", "q3", "max"];
    let text = table("Throughput a second", &heads, rows, Right, columns);
    let length = document.measured.as_ref().and_then(|m| m.length_s);
    let length = length.map(|s| format!("\nmean over {} s, the others over whole seconds", significant(s)));
    let visible = document.visibility.as_ref().map(|seen| format!("\n{}", paragraph(&visible(seen), columns)));
    Some(text + &length.unwrap_or_default() + &visible.unwrap_or_default())
}

/// `Visible: 4,012 datapoints/s of 4,020 acknowledged; the lag was 0.51 s at the beginning and 0.62 s at the end.`
pub(super) fn visible(seen: &Visibility) -> String {
    let [acked, visible] = [seen.acked_points_per_s, seen.visible_points_per_s].map(|rate| or_none(rate, significant));
    let [first, last] = [seen.lag_first_s, seen.lag_last_s].map(|s| or_none(s, |s| duration(s * 1e6)));
    format!(
        "Visible: {visible} datapoints/s of {acked} acknowledged; the lag was {first} at the beginning and {last} at the end."
    )
}

fn errors(document: &Document, columns: u16) -> Option<String> {
    if document.errors.is_empty() {
        return None;
    }
    let row = |e: &crate::document::ErrorsOfCause| {
        vec![e.cause.clone(), count(e.count), e.samples.first().cloned().unwrap_or_default()]
    };
    let rows = document.errors.iter().map(row).collect();
    Some(table("Errors", &["count", "first message"], rows, Left, columns))
}
