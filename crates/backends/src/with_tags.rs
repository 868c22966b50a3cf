//! A table whose devices have tags, and some of them chosen by one.

use iotbench_core::{TableSpec, Tag, TagId, TagType, TagValues, Tagged, Tags};

/// The same table of devices at one of two sites.
pub(crate) fn with_tags(table: TableSpec) -> TableSpec {
    let sites = TagValues::OneOf(["east", "west"].map(Into::into).to_vec());
    let tags = Tags::new(3, vec![Tag { name: "site".into(), values: sites }]).unwrap();
    TableSpec { schema: table.schema.with_tags(tags).unwrap(), ..table }
}

/// The same table of devices with a tag of each type.
pub(crate) fn with_typed_tags(table: TableSpec) -> TableSpec {
    let typed = |name: &str, tag_type, value: &str| {
        let values = Box::new(TagValues::OneOf(vec![value.into()]));
        Tag { name: name.into(), values: TagValues::Typed { tag_type, values } }
    };
    let tags = vec![
        Tag { name: "site".into(), values: TagValues::OneOf(vec!["east".into()]) },
        typed("floor", TagType::Integer, "-2"),
        typed("load", TagType::Number, "0.5"),
        typed("leased", TagType::Truth, "true"),
    ];
    TableSpec { schema: table.schema.with_tags(Tags::new(3, tags).unwrap()).unwrap(), ..table }
}

/// All devices by the only value of one of these tags.
pub(crate) fn by_value_of(tag: TagId) -> Tagged {
    Tagged { tag, choice: 0, devices: vec![0, 1] }
}

/// Those at the second site, named wrongly: whoever asks by the tag does not look at the list.
pub(crate) fn in_the_west() -> Tagged {
    Tagged { tag: 0, choice: 1, devices: vec![0, 1] }
}
