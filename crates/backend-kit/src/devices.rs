//! The table of devices: where a SQL database keeps the tags of each, a column a tag, beside the table of datapoints.
//!
//! It is part of that table as an index is: made after it, dropped before it, and never had by itself. So what marks it says
//! only what it belongs to. Whose it is, and whether it may be taken over, the marker of the table of datapoints says for both:
//! one marker cannot contradict another, and whatever is left half-way is found by it.

use iotbench_core::{Name, Tags, TypedTag};
use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

/// How long a statement's rows become: below what any server takes as one.
const CHUNK_BYTES: usize = 128 * 1024;

/// The name of the table of devices of a table.
#[must_use]
pub fn name(table: &Name) -> String {
    format!("{table}_devices")
}

/// What marks it as ours. It is no marker of a table of datapoints, and needs no quoting.
#[must_use]
pub fn mark(table: &Name) -> String {
    format!("iotbench devices of {table}")
}

/// How many devices have their row, while the table of devices is filled.
#[derive(Clone, Debug, Default)]
pub struct Filled(Arc<AtomicU32>);

impl Filled {
    /// `None`: it is not being filled.
    #[must_use]
    pub fn devices(&self) -> Option<u32> {
        Some(self.0.load(Ordering::Relaxed)).filter(|&devices| devices > 0)
    }
}

/// A row for each device as SQL, `(0,'eu',7),(1,'us',2)`, in texts of bounded length. No value of a tag needs quoting.
/// Whoever asks for the next has those before it stored: `filled` tells of that.
pub fn rows(tags: &Tags, devices: u32, filled: &Filled) -> impl Iterator<Item = String> {
    let mut next = 0..devices;
    std::iter::from_fn(move || {
        filled.0.store(next.start, Ordering::Relaxed);
        let mut text = String::new();
        while text.len() < CHUNK_BYTES
            && let Some(device) = next.next()
        {
            text.push_str(if text.is_empty() { "(" } else { ",(" });
            text.push_str(&device.to_string());
            for (tag, value) in tags.of(device) {
                text.push_str(&match value.typed(tag.values.tag_type()) {
                    TypedTag::Text(value) => format!(",'{value}'"),
                    // What has an exponent is read as a double, and no exact decimal in between.
                    TypedTag::Number(number) => format!(",{number}e0"),
                    typed => format!(",{typed}"),
                });
            }
            text.push(')');
        }
        (!text.is_empty()).then_some(text)
    })
}

/// The columns of a row of the table of devices, and the condition on them, as `SELECT {} FROM {table} WHERE {}` takes them.
#[must_use]
pub fn rows_of(tags: &Tags, devices: &Range<u32>, quoted: impl Fn(&str) -> String) -> (String, String) {
    let columns = ["device"].into_iter().chain(tags.as_slice().iter().map(|tag| tag.name.as_str()));
    let device = quoted("device");
    let condition = format!("{device} >= {} AND {device} < {}", devices.start, devices.end);
    (columns.map(quoted).collect::<Vec<_>>().join(", "), condition)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marker::of_comment;
    use iotbench_core::{Tag, TagType, TagValues};

    fn tags() -> Tags {
        let region = TagValues::OneOf(["eu", "us"].map(Into::into).to_vec());
        let rack = TagValues::Numbered { prefix: "r".into(), count: 100 };
        let tag = |name: &str, values| Tag { name: name.into(), values };
        Tags::new(7, vec![tag("region", region), tag("rack", rack)]).unwrap()
    }

    #[test]
    fn every_device_has_its_row_and_no_statement_is_long() {
        const DEVICES: u32 = 100_000;
        let tags = tags();
        let (mut next, mut chunks) = (0, 0);
        let filled = Filled::default();
        for text in rows(&tags, DEVICES, &filled) {
            assert_eq!(filled.devices(), (next > 0).then_some(next));
            assert!(text.len() < CHUNK_BYTES + 100, "{} bytes", text.len());
            for row in text.strip_prefix('(').unwrap().strip_suffix(')').unwrap().split("),(") {
                let values = tags.of(next).map(|(_, value)| format!(",'{value}'")).collect::<String>();
                assert_eq!(row, format!("{next}{values}"));
                next += 1;
            }
            chunks += 1;
        }
        assert_eq!(next, DEVICES);
        assert!((10..100).contains(&chunks), "{chunks} statements");
        assert_eq!(filled.devices(), Some(DEVICES));
        assert_eq!(rows(&tags, 0, &filled).next(), None);
    }

    #[test]
    fn a_value_stands_there_in_its_type() {
        let typed = |name: &str, tag_type, value: &str| {
            let values = Box::new(TagValues::OneOf(vec![value.into()]));
            Tag { name: name.into(), values: TagValues::Typed { tag_type, values } }
        };
        let tags = vec![
            typed("floor", TagType::Integer, "-2"),
            typed("load", TagType::Number, "0.5"),
            typed("leased", TagType::Truth, "true"),
        ];
        let rows: Vec<_> = rows(&Tags::new(0, tags).unwrap(), 1, &Filled::default()).collect();
        assert_eq!(rows, ["(0,-2,0.5e0,true)"]);
    }

    #[test]
    fn what_marks_it_is_not_taken_for_a_table_of_datapoints() {
        let table = Name::new("t").unwrap();
        assert_eq!((name(&table).as_str(), of_comment(&mark(&table))), ("t_devices", None));
    }
}
