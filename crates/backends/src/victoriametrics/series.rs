//! Which series are ours, how they are named, and the words that choose some of them.

use iotbench_backend_kit::line_protocol::{DEVICE, SIGNAL, VALUE, device_digits};
use iotbench_core::{Devices, Layout, Name, SignalId, TableSpec, TimeRange};
use std::ops::Bound;

/// The label that says to which table of ours a series belongs.
pub(crate) const OWN_LABEL: &str = "iotbench_table";
/// The longest list of names that is sent; beyond it all are asked for, and those that are not wanted left out here.
const MOST_LISTED: usize = 100;
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
    pub(crate) fn of(&self, table: &TableSpec, devices: &Devices, signals: &[SignalId]) -> Option<String> {
        let mut conditions = String::new();
        match devices {
            Devices::All => {}
            Devices::Some(list) if !table.has_device_column() => {
                if !list.contains(&0) {
                    return None;
                }
            }
            Devices::Some(list) => {
                let width = device_digits(table);
                push_one_of(&mut conditions, DEVICE, list.iter().map(|device| format!("{device:0width$}")))?;
            }
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
    names.chunks(MOST_LISTED).map(of).collect()
}

/// Adds the condition that a label is one of these; `None` where there is none.
fn push_one_of(conditions: &mut String, label: &str, names: impl ExactSizeIterator<Item = String>) -> Option<()> {
    match names.len() {
        0 => return None,
        1..=MOST_LISTED => {
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

/// Milliseconds from `first` to `last`, both within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Millis {
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl Millis {
    /// All times of ours.
    pub(crate) const ALL: Self = Self { first: EARLIEST_MS, last: LATEST_MS };
    /// All times: for exports alone.
    pub(crate) const EVER: Self = Self { first: 1, last: LATEST_MS };

    /// The milliseconds of a range; `None` when there is none.
    pub(crate) fn of(range: TimeRange) -> Option<Self> {
        let first_ns = match range.from {
            Bound::Included(time) => time,
            Bound::Excluded(time) => time.checked_add(1)?,
            Bound::Unbounded => i64::MIN,
        };
        let last_ns = match range.to {
            Bound::Included(time) => time,
            Bound::Excluded(time) => time.checked_sub(1)?,
            Bound::Unbounded => i64::MAX,
        };
        let is_between = first_ns.rem_euclid(1_000_000) != 0;
        Self { first: first_ns.div_euclid(1_000_000) + i64::from(is_between), last: last_ns.div_euclid(1_000_000) }
            .within(Self::ALL)
    }

    /// What both have; `None` when that is nothing.
    pub(crate) fn within(self, other: Self) -> Option<Self> {
        let both = Self { first: self.first.max(other.first), last: self.last.min(other.last) };
        (both.first <= both.last).then_some(both)
    }

    pub(crate) fn contains(self, ms: i64) -> bool {
        (self.first..=self.last).contains(&ms)
    }

    /// How many milliseconds it has.
    pub(crate) fn count(self) -> i64 {
        self.last - self.first + 1
    }

    /// The first `count` milliseconds, and what is left.
    pub(crate) fn split(self, count: i64) -> (Self, Option<Self>) {
        let end = self.first.saturating_add(count.max(1)).min(self.last + 1);
        (Self { last: end - 1, ..self }, (end <= self.last).then_some(Self { first: end, ..self }))
    }

    /// The last `count` milliseconds, and what is left.
    pub(crate) fn split_back(self, count: i64) -> (Self, Option<Self>) {
        let start = self.last.saturating_sub(count.max(1)).max(self.first - 1);
        (Self { first: start + 1, ..self }, (self.first <= start).then_some(Self { last: start, ..self }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn series_are_chosen_by_label_and_name() {
        let own = Own::new(&Name::new("d").unwrap(), &Name::new("t").unwrap(), "r\"1");
        let of = |layout, devices, list: &Devices, signals: &[SignalId]| own.of(&table(layout, devices), list, signals);
        let all = r#"{db="d",iotbench_table="t/r\"1"}"#;
        assert_eq!(own.selector(), all);
        assert_eq!(of(Layout::Wide, 2, &Devices::All, &[0, 1]).unwrap(), all);
        assert_eq!(
            of(Layout::Wide, 11, &Devices::Some(vec![3, 10]), &[1]).unwrap(),
            r#"{db="d",iotbench_table="t/r\"1",device=~"03|10",__name__=~"t_a_b"}"#
        );
        assert_eq!(
            of(Layout::Narrow, 1, &Devices::Some(vec![0]), &[0]).unwrap(),
            r#"{db="d",iotbench_table="t/r\"1",signal=~"a"}"#
        );
        assert_eq!(of(Layout::Wide, 1, &Devices::Some(vec![1]), &[0]), None);
        assert_eq!(of(Layout::Wide, 2, &Devices::Some(vec![]), &[0]), None);
        assert_eq!(of(Layout::Wide, 200, &Devices::Some((0..101).collect()), &[0, 1]).unwrap(), all);
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
        fn milliseconds_are_those_within_the_range(from in -3..9_i64, to in -3..9_i64, ms in 0..8_i64, unit in -1..=1_i64) {
            let [from, to, ms] = [from, to, ms].map(|time| time + EARLIEST_MS);
            let range = TimeRange { from: Bound::Included(from * 1_000_000 + unit), to: Bound::Excluded(to * 1_000_000 - unit) };
            prop_assert_eq!(Millis::of(range).is_some_and(|m| m.contains(ms)), range.contains(ms * 1_000_000));
        }

        #[test]
        fn parts_make_the_whole(first in 1..50_i64, count in 1..50_i64, step in 0..60_i64) {
            let whole = Millis { first, last: first + count - 1 };
            for split in [Millis::split, Millis::split_back] {
                let (mut left, mut seen) = (Some(whole), Vec::new());
                while let Some(span) = left {
                    let (part, rest) = split(span, step);
                    prop_assert!(part.count() >= 1);
                    seen.extend(part.first..=part.last);
                    left = rest;
                }
                seen.sort_unstable();
                prop_assert_eq!(seen, (whole.first..=whole.last).collect::<Vec<_>>());
            }
        }
    }
}
