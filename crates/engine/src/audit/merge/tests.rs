mod corrected;

use super::*;
use crate::{
    audit::{Findings, account::Segment, corrected::Policy, expected::SecondSends},
    read::History,
    verify::Exactness,
};
use iotbench_core::{Batch, Domain, Duplicates, Run, TimeRange, Value};
use iotbench_simulator::{Dataset, DatasetConfig};
use proptest::{collection::btree_set, prelude::*};
use std::{collections::BTreeMap, ops::Range, path::Path, sync::Arc};

const DEVICES: u32 = 3;
/// Datapoints of each device: more than are recomputed at once.
const POINTS: u64 = 1500;

fn dataset() -> Arc<dyn Dataset> {
    let config = serde_json::json!({ "name": "pmu", "rate": 50.0 });
    let config: DatasetConfig = serde_json::from_value(config).unwrap();
    config.open(1, 0, DEVICES, Path::new(".")).unwrap()
}

const HOW: How = How { may_lose: false, keeps_together: true };

/// Of a run without a history that came to its end.
fn second_sends(dataset: &Arc<dyn Dataset>, duplicates: Duplicates) -> SecondSends {
    let history = History { dataset: Arc::clone(dataset), devices: 0, positions: 0 };
    SecondSends { policy: Policy { duplicates, is_in_order: true }, history, in_doubt: false }
}

/// Rows as a database tells them.
struct Stored {
    chunks: Vec<Chunk>,
}

impl Stored {
    fn new() -> Self {
        Self { chunks: Vec::new() }
    }

    /// Appends a row at some time with the values of a datapoint, of which `change` may make others.
    fn push(&mut self, batch: &Batch, row: usize, device: u32, ns: i64, change: impl Fn(usize, f32) -> Option<f32>) {
        if self.chunks.last().is_none_or(|chunk| chunk.len() == 100) {
            self.chunks.push(Chunk::new(batch.columns().iter().map(iotbench_core::Column::value_type)));
        }
        let chunk = self.chunks.last_mut().unwrap();
        chunk.devices.push(device);
        chunk.timestamps_ns.push(ns);
        for (place, column) in chunk.columns.iter_mut().enumerate() {
            let value = match batch.value(place, row).unwrap() {
                Value::F32(value) => change(place, value).map(Value::F32),
                other => Some(other),
            };
            column.push(value).unwrap();
        }
    }
}

fn exact() -> Exactness {
    Exactness::new(|_| Domain::Full, false)
}

fn merged(segments: Vec<Segment>, stored: &Stored, exactness: Exactness, may_lose: bool) -> (Findings, u64) {
    let mut expected = ExpectedRows::new(dataset(), exactness);
    expected.begin(segments, TimeRange::ALL);
    let mut findings = Findings::default();
    let mut merge = Merge::new(&mut expected, &mut findings, How { may_lose, ..HOW });
    stored.chunks.iter().for_each(|chunk| merge.take(chunk).unwrap());
    let rows = merge.finish();
    (findings, rows)
}

fn segments(device: u32, parts: &[(Range<u64>, Fate)]) -> Vec<Segment> {
    parts
        .iter()
        .map(|(indices, fate)| Segment { device, indices: indices.clone(), fate: *fate, again: None, corrected: None })
        .collect()
}

/// What is done to a datapoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Harm {
    Deleted,
    /// So many more of it.
    Doubled(u8),
    Altered,
    /// A value of it is gone.
    Emptied,
    /// Another one beside it, at the same time with another value.
    Beside,
    /// Another one, a nanosecond later.
    Added,
    /// Its time is another.
    Moved,
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        Just(Harm::Deleted),
        (1_u8..4).prop_map(Harm::Doubled),
        Just(Harm::Altered),
        Just(Harm::Emptied),
        Just(Harm::Beside),
        Just(Harm::Added),
        Just(Harm::Moved),
    ]
}

fn fate_of(index: u64) -> Fate {
    match index % 500 {
        100..120 => Fate::Unknown,
        200..210 => Fate::Failed,
        _ => Fate::Acked,
    }
}

