//! The statements of each layout, word by word.

use super::*;
use crate::with_tags::{by_value_of, in_the_west, with_tags, with_typed_tags};
use iotbench_core::{Marker, Name, Percentile, Schema, Signal};

fn table(layout: Layout, devices: u32) -> TableSpec {
    let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::F32, max_text_bytes: 0 };
    TableSpec {
        name: Name::new("t").unwrap(),
        layout,
        schema: Schema::new(vec![signal("a"), signal("select")]).unwrap(),
        devices,
        marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
    }
}

const MARKED: &str = "iotbench_mark String ALIAS 'iotbench run=r fingerprint=f') ENGINE = MergeTree";

#[test]
fn each_layout_has_its_table() {
    assert_eq!(
        create_table(&with_tags(table(Layout::Wide, 2)), Partition::None),
        format!(
            "CREATE TABLE `t` (ts Int64, device UInt32, `site` String, `a` Float32, `select` Float32, {MARKED} \
             ORDER BY (device, ts)"
        )
    );
    assert_eq!(
        create_table(&table(Layout::Narrow, 1), Partition::Day),
        format!(
            "CREATE TABLE `t` (ts Int64, signal Enum16('a' = 0, 'select' = 1), v Float32, {MARKED} \
             PARTITION BY intDiv(ts, 86400000000000) ORDER BY (signal, ts)"
        )
    );
}

fn of<'t>(table: &'t TableSpec, devices: Asked<'_>, span: Span) -> Select<'t> {
    Select::new(table, devices, span).unwrap()
}

#[test]
fn each_layout_has_its_points() {
    let (wide, narrow) = (table(Layout::Wide, 2), table(Layout::Narrow, 1));
    assert_eq!(
        of(&wide, Asked::One(1), Span { first: 5, last: 9 }).points(&[1], Order::Stretch, 3),
        "SELECT ts, device, `select` FROM `t` WHERE device IN (1) AND ts >= 5 AND ts <= 9 ORDER BY device, ts, _part_index \
         LIMIT 3"
    );
    assert_eq!(
        of(&narrow, Asked::All, Span::ALL).points(&[0], Order::Newest, u64::MAX),
        "SELECT ts, toUInt32(0), signal, v FROM `t` WHERE signal IN ('a') ORDER BY ts DESC, _part_index DESC"
    );
    let west = in_the_west();
    assert_eq!(
        of(&with_tags(table(Layout::Wide, 2)), Asked::Tagged(&west), Span::ALL).latest(&[0]),
        "SELECT max(ts), device, argMax(`a`, ts) FROM `t` WHERE `site` = 'west' GROUP BY device HAVING count() > 0 \
         ORDER BY device"
    );
    assert_eq!(
        of(&table(Layout::Narrow, 2), Asked::All, Span::ALL).latest(&[0, 1]),
        "SELECT ts, device, signal, v FROM `t` WHERE (device, ts) IN (SELECT device, max(ts) FROM `t` GROUP BY device) \
         ORDER BY device, signal"
    );
    assert!(Select::new(&narrow, Asked::One(1), Span::ALL).is_none());
    assert!(Select::new(&wide, Asked::Some(&[]), Span::ALL).is_none());
}

#[test]
fn figures_are_of_devices_buckets_or_all() {
    let (wide, narrow) = (table(Layout::Wide, 2), table(Layout::Narrow, 1));
    let p99 = Aggregate::Percentile(Percentile::parse("p99").unwrap());
    assert_eq!(
        of(&wide, Asked::All, Span::ALL).figures(&[1], &[Aggregate::Last, p99], Over::All).unwrap(),
        "SELECT device AS iotbench_d, 0 AS iotbench_b, '' AS iotbench_s, count() AS iotbench_c, \
         argMax(toFloat64(`select`), ts), quantileExact(0.989999999999)(toFloat64(`select`)) FROM `t` GROUP BY device \
         ORDER BY iotbench_d, iotbench_b"
    );
    let newest = Over::TotalBuckets(BucketWidth::SECOND, Some(5));
    let total = of(&narrow, Asked::All, Span::ALL).figures(&[0, 1], &[Aggregate::Count], newest).unwrap();
    let bucket = "ts - (ts % toInt64(1000000000) + toInt64(1000000000)) % toInt64(1000000000)";
    assert_eq!(
        total,
        format!(
            "SELECT toUInt32(0) AS iotbench_d, {bucket} AS iotbench_b, signal AS iotbench_s, count() AS iotbench_c, \
             count(toFloat64(v)) FROM `t` GROUP BY {bucket}, signal ORDER BY iotbench_b DESC LIMIT 10"
        )
    );
    let having = Having { predicate: Predicate::Above(1.5), at_least: Some(3) };
    let met = of(&wide, Asked::All, Span::ALL).having(Some(having));
    let met = met.figures(&[1], &[Aggregate::Mean], Over::Buckets(BucketWidth::SECOND)).unwrap();
    assert!(met.ends_with(
        ") WHERE iotbench_f > reinterpretAsFloat64(unhex('000000000000f83f')) GROUP BY iotbench_d, iotbench_s \
         HAVING count() >= 3 ORDER BY iotbench_d"
    ));
}

#[test]
fn a_tag_of_a_type_is_a_column_of_it_and_found_by_such_a_value() {
    let table = with_typed_tags(table(Layout::Wide, 2));
    let created = create_table(&table, Partition::None);
    assert!(created.contains("`site` String, `floor` Int64, `load` Float64, `leased` UInt8, `a`"), "{created}");
    let conditions = [1, 2, 3].map(|tag| {
        let tagged = by_value_of(tag);
        let sql = of(&table, Asked::Tagged(&tagged), Span::ALL).tags();
        sql.split_once(" WHERE ").map(|(_, condition)| condition.to_owned())
    });
    let expected = ["`floor` = -2", "`load` = reinterpretAsFloat64(unhex('000000000000e03f'))", "`leased` = 1"];
    assert_eq!(conditions, expected.map(|condition| Some(condition.to_owned())));
}

#[test]
fn names_and_texts_cannot_break_out() {
    assert_eq!((quoted("a`\\b"), text("a'b\\")), ("`a\\`\\\\b`".into(), "'a\\'b\\\\'".into()));
}
