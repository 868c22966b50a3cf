//! Which questions each strategy puts, and what they cost.

use crate::machine::simulated::{AMPLITUDE, Machine, STUDY};
use iotbench_core::{Devices, Direction, Predicate, Query, TimeRange};
use iotbench_cycle_finder::{
    CycleSearch, HORIZON_S, Mark, Reason, SearchError, SearchSpec, Step, Strategy, WINDOW_BYTES,
};
use iotbench_simulator::DEFAULT_ORIGIN_NS;

const SECOND_NS: i64 = 1_000_000_000;

fn queries(machine: &Machine, strategy: Strategy, t_ns: i64) -> Vec<Query> {
    let (found, queries) = machine.store.search(&mut machine.search(strategy, t_ns));
    assert!(found.is_ok(), "{found:?}");
    queries
}

fn range(signals: &[u16], from_ns: i64, to_ns: i64) -> Query {
    let (devices, signals) = (Devices::Some(vec![0]), signals.to_vec());
    Query::Range { devices, signals, range: TimeRange::half_open(from_ns, to_ns) }
}

#[test]
fn individual_asks_for_five_marks_and_the_data() {
    let machine = Machine::new(STUDY, 4);
    let t_ns = machine.time_ns(2_000);
    let queries = queries(&machine, Strategy::Individual, t_ns);
    assert_eq!(queries.len(), 6);
    let nearest = |query: &Query| match query {
        Query::Nearest { device: 0, signal: 0, predicate, direction } => (*predicate, *direction),
        other => panic!("{other:?}"),
    };
    assert_eq!(nearest(&queries[0]), (Predicate::Above(AMPLITUDE / 2.0), Direction::FirstAfter(t_ns)));
    let (low, high) = (Predicate::Below(AMPLITUDE / 8.0), Predicate::Above(AMPLITUDE / 2.0));
    let (t2, t3, t5) = (nearest(&queries[1]), nearest(&queries[2]), nearest(&queries[4]));
    assert_eq!((t2.0, t3.0, t5.0), (low, high, low));
    // t2 looks back from t1, and t5 looks ahead from it.
    let (Direction::LastBefore(t1), Direction::FirstAfter(same)) = (t2.1, t5.1) else { panic!("{t2:?} {t5:?}") };
    assert_eq!(t1, same);
    assert!(matches!(&queries[3], Query::Minimum { device: 0, signal: 0, .. }));
    assert!(matches!(&queries[5], Query::Range { signals, .. } if *signals == [0, 1, 2, 3, 4]));
}

#[test]
fn bulk_reads_the_second_and_the_nearer_neighbour_once() {
    let machine = Machine::new(STUDY, 8);
    for milliseconds in 2_000..5_000 {
        let t_ns = DEFAULT_ORIGIN_NS + milliseconds * 1_000_000;
        let second_ns = t_ns - t_ns.rem_euclid(SECOND_NS);
        let from_ns = if milliseconds % 1_000 < 500 { second_ns - SECOND_NS } else { second_ns };
        let to_ns = from_ns + 2 * SECOND_NS;
        assert_eq!(queries(&machine, Strategy::Bulk, t_ns), [range(&[0, 1, 2, 3, 4], from_ns, to_ns)]);
        if milliseconds % 100 == 0 {
            let bulk1 = queries(&machine, Strategy::Bulk1, t_ns);
            let found = machine.store.search(&mut machine.search(Strategy::Bulk, t_ns)).0.unwrap();
            let cycle = range(&[1, 2, 3, 4], found.start_ns, found.end_ns);
            assert_eq!(bulk1, [range(&[0], from_ns, to_ns), cycle]);
        }
    }
}

#[test]
fn a_gap_widens_the_window_until_the_marks_are_in_it() {
    let mut machine = Machine::new(STUDY, 20);
    machine.store.0.drain(5_000..12_000);
    // 100 ms before the gap, whose end is needed for t5; and the gap itself is then in the way.
    let t_ns = machine.time_ns(4_900);
    let (found, queries) = machine.store.search(&mut machine.search(Strategy::Bulk, t_ns));
    assert_eq!(found, Err(Reason::Gap));
    assert_eq!(queries.len(), 4, "2, 4, 8 and 16 s from the second on");
}

