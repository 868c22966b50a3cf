//! What is stored, held against what was acknowledged.

use super::{
    figure::{count, significant},
    finished,
    table::{paragraph, table},
    usable,
};
use crate::{
    document::{Audit, AuditExample, Detectable, TagAudit, TagExample},
    printable::printable,
};
use comfy_table::CellAlignment::Right;

/// What an audit found, as plain text for a terminal of `columns` columns, of which at most 100 are used.
#[must_use]
pub fn render_audit(audit: &Audit, columns: u16) -> String {
    finished(&section(audit, "", usable(columns)))
}

/// `of_what`: of which loads the delivered part is, where it is not of one, such as ` in all 25 steps, those that failed with them`.
pub(super) fn section(audit: &Audit, of_what: &str, columns: u16) -> String {
    let devices = match audit.devices == audit.of_devices {
        true => format!("all {} devices", count(audit.devices.into())),
        false => format!("{} of {} devices", count(audit.devices.into()), count(audit.of_devices.into())),
    };
    let scope = if audit.scope == "full" { "everything" } else { "a sample" };
    let read = format!("Read back: {scope}, {} datapoints of {devices}", count(audit.rows));
    let unknown = audit.unknown_stored + audit.unknown_not_stored;
    let mut lines = Vec::new();
    if audit.wrong() + unknown == 0 {
        let what = "each is stored once and as it was sent, none is lost and none was added.";
        lines.push(paragraph(&format!("{read}; {what}"), columns));
        lines.extend(audit.detectable.as_ref().and_then(power).map(|power| paragraph(&power, columns)));
    } else {
        let duplicate = audit.duplicate.map_or_else(|| "cannot be told".into(), count);
        let rows = [
            ("right", count(audit.right)),
            ("lost", count(audit.lost)),
            ("duplicate", duplicate),
            ("corrupt", count(audit.corrupt)),
            ("alien", count(audit.alien)),
            ("unknown, stored", count(audit.unknown_stored)),
            ("unknown, not stored", count(audit.unknown_not_stored)),
        ];
        let rows = rows.map(|(name, figure)| vec![name.to_owned(), figure]).to_vec();
        lines.push(paragraph(&format!("{read}."), columns));
        lines.push(table("Stored", &["datapoints"], rows, Right, columns));
        lines.extend(audit.examples.iter().map(|example| paragraph(&line(example), columns)));
    }
    lines.extend(audit.tags.as_ref().map(tags).into_iter().flatten().map(|text| paragraph(&text, columns)));
    if !audit.ended {
        let why = "The run was killed: what it had reserved and not noted as acknowledged counts as unknown.";
        lines.push(paragraph(why, columns));
    }
    if let Some(why) = &audit.cut_short {
        lines.push(paragraph(&format!("Not all was looked at: {why}."), columns));
    }
    if let Some(part) = audit.delivered {
        let declared = "transport or sensors may lose some, and no more is promised";
        // Never rounded up: what is not all must not look like all.
        let percent = (part * 1e5).floor() / 1e3;
        lines.push(paragraph(&format!("Delivered: {percent:.3} % of what was due{of_what}; {declared}."), columns));
    }
    lines.join("\n")
}

/// `Tags of 32 devices, read from the table of devices: each device has its own.`
fn tags(audit: &TagAudit) -> Vec<String> {
    let TagAudit { kept, asked, right, wrong, missing, alien, examples } = audit;
    let Some(kept) = kept else {
        return vec!["Tags: not read back, as this database does not tell which tags of devices it stores.".into()];
    };
    let from = if kept == "table of devices" { "from the table of devices" } else { "from beside datapoints" };
    let read = format!("Tags of {}, read {from}", devices((*asked).into()));
    if wrong + missing + alien == 0 {
        let all =
            if right == asked { String::new() } else { format!(" of {} that are stored", count((*right).into())) };
        return vec![format!("{read}: each{all} has its own, and no other.")];
    }
    let found = [(*wrong, "wrong"), (*missing, "without a row"), (*alien, "too many or of no device")];
    let found = found.into_iter().filter(|(number, _)| *number > 0);
    let found: Vec<_> = found.map(|(number, what)| format!("{} {what}", count(number))).collect();
    let summary = format!("{read}: {} right, {}.", count((*right).into()), found.join(", "));
    let example = |TagExample { kind, device, detail }: &TagExample| {
        let detail = if detail.is_empty() { String::new() } else { format!(": {}", printable(detail)) };
        format!("- {kind}: device {device}{detail}")
    };
    [summary].into_iter().chain(examples.iter().map(example)).collect()
}

fn devices(number: u64) -> String {
    format!("{} {}", count(number), if number == 1 { "device" } else { "devices" })
}

/// `With 95 % a loss of 0.0036 % of all datapoints, scattered, would have been seen, and one of whole devices, were it 8.94 % of them.`
fn power(detectable: &Detectable) -> Option<String> {
    let percent = |part: f64| format!("{} %", significant(part * 100.0));
    let devices =
        detectable.part_of_devices.map(|part| format!(", and one of whole devices, were it {} of them", percent(part)));
    let points = percent(detectable.part_of_points?);
    let devices = devices.unwrap_or_default();
    Some(format!("With 95 % a loss of {points} of all datapoints, scattered, would have been seen{devices}."))
}

/// `lost: device 3, 2026-01-05T10:00:00Z to 2026-01-05T10:00:01Z, 50 datapoints`
fn line(example: &AuditExample) -> String {
    let AuditExample { kind, device, from, to, points, detail } = example;
    let mut text = format!("- {kind}:");
    if let Some(device) = device {
        text.push_str(&format!(" device {device},"));
    }
    if let (Some(from), Some(to)) = (from, to) {
        text.push_str(&if from == to { format!(" at {from},") } else { format!(" {from} to {to},") });
    }
    text.push_str(&format!(" {} {}", count(*points), if *points == 1 { "datapoint" } else { "datapoints" }));
    if !detail.is_empty() {
        text.push_str(&format!(": {}", printable(detail)));
    }
    text
}
