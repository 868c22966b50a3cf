use super::*;
use crate::ledger::{Fates, Journal, LedgerStore, MemoryLedger};
use iotbench_core::Run;
use proptest::prelude::*;
use std::io::{self, Read};

const HEAD: &str = "head";

/// A ledger in memory whose bytes a test may change.
#[derive(Debug)]
struct Bytes(Vec<u8>);

impl LedgerStore for Bytes {
    fn append(&self, _bytes: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn read(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        Ok(Box::new(&self.0[..]))
    }
}

/// Operations in the order of their answers, handed over by several threads once a second.
fn written(operations: impl Iterator<Item = Run>, threads: usize, a_second: usize) -> (Ledger, usize) {
    let store = Arc::new(MemoryLedger::default());
    let mut journal = Journal::begin(store.clone(), &HEAD).unwrap();
    let mut slices: Vec<Fates> = (0..threads).map(|_| Fates::default()).collect();
    for (number, run) in operations.enumerate() {
        slices[number * 7919 % threads].note(Fate::Acked, [run]);
        if number % a_second == a_second - 1 {
            slices.iter_mut().for_each(|slice| journal.note(slice).unwrap());
            journal.flush().unwrap();
        }
    }
    slices.iter_mut().for_each(|slice| journal.note(slice).unwrap());
    journal.end().unwrap();
    let mut bytes = Vec::new();
    store.read().unwrap().read_to_end(&mut bytes).unwrap();
    (Ledger::new(store), bytes.len())
}

/// Each number once, in an order that is off by less than `window`: as answers come on so many connections.
fn answered(count: u64, window: u64) -> impl Iterator<Item = u64> {
    (0..count.div_ceil(window)).flat_map(move |block| {
        let within = (0..window).map(move |i| block * window + (i * 37 + block * 11) % window);
        within.filter(move |&number| number < count)
    })
}

const MILLION: u64 = 1_000_000;

/// Whether both come in one block or in two.
#[test]
fn what_was_sent_twice_is_told_twice() {
    for a_second in [1, 4] {
        let run = |first, count| Run { device: 1, first, count };
        let sent = [run(0, 6), run(2, 1), run(6, 4), run(4, 3)];
        let (ledger, _) = written(sent.into_iter(), 1, a_second);
        let summary = ledger.summary().unwrap();
        assert_eq!((summary.points, summary.ended), ([14, 0, 0], true), "{a_second}");
        let ranges = ledger.ranges(&|_| true, 100).unwrap().unwrap();
        let of = |ranges: &PointRanges| ranges.iter().collect::<Vec<_>>();
        assert_eq!(of(ranges.of(Fate::Acked)), [(1, 0..10)], "{a_second}");
        assert_eq!(of(ranges.again(Fate::Acked)), [(1, 2..3), (1, 4..7)], "{a_second}");
        assert!(ranges.again(Fate::Failed).is_empty());
    }
}

#[test]
fn what_was_sent_twice_and_dropped_on_purpose_is_told_so() {
    let store = Arc::new(MemoryLedger::default());
    let mut journal = Journal::begin(store.clone(), &HEAD).unwrap();
    let note = |journal: &mut Journal, runs: &[Run]| {
        let mut fates = Fates::default();
        fates.note(Fate::Acked, runs.iter().copied());
        journal.note(&mut fates).unwrap();
    };
    let run = |first, count| Run { device: 0, first, count };
    note(&mut journal, &[run(0, 5), run(1, 1)]);
    journal.dropping().unwrap();
    journal.dropped().unwrap();
    // The first send of 2 was dropped, and its second was not.
    note(&mut journal, &[run(5, 2), run(2, 1)]);
    journal.end().unwrap();
    let ranges = Ledger::new(store).ranges(&|_| true, 100).unwrap().unwrap();
    let of = |ranges: &PointRanges| ranges.iter().map(|(_, at)| (at.start, at.end)).collect::<Vec<_>>();
    assert_eq!((of(ranges.dropped()), of(ranges.dropped_again())), (vec![(0, 5)], vec![(1, 2)]));
    assert_eq!((of(ranges.of(Fate::Acked)), of(ranges.again(Fate::Acked))), (vec![(2, 3), (5, 7)], vec![]));
}

/// Whichever process told of them, and when.
#[test]
fn both_sends_of_a_corrected_datapoint_are_told_and_what_was_dropped_of_them() {
    let sent = |fate, sent_ns| Sent { fate, sent_ns, ended_ns: sent_ns + 5 };
    let send = |index, is_second, sent| CorrectedSend { device: 3, index, is_second, sent };
    let (acked, failed) = (|ns| sent(Fate::Acked, ns), |ns| sent(Fate::Failed, ns));
    let store = Arc::new(MemoryLedger::default());
    let mut journal = Journal::begin(store.clone(), &HEAD).unwrap();
    let note = |journal: &mut Journal, sends: &[CorrectedSend]| {
        let mut fates = Fates::default();
        sends.iter().for_each(|&send| fates.note_corrected(send));
        journal.note(&mut fates).unwrap();
    };
    note(&mut journal, &[send(7, false, acked(1)), send(8, false, failed(2)), send(9, false, acked(3))]);
    let of = |ledger: &Ledger, may_come_late| {
        let ranges = ledger.ranges(&|device| device == 3, 100).unwrap().unwrap();
        ranges.corrected(3, may_come_late).map(|(index, sends)| (index, sends.first, sends.second)).collect::<Vec<_>>()
    };
    let unknown = |ns| Some(sent(Fate::Unknown, ns));
    journal.dropping().unwrap();
    let ledger = Ledger::new(store);
    let in_doubt = [(7, unknown(1), None), (8, Some(failed(2)), None), (9, unknown(3), None)];
    assert_eq!(of(&ledger, false), in_doubt, "a run that was killed while it dropped");
    journal.dropped().unwrap();
    note(&mut journal, &[send(7, true, acked(20)), send(8, true, acked(21))]);
    journal.end().unwrap();
    let dropped = [(7, None, Some(acked(20))), (8, Some(failed(2)), Some(acked(21))), (9, None, None)];
    assert_eq!(of(&ledger, false), dropped);
    let late = [(7, unknown(1), Some(acked(20))), (8, Some(failed(2)), Some(acked(21))), (9, unknown(3), None)];
    assert_eq!(of(&ledger, true), late);
    assert!(ledger.ranges(&|_| true, 2).unwrap().is_none(), "more than are held");
    assert_eq!(ledger.ranges(&|device| device < 3, 100).unwrap().unwrap().corrected(3, true).count(), 0);
}

#[test]
fn a_million_single_inserts_take_at_most_two_bytes_each() {
    // One device, a thousand users who each have a device, and as many whose answers come in any order.
    let one = answered(MILLION, 64).map(|first| Run { device: 0, first, count: 1 });
    let user = |number: u64| Run { device: u32::try_from(number % 1000).unwrap(), first: number / 1000, count: 1 };
    let at_one_pace = answered(MILLION, 256).map(user);
    let mut sent = vec![0; 1000];
    let uneven = (0..MILLION).map(move |number| {
        let user = crate::schedule::mix(1, number) % 1000;
        let next = &mut sent[usize::try_from(user).unwrap()];
        *next += 1;
        Run { device: u32::try_from(user).unwrap(), first: *next - 1, count: 1 }
    });
    for (what, operations) in [
        ("one device", Box::new(one) as Box<dyn Iterator<Item = Run>>),
        ("users", Box::new(at_one_pace)),
        ("uneven", Box::new(uneven)),
    ] {
        let (ledger, bytes) = written(operations, 8, 5000);
        assert!(bytes as u64 <= 2 * MILLION, "{what}: {bytes} bytes");
        let summary = ledger.summary().unwrap();
        assert_eq!((summary.points, summary.ended), ([MILLION, 0, 0], true), "{what}");
        assert_eq!(ledger.acked().unwrap().len(), MILLION, "{what}: each once");
    }
}

#[test]
fn a_million_meters_take_at_most_two_bytes_each() {
    for (what, window, a_second) in [("in order", 1, 33_333), ("as answered", 4096, 33_333), ("few a second", 64, 100)]
    {
        let meters = answered(MILLION, window);
        let meters = meters.map(|device| Run { device: u32::try_from(device).unwrap(), first: 3, count: 1 });
        let (ledger, bytes) = written(meters, 4, a_second);
        assert!(bytes as u64 <= 2 * MILLION, "{what}: {bytes} bytes");
        let few = ledger.ranges(&|device| device % 100_000 == 7, 100).unwrap().unwrap();
        assert_eq!(few.of(Fate::Acked).iter().collect::<Vec<_>>().len(), 10, "{what}");
        assert!(ledger.ranges(&|_| true, 1000).unwrap().is_none(), "{what}: no more than was asked for");
    }
}

/// What waits to be written is that of a block, after a thousand operations as after a million.
#[test]
fn the_journal_takes_no_memory_that_grows() {
    #[derive(Debug)]
    struct Nowhere;
    impl LedgerStore for Nowhere {
        fn append(&self, _bytes: &[u8]) -> io::Result<()> {
            Ok(())
        }
        fn read(&self) -> io::Result<Box<dyn Read + Send + '_>> {
            Ok(Box::new(io::empty()))
        }
    }
    let mut journal = Journal::begin(Arc::new(Nowhere), &HEAD).unwrap();
    let mut fates = Fates::default();
    let mut most = 0;
    for number in 0..MILLION {
        // None joins another: each is a range of its own.
        let run = Run { device: u32::try_from(number % 5000).unwrap(), first: number * 2, count: 1 };
        fates.note(if number % 3 == 0 { Fate::Unknown } else { Fate::Acked }, [run]);
        if number % 1000 == 999 {
            journal.note(&mut fates).unwrap();
            most = most.max(journal.held_bytes());
            if number < 100_000 {
                continue;
            }
            assert!(journal.held_bytes() <= 8 << 20, "{} bytes after {number}", journal.held_bytes());
        }
    }
    assert!(most > 100_000, "it holds what waits: {most}");
}