#[test]
fn a_window_that_is_too_large_is_refused() {
    let machine = Machine::new(STUDY, 4);
    let mut search = machine.search(Strategy::Bulk, machine.time_ns(2_000));
    let rows: Vec<usize> = (0..4_000).collect();
    let chunk = machine.store.chunk(&rows, &[0, 1, 2, 3, 4]);
    let Step::Ask(query) = search.step() else { panic!("a search begins with a question") };
    for _ in 0..WINDOW_BYTES / (8 * 6 * 4_000) + 1 {
        search.take(&chunk);
    }
    search.answered(query);
    assert!(matches!(search.step(), Step::NotFound(Reason::TooMuchData)));
}

#[test]
fn a_search_without_sense_is_refused() {
    let spec = |signals: &[u16], abscissa, amplitude| SearchSpec {
        strategy: Strategy::Bulk,
        signals: signals.to_vec(),
        abscissa,
        amplitude,
    };
    for (spec, error) in [
        (spec(&[], 0, 1.0), SearchError::Signals),
        (spec(&[1, 2], 0, 1.0), SearchError::Signals),
        (spec(&[1, 0], 0, 1.0), SearchError::Signals),
        (spec(&[0, 0], 0, 1.0), SearchError::Signals),
        (spec(&[0], 0, 0.0), SearchError::Amplitude),
        (spec(&[0], 0, f64::NAN), SearchError::Amplitude),
        (spec(&[0], 0, f64::INFINITY), SearchError::Amplitude),
    ] {
        assert_eq!(CycleSearch::new(spec, 0, 0).err(), Some(error));
    }
}

#[test]
fn a_warm_search_allocates_nothing() {
    let machine = Machine::new(STUDY, 4);
    let rows: Vec<usize> = (0..4_000).collect();
    for (strategy, first, second) in
        [(Strategy::Bulk, [0, 1, 2, 3, 4].as_slice(), [].as_slice()), (Strategy::Bulk1, &[0], &[1, 2, 3, 4])]
    {
        let t_ns = machine.time_ns(2_000);
        let found = machine.store.search(&mut machine.search(strategy, t_ns)).0.unwrap();
        let window = machine.store.chunk(&rows, first);
        let cycle: Vec<usize> =
            (machine.index(found.start_ns) as usize..machine.index(found.end_ns) as usize).collect();
        let others = machine.store.chunk(&cycle, second);
        let mut search = machine.search(strategy, t_ns);
        let mut once = || {
            search.restart(0, t_ns);
            for chunk in [&window, &others] {
                match search.step() {
                    Step::Ask(query) => {
                        search.take(chunk);
                        search.answered(query);
                    }
                    Step::Found(_) | Step::NotFound(_) => {}
                }
            }
            assert!(matches!(search.step(), Step::Found(_)));
        };
        once();
        assert_eq!(allocation_counter::measure(once).count_total, 0, "{strategy}");
    }
}

/// The answer to the next question is one datapoint at this time.
fn answer(search: &mut CycleSearch, time_ns: i64) -> Option<Reason> {
    let Step::Ask(query) = search.step() else { panic!("a question") };
    let mut chunk = iotbench_core::Chunk::new([iotbench_core::ValueType::F64]);
    chunk.devices.push(0);
    chunk.timestamps_ns.push(time_ns);
    chunk.columns[0].push(Some(iotbench_core::Value::F64(1.0))).unwrap();
    search.take(&chunk);
    search.answered(query);
    match search.step() {
        Step::NotFound(reason) => Some(reason),
        _ => None,
    }
}

#[test]
fn a_mark_may_lie_as_far_away_as_the_horizon() {
    let horizon_ns = HORIZON_S * SECOND_NS;
    for (away_ns, found) in [
        (horizon_ns, None),
        (horizon_ns + 1, Some(Reason::Standstill)),
        (-horizon_ns, None),
        (-horizon_ns - 1, Some(Reason::Standstill)),
    ] {
        let spec = SearchSpec { strategy: Strategy::Individual, signals: vec![0], abscissa: 0, amplitude: 1.0 };
        let mut search = CycleSearch::new(spec, 0, 1_000 * SECOND_NS).unwrap();
        assert_eq!(answer(&mut search, 1_000 * SECOND_NS + away_ns), found, "{away_ns}");
    }
}

