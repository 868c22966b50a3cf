//! Which series are ours, how they are named, and the words that choose some of them.

use iotbench_backend_kit::{
    ask::Asked,
    line_protocol::{DEVICE, SIGNAL, VALUE, device_digits},
    millis::Millis,
};
use iotbench_core::{Layout, Name, SignalId, TableSpec};

/// The label that says to which table of ours a series belongs.
pub(crate) const OWN_LABEL: &str = "iotbench_table";
/// The longest list of names that is sent; beyond it all are asked for, and those that are not wanted left out here.
pub(crate) const MAX_LISTED: usize = 100;
/// The first second of 2100 in milliseconds: nothing that lies more than two days ahead is kept, and MetricsQL has no
/// windows that end much later.
const LATEST_MS: i64 = 4_102_444_800_000;
/// The second day of 1970 in milliseconds: MetricsQL answers with nothing at all where a window begins in the first
/// minutes of 1970, and a time of 0 is taken for none and replaced by the present one.
pub(crate) const EARLIEST_MS: i64 = 86_400_000;

/// What makes series ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Own {
    pub(crate) database: Name,
    /// The value of [`OWN_LABEL`]: the table and the run that made it.
    pub(crate) label: String,
}

impl Own {
    pub(crate) fn new(database: &Name, table: &Name, created_by_run: &str) -> Self {
        Self { database: database.clone(), label: format!("{table}/{created_by_run}") }
    }

    /// Chooses all our series of the table.
    pub(crate) fn selector(&self) -> String {
        self.selector_with("")
    }

    fn selector_with(&self, conditions: &str) -> String {
        format!("{{db={},{OWN_LABEL}={}{conditions}}}", quoted(self.database.as_str()), quoted(&self.label))
    }

    /// Chooses the series of these devices and signals, and perhaps more; `None` when there can be none.
    pub(crate) fn of(&self, table: &TableSpec, devices: Asked<'_>, signals: &[SignalId]) -> Option<String> {
        let mut conditions = String::new();
        let devices = devices.in_table(table)?;
        if let Some((name, value)) = devices.tagged(table.schema.tags()) {
            conditions.push_str(&format!(",{name}={}", quoted(&value.to_string())));
        } else if let Some(list) = devices.list() {
            let width = device_digits(table);
            push_one_of(&mut conditions, DEVICE, list.iter().map(|device| format!("{device:0width$}")))?;
        }
        let is_narrow = table.layout == Layout::Narrow;
        let key = if is_narrow { SIGNAL } else { "__name__" };
        if signals.len() < table.schema.width() {
            let names = signals.iter().map(|&signal| {
                let name = &table.schema.signals()[usize::from(signal)].name;
                if is_narrow { name.clone() } else { format!("{}_{name}", table.name) }
            });
            push_one_of(&mut conditions, key, names)?;
        }
        Some(self.selector_with(&conditions))
    }
}

/// Chooses the series that have the names of a table's, and not the label of ours.
pub(crate) fn unmarked(database: &Name, table: &TableSpec) -> Vec<String> {
    let names: Vec<String> = match table.layout {
        Layout::Narrow => vec![format!("{}_{VALUE}", table.name)],
        _ => table.schema.signals().iter().map(|signal| format!("{}_{}", table.name, signal.name)).collect(),
    };
    let db = quoted(database.as_str());
    let of = |names: &[String]| format!("{{db={db},__name__=~{},{OWN_LABEL}=\"\"}}", quoted(&names.join("|")));
    names.chunks(MAX_LISTED).map(of).collect()
}

/// Adds the condition that a label is one of these; `None` where there is none.
fn push_one_of(conditions: &mut String, label: &str, names: impl ExactSizeIterator<Item = String>) -> Option<()> {
    match names.len() {
        0 => return None,
        1..=MAX_LISTED => {
            let list = names.collect::<Vec<_>>().join("|");
            conditions.push_str(&format!(",{label}=~{}", quoted(&list)));
        }
        _ => {}
    }
    Some(())
}

/// A text in double quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// The place of the signal that a series holds; `None` for one that is none of the table's.
pub(crate) fn signal_of(table: &TableSpec, name: &str, signal: Option<&str>) -> Option<SignalId> {
    let field = name.strip_prefix(table.name.as_str())?.strip_prefix('_')?;
    match table.layout {
        Layout::Narrow if field == VALUE => table.schema.find(signal?),
        Layout::Narrow => None,
        _ => table.schema.find(field),
    }
}

