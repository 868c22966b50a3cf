//! What a database tells of tags, and what is found by it.

use super::super::{
    Audit, AuditRequest, AuditScope, Auditor,
    auditor::tests::{Script, Stored, Written},
};
use super::*;
use async_trait::async_trait;
use iotbench_backends::BACKENDS;
use iotbench_core::{Query, Registry, Reply, Sink, Tag, TagType, TagValues, TakeTags};
use std::sync::Arc;

const DEVICES: u32 = 1200;

/// A row that a database tells.
type Row = (u32, Vec<Option<String>>);

/// What a database tells of tags, right where nothing else is said; its datapoints are as they should be.
struct Lying<'a> {
    points: Script<'a>,
    tags: Tags,
    kept: TagsKept,
    rows: Vec<Row>,
    asked: Vec<Range<u32>>,
}

#[async_trait]
impl Reader for Lying<'_> {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.points.query(query, sink).await
    }

    async fn tags(&mut self, devices: Range<u32>, take: &mut TakeTags<'_>) -> Result<TagsKept, Error> {
        self.asked.push(devices.clone());
        for (device, values) in self.rows.iter().filter(|(device, _)| devices.contains(device)) {
            take(*device, &values.iter().map(Option::as_deref).collect::<Vec<_>>())?;
        }
        Ok(self.kept)
    }
}

fn tags() -> Tags {
    let tag = |name: &str, values| Tag { name: name.into(), values };
    let site = tag("site", TagValues::OneOf(["east", "west"].map(Into::into).to_vec()));
    Tags::new(4, vec![site, tag("rack", TagValues::Numbered { prefix: "r".into(), count: 9 })]).unwrap()
}

/// An audit of a database whose rows are those of the devices after `spoil`.
fn audit(scope: AuditScope, kept: TagsKept, spoil: impl FnOnce(&mut Vec<Row>)) -> (Audit, Vec<Range<u32>>) {
    let (mut written, mut stored): (Written, Stored) = Written::whole(DEVICES, 1);
    let (tags, schema) = (tags(), written.planned.plan.table.schema.clone());
    written.planned.plan.table.schema = schema.with_tags(tags.clone()).unwrap();
    let row = |device| (device, tags.of(device).map(|(_, value)| Some(value.to_string())).collect());
    let mut rows: Vec<Row> = (0..DEVICES).map(row).collect();
    spoil(&mut rows);
    let points = Script { dataset: Arc::clone(&written.planned.dataset), stored: &mut stored };
    let mut reader = Lying { points, tags, kept, rows, asked: Vec::new() };
    assert_eq!(reader.tags.len(), 2);
    let info = Registry::new(BACKENDS).find("memory").unwrap().info();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let audit = runtime.block_on(async {
        let auditor = Auditor::new(AuditRequest::new(&written.planned, &written.ledger, info, scope)).unwrap();
        auditor.audit(&mut reader, Some(DEVICES.into())).await.unwrap()
    });
    (audit, reader.asked)
}

fn found(spoil: impl FnOnce(&mut Vec<Row>)) -> (TagAudit, [u64; 3]) {
    let (audit, _) = audit(AuditScope::Full, TagsKept::WithDevices, spoil);
    let tags = audit.tags.clone().unwrap();
    assert_eq!(audit.is_clean(false), tags.is_clean(), "{tags:?}");
    assert!(audit.findings.is_clean(false));
    let counts = TagFault::ALL.map(|fault| tags.count(fault));
    (tags, counts)
}

#[test]
fn tags_as_they_should_be_are_asked_for_page_by_page() {
    let (whole, asked) = audit(AuditScope::Full, TagsKept::WithDevices, |_| {});
    let tags = whole.tags.unwrap();
    assert!(tags.is_clean() && tags.kept == TagsKept::WithDevices);
    assert_eq!((tags.asked, tags.right), (DEVICES, DEVICES));
    assert_eq!(asked, [0..512, 512..1024, 1024..DEVICES, DEVICES..u32::MAX], "and none beyond them");
    let (sample, asked) = audit(AuditScope::Sample, TagsKept::WithDevices, |_| {});
    let tags = sample.tags.unwrap();
    let drawn = u32::try_from(asked.len()).unwrap();
    assert!((20..=32).contains(&drawn) && (tags.asked, tags.right) == (drawn, drawn), "{tags:?}");
    assert!(asked.contains(&(0..1)) && asked.contains(&(DEVICES - 1..DEVICES)), "{asked:?}");
}

