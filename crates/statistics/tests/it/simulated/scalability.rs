//! The Universal Scalability Law is found in what it made, and refused where it cannot be known.

use crate::simulated::series::{Noise, share};
use iotbench_statistics::{Level, NoPeak, Refusal, UslFit, fit_usl};

const LAMBDA: f64 = 1_000.0;
const SIGMA: f64 = 0.05;
const KAPPA: f64 = 0.001;

fn law(load: f64, kappa: f64) -> f64 {
    LAMBDA * load / (1.0 + SIGMA * (load - 1.0) + kappa * load * (load - 1.0))
}

fn peak_load() -> f64 {
    ((1.0 - SIGMA) / KAPPA).sqrt()
}

/// Levels up to so many times N*, with so much noise.
fn levels(count: usize, up_to: f64, kappa: f64, deviation: f64, noise: &mut Noise) -> Vec<Level> {
    let most = peak_load() * up_to;
    let loads = (0..count).map(|i| 1.0 + (most - 1.0) * i as f64 / (count as f64 - 1.0));
    loads.map(|load| Level { load, throughput: law(load, kappa) * (1.0 + deviation * noise.normal()) }).collect()
}

#[test]
fn the_law_without_noise_is_found_exactly() {
    let fit = fit_usl(&levels(14, 2.0, KAPPA, 0.0, &mut Noise::with_seed(1)), 1).unwrap();
    let peak = fit.peak.unwrap();
    for (found, truth) in [
        (fit.single.value, LAMBDA),
        (fit.contention.value, SIGMA),
        (fit.coherency.value, KAPPA),
        (peak.load.value, peak_load()),
        (peak.throughput.value, law(peak_load(), KAPPA)),
    ] {
        assert!((found / truth - 1.0).abs() < 1e-6, "{found} instead of {truth}");
    }
    assert!(fit.left < 1e-9);
}

#[test]
fn the_peak_is_found_through_noise() {
    let mut noise = Noise::with_seed(2);
    let (mut loads, mut throughputs, mut covered, mut above) = (Vec::new(), Vec::new(), 0, 0);
    for seed in 0..300 {
        let fit = fit_usl(&levels(14, 2.0, KAPPA, 0.02, &mut noise), seed).unwrap();
        let peak = fit.peak.unwrap();
        loads.push((peak.load.value / peak_load() - 1.0).abs());
        throughputs.push((peak.throughput.value / law(peak_load(), KAPPA) - 1.0).abs());
        covered += u32::from(peak.load.low <= peak_load() && peak_load() <= peak.load.high);
        above += u32::from(peak_load() < peak.load.low);
    }
    let p95 = |mut errors: Vec<f64>| {
        errors.sort_by(f64::total_cmp);
        errors[errors.len() * 95 / 100]
    };
    let (load, throughput) = (p95(loads), p95(throughputs));
    println!(
        "N* within {load:.4}, Xmax within {throughput:.4}, {covered} of 300 intervals hold N*, {above} lie above it"
    );
    assert!(load <= 0.05 && throughput <= 0.03, "{load} {throughput}");
    assert!(covered >= 264, "{covered}");
    // Of 300 intervals 7.5 are to lie on either side.
    assert!((5..=15).contains(&above) && (5..=15).contains(&(300 - covered - above)), "{covered} {above}");
}

/// From such loads N* would be half wrong.
#[test]
fn loads_that_end_before_the_peak_tell_none() {
    for deviation in [0.02, 0.05] {
        let mut noise = Noise::with_seed(3);
        let told = share(200, |seed| {
            fit_usl(&levels(14, 0.65, KAPPA, deviation, &mut noise), seed).is_ok_and(|fit| fit.peak.is_ok())
        });
        println!("a peak beyond the loads, deviation {deviation}: told by {told}");
        assert!(told <= 0.02, "{told}");
    }
}

#[test]
fn throughput_that_only_grows_has_no_peak() {
    let mut noise = Noise::with_seed(4);
    let none = share(200, |seed| {
        matches!(fit_usl(&levels(14, 2.0, 0.0, 0.02, &mut noise), seed), Ok(UslFit { peak: Err(_), .. }))
    });
    assert!(none >= 0.97, "{none}");
}

/// The ray tracer of Gunther's book and of R's package `usl`, on 1 to 64 processors, where it finds σ = 0.0578, κ = 0 and
/// λ = 21.8 by absolute errors.
#[test]
fn the_ray_tracer_has_contention_and_no_peak() {
    let processors = [1.0, 4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 28.0, 32.0, 48.0, 64.0];
    let throughputs = [20.0, 78.0, 130.0, 170.0, 190.0, 200.0, 210.0, 230.0, 260.0, 280.0, 310.0];
    let levels: Vec<Level> =
        processors.iter().zip(throughputs).map(|(&load, throughput)| Level { load, throughput }).collect();
    let fit = fit_usl(&levels, 1).unwrap();
    assert!((0.045..0.07).contains(&fit.contention.value), "{fit:?}");
    assert!((19.5..23.0).contains(&fit.single.value), "{fit:?}");
    assert_eq!(fit.peak, Err(NoPeak::NotCertain));
}

/// SPEC SDM91 on a SPARCcenter 2000, as in R's package `usl`, where it finds σ = 0.0277, κ = 0.000104 and the peak at 96.5 by
/// absolute errors; relative ones give the load of 1 its weight.
#[test]
fn the_sparc_center_has_its_peak_where_others_find_it() {
    let loads = [1.0, 18.0, 36.0, 72.0, 108.0, 144.0, 216.0];
    let throughputs = [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2];
    let levels: Vec<Level> =
        loads.iter().zip(throughputs).map(|(&load, throughput)| Level { load, throughput }).collect();
    let fit = fit_usl(&levels, 1).unwrap();
    let peak = fit.peak.unwrap();
    assert!((peak.load.value / 96.5 - 1.0).abs() < 0.05, "{fit:?}");
    assert!(peak.load.low < 96.5 && 96.5 < peak.load.high, "{fit:?}");
    assert!((fit.coherency.value / 0.000_104 - 1.0).abs() < 0.15, "{fit:?}");
}

#[test]
fn what_cannot_be_fitted_is_refused_with_its_reason() {
    let mut noise = Noise::with_seed(5);
    let five = levels(5, 2.0, KAPPA, 0.0, &mut noise);
    assert_eq!(fit_usl(&five, 1), Err(Refusal::TooFewLevels { have: 5 }));
    let same = [five[2]; 20];
    assert_eq!(fit_usl(&same, 1), Err(Refusal::TooFewLevels { have: 1 }));
    let mut idle = levels(8, 2.0, KAPPA, 0.0, &mut noise);
    idle[3].throughput = 0.0;
    assert_eq!(fit_usl(&idle, 1), Err(Refusal::NotPositive));
    let wild: Vec<Level> =
        (1..=10).map(|n| Level { load: f64::from(n), throughput: if n % 2 == 0 { 100.0 } else { 300.0 } }).collect();
    assert!(matches!(fit_usl(&wild, 1), Err(Refusal::BadFit { .. })), "{:?}", fit_usl(&wild, 1));
}
