//! Stored rows of a datapoint that was sent wrong and then right.

use super::*;
use crate::ledger::{Sent, TwoSends};

/// Which values a stored row of a corrected datapoint has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Has {
    First,
    Right,
    /// The first of its signals is right, the others are those that were sent first; and the other way round.
    Mixed,
    OtherWay,
    Others,
}

const ACKED: [Option<Sent>; 2] = [
    Some(Sent { fate: Fate::Acked, sent_ns: 0, ended_ns: 5 }),
    Some(Sent { fate: Fate::Acked, sent_ns: 7, ended_ns: 9 }),
];

/// A datapoint that was sent wrong and then right, of which these rows are stored.
fn of_corrected(how: How, duplicates: Duplicates, sends: [Option<Sent>; 2], rows: &[Has]) -> (u64, Vec<(Kind, u64)>) {
    let config = DatasetConfig::named("pmu").unwrap();
    let config = config.with("corrected", serde_json::json!({ "share": 0.5, "after": "1s" }));
    let dataset = config.open(1, 0, DEVICES, Path::new(".")).unwrap();
    let index = (0..).find(|&index| dataset.twice().unwrap().is_of(1, index)).unwrap();
    let run = Run { device: 1, first: index, count: 1 };
    let (mut right, mut first) = (Batch::new(dataset.schema()), Batch::new(dataset.schema()));
    dataset.fill(run, &mut right);
    dataset.fill_uncorrected(run, &mut first);
    assert_eq!(right.timestamps_ns(), first.timestamps_ns());
    let mut stored = Stored::new();
    let number = |batch: &Batch, place| match batch.value(place, 0) {
        Some(Value::F32(value)) => value,
        other => panic!("{other:?}"),
    };
    for has in rows {
        stored.push(&right, 0, 1, right.timestamps_ns()[0], |place, value| {
            Some(match (has, place) {
                (Has::Right, _) | (Has::Mixed, 0) | (Has::OtherWay, 1..) => value,
                (Has::First | Has::Mixed | Has::OtherWay, _) => number(&first, place),
                (Has::Others, _) => value + 1_000.0,
            })
        });
    }
    let mut expected = ExpectedRows::new(Arc::clone(&dataset), exact());
    expected = expected.with_second_sends(second_sends(&dataset, duplicates));
    let [first, second] = sends;
    let corrected = Some(TwoSends { first, second });
    let segment = Segment { device: 1, indices: index..index + 1, fate: Fate::Acked, again: None, corrected };
    expected.begin([segment], TimeRange::ALL);
    let mut findings = Findings::default();
    let mut merge = Merge::new(&mut expected, &mut findings, how);
    stored.chunks.iter().for_each(|chunk| merge.take(chunk).unwrap());
    assert_eq!(merge.finish(), rows.len() as u64);
    let found = Kind::ALL.map(|kind| (kind, findings.count(kind)));
    (findings.right(), found.into_iter().filter(|&(_, count)| count > 0).collect())
}

#[test]
fn of_what_was_corrected_the_last_is_stored_or_the_first_or_both() {
    use Has::{First, Mixed, Others, Right};
    let of = |duplicates, rows: &[Has]| of_corrected(HOW, duplicates, ACKED, rows);
    let [corrupt, lost, alien, duplicate] =
        [Kind::Corrupt, Kind::Lost, Kind::Alien, Kind::Duplicate].map(|kind| vec![(kind, 1)]);
    for (rows, keep, overwrite, reject) in [
        (&[Right, First][..], (2, vec![]), (1, alien.clone()), (1, alien.clone())),
        (&[First, Right], (2, vec![]), (1, alien.clone()), (1, alien.clone())),
        (&[Right], (1, lost.clone()), (1, vec![]), (0, corrupt.clone())),
        (&[First], (1, lost.clone()), (0, corrupt.clone()), (1, vec![])),
        (&[Mixed], (0, [lost.clone(), corrupt.clone()].concat()), (0, corrupt.clone()), (0, corrupt.clone())),
        (&[Others], (0, [lost.clone(), corrupt.clone()].concat()), (0, corrupt.clone()), (0, corrupt.clone())),
        (&[Right, Right], (1, corrupt.clone()), (1, duplicate.clone()), (0, [corrupt.clone(), alien.clone()].concat())),
        (&[First, First], (1, corrupt.clone()), (0, [corrupt.clone(), alien.clone()].concat()), (1, duplicate.clone())),
        (&[Right, First, First], (2, duplicate.clone()), (1, vec![(Kind::Alien, 2)]), (1, [duplicate, alien].concat())),
    ] {
        assert_eq!(of(Duplicates::Keep, rows), keep, "{rows:?}");
        assert_eq!(of(Duplicates::Overwrite, rows), overwrite, "{rows:?}");
        assert_eq!(of(Duplicates::Reject, rows), reject, "{rows:?}");
    }
}

#[test]
fn where_it_is_not_known_which_came_last_either_is_right_and_nothing_else() {
    use Has::{First, Mixed, Others, Right};
    let [first, second] = ACKED;
    let unknown = |sent: Option<Sent>| sent.map(|sent| Sent { fate: Fate::Unknown, ..sent });
    let at_once = first.map(|sent| Sent { ended_ns: 8, ..sent });
    for sends in [[unknown(first), second], [first, unknown(second)], [at_once, second]] {
        let of = |rows: &[Has]| of_corrected(HOW, Duplicates::Overwrite, sends, rows);
        for has in [First, Right, Mixed] {
            assert_eq!(of(&[has]), (1, vec![]), "{sends:?} {has:?}");
        }
        assert_eq!(of(&[Others]), (0, vec![(Kind::Corrupt, 1)]), "{sends:?}");
        assert_eq!(of(&[]), (0, vec![(Kind::Lost, 1)]), "{sends:?}");
        assert_eq!(of(&[First, Right]), (1, vec![(Kind::Duplicate, 1)]), "{sends:?}");
    }
    let of = |rows: &[Has]| of_corrected(HOW, Duplicates::Overwrite, [unknown(first), unknown(second)], rows);
    assert_eq!(of(&[]), (0, vec![(Kind::UnknownAbsent, 1)]));
    assert_eq!(of(&[First]), (0, vec![(Kind::UnknownPresent, 1)]));
}

#[test]
fn a_correction_that_is_lost_where_that_may_be_is_a_loss() {
    let how = How { may_lose: true, ..HOW };
    assert_eq!(of_corrected(how, Duplicates::Overwrite, ACKED, &[Has::First]), (0, vec![(Kind::Lost, 1)]));
    assert_eq!(of_corrected(how, Duplicates::Reject, ACKED, &[Has::Right]), (0, vec![(Kind::Corrupt, 1)]));
}

/// Where each signal is stored by itself, and equal times are in no order.
#[test]
fn two_whose_values_come_back_exchanged_are_the_two_that_were_sent() {
    use Has::{First, Mixed, OtherWay, Right};
    let how = How { keeps_together: false, ..HOW };
    let of = |how, rows: &[Has]| of_corrected(how, Duplicates::Keep, ACKED, rows);
    assert_eq!(of(how, &[Mixed, OtherWay]), (2, vec![]));
    assert_eq!(of(HOW, &[Mixed, OtherWay]), (0, vec![(Kind::Corrupt, 2)]));
    assert_eq!(of(how, &[Mixed, Mixed]), (0, vec![(Kind::Corrupt, 2)]));
    assert_eq!(of(how, &[Right, First]), (2, vec![]));
    assert_eq!(of(how, &[Mixed]), (0, vec![(Kind::Lost, 1), (Kind::Corrupt, 1)]));
}
