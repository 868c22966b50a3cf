//! Intervals cover what they claim: so many of them as they say hold the truth.

use crate::simulated::series::{Noise, share};
use iotbench_statistics::{TooCorrelated, batch_means, bootstrap_t_interval, effective_sample_size, t_interval};

const EXPERIMENTS: u32 = 2_000;

#[test]
fn students_interval_of_repetitions_covers_95_percent() {
    for count in [5, 10, 20] {
        let mut noise = Noise::with_seed(1);
        let covered = share(EXPERIMENTS, |_| {
            let figures: Vec<f64> = (0..count).map(|_| 10.0 + noise.normal()).collect();
            t_interval(&figures).unwrap().contains(10.0)
        });
        println!("t, n = {count}: {covered}");
        assert!((0.93..=0.97).contains(&covered), "{count}: {covered}");
    }
}

#[test]
fn the_bootstrap_t_interval_covers_95_percent_of_crooked_figures_too() {
    for count in [5, 10, 20] {
        let mut noise = Noise::with_seed(2);
        let mut covered = |draw: fn(&mut Noise) -> f64| {
            share(EXPERIMENTS, |seed| {
                let figures: Vec<f64> = (0..count).map(|_| draw(&mut noise)).collect();
                bootstrap_t_interval(&figures, seed).unwrap().contains(1.0)
            })
        };
        let (even, crooked) = (covered(|noise| 1.0 + 0.1 * noise.normal()), covered(|noise| noise.log_normal(0.3)));
        println!("bootstrap t, n = {count}: {even} of normal, {crooked} of log-normal");
        assert!((0.93..=0.97).contains(&even), "{count}: {even}");
        assert!((0.92..=0.97).contains(&crooked), "{count}: {crooked}");
    }
}

/// What would be found if neighbours were taken for independent is shown beside it: that is what the method is for.
#[test]
fn an_interval_within_a_run_covers_although_neighbours_are_alike() {
    for (memory, count, least) in [(0.0, 300, 0.93), (0.5, 300, 0.92), (0.9, 1_000, 0.92), (0.9, 3_000, 0.92)] {
        let mut noise = Noise::with_seed(3);
        let (mut refused, mut naive) = (0, 0);
        let covered = share(EXPERIMENTS, |_| {
            let windows: Vec<f64> = noise.with_memory(memory, count).iter().map(|v| 100.0 + 5.0 * v).collect();
            naive += u32::from(t_interval(&windows).unwrap().contains(100.0));
            batch_means(&windows).map_or_else(
                |_| {
                    refused += 1;
                    true
                },
                |means| means.interval.contains(100.0),
            )
        });
        let given = f64::from(EXPERIMENTS - refused);
        let covered = (covered * f64::from(EXPERIMENTS) - f64::from(refused)) / given;
        println!(
            "memory {memory}, {count} windows: {covered} of {given} (naive {})",
            naive as f64 / f64::from(EXPERIMENTS)
        );
        assert!((least..=0.975).contains(&covered), "{memory}: {covered}");
        assert!(given >= 0.9 * f64::from(EXPERIMENTS), "{memory}: {refused} refused");
        assert!(memory < 0.9 || naive < EXPERIMENTS / 2, "neighbours that are alike must matter: {naive}");
    }
}

#[test]
fn a_series_that_tells_less_than_30_values_has_no_interval() {
    let mut noise = Noise::with_seed(4);
    let refused = share(500, |_| {
        let windows = noise.with_memory(0.99, 1_000);
        match batch_means(&windows) {
            Err(TooCorrelated { effective_size }) => effective_size < 30.0,
            Ok(_) => false,
        }
    });
    assert!(refused >= 0.99, "{refused}");
    assert!(batch_means(&[1.0; 29]).is_err());
    assert!(batch_means(&[1.0; 30]).is_ok());
}

/// n / τ of an AR(1) series is n (1 − φ) / (1 + φ).
#[test]
fn the_effective_size_is_that_of_theory() {
    for (memory, tolerance) in [(0.0, 0.1), (0.5, 0.1), (0.9, 0.2)] {
        let mut noise = Noise::with_seed(5);
        let mean = (0..50).map(|_| effective_sample_size(&noise.with_memory(memory, 5_000))).sum::<f64>() / 50.0;
        let theory = 5_000.0 * (1.0 - memory) / (1.0 + memory);
        assert!((mean / theory - 1.0).abs() < tolerance, "{memory}: {mean} instead of {theory}");
    }
}