/// What a search asks for that is answered with nothing but datapoints that tell no mark, and what it says at the end.
fn widened(t_ns: i64, stored: impl Fn(TimeRange) -> Vec<(i64, f64)>) -> (Vec<(i64, i64)>, Reason) {
    let spec = SearchSpec { strategy: Strategy::Bulk, signals: vec![0], abscissa: 0, amplitude: 8.0 };
    let (mut search, mut asked) = (CycleSearch::new(spec, 0, t_ns).unwrap(), Vec::new());
    loop {
        let query = match search.step() {
            Step::Ask(query) => query,
            Step::NotFound(reason) => return (asked, reason),
            Step::Found(cycle) => panic!("{cycle:?}"),
        };
        let Query::Range { range, .. } = &query else { panic!("{query:?}") };
        let (std::ops::Bound::Included(from), std::ops::Bound::Excluded(to)) = (range.from, range.to) else {
            panic!("{range:?}")
        };
        asked.push((from / SECOND_NS, to / SECOND_NS));
        let mut chunk = iotbench_core::Chunk::new([iotbench_core::ValueType::F64]);
        for (time_ns, value) in stored(*range) {
            chunk.devices.push(0);
            chunk.timestamps_ns.push(time_ns);
            chunk.columns[0].push(Some(iotbench_core::Value::F64(value))).unwrap();
        }
        search.take(&chunk);
        search.answered(query);
    }
}

/// The window doubles on the side where a mark is missing, up to the horizon. What is stored up to its end stands still; else the
/// data end there.
#[test]
fn a_window_is_widened_up_to_the_horizon_on_the_side_that_lacks_a_mark() {
    let (t_ns, second) = (1_000 * SECOND_NS, 1_000);
    let each_second = |range: TimeRange, value: fn(i64) -> f64, from: i64, to: i64| {
        (from..to).filter(|s| range.contains(s * SECOND_NS)).map(|s| (s * SECOND_NS, value(s))).collect()
    };
    let ahead: Vec<(i64, i64)> = [1, 2, 4, 8, 16, 32, 64].map(|s| (second - 1, second + s)).into();
    // Nothing rises above half: t1 is missing.
    let (asked, reason) = widened(t_ns, |range| each_second(range, |_| 0.0, 0, 2_000));
    assert_eq!((asked, reason), (ahead.clone(), Reason::Standstill));
    let (asked, reason) = widened(t_ns, |range| each_second(range, |_| 0.0, 0, second + 63));
    assert_eq!((asked, reason), (ahead, Reason::EdgeOfData(Mark::T1)), "nothing is stored in the last second");
    let (_, reason) = widened(t_ns, |range| each_second(range, |_| 0.0, 0, second + 64));
    assert_eq!(reason, Reason::Standstill);
    // It is high from t on and before it too: t2 is missing.
    let (asked, reason) = widened(t_ns + 1, |range| {
        let mut rows: Vec<(i64, f64)> = each_second(range, |_| 8.0, 0, second + 1);
        rows.push((second * SECOND_NS + 2, 8.0));
        rows
    });
    let back: Vec<(i64, i64)> = [1, 2, 4, 8, 16, 32, 64].map(|s| (second - s, second + 1)).into();
    assert_eq!((asked, reason), (back.clone(), Reason::Standstill));
    for (first, expected) in [(second - 64, Reason::Standstill), (second - 63, Reason::EdgeOfData(Mark::T2))] {
        let (asked, reason) = widened(t_ns + 1, |range| {
            let mut rows: Vec<(i64, f64)> = each_second(range, |_| 8.0, first, second + 1);
            rows.push((second * SECOND_NS + 2, 8.0));
            rows
        });
        assert_eq!((asked, reason), (back.clone(), expected), "{first}");
    }
}

/// The channels in another order, so that two come before the abscissa.
#[test]
fn the_abscissa_may_be_any_of_the_channels() {
    let mut machine = Machine::new(STUDY, 4);
    let t_ns = machine.time_ns(2_000);
    let first = machine.store.search(&mut machine.search(Strategy::Bulk, t_ns)).0.unwrap();
    machine.store.0.iter_mut().for_each(|row| row.values.rotate_right(2));
    let mut sums = first.sums.clone();
    sums.rotate_right(2);
    for strategy in Strategy::ALL {
        let spec = SearchSpec { strategy, signals: vec![0, 1, 2, 3, 4], abscissa: 2, amplitude: AMPLITUDE };
        let found = machine.store.search(&mut CycleSearch::new(spec, 0, t_ns).unwrap()).0.unwrap();
        assert_eq!((found.start_ns, found.end_ns, found.points), (first.start_ns, first.end_ns, first.points));
        let near = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-6;
        assert!(found.sums.len() == 5 && found.sums.iter().zip(&sums).all(near), "{strategy}: {found:?} {sums:?}");
    }
}
