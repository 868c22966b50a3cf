//! Data without a fault: what is found is true, and all strategies find it.

use crate::machine::simulated::{Machine, settings};
use iotbench_cycle_finder::Reason;
use proptest::prelude::*;

const SECONDS: u32 = 8;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_time_with_a_whole_cycle_on_either_side_finds_the_true_cycle(
        settings in settings(), share in 0.0..1.0, after_ns in 0_i64..1_000_000
    ) {
        let machine = Machine::new(settings, SECONDS);
        // The first cycle may begin before the data; the last ones are needed to go on.
        let last = machine.cycles.number_at(0, u64::from(SECONDS) * 1000 - 1);
        let (from, to) = (machine.cycles.cycle(0, 2).start, machine.cycles.cycle(0, last - 2).end);
        let t_ns = machine.time_ns(from + (share * (to - from) as f64) as i64) + after_ns;
        let found = machine.answer(t_ns)?;
        prop_assert!(found.is_ok(), "{:?}", found);
        machine.is_true(machine.number(t_ns), &found.unwrap())?;
    }

    #[test]
    fn any_time_at_all_finds_the_true_cycle_or_the_edge(
        settings in settings(), index in 0_i64..8_000, early in prop::bool::ANY
    ) {
        let machine = Machine::new(settings, SECONDS);
        // The edges are what is looked for.
        let near = index / 8;
        let t_ns = machine.time_ns(if early { near } else { 7_999 - near });
        match machine.answer(t_ns)? {
            Ok(found) => machine.is_true(machine.number(t_ns), &found)?,
            Err(reason) => prop_assert!(matches!(reason, Reason::EdgeOfData(_)), "{:?}", reason),
        }
    }

    #[test]
    fn outside_of_the_data_there_is_nothing(settings in settings(), away_ns in 1_i64..200_000_000_000) {
        let machine = Machine::new(settings, 2);
        for t_ns in [machine.time_ns(0) - away_ns, machine.time_ns(2_000) + away_ns] {
            let found = machine.answer(t_ns)?;
            prop_assert!(matches!(found, Err(Reason::EdgeOfData(_) | Reason::Standstill)), "{:?}", found);
        }
    }

    #[test]
    fn times_at_the_ends_of_the_calendar_are_no_fault(seed: u64, near in 0_i64..3_000_000_000) {
        let machine = Machine::new(crate::machine::simulated::Settings { seed, ..crate::machine::simulated::STUDY }, 1);
        for t_ns in [i64::MIN + near, i64::MAX - near] {
            prop_assert!(machine.answer(t_ns)?.is_err());
        }
    }
}

#[test]
fn every_millisecond_of_a_second_finds_the_cycle_it_lies_in() {
    let machine = Machine::new(crate::machine::simulated::STUDY, 4);
    for index in 1_000..2_000 {
        let t_ns = machine.time_ns(index);
        let found = machine.answer(t_ns).unwrap().unwrap();
        machine.is_true(machine.number(t_ns), &found).unwrap();
    }
}
