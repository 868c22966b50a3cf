//! What is stored, read back and held against the ledger.

use iotbench_core::{ServerFacts, TagsKept};
use iotbench_engine::{AuditScope, FindingKind, FindingRange, Outcome, TagFault};
use iotbench_report::{
    Audit, AuditExample, Detectable, TagAudit, TagExample,
    rounding::{finite, timestamp},
};
use iotbench_statistics::detectable_part;

pub(super) fn of_run(outcome: &Outcome) -> Option<Audit> {
    let audit = audit_of(outcome.stored.audit.as_ref()?);
    let may_lose = outcome.target.facts.as_ref().is_some_and(ServerFacts::may_lose_acknowledged);
    let replaced = outcome.stored.replaced;
    let due =
        outcome.preloaded_points + outcome.points.generated.saturating_sub(outcome.points.pending + replaced.sent);
    let looked_at = audit.right + audit.lost + audit.corrupt;
    let all =
        (outcome.preloaded_points + outcome.points.acked).saturating_sub(outcome.stored.emptied.acked + replaced.acked);
    let detectable = audit.detectable.filter(|_| looked_at < all);
    let delivered = outcome.stored.counts.filter(|_| (may_lose || outcome.points.dropped > 0) && due > 0);
    Some(Audit {
        detectable,
        // Not rounded: four of ten thousand that lack are not none.
        delivered: delivered.and_then(|stored| finite(stored.points as f64 / due as f64)),
        ..audit
    })
}

/// What was read back, of a run or after one, in the document's words.
#[must_use]
pub fn audit_of(audit: &iotbench_engine::Audit) -> Audit {
    let count = |kind| audit.findings.count(kind);
    let duplicate = count(FindingKind::Duplicate);
    Audit {
        scope: audit.scope.to_string(),
        devices: audit.devices,
        of_devices: audit.of_devices,
        rows: audit.rows,
        right: audit.findings.right(),
        lost: count(FindingKind::Lost),
        duplicate: (audit.shows_duplicates || duplicate > 0).then_some(duplicate),
        corrupt: count(FindingKind::Corrupt),
        alien: count(FindingKind::Alien),
        unknown_stored: count(FindingKind::UnknownPresent),
        unknown_not_stored: count(FindingKind::UnknownAbsent),
        ended: audit.ended,
        cut_short: audit.cut_short.clone(),
        delivered: None,
        detectable: (audit.scope == AuditScope::Sample).then(|| detectable(audit)).flatten(),
        examples: audit.findings.stretches().map(example).collect(),
        tags: audit.tags.as_ref().map(tags),
    }
}

fn tags(audit: &iotbench_engine::TagAudit) -> TagAudit {
    let example = |example: &iotbench_engine::TagExample| TagExample {
        kind: example.fault.name().into(),
        device: example.device,
        detail: example.detail.clone(),
    };
    TagAudit {
        kept: match audit.kept {
            TagsKept::CannotTell => None,
            TagsKept::WithDevices => Some("table of devices".into()),
            TagsKept::WithDatapoints => Some("beside datapoints".into()),
        },
        asked: audit.asked,
        right: audit.right,
        wrong: audit.count(TagFault::Wrong),
        missing: audit.count(TagFault::Missing),
        alien: audit.count(TagFault::Alien),
        examples: audit.examples.iter().map(example).collect(),
    }
}

/// Of a sample that found nothing.
fn detectable(audit: &iotbench_engine::Audit) -> Option<Detectable> {
    const CONFIDENCE: f64 = 0.95;
    let part = |looked_at: u64| detectable_part(looked_at, CONFIDENCE).and_then(rounded_part);
    let part_of_points = part(audit.findings.right());
    let part_of_devices = (audit.devices < audit.of_devices).then(|| part(audit.devices.into())).flatten();
    audit.is_clean(false).then_some(Detectable { part_of_points, part_of_devices })
}

/// To three digits: a part of a billion is one too.
fn rounded_part(part: f64) -> Option<f64> {
    format!("{part:.2e}").parse().ok()
}

fn example(stretch: &FindingRange) -> AuditExample {
    let time = |ns: i64| stretch.device.map(|_| timestamp(ns));
    AuditExample {
        kind: stretch.kind.name().into(),
        device: stretch.device,
        from: time(stretch.from_ns),
        to: time(stretch.to_ns),
        points: stretch.points,
        detail: stretch.detail.clone(),
    }
}