#[test]
fn a_wrong_value_a_lost_row_and_one_too_many_are_found() {
    let other = |value: &Option<String>| if value.as_deref() == Some("east") { "west" } else { "east" }.to_owned();
    let (tags, counts) = found(|rows| rows[700].1[0] = Some(other(&rows[700].1[0])));
    assert_eq!((counts, tags.right), ([1, 0, 0], DEVICES - 1));
    let [example] = &tags.examples[..] else { panic!("{tags:?}") };
    assert!(example.device == 700 && example.fault == TagFault::Wrong);
    assert!(
        ["site is \"east\" instead of \"west\"", "site is \"west\" instead of \"east\""].contains(&&*example.detail)
    );
    let (tags, counts) = found(|rows| rows[3].1[1] = None);
    assert_eq!(counts, [1, 0, 0]);
    assert!(tags.examples[0].detail.starts_with("rack is not there, instead of \"r"), "{tags:?}");
    let (tags, counts) = found(|rows| drop(rows.remove(1100)));
    assert_eq!((counts, tags.right), ([0, 1, 0], DEVICES - 1));
    assert_eq!(tags.examples, [TagExample { fault: TagFault::Missing, device: 1100, detail: String::new() }]);
    let (tags, counts) = found(|rows| rows.push(rows[5].clone()));
    assert_eq!((counts, &*tags.examples[0].detail), ([0, 0, 1], "2 rows instead of one"));
    let (tags, counts) = found(|rows| rows.push((DEVICES + 7, rows[5].1.clone())));
    assert_eq!((counts, tags.examples[0].device), ([0, 0, 1], DEVICES + 7));
}

#[test]
fn tags_that_are_mixed_up_among_devices_are_found_and_a_few_are_shown() {
    let (tags, counts) = found(|rows| {
        let values: Vec<_> = rows.iter().map(|(_, values)| values.clone()).collect();
        rows.iter_mut().zip(values.into_iter().cycle().skip(1)).for_each(|(row, values)| row.1 = values);
    });
    assert!(counts[0] > u64::from(DEVICES) / 2, "{counts:?}");
    assert_eq!((tags.examples.len(), counts[0] + u64::from(tags.right)), (5, DEVICES.into()));
}

#[test]
fn beside_datapoints_each_combination_counts_and_what_has_none_is_no_fault() {
    let (whole, asked) = audit(AuditScope::Full, TagsKept::WithDatapoints, |rows| {
        drop(rows.remove(1100));
        let twice = rows[8].clone();
        rows.push(twice);
    });
    let tags = whole.tags.unwrap();
    assert!(tags.is_clean() && tags.right == DEVICES - 1 && asked.len() == 3, "{tags:?} {asked:?}");
    let (spoilt, _) = audit(AuditScope::Full, TagsKept::WithDatapoints, |rows| {
        let mut second = rows[8].clone();
        second.1[1] = Some("r99".into());
        rows.push(second);
    });
    let tags = spoilt.tags.unwrap();
    assert_eq!((tags.count(TagFault::Wrong), tags.right), (1, DEVICES - 1), "one of two series is wrong");
}

#[test]
fn a_database_that_does_not_tell_is_asked_once_and_found_nothing_wrong_with() {
    let (whole, asked) = audit(AuditScope::Full, TagsKept::CannotTell, |_| {});
    let tags = whole.tags.clone().unwrap();
    assert_eq!((asked.len(), tags.kept, tags.asked, tags.right), (1, TagsKept::CannotTell, 0, 0));
    assert!(whole.is_clean(false) && tags == TagAudit::default());
}