fn all_segments() -> Vec<Segment> {
    (0..DEVICES)
        .flat_map(|device| {
            (0..POINTS).map(move |index| Segment {
                device,
                indices: index..index + 1,
                fate: fate_of(index),
                again: None,
                corrected: None,
            })
        })
        .collect()
}

type Named = BTreeMap<(Kind, u32, i64), u64>;

/// Stores all datapoints but what is done to some, and says what has to be found.
fn harmed(harms: &BTreeMap<(u32, u64), Harm>) -> (Stored, Named) {
    let (dataset, mut stored, mut named) = (dataset(), Stored::new(), Named::new());
    for device in 0..DEVICES {
        let mut batch = Batch::new(dataset.schema());
        dataset.fill(Run { device, first: 0, count: u32::try_from(POINTS).unwrap() }, &mut batch);
        for (row, &ns) in batch.timestamps_ns().iter().enumerate() {
            let index = row as u64;
            let (fate, harm) = (fate_of(index), harms.get(&(device, index)));
            let mut name = |kind, ns, times: u64| *named.entry((kind, device, ns)).or_default() += times;
            let mut put = |ns, change: &dyn Fn(usize, f32) -> Option<f32>| stored.push(&batch, row, device, ns, change);
            let as_sent = |_, value| Some(value);
            // Failed ones are not there, and of the unknown every second one.
            if fate == Fate::Failed {
                continue;
            }
            if fate == Fate::Unknown && index.is_multiple_of(2) {
                name(Kind::UnknownAbsent, ns, 1);
                continue;
            }
            let kind = |found| if fate == Fate::Unknown { Kind::UnknownPresent } else { found };
            if fate == Fate::Unknown && !matches!(harm, Some(Harm::Deleted | Harm::Altered | Harm::Moved)) {
                name(Kind::UnknownPresent, ns, 1);
            }
            let gone = if fate == Fate::Unknown { Kind::UnknownAbsent } else { Kind::Lost };
            match harm.copied() {
                None => put(ns, &as_sent),
                Some(Harm::Deleted) => name(gone, ns, 1),
                Some(Harm::Doubled(more)) => {
                    (0..=more).for_each(|_| put(ns, &as_sent));
                    name(Kind::Duplicate, ns, more.into());
                }
                Some(Harm::Altered) => {
                    put(ns, &|place, value| Some(if place == 3 { value + 1.0 } else { value }));
                    name(Kind::Corrupt, ns, 1);
                }
                Some(Harm::Emptied) => {
                    put(ns, &|place, value| (place != 1).then_some(value));
                    if kind(Kind::Corrupt) == Kind::Corrupt {
                        name(Kind::Corrupt, ns, 1);
                    }
                }
                Some(Harm::Beside) => {
                    put(ns, &|_, value| Some(value * 2.0 + 1.0));
                    put(ns, &as_sent);
                    name(Kind::Alien, ns, 1);
                }
                Some(Harm::Added) => {
                    put(ns, &as_sent);
                    put(ns + 1, &as_sent);
                    name(Kind::Alien, ns + 1, 1);
                }
                Some(Harm::Moved) => {
                    put(ns + 1, &as_sent);
                    name(gone, ns, 1);
                    name(Kind::Alien, ns + 1, 1);
                }
            }
        }
    }
    (stored, named)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Random deletions, doublings, alterations and additions are named exactly: how many of each kind, and where.
    #[test]
    fn what_was_done_is_named_and_nothing_else(
        places in btree_set((0..DEVICES, 0..POINTS), 0..40), harms in prop::collection::vec(harm(), 40),
    ) {
        let harms: BTreeMap<_, _> = places.into_iter().zip(harms).collect();
        let (stored, named) = harmed(&harms);
        let (findings, rows) = merged(all_segments(), &stored, exact(), false);
        prop_assert_eq!(rows, stored.chunks.iter().map(|chunk| chunk.len() as u64).sum::<u64>());
        for kind in Kind::ALL {
            let of_kind = named.iter().filter(|((of, ..), _)| *of == kind);
            prop_assert_eq!(findings.count(kind), of_kind.map(|(_, times)| times).sum::<u64>(), "{:?}", kind);
        }
        for stretch in findings.stretches() {
            let inside = named.iter().filter(|((kind, device, ns), _)| {
                *kind == stretch.kind && Some(*device) == stretch.device && (stretch.from_ns..=stretch.to_ns).contains(ns)
            });
            prop_assert_eq!(stretch.points, inside.map(|(_, times)| times).sum::<u64>(), "{:?}", stretch);
        }
        let all = findings.right() + Kind::ALL.map(|kind| findings.count(kind)).iter().sum::<u64>();
        let absent = findings.count(Kind::Lost) + findings.count(Kind::UnknownAbsent);
        prop_assert_eq!(all - absent, rows, "every stored row is counted once");
    }

    /// However an answer is cut into chunks and the datapoints into segments.
    #[test]
    fn cuts_change_nothing(cut in 1_u64..700, harms in btree_set((0..DEVICES, 0..POINTS), 0..10)) {
        let harms = harms.into_iter().map(|place| (place, Harm::Deleted)).collect();
        let (stored, _) = harmed(&harms);
        let coarse: Vec<Segment> = all_segments().into_iter().fold(Vec::new(), |mut joined: Vec<Segment>, next| {
            match joined.last_mut() {
                Some(last) if last.device == next.device && last.fate == next.fate && last.indices.start / cut == next.indices.start / cut => {
                    last.indices.end = next.indices.end;
                }
                _ => joined.push(next),
            }
            joined
        });
        prop_assert_eq!(merged(coarse, &stored, exact(), false), merged(all_segments(), &stored, exact(), false));
    }
}

