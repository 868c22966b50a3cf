//! Data with a fault: what is found is still true, and what is not found has a reason.

use crate::machine::{
    simulated::{AMPLITUDE, Machine, STUDY, Settings, settings},
    store::{Found, Row},
};
use iotbench_cycle_finder::{Reason, Strategy};
use proptest::prelude::*;

/// A random stream that looks like the simulator's noise: within ±3.4642, standard deviation 1.
fn noise(seed: u64, index: u64) -> f64 {
    let mut x = seed ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    let sum: f64 = (0..4).map(|part| ((x >> (16 * part)) & 0xffff) as f64 / 65_536.0).sum();
    (sum - 2.0) * 3.0_f64.sqrt()
}

fn twelve_bits(value: f64) -> f64 {
    value.round().clamp(0.0, AMPLITUDE)
}

/// A time in the middle of 8 s of data, and the number of its cycle.
fn somewhere(machine: &Machine, share: f64) -> (i64, i64) {
    let t_ns = machine.time_ns(3_000 + (share * 1_000.0) as i64);
    (t_ns, machine.number(t_ns))
}

/// That a cycle was found where there is a true one, within what this noise may move its ends.
fn is_near_a_true_one(machine: &Machine, noise: f64, found: &Found) -> Result<(), TestCaseError> {
    let (start, end) = (machine.index(found.start_ns), machine.index(found.end_ns));
    let cycle = machine.cycles.cycle(0, machine.cycles.number_at(0, u64::midpoint(start as u64, end as u64)));
    let late = machine.late(noise, cycle.end - cycle.start) + 1;
    prop_assert!((start - cycle.start).abs() <= late, "start {start} of {cycle:?}, late {late}");
    prop_assert!((end - cycle.end).abs() <= late, "end {end} of {cycle:?}, late {late}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn one_lost_datapoint_of_the_cycle_is_a_gap(settings in settings(), share in 0.0..1.0, which in 0.0..1.0) {
        let mut machine = Machine::new(settings, 8);
        let (t_ns, number) = somewhere(&machine, share);
        let cycle = machine.cycles.cycle(0, number);
        let lost = cycle.start + (which * (cycle.end - cycle.start) as f64) as i64;
        machine.store.0.remove(lost as usize);
        // Where it is the datapoint before the time of the search that is lost, another cycle may be meant.
        match machine.answer(t_ns)? {
            Ok(found) => {
                prop_assert!(machine.index(found.start_ns) > lost, "{:?} holds {lost}", found);
                machine.is_true(number + 1, &found)?;
            }
            Err(reason) => prop_assert_eq!(reason, Reason::Gap),
        }
    }

    #[test]
    fn no_gap_makes_a_wrong_cycle(
        settings in settings(), share in 0.0..1.0, from in 2_000_usize..5_000, lost in 1_usize..3_000
    ) {
        let mut machine = Machine::new(settings, 8);
        let (t_ns, _) = somewhere(&machine, share);
        machine.store.0.drain(from..from + lost);
        match machine.answer(t_ns)? {
            Ok(found) => {
                let number = machine.cycles.number_at(0, machine.index(found.end_ns) as u64 - 1);
                machine.is_true(number, &found)?;
            }
            Err(reason) => prop_assert!(matches!(reason, Reason::Gap | Reason::Noise), "{:?}", reason),
        }
    }

    #[test]
    fn random_losses_make_no_wrong_cycle(settings in settings(), share in 0.0..1.0, lost in 0.0..0.2) {
        let mut machine = Machine::new(Settings { jitter_us: 100, ..settings }, 8);
        let (t_ns, _) = somewhere(&machine, share);
        let mut index = 0;
        machine.store.0.retain(|_| {
            index += 1;
            (noise(settings.seed, index) + 3.4642) / 6.9284 > lost
        });
        if let Ok(found) = machine.answer(t_ns)? {
            machine.sums_are_the_simulators(&found)?;
        }
    }

    #[test]
    fn a_machine_that_stops_in_the_cycle_is_a_standstill(
        settings in settings(), share in 0.0..1.0, at in 0.02..0.98, quiet in prop::bool::ANY, doubled in -1.0..4.3_f64
    ) {
        let mut machine = Machine::new(Settings { noise: if quiet { 0.005 } else { settings.noise }, ..settings }, 8);
        let (_, number) = somewhere(&machine, share);
        let cycle = machine.cycles.cycle(0, number);
        let length = (cycle.end - cycle.start) as f64;
        let stop = (cycle.start as f64 + at * length) as usize;
        stop_at(&mut machine, stop, (doubled.exp2() * length).ceil() as usize, at);
        match machine.answer(machine.time_ns(stop as i64 + 1))? {
            // Strong noise hides a short standstill.
            Ok(found) => {
                let found_length = (machine.index(found.end_ns) - machine.index(found.start_ns)) as f64;
                prop_assert!(!quiet && found_length < 3.5 * length, "{} of {}", found_length, length);
            }
            Err(reason) => prop_assert!(matches!(reason, Reason::Standstill | Reason::EdgeOfData(_)), "{:?}", reason),
        }
    }

    #[test]
    fn a_machine_that_stopped_for_good_is_a_standstill_or_an_edge(settings in settings(), at in 0.0..1.0, share in 0.0..1.0) {
        let mut machine = Machine::new(settings, 8);
        let (_, number) = somewhere(&machine, share);
        let cycle = machine.cycles.cycle(0, number);
        let stop = (cycle.start as f64 + at * (cycle.end - cycle.start) as f64) as usize;
        stop_at(&mut machine, stop, 10_000, at);
        for later in [1, 500, 1_500] {
            let found = machine.answer(machine.time_ns((stop + later) as i64))?;
            prop_assert!(matches!(found, Err(Reason::Standstill | Reason::EdgeOfData(_))), "{:?}", found);
        }
    }

    #[test]
    fn no_noise_makes_a_wrong_cycle(settings in settings(), share in 0.0..1.0, more in 0.0..0.6) {
        let mut machine = Machine::new(settings, 8);
        for (index, row) in machine.store.0.iter_mut().enumerate() {
            row.values[0] = row.values[0].map(|v| twelve_bits(v + more * AMPLITUDE * noise(settings.seed, index as u64)));
        }
        let (t_ns, _) = somewhere(&machine, share);
        match machine.answer(t_ns)? {
            Ok(found) => {
                prop_assert!(more < 0.15, "found in noise of {more}: {found:?}");
                is_near_a_true_one(&machine, settings.noise + more, &found)?;
            }
            Err(reason) => {
                prop_assert_eq!(reason, Reason::Noise);
                prop_assert!(more > 0.005, "not found in noise of {more}");
            }
        }
    }

    #[test]
    fn nothing_but_noise_holds_no_cycle(seed: u64, height in 0.3..3.0) {
        let mut machine = Machine::new(Settings { seed, ..STUDY }, 8);
        for (index, row) in machine.store.0.iter_mut().enumerate() {
            row.values[0] = Some(twelve_bits(AMPLITUDE * (0.5 + height * noise(seed, index as u64))));
        }
        for t in 3_000..3_020 {
            prop_assert_eq!(machine.answer(machine.time_ns(t))?, Err(Reason::Noise));
        }
    }
}

