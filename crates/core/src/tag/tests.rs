//! Values of devices, and what no database would take.

use super::*;

fn one_of(name: &str, values: &[&str]) -> Tag {
    Tag { name: name.into(), values: TagValues::OneOf(values.iter().map(|&v| v.into()).collect()) }
}

fn numbered(name: &str, prefix: &str, count: u32) -> Tag {
    Tag { name: name.into(), values: TagValues::Numbered { prefix: prefix.into(), count } }
}

fn places() -> Tags {
    let lists = [["eu-1", "eu-2"].as_slice(), &["us-1"]];
    let lists = lists.map(|list| list.iter().map(|&v| v.into()).collect()).to_vec();
    let within = Tag { name: "centre".into(), values: TagValues::Within { tag: 0, lists } };
    Tags::new(7, vec![one_of("region", &["eu", "us"]), within, numbered("rack", "r", 100)]).unwrap()
}

#[test]
fn a_device_has_a_value_of_each_tag_and_always_the_same() {
    let tags = places();
    let mut seen = std::collections::BTreeMap::new();
    for device in 0..3000 {
        let values: Vec<_> = tags.of(device).map(|(tag, value)| (tag.name.clone(), value.to_string())).collect();
        let (region, centre) = (values[0].1.clone(), &values[1].1);
        assert!(centre.starts_with(&region), "{values:?}");
        for (id, (_, text)) in (0..).zip(&values) {
            assert_eq!(tags.choice_of(id, text), Some(tags.choice(id, device)));
            *seen.entry(text.clone()).or_insert(0_u32) += 1;
        }
    }
    assert_eq!(seen.len(), 2 + 3 + 100, "each value is some device's");
    assert!((1350..1650).contains(&seen["eu"]) && (650..850).contains(&seen["eu-1"]), "{seen:?}");
    assert_eq!(tags.len(), 3);
    assert_eq!([tags.choices(0), tags.choices(1), tags.choices(2), tags.choices(3)], [2, 3, 100, 0]);
}

#[test]
fn a_text_that_is_no_value_has_no_place() {
    let tags = places();
    for text in ["r07", "r100", "r+7", "r", "7", "r-1"] {
        assert_eq!(tags.choice_of(2, text), None, "{text}");
    }
    assert_eq!((tags.choice_of(2, "r7"), tags.choice_of(1, "us-1"), tags.choice_of(0, "xx")), (Some(7), Some(2), None));
    assert_eq!((tags.value(2, 100), tags.value(1, 3), tags.value(9, 0)), (None, None, None));
    let mut out = b"rack=".to_vec();
    tags.value(2, 12).unwrap().push(&mut out);
    assert_eq!(out, b"rack=r12");
    let is = |tag, choice, text| tags.value(tag, choice).unwrap().is(text);
    assert!(is(2, 12, "r12") && is(0, 1, "us"));
    for text in ["r1", "r012", "r123", "12", "r", ""] {
        assert!(!is(2, 12, text), "{text}");
    }
    assert!(!is(0, 1, "u") && !is(0, 1, "us1") && !is(0, 1, "US"));
}

#[test]
fn what_is_listed_is_that_of_each_device() {
    let listed = |of: &[u32]| {
        let values = ["x", "y"].map(Into::into).to_vec();
        Tags::new(1, vec![Tag { name: "site".into(), values: TagValues::Listed { values, of: of.to_vec() } }])
    };
    let tags = listed(&[1, 0, 1]).unwrap();
    assert_eq!([0, 1, 2].map(|device| tags.of(device).next().unwrap().1.to_string()), ["y", "x", "y"]);
    assert_eq!((tags.choices(0), tags.choice_of(0, "y"), tags.choice_of(0, "z")), (2, Some(1), None));
    assert!(listed(&[2]).unwrap_err().to_string().contains("none of its list"));
}

