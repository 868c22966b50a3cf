//! Comparisons find what there is and nothing else, with the functions that `iotbench compare` calls.

use crate::simulated::series::{Noise, share};
use iotbench_statistics::{Direction, Judged, Sides, Test, difference, interleaved, judge_family, noise_floor};

const COMPARISONS: u32 = 4_000;
const METRICS: usize = 10;
const RUNS: usize = 10;
/// The noise from run to run.
const NOISE: f64 = 0.02;
const THRESHOLD: f64 = 0.03;

type Arranged = fn(Vec<f64>, Vec<f64>) -> Sides;

const APART: Arranged = |base, new| Sides::Apart { base, new };
const PAIRS: Arranged = |base, new| Sides::Pairs(base.into_iter().zip(new).map(|(base, new)| [base, new]).collect());

/// Ten metrics of two sides, the first of which is slower by so much on the new one.
fn family(noise: &mut Noise, arranged: Arranged, slower: f64) -> Vec<Test> {
    let mut side = |mean: f64| (0..RUNS).map(|_| mean * noise.log_normal(NOISE)).collect::<Vec<f64>>();
    let mut test = |metric: usize| {
        let by = if metric == 0 { slower } else { 0.0 };
        Test {
            sides: arranged(side(300.0), side(300.0 * (1.0 + by))),
            direction: Direction::LessIsBetter,
            is_gated: true,
        }
    };
    (0..METRICS).map(&mut test).collect()
}

/// Without a threshold, so that only the method keeps alarms rare; of either direction.
#[test]
fn of_ten_equal_metrics_one_is_believed_to_differ_in_at_most_6_percent_of_the_families() {
    for (name, arranged) in [("apart", APART), ("in pairs", PAIRS)] {
        let mut noise = Noise::with_seed(11);
        let (mut alone, mut gated) = (0, 0);
        let alarms = share(COMPARISONS, |_| {
            let judged = judge_family(&family(&mut noise, arranged, 0.0), 0.0);
            alone += u32::from(judged.iter().any(|j| j.difference.unwrap().p_value <= 0.05));
            gated += u32::from(judged.iter().any(|j| j.is_regression));
            judged.iter().any(|j| j.p_holm.unwrap() <= 0.05)
        });
        println!("{name}: {alarms} of the families, {alone} without Holm, {gated} regressions");
        assert!(alarms <= 0.06, "{name}: {alarms}");
        assert!(f64::from(gated) <= 0.06 * f64::from(COMPARISONS), "{name}: {gated}");
        assert!(alone > COMPARISONS / 3, "{name}: without the method a third of them are: {alone}");
    }
}

#[test]
fn a_slow_down_of_5_percent_among_ten_metrics_is_found_by_ten_runs_a_side() {
    for (name, arranged) in [("apart", APART), ("in pairs", PAIRS)] {
        let mut noise = Noise::with_seed(12);
        let mut others = 0;
        let found = share(COMPARISONS, |_| {
            let judged: Vec<Judged> = judge_family(&family(&mut noise, arranged, 0.05), THRESHOLD);
            others += judged.iter().skip(1).filter(|j| j.is_regression).count();
            judged[0].is_regression
        });
        println!("{name}: found in {found}, {others} false alarms of the nine others");
        assert!(found >= 0.9, "{name}: {found}");
        assert!(others <= 6 * COMPARISONS as usize / 100, "{name}: {others}");
    }
}

#[test]
fn the_interval_of_a_ratio_covers_95_percent() {
    for (name, arranged) in [("apart", APART), ("in pairs", PAIRS)] {
        for count in [5, 10, 20] {
            let mut noise = Noise::with_seed(13);
            let mut covered = |draw: fn(&mut Noise) -> f64| {
                share(2_000, |_| {
                    let mut side = |mean: f64| (0..count).map(|_| mean * draw(&mut noise)).collect::<Vec<f64>>();
                    let found = difference(&arranged(side(40.0), side(44.0))).unwrap();
                    found.low <= 0.1 && 0.1 <= found.high
                })
            };
            let (even, crooked) = (covered(|n| 1.0 + 0.1 * n.normal()), covered(|n| n.log_normal(0.3)));
            println!("{name}, n = {count}: {even} of normal, {crooked} of log-normal");
            assert!((0.93..=0.97).contains(&even), "{name}, {count}: {even}");
            assert!((0.93..=0.97).contains(&crooked), "{name}, {count}: {crooked}");
        }
    }
}

/// One side after the other takes the machine's drift for a difference: pairs in a random order do not.
#[test]
fn on_a_drifting_machine_only_pairs_are_to_be_believed() {
    let mut noise = Noise::with_seed(14);
    let mut blocked = 0;
    let alarms = share(COMPARISONS, |seed| {
        let drift: Vec<f64> = noise.with_memory(0.97, 2 * RUNS).iter().map(|v| 100.0 * (0.02 * v).exp()).collect();
        let (base, new) = drift.split_at(RUNS);
        blocked += u32::from(difference(&APART(base.into(), new.into())).unwrap().p_value <= 0.05);
        let order = interleaved(2, RUNS, seed);
        let place = |pair: usize, side: usize| drift[2 * pair + usize::from(order[2 * pair] != side)];
        let pairs = (0..RUNS).map(|pair| [place(pair, 0), place(pair, 1)]).collect();
        difference(&Sides::Pairs(pairs)).unwrap().p_value <= 0.05
    });
    println!("in pairs {alarms}, one after the other {}", f64::from(blocked) / f64::from(COMPARISONS));
    assert!(alarms <= 0.06, "{alarms}");
    assert!(blocked > COMPARISONS / 4, "what the pairs are for: {blocked}");
}

/// 95 % of the differences of two means of ten are below 1.96 √(2 / 10) of the noise.
#[test]
fn the_noise_floor_is_that_of_theory() {
    let mut noise = Noise::with_seed(15);
    let mut floors = (0.0, 0.0);
    for seed in 0..200 {
        let figures: Vec<f64> = (0..2 * RUNS).map(|_| noise.log_normal(NOISE)).collect();
        let found = noise_floor(&figures, 0.0, seed).unwrap();
        floors = (floors.0 + found.floor / 200.0, floors.1 + found.alarms / 200.0);
    }
    let theory = 1.96 * NOISE * (2.0 / RUNS as f64).sqrt();
    println!("floor {} and in theory {theory}, alarms {}", floors.0, floors.1);
    assert!((floors.0 / theory - 1.0).abs() < 0.05, "{} instead of {theory}", floors.0);
    assert!((0.03..0.07).contains(&floors.1), "{}", floors.1);
}