#[test]
fn a_refused_datapoint_that_is_stored_is_alien() {
    let mut stored = Stored::new();
    let (dataset, mut batch) = (dataset(), Batch::new(dataset().schema()));
    dataset.fill(Run { device: 1, first: 0, count: 3 }, &mut batch);
    (0..3).for_each(|row| stored.push(&batch, row, 1, batch.timestamps_ns()[row], |_, value| Some(value)));
    let parts = segments(1, &[(0..1, Fate::Acked), (1..3, Fate::Failed)]);
    let (findings, _) = merged(parts, &stored, exact(), false);
    assert_eq!((findings.right(), findings.count(Kind::Alien)), (1, 2));
    let [stretch] = findings.stretches().collect::<Vec<_>>()[..] else { panic!("one stretch") };
    assert_eq!((stretch.points, stretch.detail.as_str()), (2, "refused, and yet stored"));
}

#[test]
fn where_a_loss_is_declared_a_missing_value_is_one_and_another_value_is_not() {
    let (dataset, mut batch) = (dataset(), Batch::new(dataset().schema()));
    dataset.fill(Run { device: 0, first: 0, count: 2 }, &mut batch);
    let mut stored = Stored::new();
    stored.push(&batch, 0, 0, batch.timestamps_ns()[0], |place, value| (place != 0).then_some(value));
    stored.push(&batch, 1, 0, batch.timestamps_ns()[1], |_, value| Some(value + 1.0));
    for (may_lose, lost, corrupt) in [(true, 1, 1), (false, 0, 2)] {
        let (findings, _) = merged(segments(0, &[(0..2, Fate::Acked)]), &stored, exact(), may_lose);
        assert_eq!((findings.count(Kind::Lost), findings.count(Kind::Corrupt)), (lost, corrupt));
    }
}