#[test]
fn a_unit_is_replaced_after_its_life_and_each_has_a_number_of_its_own() {
    let serial = Tag { name: "serial".into(), values: TagValues::Serial { prefix: "s".into(), life: 10 } };
    let tags = Tags::new(3, vec![one_of("site", &["x", "y"]), serial.clone()]).unwrap();
    let at = |device, index| tags.at(device, index).map(|(_, value)| value.to_string()).collect::<Vec<_>>();
    let mut begins = std::collections::BTreeSet::new();
    for device in 0..200 {
        let first = tags.next_unit(device, 0);
        assert!((1..=10).contains(&first));
        begins.insert(first);
        for index in 0..35 {
            let unit = if index < first { 0 } else { 1 + (index - first) / 10 };
            assert_eq!((tags.unit(device, index), at(device, index)[1].clone()), (unit, format!("s{device}-{unit}")));
            assert_eq!(tags.next_unit(device, index), first + unit * 10);
            assert_eq!(tags.unit(device, tags.first_of_unit(device, unit)), unit);
            assert_eq!(at(device, index)[0], at(device, 0)[0], "the place is the same");
        }
    }
    assert_eq!(begins.len(), 10, "not all are replaced at once");
    assert_eq!((tags.life().map(NonZeroU32::get), tags.choices(1), tags.value(1, 0)), (Some(10), 0, None));
    assert_eq!((places().life(), places().next_unit(3, 7), places().unit(3, 7)), (None, u64::MAX, 0));
    let ends = Tags::new(3, vec![serial.clone()]).unwrap();
    assert!(ends.next_unit(0, u64::MAX) > ends.unit(0, u64::MAX));
    let for_good = TagValues::Serial { prefix: "n".into(), life: 0 };
    let for_good = Tag { name: "other".into(), values: for_good };
    let tags = Tags::new(3, vec![for_good.clone()]).unwrap();
    assert_eq!((tags.life(), tags.unit(7, 1 << 40), tags.next_unit(7, 5)), (None, 0, u64::MAX));
    assert_eq!(tags.at(7, 1 << 40).next().unwrap().1.to_string(), "n7-0");
    for two in [vec![serial.clone(), for_good.clone()], vec![for_good, serial]] {
        assert!(Tags::new(0, two).unwrap_err().to_string().contains("one serial number"));
    }
}

#[test]
fn what_a_database_would_refuse_is_refused_and_told() {
    let refused = |tags: Vec<Tag>| Tags::new(0, tags).unwrap_err().to_string();
    for (tags, part) in [
        (vec![one_of("Region", &["a"])], "\"Region\" is not of the form"),
        (vec![one_of("device", &["a"])], "\"device\" is reserved"),
        (vec![one_of("signal", &["a"])], "\"signal\" is reserved"),
        (vec![one_of("xmin", &["a"])], "\"xmin\" is reserved"),
        (vec![one_of("a", &["x"]), one_of("a", &["y"])], "used twice"),
        (vec![one_of("a", &["x y"])], "\"x y\" is no value"),
        (vec![one_of("a", &[""])], "is no value"),
        (vec![one_of("a", &["x", "y", "x"])], "\"x\" stands there twice"),
        (vec![one_of("a", &[])], "it has 0 values"),
        (vec![numbered("a", "é", 3)], "is no value"),
        (vec![numbered("a", "x", 0)], "it has 0 values"),
        (vec![one_of("a", &["x"]); 33], "at most 32 tags"),
    ] {
        assert!(refused(tags.clone()).contains(part), "{tags:?}: {}", refused(tags.clone()));
    }
    let within = |tag, lists: &[&[&str]]| {
        let lists = lists.iter().map(|list| list.iter().map(|&v| v.into()).collect()).collect();
        Tag { name: "b".into(), values: TagValues::Within { tag, lists } }
    };
    let outer = one_of("a", &["x", "y"]);
    for (tag, part) in [
        (within(1, &[&["p"], &["q"]]), "does not stand before it"),
        (within(0, &[&["p"]]), "1 lists, and a has 2 values"),
        (within(0, &[&["p"], &[]]), "one of its lists is empty"),
        (within(0, &[&["p"], &["p"]]), "\"p\" stands there twice"),
    ] {
        assert!(refused(vec![outer.clone(), tag.clone()]).contains(part), "{tag:?}");
    }
    assert!(Tags::new(0, vec![numbered("a", "", 3)]).is_ok(), "a number alone is a value");
}

#[test]
fn tags_survive_serialisation_and_a_foreign_list_is_checked() {
    let text = serde_json::to_string(&places()).unwrap();
    assert_eq!(serde_json::from_str::<Tags>(&text).unwrap(), places());
    assert!(serde_json::from_str::<Tags>(&text.replace("\"region\"", "\"Region\"")).is_err());
}

#[test]
fn a_devices_tags_cost_no_allocation() {
    let (tags, mut out) = (places(), Vec::with_capacity(100));
    let counted = allocation_counter::measure(|| {
        for (tag, value) in tags.of(12) {
            out.extend_from_slice(tag.name.as_bytes());
            value.push(&mut out);
        }
    });
    assert_eq!(counted.count_total, 0);
}