#[test]
fn a_row_of_a_device_that_was_not_asked_for_is_no_answer() {
    let tags = tags();
    let mut page = Page::new(&tags, 5..7, &mut |_| Units::default());
    for (device, values) in [(4, 2), (7, 2), (u32::MAX, 2), (5, 1), (5, 3)] {
        let error = page.take(device, &vec![None; values]).unwrap_err();
        assert_eq!(error.cause, Cause::Protocol, "{error}");
    }
    page.take(6, &[None, None]).unwrap();
}

/// Devices 0 to 2, of which each sent 25 datapoints in lives of ten.
fn of_units(spoil: impl FnOnce(&mut Vec<Row>)) -> TagAudit {
    let serial = Tag { name: "serial".into(), values: TagValues::Serial { prefix: "s".into(), life: 10 } };
    let site = Tag { name: "site".into(), values: TagValues::OneOf(["east", "west"].map(Into::into).to_vec()) };
    let tags = Tags::new(4, vec![site, serial]).unwrap();
    let last = |device| tags.unit(device, 24);
    let mut sent = |device| Units { stored: vec![0..=last(device)], maybe: Vec::new() };
    let row = |device, unit| {
        let values = tags.at(device, tags.first_of_unit(device, unit));
        (device, values.map(|(_, value)| Some(value.to_string())).collect())
    };
    let mut rows: Vec<Row> = (0..3).flat_map(|device| (0..=last(device)).map(move |unit| row(device, unit))).collect();
    spoil(&mut rows);
    let mut page = Page::new(&tags, 0..3, &mut sent);
    for (device, values) in &rows {
        page.take(*device, &values.iter().map(Option::as_deref).collect::<Vec<_>>()).unwrap();
    }
    let mut audit = TagAudit { kept: TagsKept::WithDatapoints, ..TagAudit::default() };
    page.finish(&mut audit);
    audit
}

#[test]
fn of_a_device_that_was_replaced_each_unit_that_sent_something_is_told_and_no_other() {
    let audit = of_units(|_| {});
    assert!(audit.is_clean() && audit.right == 3, "{audit:?}");
    let detail = |spoil: &dyn Fn(&mut Vec<Row>)| {
        let audit = of_units(|rows| spoil(rows));
        assert_eq!((audit.count(TagFault::Wrong), audit.right), (1, 2), "{audit:?}");
        audit.examples[0].detail.clone()
    };
    let found = detail(&|rows| drop(rows.remove(1)));
    assert_eq!(found, "nothing of its unit 1 is stored");
    let found = detail(&|rows| rows.push((0, vec![rows[0].1[0].clone(), Some("s0-9".into())])));
    assert_eq!(found, "something of its unit 9 is stored, which sent nothing");
    let found = detail(&|rows| rows[0].1[1] = Some("s1-0".into()));
    assert_eq!(found, "serial is \"s1-0\" instead of \"s0-0\"");
    let found = detail(&|rows| rows[0].1[1] = None);
    assert_eq!(found, "serial is not there, instead of \"s0-0\"");
    let found = detail(&|rows| rows[1].1[0] = Some("north".into()));
    assert!(found.starts_with("site is \"north\""), "{found}");
}

#[test]
fn a_value_of_a_type_is_held_against_its_one_text() {
    let typed = |name: &str, tag_type, value: &str| {
        let values = Box::new(TagValues::OneOf(vec![value.into()]));
        Tag { name: name.into(), values: TagValues::Typed { tag_type, values } }
    };
    let tags = vec![typed("load", TagType::Number, "0.1"), typed("leased", TagType::Truth, "true")];
    let tags = Tags::new(1, tags).unwrap();
    let told = |load, leased| difference(&tags, 0, 0, &[load, leased]);
    assert_eq!(told(Some("0.1"), Some("true")), None);
    let next = 0.1_f64.next_up().to_string();
    let expected = format!("load is {next:?} instead of \"0.1\"");
    assert_eq!(told(Some(&next), Some("true")), Some(expected));
    assert_eq!(told(Some("0.1"), Some("1")).as_deref(), Some("leased is \"1\" instead of \"true\""));
    assert_eq!(told(Some("0.1"), None).as_deref(), Some("leased is not there, instead of \"true\""));
}
