//! Figures at the places where one case ends and another begins, worked out by hand.

use iotbench_statistics::{
    Attempt, Direction, Level, MeanInterval, NoPeak, Refusal, Sides, Slope, State, Test, Truncation, Verdict,
    change_point, correlation_time, crossing, difference, fit_usl, interval_of_parts, judge, judge_family,
    level_changes, mser5, noise_floor, p_of_parts, rounds_are_steady, shift, sittings_interval, threshold,
};

#[test]
fn an_interval_holds_its_ends_and_its_half_is_a_part_of_its_mean() {
    let interval = MeanInterval { mean: -4.0, low: -5.0, high: -3.0 };
    let held = [-5.1, -5.0, -4.0, -3.0, -2.9].map(|value| interval.contains(value));
    assert_eq!(held, [false, true, true, true, false]);
    assert_eq!(interval.half_width_pct(), Some(25.0));
    assert_eq!(MeanInterval { mean: 0.0, ..interval }.half_width_pct(), None);
    assert_eq!(interval.not_below_zero(), MeanInterval { low: 0.0, ..interval });
}

#[test]
fn what_does_not_change_has_the_correlation_time_1() {
    assert_eq!((correlation_time(&[0.0; 8]), correlation_time(&[3.0; 8])), (1.0, 1.0));
}

/// The correlations of a wave of 9,170 values are positive up to 1,999 neighbours, and no longer at 2,000 and 2,001; those of a
/// line are positive until nobody looks any more.
#[test]
fn beyond_two_thousand_neighbours_a_series_is_one_value() {
    let wave: Vec<f64> = (0..9_170).map(|place| (std::f64::consts::TAU * f64::from(place) / 9_170.0).cos()).collect();
    let time = correlation_time(&wave);
    assert!((1_000.0..4_000.0).contains(&time), "{time}");
    let line: Vec<f64> = (0..10_000).map(f64::from).collect();
    assert_eq!(correlation_time(&line), 10_000.0);
}

/// The first tenth and the last one are the shortest sides; of splits that are as good the first is taken.
#[test]
fn a_jump_is_found_as_near_to_the_ends_as_it_may_be() {
    for at in [20, 180] {
        let values: Vec<f64> = (0..200).map(|place| if place < at { 1.0 } else { 2.0 }).collect();
        let found = change_point(&values).unwrap();
        assert_eq!((found.at, found.before, found.after, found.p_value), (at, 1.0, 2.0, 0.0));
    }
    assert_eq!(change_point(&[1.0; 100]).map(|found| (found.at, found.p_value)), Some((10, 1.0)));
}

/// What the definition of the energy distance gives, all pairs of it: 2 / (n m) Σ |left − right| less the mean distance within either
/// side, times n m / (n + m).
#[test]
fn the_best_split_is_that_of_the_energy_distance() {
    let values = [7, 2, 8, 9, 6, 7, 8, 5, 2, 5, 4, 4, 9, 6, 0, 8, 2, 0, 4, 0].map(f64::from);
    let distance = |one: &[f64], other: &[f64]| one.iter().flat_map(|a| other.iter().map(move |b| (a - b).abs())).sum();
    let energy = |at: usize| -> f64 {
        let (left, right) = values.split_at(at);
        let (n, m) = (left.len() as f64, right.len() as f64);
        let [across, within_left, within_right]: [f64; 3] =
            [distance(left, right), distance(left, left), distance(right, right)];
        let energy = 2.0 * across / (n * m) - within_left / (n * (n - 1.0)) - within_right / (m * (m - 1.0));
        energy * n * m / (n + m)
    };
    let best = (2..=18).max_by(|&a, &b| energy(a).total_cmp(&energy(b)));
    assert_eq!((change_point(&values).map(|found| found.at), best), (Some(16), Some(16)));
}

/// A jump nearer to an end than a tenth is taken for the nearest that may be.
#[test]
fn a_jump_too_near_to_an_end_is_told_a_tenth_away() {
    for (jump, at) in [(10, 20), (190, 180)] {
        let values: Vec<f64> = (0..200).map(|place| if place < jump { 1.0 } else { 2.0 }).collect();
        assert_eq!(change_point(&values).map(|found| found.at), Some(at));
    }
}

/// Nine runs are no two levels of five, however far apart they lie.
#[test]
fn a_stretch_of_nine_runs_is_not_divided() {
    let level = |place: usize| match place {
        0..10 => 100.0,
        10..15 => 200.0,
        _ => 203.0,
    };
    let figures: Vec<f64> = (0..19).map(|place| level(place) + 0.1 * (place % 2) as f64).collect();
    let places: Vec<usize> = level_changes(&figures).unwrap().iter().map(|change| change.at).collect();
    assert_eq!(places, [10]);
}

