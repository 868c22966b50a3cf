//! Histories of runs: a change of level is found where it is, and none where there is none.

use crate::simulated::series::{Noise, share};
use iotbench_statistics::{LevelChange, MIN_LEVEL, level_changes};

const RUNS: usize = 100;

/// The changes of a hundred runs with 2 % noise whose level rises by `by` at `at`.
fn found(noise: &mut Noise, at: usize, by: f64) -> Vec<LevelChange> {
    let level = |place| if place < at { 250.0 } else { 250.0 * (1.0 + by) };
    let figures: Vec<f64> = (0..RUNS).map(|place| level(place) * noise.log_normal(0.02)).collect();
    level_changes(&figures).unwrap()
}

#[test]
fn a_history_without_a_change_has_none() {
    let mut noise = Noise::with_seed(21);
    let alarms = share(1_000, |_| !found(&mut noise, RUNS, 0.0).is_empty());
    println!("false alarms {alarms}");
    assert!(alarms <= 0.05, "{alarms}");
}

/// Also where only the last five runs are of the new level: so soon it is seen.
#[test]
fn a_change_of_5_percent_is_found_within_five_runs_of_its_place() {
    for at in [MIN_LEVEL, 20, 50, 80, RUNS - MIN_LEVEL] {
        for by in [0.05, -0.05] {
            let mut noise = Noise::with_seed(22);
            let (mut more, mut covered) = (0, 0);
            let near = share(500, |_| {
                let changes = found(&mut noise, at, by);
                let near = changes.iter().find(|change| change.at.abs_diff(at) <= 5);
                more += usize::from(changes.len() > 1);
                covered += usize::from(near.is_some_and(|change| change.low <= by && by <= change.high));
                near.is_some()
            });
            println!("{by} at {at}: found in {near}, its size covered in {covered} of 500, more than one in {more}");
            assert!(near >= 0.95, "{by} at {at}: {near}");
            // Each of the two levels may raise a false alarm of its own.
            assert!(more <= 50, "{by} at {at}: {more}");
            assert!(covered >= 425, "{by} at {at}: {covered}");
        }
    }
}

#[test]
fn the_same_history_has_the_same_changes() {
    let twice = [31, 31].map(|seed| found(&mut Noise::with_seed(seed), 40, 0.05));
    assert_eq!(twice[0], twice[1]);
    assert_eq!(twice[0].len(), 1);
}