#[test]
fn a_rounded_value_is_right_where_the_database_rounds() {
    let (dataset, mut batch) = (dataset(), Batch::new(dataset().schema()));
    dataset.fill(Run { device: 0, first: 0, count: 5 }, &mut batch);
    let mut stored = Stored::new();
    (0..5).for_each(|row| {
        let ns = batch.timestamps_ns()[row];
        stored.push(&batch, row, 0, ns, |_, value| Some(value * (1.0 + 2.0 * f32::EPSILON)));
    });
    let rounding = Exactness::new(|_| Domain::Rounded { relative: 1e-6 }, false);
    let right = |exactness| merged(segments(0, &[(0..5, Fate::Acked)]), &stored, exactness, false).0.right();
    assert_eq!((right(rounding), right(exact())), (5, 0));
}

#[test]
fn an_answer_out_of_order_is_no_finding() {
    let (dataset, mut batch) = (dataset(), Batch::new(dataset().schema()));
    dataset.fill(Run { device: 0, first: 0, count: 2 }, &mut batch);
    let mut stored = Stored::new();
    for row in [1, 0] {
        stored.push(&batch, row, 0, batch.timestamps_ns()[row], |_, value| Some(value));
    }
    let mut expected = ExpectedRows::new(dataset, exact());
    expected.begin(segments(0, &[(0..2, Fate::Acked)]), TimeRange::ALL);
    let mut findings = Findings::default();
    let taken = Merge::new(&mut expected, &mut findings, HOW).take(&stored.chunks[0]);
    assert!(taken.unwrap_err().message.contains("not in order"));
}

/// At the time of one datapoint lie two rows: one that lacks a value, and one of which another value is.
#[test]
fn of_two_rows_at_a_datapoints_time_one_stands_for_it_and_the_other_is_alien() {
    let (dataset, mut batch) = (dataset(), Batch::new(dataset().schema()));
    dataset.fill(Run { device: 2, first: 0, count: 1 }, &mut batch);
    let mut stored = Stored::new();
    let ns = batch.timestamps_ns()[0];
    stored.push(&batch, 0, 2, ns, |place, value| (place != 1).then_some(value));
    stored.push(&batch, 0, 2, ns, |_, value| Some(value + 1.0));
    let other = |kind| (kind, "beside the right one of its time".to_owned());
    for (fate, may_lose, one) in [
        (Fate::Unknown, false, Kind::UnknownPresent),
        (Fate::Unknown, true, Kind::UnknownPresent),
        (Fate::Acked, true, Kind::Lost),
        (Fate::Acked, false, Kind::Corrupt),
    ] {
        let (findings, rows) = merged(segments(2, &[(0..1, fate)]), &stored, exact(), may_lose);
        let counted = Kind::ALL.map(|kind| (kind, findings.count(kind)));
        assert!(
            counted.iter().all(|&(kind, count)| count == u64::from(kind == one || kind == Kind::Alien)),
            "{fate:?}, {may_lose}: {counted:?}"
        );
        assert_eq!((rows, findings.right()), (2, 0));
        let details: Vec<_> = findings.stretches().map(|stretch| (stretch.kind, stretch.detail.clone())).collect();
        assert!(details.contains(&other(Kind::Alien)), "{details:?}");
        let sent = shown_value(&batch, 1);
        let lacks = format!("{} is nothing and was sent as {sent}", dataset.schema().signals()[1].name);
        assert!(details.contains(&(one, lacks)), "{details:?}");
    }
}

fn shown_value(batch: &Batch, place: usize) -> String {
    crate::verify::shown(batch.value(place, 0))
}

/// 1,500 datapoints are more than are made again at once: what is missing on both sides of the seam is named, and nothing else.
#[test]
fn what_lies_on_both_sides_of_a_seam_of_blocks_is_expected_once() {
    for gone in [[1022, 1023], [1023, 1024], [1024, 1025]] {
        let harms = gone.map(|index| ((1, index), Harm::Deleted)).into();
        let (stored, named) = harmed(&harms);
        let (findings, _) = merged(all_segments(), &stored, exact(), false);
        let whole = segments(1, &[(0..POINTS, Fate::Acked)]);
        let (alone, rows) = merged(whole, &harmed(&harms).0, exact(), false);
        let lost = |(kind, ..): &&(Kind, u32, i64)| *kind == Kind::Lost;
        assert_eq!((findings.count(Kind::Lost), named.keys().filter(lost).count()), (2, 2));
        assert_eq!(findings.count(Kind::Alien), 0);
        // Of a device whose datapoints are one segment: all that is stored of it was sent, and what is not stored is lost.
        let absent = (0..POINTS).filter(|&index| {
            fate_of(index) == Fate::Failed || (fate_of(index) == Fate::Unknown && index.is_multiple_of(2))
        });
        assert_eq!(alone.count(Kind::Lost), 2 + absent.count() as u64);
        assert_eq!(alone.right() + alone.count(Kind::Alien), rows);
    }
}