#[test]
fn ten_runs_have_two_levels_of_five() {
    let figures: Vec<f64> = (0..10).map(|place| if place < 5 { 100.0 } else { 110.0 } + f64::from(place % 2)).collect();
    let places: Vec<usize> = level_changes(&figures).unwrap().iter().map(|change| change.at).collect();
    assert_eq!(places, [5]);
}

/// Of exact lines nothing is left, so that each slope is told with certainty.
#[test]
fn half_of_the_slope_that_is_known_is_taken_for_it_and_less_is_not() {
    let line =
        |slope: f64| (0..8).map(|place| (f64::from(place), slope * (f64::from(place) - 2.0))).collect::<Vec<_>>();
    let found = |slope: f64, known| crossing(&line(slope), known).map(|found| found.slope);
    assert_eq!((found(0.5, Slope::AtLeast(1.0)), found(0.25, Slope::AtLeast(1.0))), (Some(1.0), None));
    assert_eq!((found(2.0, Slope::AtLeast(1.0)), found(2.0, Slope::Unknown)), (Some(2.0), Some(2.0)));
    assert_eq!((found(0.0, Slope::Unknown), found(-1.0, Slope::Unknown)), (None, None));
    assert!(crossing(&line(2.0)[..6], Slope::Unknown).is_some() && crossing(&line(2.0)[..5], Slope::Unknown).is_none());
    // All at one place: no slope is told, and the known one is taken.
    let one_place: Vec<(f64, f64)> = [0.1, -0.1].repeat(4).into_iter().map(|y| (3.0, y + 1.0)).collect();
    let found = crossing(&one_place, Slope::AtLeast(1.0)).unwrap();
    assert!((found.interval.mean - 2.0).abs() < 1e-12 && found.slope == 1.0, "{found:?}");
}

