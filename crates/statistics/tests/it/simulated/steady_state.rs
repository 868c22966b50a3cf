//! Warm-up, drift and jumps are found where they are, and hardly ever where they are not.

use crate::simulated::series::{Noise, share};
use iotbench_statistics::{Judgement, State, judge};
use proptest::prelude::*;

const EXPERIMENTS: u32 = 500;

/// 300 seconds around 100 with so much noise, of which so much is remembered.
fn windows(noise: &mut Noise, deviation: f64, memory: f64, level: impl Fn(f64) -> f64) -> Vec<f64> {
    let noise = noise.with_memory(memory, 300);
    noise.iter().enumerate().map(|(second, noise)| 100.0 * level(second as f64) * (1.0 + deviation * noise)).collect()
}

/// The share of experiments that end in such a state.
fn found(deviation: f64, memory: f64, level: impl Fn(f64) -> f64, is_it: impl Fn(&Judgement) -> bool) -> f64 {
    let mut noise = Noise::with_seed(11);
    share(EXPERIMENTS, |_| is_it(&judge(&windows(&mut noise, deviation, memory, &level)).unwrap()))
}

#[test]
fn a_warm_up_is_cut_and_hardly_any_of_it_is_left_in_the_mean() {
    for (length, least_steady) in [(5.0, 0.95), (15.0, 0.95), (30.0, 0.85)] {
        let mut noise = Noise::with_seed(12);
        let (mut raw, mut kept, mut steady) = (0.0, 0.0, 0);
        for _ in 0..EXPERIMENTS {
            let windows = windows(&mut noise, 0.05, 0.0, |second| 1.0 + 0.6 * (-second / length).exp());
            let judgement = judge(&windows).unwrap();
            raw += windows.iter().sum::<f64>() / 300.0;
            kept += judgement.mean;
            steady += u32::from(judgement.is_steady());
        }
        let bias = |sum: f64| sum / f64::from(EXPERIMENTS) / 100.0 - 1.0;
        println!(
            "warm-up of {length} s: bias {:.4} becomes {:.4}, {steady} of {EXPERIMENTS} steady",
            bias(raw),
            bias(kept)
        );
        assert!(bias(kept).abs() <= 0.005, "{length}: {}", bias(kept));
        assert!(f64::from(steady) >= least_steady * f64::from(EXPERIMENTS), "{length}: {steady}");
        assert!(bias(raw) > 2.0 * bias(kept).abs(), "the warm-up must matter: {}", bias(raw));
    }
}

#[test]
fn a_flat_series_is_steady() {
    for (deviation, memory) in [(0.0, 0.0), (0.001, 0.0), (0.05, 0.0), (0.3, 0.0), (0.05, 0.5), (0.05, 0.8)] {
        let flagged = found(deviation, memory, |_| 1.0, |judgement| !judgement.is_steady());
        println!("flat, deviation {deviation}, memory {memory}: {flagged} flagged");
        assert!(flagged <= 0.05, "{deviation}, {memory}: {flagged}");
    }
}

#[test]
fn a_drift_of_a_tenth_is_named() {
    for (deviation, memory, least_named) in [(0.01, 0.0, 0.95), (0.05, 0.0, 0.95), (0.02, 0.5, 0.95), (0.05, 0.5, 0.6)]
    {
        let flagged = found(deviation, memory, |s| 1.0 - 0.1 * s / 300.0, |judgement| !judgement.is_steady());
        let named = found(
            deviation,
            memory,
            |s| 1.0 - 0.1 * s / 300.0,
            |judgement| matches!(judgement.state, State::Drifting { change } if (-0.16..-0.04).contains(&change)),
        );
        println!("drift, deviation {deviation}, memory {memory}: {flagged} flagged, {named} named");
        assert!(flagged >= 0.95, "{deviation}, {memory}: {flagged}");
        assert!(named >= least_named, "{deviation}, {memory}: {named} named");
    }
}

#[test]
fn a_jump_is_named_with_its_second() {
    for at in [200.0, 250.0] {
        let named = found(
            0.05,
            0.0,
            |s| if s < at { 1.0 } else { 0.9 },
            |judgement| {
                matches!(judgement.state, State::Jumped { at: found, change }
                if (found as f64 - at).abs() <= 10.0 && (-0.13..-0.07).contains(&change))
            },
        );
        println!("jump at {at}: {named}");
        assert!(named >= 0.9, "{at}: {named}");
    }
}

/// Its first level was no steady state: nothing at its time could tell it from a warm-up.
#[test]
fn a_jump_within_the_first_half_is_cut_as_a_warm_up() {
    let cut = found(
        0.05,
        0.0,
        |s| if s < 130.0 { 1.0 } else { 0.9 },
        |judgement| judgement.is_steady() && judgement.cut.abs_diff(130) <= 15 && (judgement.mean - 90.0).abs() < 1.5,
    );
    println!("jump at 130: {cut} cut");
    assert!(cut >= 0.9, "{cut}");
}

#[test]
fn a_warm_up_longer_than_half_is_never_steady() {
    let flagged = found(0.02, 0.0, |s| 1.0 + 0.6 * (-s / 300.0).exp(), |judgement| !judgement.is_steady());
    assert!(flagged >= 0.99, "{flagged}");
}

/// Compactions stop a database for some seconds now and then: that is its steady state.
#[test]
fn stalls_now_and_then_are_no_warm_up_and_no_drift() {
    let stall = |s: f64| if (s - 37.0) % 60.0 == 0.0 { 0.1 } else { 1.0 };
    let steady = found(0.05, 0.0, stall, |judgement| judgement.is_steady() && judgement.cut == 0);
    assert!(steady >= 0.9, "{steady}");
}

#[test]
fn fewer_than_100_windows_are_not_judged() {
    assert_eq!(judge(&[1.0; 99]), None);
    let judgement = judge(&[1.0; 100]).unwrap();
    assert_eq!((judgement.cut, judgement.state), (0, State::Steady));
}

proptest! {
    /// Whatever comes, nothing panics, the cut is within the first half, and scale does not matter.
    #[test]
    fn any_series_is_judged(values in prop::collection::vec(0.0_f64..1e9, 100..400)) {
        let judgement = judge(&values).unwrap();
        prop_assert!(judgement.cut <= values.len() / 2);
        let doubled: Vec<f64> = values.iter().map(|value| 2.0 * value).collect();
        let scaled = judge(&doubled).unwrap();
        prop_assert_eq!(scaled.cut, judgement.cut);
        prop_assert_eq!(scaled.is_steady(), judgement.is_steady());
    }
}