/// A datapoint of a device that was sent twice: so many rows are right and so many are of another value.
fn of_two(fates: (Fate, Option<Fate>), right: usize, wrong: usize) -> (u64, Vec<(Kind, u64)>) {
    let config = DatasetConfig::named("pmu").unwrap().with("twice", serde_json::json!({ "share": 0.5, "after": "1s" }));
    let dataset = config.open(1, 0, DEVICES, Path::new(".")).unwrap();
    let index = (0..).find(|&index| dataset.twice().unwrap().is_of(1, index)).unwrap();
    let mut expected =
        ExpectedRows::new(Arc::clone(&dataset), exact()).with_second_sends(second_sends(&dataset, Duplicates::Keep));
    let (fate, again) = fates;
    expected.begin([Segment { device: 1, indices: index..index + 1, fate, again, corrected: None }], TimeRange::ALL);
    let (mut stored, mut batch) = (Stored::new(), Batch::new(dataset.schema()));
    dataset.fill(Run { device: 1, first: index, count: 1 }, &mut batch);
    let ns = dataset.timestamp_ns(1, index);
    (0..right).for_each(|_| stored.push(&batch, 0, 1, ns, |_, value| Some(value)));
    (0..wrong).for_each(|_| stored.push(&batch, 0, 1, ns, |_, value| Some(value + 1.0)));
    let mut findings = Findings::default();
    let mut merge = Merge::new(&mut expected, &mut findings, HOW);
    stored.chunks.iter().for_each(|chunk| merge.take(chunk).unwrap());
    assert_eq!(merge.finish(), (right + wrong) as u64);
    let found = Kind::ALL.map(|kind| (kind, findings.count(kind)));
    (findings.right(), found.into_iter().filter(|&(_, count)| count > 0).collect())
}

#[test]
fn of_what_was_sent_twice_both_are_stored_and_no_third() {
    let both = (Fate::Acked, Some(Fate::Acked));
    assert_eq!(of_two(both, 2, 0), (2, vec![]));
    assert_eq!(of_two(both, 1, 0), (1, vec![(Kind::Lost, 1)]));
    assert_eq!(of_two(both, 0, 0), (0, vec![(Kind::Lost, 2)]));
    assert_eq!(of_two(both, 4, 0), (2, vec![(Kind::Duplicate, 2)]));
    assert_eq!(of_two(both, 1, 1), (1, vec![(Kind::Corrupt, 1)]));
    assert_eq!(of_two(both, 1, 2), (1, vec![(Kind::Corrupt, 1), (Kind::Alien, 1)]));
    assert_eq!(of_two(both, 2, 1), (2, vec![(Kind::Alien, 1)]));
    let in_doubt = (Fate::Acked, Some(Fate::Unknown));
    assert_eq!(of_two(in_doubt, 1, 0), (1, vec![(Kind::UnknownAbsent, 1)]));
    assert_eq!(of_two(in_doubt, 2, 0), (1, vec![(Kind::UnknownPresent, 1)]));
    assert_eq!(of_two(in_doubt, 0, 0), (0, vec![(Kind::Lost, 1), (Kind::UnknownAbsent, 1)]));
    // Its second send came to nothing.
    assert_eq!(of_two((Fate::Acked, None), 2, 0), (1, vec![(Kind::Duplicate, 1)]));
}
