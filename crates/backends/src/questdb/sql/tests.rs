//! The statements of each layout, word by word.

use super::*;
use crate::with_tags::{by_value_of, in_the_west, with_tags, with_typed_tags};
use iotbench_core::{Marker, Name, Schema, Signal};

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

#[test]
fn each_layout_has_its_table() {
    assert_eq!(
        create_table(&table(Layout::Wide, 2), Partition::Day),
        "CREATE TABLE \"t\" (ts TIMESTAMP_NS, device SYMBOL, \"a\" FLOAT, \"select\" FLOAT) TIMESTAMP(ts) PARTITION BY DAY WAL"
    );
    assert_eq!(
        create_table(&table(Layout::Narrow, 1), Partition::Hour),
        "CREATE TABLE \"t\" (ts TIMESTAMP_NS, signal SYMBOL, v FLOAT) TIMESTAMP(ts) PARTITION BY HOUR WAL"
    );
}

#[test]
fn tags_are_symbols_and_devices_are_chosen_by_them() {
    let (wide, west) = (with_tags(table(Layout::Wide, 2)), in_the_west());
    assert!(create_table(&wide, Partition::Day).contains("device SYMBOL, \"site\" SYMBOL, \"a\" FLOAT"));
    assert_eq!(
        Select::new(&wide, Asked::Tagged(&west), Span::ALL).unwrap().points(&[1], Order::Newest, 3),
        "SELECT ts::long, device, \"select\" FROM \"t\" WHERE \"site\" = 'west' ORDER BY ts DESC LIMIT 3"
    );
    let by_site = |table, width| {
        let select = Select::new(table, Asked::All, Span::ALL).unwrap();
        select.figures(&[1], &[Aggregate::Mean], Over::ByTag(0, width)).unwrap()
    };
    assert_eq!(
        by_site(&wide, None),
        "SELECT \"site\" d, 0 b, '' s, count() c, avg(\"select\"::double) FROM \"t\" GROUP BY \"site\""
    );
    assert_eq!(
        by_site(&with_tags(table(Layout::Narrow, 1)), Some(BucketWidth::SECOND)),
        "SELECT * FROM (SELECT \"site\" d, ts::long b, signal s, count() c, avg(v::double) FROM \"t\" \
         WHERE signal IN ('select') SAMPLE BY 1s ALIGN TO CALENDAR) ORDER BY d, b"
    );
}

#[test]
fn figures_that_meet_a_condition_are_rows_of_all_of_them() {
    let table = table(Layout::Wide, 2);
    let sql = |at_least| {
        let having = Having { predicate: Predicate::Above(1.5), at_least };
        let select = Select::new(&table, Asked::All, Span::ALL).unwrap().having(Some(having));
        select.figures(&[1], &[Aggregate::Mean], Over::Buckets(BucketWidth::SECOND)).unwrap()
    };
    let all = "(SELECT * FROM (SELECT device d, ts::long b, '' s, count() c, avg(\"select\"::double) f FROM \"t\" \
               SAMPLE BY 1s ALIGN TO CALENDAR) ORDER BY d, b)";
    assert_eq!(sql(None), format!("SELECT d, b, s, c, f FROM {all} WHERE f > 1.5 ORDER BY d, b"));
    assert_eq!(
        sql(Some(3)),
        format!(
            "SELECT * FROM (SELECT d, 0 b, s, count() c, count()::double f FROM {all} WHERE f > 1.5) WHERE c >= 3 ORDER BY d"
        )
    );
}