fn small() -> Vec<u8> {
    let store = Arc::new(MemoryLedger::default());
    let mut journal = Journal::begin(store.clone(), &HEAD).unwrap();
    journal.follow(0).unwrap();
    journal.history(3, 10).unwrap();
    let mut fates = Fates::default();
    fates.note(Fate::Acked, [Run { device: 1, first: 10, count: 5 }, Run { device: 2, first: 10, count: 5 }]);
    fates.note(Fate::Failed, [Run { device: 1, first: 15, count: 1 }]);
    fates.note(Fate::Unknown, [Run { device: 1, first: 16, count: 2 }]);
    journal.note(&mut fates).unwrap();
    journal.end().unwrap();
    let mut bytes = Vec::new();
    store.read().unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn summary(bytes: Vec<u8>) -> Result<LedgerSummary, LedgerError> {
    Ledger::new(Arc::new(Bytes(bytes))).summary()
}

#[test]
fn all_fates_come_back() {
    let ledger = Ledger::new(Arc::new(Bytes(small())));
    let ranges = ledger.ranges(&|device| device == 1, 10).unwrap().unwrap();
    let of = |fate| ranges.of(fate).iter().collect::<Vec<_>>();
    assert_eq!(of(Fate::Acked), [(1, 10..15)]);
    assert_eq!(of(Fate::Failed), [(1, 15..16)]);
    assert_eq!(of(Fate::Unknown), [(1, 16..18)]);
    let LedgerSummary { points, history, reserved, ended } = ledger.summary().unwrap();
    assert_eq!((points, history, ended), ([10, 1, 2], Some((3, 10)), true));
    assert!(reserved >= 18);
}

/// Three datapoints acknowledged and one unknown, dropped, then two more acknowledged.
fn emptied() -> (Arc<MemoryLedger>, Journal) {
    let store = Arc::new(MemoryLedger::default());
    let mut journal = Journal::begin(store.clone(), &HEAD).unwrap();
    let mut fates = Fates::default();
    fates.note(Fate::Acked, [Run { device: 1, first: 0, count: 3 }]);
    fates.note(Fate::Unknown, [Run { device: 1, first: 3, count: 1 }]);
    journal.note(&mut fates).unwrap();
    journal.dropping().unwrap();
    journal.dropped().unwrap();
    fates.note(Fate::Acked, [Run { device: 1, first: 4, count: 2 }]);
    journal.note(&mut fates).unwrap();
    (store, journal)
}

#[test]
fn what_was_dropped_on_purpose_is_not_owed_any_more() {
    let (store, mut journal) = emptied();
    journal.end().unwrap();
    let ledger = Ledger::new(store);
    let ranges = ledger.ranges(&|_| true, 10).unwrap().unwrap();
    let listed = |ranges: &PointRanges| ranges.iter().collect::<Vec<_>>();
    assert_eq!(listed(ranges.of(Fate::Acked)), [(1, 4..6)]);
    assert_eq!(listed(ranges.of(Fate::Unknown)), [(1, 3..4)], "it may still land");
    assert_eq!(listed(ranges.dropped()), [(1, 0..3)]);
    assert_eq!(ledger.summary().unwrap().points, [5, 0, 1], "the sums are those of the whole run");
}

/// Killed while it drops: what was to be dropped may be there or not.
#[test]
fn what_is_being_dropped_is_unknown() {
    let (store, mut journal) = emptied();
    journal.dropping().unwrap();
    let ranges = Ledger::new(store).ranges(&|_| true, 10).unwrap().unwrap();
    assert_eq!(ranges.of(Fate::Acked).len(), 0);
    assert_eq!(ranges.of(Fate::Unknown).iter().collect::<Vec<_>>(), [(1, 3..6)]);
}

/// A process that is killed leaves the beginning of what it would have written.
#[test]
fn a_ledger_that_was_cut_off_is_one_that_has_not_ended() {
    let whole = small();
    let mut least = 0;
    for length in 10..whole.len() {
        match summary(whole[..length].to_vec()) {
            Ok(summary) => {
                assert!(!summary.ended, "{length} of {}", whole.len());
                assert!(summary.points[0] >= least, "what was there stays there");
                least = summary.points[0];
            }
            Err(error) => assert!(least == 0 && error.to_string().contains("no head"), "{length}: {error}"),
        }
    }
    assert_eq!(least, 10);
}

#[test]
fn another_file_and_another_version_are_told() {
    assert!(matches!(summary(b"PK\x03\x04 this is something else".to_vec()), Err(LedgerError::NoLedger)));
    assert!(matches!(summary(Vec::new()), Err(LedgerError::NoLedger)));
    let mut later = small();
    later[8] = 9;
    assert!(matches!(summary(later), Err(LedgerError::OtherVersion(9))));
}

proptest! {
    #[test]
    fn a_changed_byte_is_noticed(place in 10_usize..10_000, by in 1_u8..=255) {
        let mut bytes = small();
        let place = 10 + place % (bytes.len() - 10);
        bytes[place] = bytes[place].wrapping_add(by);
        let whole = summary(small()).unwrap();
        // A length that was changed can look as if the end were missing; then the run has not ended.
        if let Ok(found) = summary(bytes) {
            prop_assert!(!found.ended && whole.ended, "{:?}", found);
        }
    }
}

#[test]
fn what_a_caller_sends_itself_is_reserved_before() {
    let store = Arc::new(MemoryLedger::default());
    let mut journal = Journal::begin(store.clone(), &HEAD).unwrap();
    let run = |first, count| Run { device: 3, first, count };
    journal.sends(&[run(7, 2), run(5_000_000, 40), run(9, 1)]).unwrap();
    assert!(Ledger::new(store).summary().unwrap().reserved >= 5_000_040);
}

/// A ledger of one device whose runs were written block by block, so that they are joined only as they are read.
fn block_by_block(runs: &[(u64, u32)]) -> Ledger {
    let store = Arc::new(MemoryLedger::default());
    let mut journal = Journal::begin(store.clone(), &HEAD).unwrap();
    for &(first, count) in runs {
        let mut fates = Fates::default();
        fates.note(Fate::Acked, [Run { device: 0, first, count }]);
        journal.note(&mut fates).unwrap();
        journal.flush().unwrap();
    }
    Ledger::new(store)
}

#[test]
fn more_ranges_than_may_be_held_are_none_and_those_that_were_joined_do_not_count() {
    let is_held = |runs: &[(u64, u32)]| block_by_block(runs).ranges(&|_| true, 10).unwrap().is_some();
    let apart: Vec<_> = (0..11).map(|number| (10 * number, 1)).collect();
    assert!(is_held(&apart[..10]) && !is_held(&apart));
    // Five ranges, each of them twice as long by and by, and one longer still.
    let five: Vec<_> = (0..5).map(|n| (10 * n, 1)).chain((0..5).map(|n| (10 * n + 1, 1))).chain([(2, 1)]).collect();
    assert!(is_held(&five), "half of what may be held");
    let one: Vec<_> = (0..11).map(|first| (first, 1)).collect();
    assert!(is_held(&one));
}

#[test]
fn so_much_as_is_noted_at_once_is_written_and_in_blocks_that_can_be_read() {
    let store = Arc::new(MemoryLedger::default());
    let mut journal = Journal::begin(store.clone(), &HEAD).unwrap();
    let mut note = |ranges: usize, from: u64| {
        let mut fates = Fates::default();
        fates.note(Fate::Acked, (from..from + ranges as u64).map(|n| Run { device: 0, first: 2 * n, count: 1 }));
        journal.note(&mut fates).unwrap();
        Ledger::new(store.clone()).summary().unwrap().points[0]
    };
    let most = crate::ledger::MAX_RANGES;
    assert_eq!(note(most / 2 - 1, 0), 0, "it waits");
    assert_eq!(note(1, 1 << 20), most as u64 / 2);
    assert_eq!(note(2 * most + 5, 1 << 21), 2 * most as u64 + 5 + most as u64 / 2);
}

#[test]
fn blocks_stand_in_their_places() {
    let store = Arc::new(MemoryLedger::default());
    let mut journal = Journal::begin(store.clone(), &HEAD).unwrap();
    assert!(Ledger::new(store.clone()).head().unwrap_err().to_string().contains("its head: "), "it is another's");
    journal.end().unwrap();
    assert!(Ledger::new(store.clone()).summary().unwrap().ended);
    journal.history(1, 1).unwrap();
    assert!(Ledger::new(store.clone()).summary().is_err(), "nothing follows the end");
    let mut headless = crate::ledger::block::begin();
    crate::ledger::block::put(Kind::Reserved, &mut headless, |out| out.push(7));
    assert!(Ledger::new(Arc::new(Bytes(headless))).summary().is_err());
    assert_eq!(format!("{store:?}"), "MemoryLedger(..)");
}