/// The machine stands still from a datapoint on, for so long, with the noise that it has; then it goes on.
fn stop_at(machine: &mut Machine, stop: usize, long: usize, at: f64) {
    let (settings, count) = (machine.settings, machine.store.0.len());
    let moved: Vec<Vec<Option<f64>>> = (0..count)
        .map(|index| {
            let from = if index < stop { index } else { index.saturating_sub(long).max(stop) };
            let mut values = machine.store.0[from].values.clone();
            if (stop..stop + long).contains(&index) {
                let moving = AMPLITUDE * (at + settings.noise * noise(settings.seed, index as u64));
                values[0] = Some(twelve_bits(moving));
            }
            values
        })
        .collect();
    machine.store.0.iter_mut().zip(moved).for_each(|(row, values)| row.values = values);
}

#[test]
fn another_amplitude_is_no_clear_rise() {
    let mut machine = Machine::new(STUDY, 4);
    for row in &mut machine.store.0 {
        row.values[0] = row.values[0].map(|v| v * 0.7);
    }
    assert_eq!(machine.answer(machine.time_ns(2_000)).unwrap(), Err(Reason::Noise));
}

#[test]
fn a_missing_value_of_any_channel_is_a_gap() {
    for channel in 0..5 {
        let mut machine = Machine::new(STUDY, 4);
        let t_ns = machine.time_ns(2_000);
        let inside = machine.cycles.cycle(0, machine.number(t_ns)).start as usize + 60;
        machine.store.0[inside].values[channel] = None;
        for strategy in Strategy::ALL {
            let found = machine.store.search(&mut machine.search(strategy, t_ns)).0;
            assert_eq!(found, Err(Reason::Gap), "{strategy}, channel {channel}");
        }
    }
}

#[test]
fn a_datapoint_that_is_stored_twice_is_named() {
    let mut machine = Machine::new(STUDY, 4);
    let t_ns = machine.time_ns(2_000);
    let inside = machine.cycles.cycle(0, machine.number(t_ns)).start as usize + 60;
    let twice: Row = machine.store.0[inside].clone();
    machine.store.0.insert(inside, twice);
    assert_eq!(machine.answer(t_ns).unwrap(), Err(Reason::Repeated));
}