/// All times of ours.
pub(crate) const ALL: Millis = Millis { first: EARLIEST_MS, last: LATEST_MS };
/// All times: for exports alone.
pub(crate) const EVER: Millis = Millis { first: 1, last: LATEST_MS };

/// How many milliseconds a stretch has.
pub(crate) fn count(span: Millis) -> i64 {
    span.last - span.first + 1
}

/// The first `count` milliseconds of a stretch, and what is left.
pub(crate) fn split(span: Millis, count: i64) -> (Millis, Option<Millis>) {
    let end = span.first.saturating_add(count.max(1)).min(span.last + 1);
    (Millis { last: end - 1, ..span }, Millis::new(end, span.last))
}

/// The last `count` milliseconds of a stretch, and what is left.
pub(crate) fn split_back(span: Millis, count: i64) -> (Millis, Option<Millis>) {
    let start = span.last.saturating_sub(count.max(1)).max(span.first - 1);
    (Millis { first: start + 1, ..span }, Millis::new(span.first, start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::with_tags::{in_the_west, with_tags};
    use iotbench_core::{Marker, Schema, Signal, ValueType};
    use proptest::prelude::*;

    fn table(layout: Layout, devices: u32) -> TableSpec {
        let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::U16, max_text_bytes: 0 };
        TableSpec {
            name: Name::new("t").unwrap(),
            layout,
            schema: Schema::new(vec![signal("a"), signal("a_b")]).unwrap(),
            devices,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        }
    }

    #[test]
    fn devices_of_a_tag_are_chosen_by_it() {
        let own = Own::new(&Name::new("d").unwrap(), &Name::new("t").unwrap(), "r");
        let west = in_the_west();
        let chosen = own.of(&with_tags(table(Layout::Wide, 2)), Asked::Tagged(&west), &[0, 1]);
        assert_eq!(chosen.as_deref(), Some(r#"{db="d",iotbench_table="t/r",site="west"}"#));
    }

    #[test]
    fn series_are_chosen_by_label_and_name() {
        let own = Own::new(&Name::new("d").unwrap(), &Name::new("t").unwrap(), "r\"1");
        let of =
            |layout, devices, list: Asked<'_>, signals: &[SignalId]| own.of(&table(layout, devices), list, signals);
        let all = r#"{db="d",iotbench_table="t/r\"1"}"#;
        assert_eq!(own.selector(), all);
        assert_eq!(of(Layout::Wide, 2, Asked::All, &[0, 1]).unwrap(), all);
        assert_eq!(
            of(Layout::Wide, 11, Asked::Some(&[3, 10]), &[1]).unwrap(),
            r#"{db="d",iotbench_table="t/r\"1",device=~"03|10",__name__=~"t_a_b"}"#
        );
        assert_eq!(
            of(Layout::Narrow, 1, Asked::One(0), &[0]).unwrap(),
            r#"{db="d",iotbench_table="t/r\"1",signal=~"a"}"#
        );
        assert_eq!(of(Layout::Wide, 1, Asked::One(1), &[0]), None);
        assert_eq!(of(Layout::Wide, 2, Asked::Some(&[]), &[0]), None);
        let many: Vec<u32> = (0..101).collect();
        assert_eq!(of(Layout::Wide, 200, Asked::Some(&many), &[0, 1]).unwrap(), all);
    }

    #[test]
    fn a_series_tells_its_signal() {
        let wide = table(Layout::Wide, 1);
        assert_eq!(signal_of(&wide, "t_a", None), Some(0));
        assert_eq!(signal_of(&wide, "t_a_b", None), Some(1));
        assert_eq!(signal_of(&wide, "tt_a", None), None);
        let narrow = table(Layout::Narrow, 1);
        assert_eq!(signal_of(&narrow, "t_v", Some("a_b")), Some(1));
        assert_eq!(signal_of(&narrow, "t_a", Some("a_b")), None);
    }

    proptest! {
        #[test]
        fn parts_make_the_whole(first in 1..50_i64, length in 1..50_i64, step in 0..60_i64) {
            let whole = Millis { first, last: first + length - 1 };
            for split in [split, split_back] {
                let (mut left, mut seen) = (Some(whole), Vec::new());
                while let Some(span) = left {
                    let (part, rest) = split(span, step);
                    prop_assert!(count(part) >= 1);
                    seen.extend(part.first..=part.last);
                    left = rest;
                }
                seen.sort_unstable();
                prop_assert_eq!(seen, (whole.first..=whole.last).collect::<Vec<_>>());
            }
        }
    }
}
