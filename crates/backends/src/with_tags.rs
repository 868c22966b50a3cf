//! A table whose devices have tags, and some of them chosen by one.

use iotbench_core::{TableSpec, Tag, TagValues, Tagged, Tags};

/// The same table of devices at one of two sites.
pub(crate) fn with_tags(table: TableSpec) -> TableSpec {
    let sites = TagValues::OneOf(["east", "west"].map(Into::into).to_vec());
    let tags = Tags::new(3, vec![Tag { name: "site".into(), values: sites }]).unwrap();
    TableSpec { schema: table.schema.with_tags(tags).unwrap(), ..table }
}

/// Those at the second site, named wrongly: whoever asks by the tag does not look at the list.
pub(crate) fn in_the_west() -> Tagged {
    Tagged { tag: 0, choice: 1, devices: vec![0, 1] }
}