/// Eight points at ±0.05, so that Σ(x − x̄)² is 0.02; what is left lies as evenly on both sides and at both places. So the slope is
/// exact, and its standard error √(8 e² / 6 / 0.02).
#[test]
fn a_slope_is_another_one_from_two_and_a_half_standard_errors_on() {
    let points = |slope: f64, error: f64| -> Vec<(f64, f64)> {
        let left = error * (6.0_f64 * 0.02 / 8.0).sqrt();
        let signs = [(-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
        signs.repeat(2).into_iter().map(|(x, e)| (0.05 * x, slope * 0.05 * x + left * e)).collect()
    };
    let found = |slope, error, known| crossing(&points(slope, error), known).map(|found| found.slope);
    let known = Slope::AtLeast(1.0);
    // 0.6 below what is known: 2.5 standard errors of 0.24.
    assert_eq!(found(0.4, 0.35, known), Some(1.0));
    assert_eq!((found(0.4, 0.25, known), found(0.4, 0.23, known)), (Some(1.0), None));
    // 0.6 above it.
    assert_eq!((found(1.6, 0.25, known), found(1.6, 0.23, known).map(|slope| slope > 1.5)), (Some(1.0), Some(true)));
    // Of nothing that is known it takes twice as much.
    assert_eq!(found(1.0, 0.22, Slope::Unknown), None);
    assert!(found(1.0, 0.19, Slope::Unknown).is_some());
}

/// Two values 1 and 3: the variance of their mean is 1, with one degree of freedom, of which t is 12.706 and 0.05 beyond it.
#[test]
fn two_repetitions_tell_an_interval() {
    let parts = [vec![1.0, 3.0]];
    let MeanInterval { low, high, .. } = interval_of_parts(5.0, &parts).unwrap();
    assert!((low - (5.0 - 12.7062)).abs() < 1e-3 && (high - (5.0 + 12.7062)).abs() < 1e-3, "{low} {high}");
    assert!((p_of_parts(12.7062, &parts).unwrap() - 0.05).abs() < 1e-5);
    let alike = interval_of_parts(5.0, &[vec![2.0; 3]]).unwrap();
    assert_eq!(alike, MeanInterval { mean: 5.0, low: 5.0, high: 5.0 });
}

fn apart(base: f64, new: f64) -> Test {
    let sides = Sides::Apart { base: vec![base; 3], new: vec![new; 3] };
    Test { sides, direction: Direction::LessIsBetter, is_gated: true }
}

/// Figures without noise have an interval of no width.
#[test]
fn a_change_of_exactly_the_threshold_matters_and_none_is_the_same() {
    let verdict = |new: f64, threshold: f64| judge_family(&[apart(4.0, new)], threshold)[0].verdict;
    assert_eq!((verdict(4.0, 0.0), verdict(4.0, 0.1)), (Verdict::Same, Verdict::Same));
    for (new, expected) in [(5.0, Verdict::Worse), (3.0, Verdict::Better)] {
        let change = difference(&apart(4.0, new).sides).unwrap().change;
        assert_eq!((verdict(new, change.abs()), verdict(new, change.abs() + 0.01)), (expected, Verdict::Same));
    }
}

/// The logarithms of the ratios are ±0.1, of which one has the standard deviation 0.14142. With a threshold of e^0.1 − 1 the sides are
/// the same once t × 0.14142 / √n is below 0.1: with n − 1 degrees of freedom of pairs at 11 (2.228 / 3.317 = 0.672, and 2.262 /
/// 3.162 = 0.715 at 10).
#[test]
fn so_many_pairs_would_decide() {
    let needed = |sides: Sides| {
        let test = Test { sides, direction: Direction::LessIsBetter, is_gated: true };
        judge_family(&[test], 0.1_f64.exp_m1())[0].runs_needed
    };
    assert_eq!(needed(Sides::Pairs(vec![[1.0, 0.1_f64.exp()], [1.0, (-0.1_f64).exp()]])), Some(11));
}

/// Each side's logarithms are ±0.1, and those of a ratio have the standard deviation 0.2. Half the interval is to be 0.3: t / √n at
/// most 1.5, which 2 n − 2 degrees of freedom have at 4 (2.447 / 2 = 1.22, and 2.776 / 1.732 = 1.60 at 3).
#[test]
fn so_many_runs_a_side_would_decide() {
    let side = || vec![0.1_f64.exp(), (-0.1_f64).exp()];
    let sides = Sides::Apart { base: side(), new: side() };
    let test = Test { sides, direction: Direction::LessIsBetter, is_gated: true };
    assert_eq!(judge_family(&[test], 0.3_f64.exp_m1())[0].runs_needed, Some(4));
}

/// Two that never decide: a thousand are the most.
#[test]
fn more_than_a_thousand_runs_are_not_asked_for() {
    let sides = Sides::Apart { base: vec![1.0, 9.0], new: vec![1.0, 9.0] };
    let test = Test { sides, direction: Direction::LessIsBetter, is_gated: true };
    assert_eq!(judge_family(&[test], 0.001)[0].runs_needed, None);
}

#[test]
fn levels_between_which_a_threshold_lies_have_two_ends() {
    let attempts = [Attempt { level: 0.1, failed: false }, Attempt { level: 0.2, failed: true }];
    assert_eq!(threshold(&attempts, 0.5, 0.4), None);
    assert!(threshold(&attempts, 0.0, 0.4).is_some());
}

fn levels(loads: &[f64], kappa: f64) -> Vec<Level> {
    let law = |n: f64| 1_000.0 * n / (1.0 + 0.05 * (n - 1.0) + kappa * n * (n - 1.0));
    loads.iter().map(|&load| Level { load, throughput: law(load) }).collect()
}

/// With σ = 0.05 and κ = 0.0095 the peak is at √(0.95 / 0.0095) = 10.
#[test]
fn six_loads_have_a_fit_and_two_past_the_peak_tell_it() {
    let fit = |loads: &[f64]| fit_usl(&levels(loads, 0.0095), 1);
    assert_eq!(fit(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap_err(), Refusal::TooFewLevels { have: 5 });
    let found = fit(&[1.0, 2.0, 4.0, 6.0, 12.0, 14.0]).unwrap();
    let peak = found.peak.unwrap();
    assert!((peak.load.value - 10.0).abs() < 1e-6, "{peak:?}");
    assert!((peak.throughput.value / (10_000.0 / (1.0 + 0.45 + 0.855)) - 1.0).abs() < 1e-6, "{peak:?}");
    assert!((found.left < 1e-9) && (found.single.value - 1_000.0).abs() < 1e-6, "{found:?}");
    assert_eq!(fit(&[1.0, 2.0, 4.0, 6.0, 8.0, 14.0]).unwrap().peak, Err(NoPeak::TooFewPast { past: 1 }));
    for bad in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let mut spoilt = levels(&[1.0, 2.0, 4.0, 6.0, 12.0, 14.0], 0.0095);
        spoilt[2].load = bad;
        assert_eq!(fit_usl(&spoilt, 1).unwrap_err(), Refusal::NotPositive);
        spoilt[2] = Level { load: 4.0, throughput: bad };
        assert_eq!(fit_usl(&spoilt, 1).unwrap_err(), Refusal::NotPositive);
    }
}

fn stretches(of: &[(usize, f64)]) -> Vec<f64> {
    of.iter().flat_map(|&(count, value)| std::iter::repeat_n(value, count)).collect()
}

#[test]
fn a_jump_of_two_percent_matters_and_has_its_place_in_the_whole_series() {
    let judged = |of: &[(usize, f64)]| judge(&stretches(of)).map(|found| (found.cut, found.state, found.mean));
    assert_eq!((judged(&[(99, 1.0)]), judged(&[(100, 1.0)])), (None, Some((0, State::Steady, 1.0))));
    for (after, change) in [(102.0, 0.02), (98.0, -0.02)] {
        let state = State::Jumped { at: 60, change };
        assert_eq!(judged(&[(60, 100.0), (60, after)]), Some((0, state, f64::midpoint(100.0, after))));
    }
    // The line through a jump rises by half as much again.
    assert_eq!(judged(&[(60, 100.0), (60, 101.3)]).map(|found| found.1), Some(State::Steady));
    // What comes before the cut is counted too.
    let state = State::Jumped { at: 80, change: 0.04 };
    assert_eq!(judged(&[(20, 50.0), (60, 100.0), (20, 104.0)]), Some((20, state, 101.0)));
    assert_eq!(judged(&[(25, 60.0), (75, 100.0)]), Some((25, State::Steady, 100.0)));
}

/// From 100 to 103 over 120 windows: 3 of a mean of 101.5.
#[test]
fn a_line_is_a_drift_by_what_it_rises_from_one_end_to_the_other() {
    let line = |rise: f64| (0..120).map(|place| 100.0 + rise * f64::from(place) / 119.0).collect::<Vec<f64>>();
    for rise in [3.0, -3.0] {
        let Some(State::Drifting { change }) = judge(&line(rise)).map(|found| found.state) else { panic!("{rise}") };
        assert!((change - rise / (100.0 + rise / 2.0)).abs() < 1e-9, "{change}");
    }
    assert_eq!(judge(&line(1.9)).map(|found| found.state), Some(State::Steady));
}

/// The range is 200 of a mean of 1,000, and the line rises by 100 of it.
#[test]
fn rounds_are_steady_up_to_a_fifth_and_a_tenth() {
    assert!(rounds_are_steady(&[900.0, 1000.0, 1100.0, 1000.0, 1000.0]));
    assert!(!rounds_are_steady(&[900.0, 1000.0, 1101.0, 1000.0, 999.0]));
    for step in [25.0, -25.0] {
        let line = |step: f64| [-2.0, -1.0, 0.0, 1.0, 2.0].map(|place| 1000.0 + step * place);
        assert!(rounds_are_steady(&line(step)) && !rounds_are_steady(&line(1.001 * step)));
    }
}

/// The deviations from the mean add up to 3 at three values and to 3.32 at six: n m / (n + m) of the squared difference is
/// 9 × 12 / 27 = 4 there and 11.02 × 12 / 36 = 3.67 here.
#[test]
fn a_short_series_moves_where_its_sides_lie_farthest_apart() {
    let at = |values: &[f64]| shift(values, 1).map(|found| found.at);
    assert_eq!(at(&stretches(&[(3, 1.0), (3, 0.107), (6, -3.321 / 6.0)])), Some(3));
    assert_eq!(at(&stretches(&[(3, 9.0), (4, 0.0)])), None, "eight values are the fewest");
    // Neither side has fewer than three values.
    assert_eq!((at(&stretches(&[(3, 9.0), (5, 0.0)])), at(&stretches(&[(5, 0.0), (3, 9.0)]))), (Some(3), Some(5)));
    assert_eq!((at(&stretches(&[(1, 9.0), (7, 0.0)])), at(&stretches(&[(7, 0.0), (1, 9.0)]))), (Some(3), Some(5)));
    // Of two as far apart it is the first.
    assert_eq!(at(&stretches(&[(3, 1.0), (2, 0.0), (3, 1.0)])), Some(3));
    // As far as the values themselves are is one of a thousand orders.
    let p_value = shift(&stretches(&[(8, 1.0), (8, 2.0)]), 1).unwrap().p_value;
    assert!((p_value * 1_000.0 - (p_value * 1_000.0).round()).abs() < 1e-9, "{p_value}");
    assert!((0.000_9..0.005).contains(&p_value), "{p_value}");
}

/// The settled values do not spread, so that whatever lies apart from them does by more than two standard deviations.
#[test]
fn a_warm_up_is_apart_by_what_the_settled_values_spread() {
    assert_eq!(mser5(&stretches(&[(25, 0.625), (75, 1.0)])), Some(Truncation::After(25)));
}

#[test]
fn equals_that_do_not_differ_raise_no_alarm_even_without_a_threshold() {
    assert_eq!(noise_floor(&[2.0; 6], 0.0, 1).map(|found| found.alarms), Some(0.0));
}

/// Logarithms 0 and 1: the standard error is 1/2, and Student's t of one degree of freedom at 0.95 is 6.314.
#[test]
fn two_sittings_have_an_interval() {
    let found = sittings_interval(&[1.0, 1.0_f64.exp()]).unwrap();
    assert!((found.low.ln() - (0.5 - 3.1569)).abs() < 1e-3 && (found.high.ln() - 3.6569).abs() < 1e-3, "{found:?}");
}