#[test]
fn each_layout_has_its_questions() {
    let (wide, narrow) = (table(Layout::Wide, 2), table(Layout::Narrow, 1));
    let of = |table, devices, span| Select::new(table, devices, span).unwrap();
    let span = Span { first: 5, last: 9 };
    let one = Asked::One(1);
    assert_eq!(
        of(&wide, one, span).points(&[1], Order::Stretch, 3),
        "SELECT ts::long, device, \"select\" FROM \"t\" WHERE device IN ('1') AND ts >= 5 AND ts <= 9 ORDER BY device, ts LIMIT 3"
    );
    assert_eq!(
        of(&narrow, Asked::All, Span::ALL).points(&[0], Order::Newest, u64::MAX),
        "SELECT ts::long, '0', signal, v FROM \"t\" WHERE signal IN ('a') ORDER BY ts DESC"
    );
    assert_eq!(
        of(&wide, one, Span::ALL).nearest(0, Some(Predicate::Above(1e300)), true),
        "SELECT ts::long, \"a\" FROM \"t\" WHERE device IN ('1') AND \"a\"::double > 1e300 ORDER BY ts DESC LIMIT 1"
    );
    assert_eq!(
        of(&narrow, Asked::All, Span::ALL).figures(&[0, 1], &[Aggregate::Mean], Over::All).unwrap(),
        "SELECT '0' d, 0 b, signal s, count() c, avg(v::double) FROM \"t\" GROUP BY signal"
    );
    assert_eq!(
        of(&wide, one, Span::ALL)
            .figures(&[1], &[Aggregate::Sum], Over::Buckets(BucketWidth::from_ns(90_000_000_000).unwrap()))
            .unwrap(),
        "SELECT * FROM (SELECT device d, ts::long b, '' s, count() c, sum(\"select\"::double) FROM \"t\" \
         WHERE device IN ('1') SAMPLE BY 90s ALIGN TO CALENDAR) ORDER BY d, b"
    );
    let second = Over::TotalBuckets(BucketWidth::SECOND, None);
    assert!(of(&wide, Asked::All, Span::ALL).figures(&[1], &[Aggregate::Sum], second).unwrap().starts_with(
        "SELECT * FROM (SELECT '0' d, ts::long b, '' s, count() c, sum(\"select\"::double) FROM \"t\" SAMPLE BY"
    ));
    assert_eq!(
        of(&wide, Asked::All, span).top(1, Aggregate::Mean, 5).unwrap(),
        "SELECT d, f FROM (SELECT device d, avg(\"select\"::double) f, count(\"select\"::double) c FROM \"t\" \
         WHERE ts >= 5 AND ts <= 9 GROUP BY device) WHERE c > 0 ORDER BY f DESC, d LIMIT 5"
    );
    assert_eq!(
        of(&narrow, Asked::All, Span::ALL).top(1, Aggregate::Count, 5).unwrap(),
        "SELECT d, f FROM (SELECT '0' d, count(v::double) f, count(v::double) c FROM \"t\" \
         WHERE signal IN ('select')) WHERE c > 0 ORDER BY f DESC, d LIMIT 5"
    );
    let newest = Over::TotalBuckets(BucketWidth::SECOND, Some(5));
    let of_newest =
        [&wide, &narrow].map(|table| of(table, Asked::All, span).figures(&[0, 1], &[Aggregate::Max], newest).unwrap());
    assert!(of_newest[0].ends_with(" SAMPLE BY 1s ALIGN TO CALENDAR) ORDER BY b DESC LIMIT 5"), "{}", of_newest[0]);
    assert!(of_newest[1].ends_with(") ORDER BY b DESC LIMIT 10"), "{}", of_newest[1]);
    assert!(Select::new(&narrow, one, span).is_none());
    assert!(Select::new(&wide, Asked::Some(&[]), span).is_none());
    assert!(Select::new(&wide, one, Span { first: -9, last: -1 }).is_none());
}

#[test]
fn names_and_texts_cannot_break_out() {
    assert_eq!((quoted("a\"b"), text("a'b")), ("\"a\"\"b\"".into(), "'a''b'".into()));
}

#[test]
fn a_tag_of_a_type_is_a_column_of_it_and_found_by_such_a_value() {
    let table = with_typed_tags(table(Layout::Wide, 2));
    let created = create_table(&table, Partition::Day);
    let columns = "\"site\" SYMBOL, \"floor\" LONG, \"load\" DOUBLE, \"leased\" BOOLEAN, \"a\"";
    assert!(created.contains(columns), "{created}");
    let conditions = [1, 2, 3].map(|tag| {
        let tagged = by_value_of(tag);
        let sql = Select::new(&table, Asked::Tagged(&tagged), Span::ALL).unwrap().tags();
        sql.split_once(" WHERE ").map(|(_, condition)| condition.to_owned())
    });
    let expected = ["\"floor\" = -2", "\"load\" = 0.5", "\"leased\" = true"];
    assert_eq!(conditions, expected.map(|condition| Some(condition.to_owned())));
}
