use super::*;
use crate::sample::Method;
use crate::summary::DiskFigures;

const MIB: u64 = 1 << 20;

fn tree(charged_bytes: u64, cancelled_bytes: u64) -> Summary {
    Summary {
        disk: DiskFigures {
            written_bytes: Some(charged_bytes),
            writes: Writes { cancelled_bytes: Some(cancelled_bytes), ..Writes::default() },
            ..DiskFigures::default()
        },
        ..Summary::unknown("server", Method { source: Source::ProcessTree, network: None })
    }
}

/// A machine whose devices took so much in the window and until all was written back, of which so much was made dirty;
/// `waiting` before the window, at its end, and after all.
fn machine(taken: [u64; 2], dirtied_bytes: u64, waiting: [u64; 3]) -> Summary {
    let [before, after, at_last] = waiting.map(Some);
    let with_write_back =
        WithWriteBack { written_bytes: Some(taken[1]), dirtied_bytes: Some(dirtied_bytes), dirty_after_bytes: at_last };
    Summary {
        disk: DiskFigures {
            read_bytes: None,
            written_bytes: Some(taken[0]),
            writes: Writes {
                cancelled_bytes: None,
                dirtied_bytes: Some(dirtied_bytes),
                dirty_before_bytes: before,
                dirty_after_bytes: after,
                with_write_back: Some(with_write_back),
            },
        },
        ..Summary::unknown("machine", Method { source: Source::Host, network: None })
    }
}

fn owed(subject: &Summary, machine: &Summary) -> Owed {
    Owed::of(subject, Some(machine), Medium::Device).unwrap()
}

#[test]
fn what_is_written_after_the_window_is_owed_by_it() {
    let deferred = owed(&tree(30 * MIB, 0), &machine([0, 31 * MIB], 30 * MIB, [0, 30 * MIB, 0]));
    assert_eq!(deferred, Owed { least_bytes: 30 * MIB, most_bytes: 30 * MIB, later_bytes: 30 * MIB });
    let at_once = owed(&tree(30 * MIB, 0), &machine([31 * MIB, 31 * MIB], 30 * MIB, [0, 0, 0]));
    assert_eq!(at_once, Owed { later_bytes: 0, ..deferred });
    assert_eq!(deferred.exact_bytes(), at_once.exact_bytes(), "who defers gains nothing");
}

/// 8 KiB and fdatasync, 500 times, into large folios: 1,000 MiB are charged and 5 MiB written.
#[test]
fn large_folios_are_not_what_was_written() {
    let all = owed(&tree(1_000 * MIB, 0), &machine([5 * MIB, 5 * MIB], 1_000 * MIB, [0, 0, 0]));
    assert_eq!(all.exact_bytes(), Some(5 * MIB));
}

#[test]
fn what_waited_before_and_what_others_wrote_may_be_anybodys() {
    let large = tree(1_000 * MIB, 0);
    let waited = owed(&large, &machine([5 * MIB, 5 * MIB], 1_000 * MIB, [2 * MIB, 0, 0]));
    assert_eq!((waited.least_bytes, waited.most_bytes, waited.exact_bytes()), (3 * MIB, 5 * MIB, None));
    let others = owed(&large, &machine([5 * MIB, 5 * MIB], 1_001 * MIB, [0, 0, 0]));
    assert_eq!((others.least_bytes, others.most_bytes), (3 * MIB, 5 * MIB));
    let waits_still = owed(&large, &machine([5 * MIB, 5 * MIB], 1_000 * MIB, [0, 7 * MIB, 4 * MIB]));
    assert_eq!((waits_still.least_bytes, waits_still.most_bytes), (5 * MIB, 9 * MIB), "it was not all written back");
}

#[test]
fn without_writing_back_what_still_waits_is_in_the_range() {
    let mut machine = machine([2 * MIB, 0], 30 * MIB, [0, 28 * MIB, 0]);
    machine.disk.writes.with_write_back = None;
    let range = owed(&tree(30 * MIB, 0), &machine);
    assert_eq!((range.least_bytes, range.most_bytes, range.exact_bytes()), (2 * MIB, 30 * MIB, None));
}

#[test]
fn what_was_truncated_is_not_owed_as_far_as_it_was_of_the_window() {
    let quiet = |before| machine([40 * MIB, 40 * MIB], 50 * MIB, [before, 0, 0]);
    assert_eq!(owed(&tree(50 * MIB, 20 * MIB), &quiet(0)).most_bytes, 30 * MIB);
    assert_eq!(owed(&tree(50 * MIB, 20 * MIB), &quiet(15 * MIB)).most_bytes, 40 * MIB);
}

#[test]
fn devices_tell_nothing_of_what_lies_elsewhere() {
    let (subject, machine) = (tree(30 * MIB, 0), machine([0, 0], 30 * MIB, [0, 0, 0]));
    let range = Owed { least_bytes: 0, most_bytes: 30 * MIB, later_bytes: 0 };
    assert_eq!(Owed::of(&subject, Some(&machine), Medium::Other), Some(range));
    assert_eq!(Owed::of(&Summary { elsewhere: true, ..subject.clone() }, Some(&machine), Medium::Device), Some(range));
    assert_eq!(Owed::of(&subject, None, Medium::Device), Some(range));
    let unreadable = Summary { disk: DiskFigures { written_bytes: None, ..subject.disk }, ..subject };
    assert_eq!(Owed::of(&unreadable, None, Medium::Device), None);
}

#[test]
fn nothing_is_exactly_nothing() {
    let nothing = owed(&tree(0, 0), &machine([9 * MIB, 9 * MIB], 9 * MIB, [MIB, MIB, MIB]));
    assert_eq!(nothing.exact_bytes(), Some(0));
}
