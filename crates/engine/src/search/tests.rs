//! Which trials a search runs, and what it makes of them.

use super::*;
use TrialVerdict::{Sustained, TooMuch, TooMuchForClient};
use proptest::prelude::*;

const PLAN: SearchPlan =
    SearchPlan { first: 1, growth: 2.0, most: 100_000, resolution: 0.05, trials: 24, closed: true, seed: 7 };

/// A server whose users it serves up to a limit, and who tell how far they are from it.
fn up_to(limit: u32) -> impl FnMut(Step, u32) -> TrialReport {
    move |step, _| {
        let verdict = if step.load <= limit { Sustained } else { TooMuch };
        // The limit lies between two whole loads.
        TrialReport { verdict, margin: Some((f64::from(step.load) / (f64::from(limit) + 0.5)).ln()) }
    }
}

fn only(verdict: TrialVerdict) -> TrialReport {
    TrialReport { verdict, margin: None }
}

/// Runs a search against reports, which are told how often the load was run before; gives the bounds and the trials.
fn search(plan: SearchPlan, mut report: impl FnMut(Step, u32) -> TrialReport) -> (Bounds, Vec<Step>) {
    let mut search = CapacitySearch::new(plan);
    let mut steps: Vec<Step> = Vec::new();
    loop {
        let step = search.step();
        let before = steps.iter().filter(|s| s.load == step.load).count();
        steps.push(step);
        if let Decision::Done(bounds) = search.decide(report(step, u32::try_from(before).unwrap())) {
            return (bounds, steps);
        }
    }
}

fn loads(steps: &[Step]) -> Vec<u32> {
    steps.iter().map(|s| s.load).collect()
}

fn ends(bounds: &Bounds) -> (Option<u32>, Option<u32>) {
    (bounds.lower, bounds.upper)
}

#[test]
fn loads_double_the_failure_is_doubted_once_then_blocks_surround_the_limit() {
    let (found, steps) = search(PLAN, up_to(100));
    assert_eq!(loads(&steps)[..10], [1, 2, 4, 8, 16, 32, 64, 128, 128, 96]);
    let blocks: Vec<&[Step]> = steps[11..].chunks(3).collect();
    assert_eq!(blocks.len(), 4, "{steps:?}");
    for block in &blocks {
        let of = |purpose| block.iter().find(|step| step.purpose == purpose).unwrap().load;
        let (below, above, sentinel) = (of(Purpose::Below), of(Purpose::Above), of(Purpose::Sentinel));
        assert!(sentinel < below && below <= 100 && 100 < above && above <= 115, "{steps:?}");
    }
    let order = |block: &[Step]| block.iter().map(|step| step.purpose).collect::<Vec<_>>();
    assert!(blocks.iter().any(|block| order(block) != order(blocks[0])), "in random order: {steps:?}");
    assert_eq!(ends(&found), (Some(100), Some(101)));
    assert!(found.sustained.is_some_and(|load| (95..=100).contains(&load)), "{found:?}");
    assert_eq!(found.estimate.unwrap().method, Method::Crossing);
}

#[test]
fn the_same_seed_runs_the_same_trials_and_another_one_another_order() {
    let of = |seed| search(SearchPlan { seed, ..PLAN }, up_to(1000)).1;
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn a_failing_first_trial_is_run_again_then_the_load_falls_to_nothing() {
    let (found, steps) = search(SearchPlan { first: 16, ..PLAN }, up_to(0));
    assert_eq!((ends(&found), found.sustained), ((None, Some(1)), None));
    assert_eq!(loads(&steps), [16, 16, 8, 4, 2, 1]);
    let (found, _) = search(SearchPlan { first: 16, ..PLAN }, up_to(3));
    assert_eq!((ends(&found), found.sustained), ((Some(3), Some(4)), Some(3)));
}

#[test]
fn a_server_that_is_cold_fails_once() {
    let mut warm = up_to(10);
    let (found, steps) = search(SearchPlan { first: 8, ..PLAN }, |step, before| {
        if step.load == 8 && before == 0 { only(TooMuch) } else { warm(step, before) }
    });
    assert_eq!(ends(&found), (Some(10), Some(11)));
    assert_eq!(loads(&steps)[..4], [8, 8, 8, 16]);
}

#[test]
fn the_greatest_load_that_may_be_tried_has_no_upper_bound() {
    let (found, steps) = search(SearchPlan { most: 50, ..PLAN }, up_to(1000));
    assert_eq!((ends(&found), found.sustained, found.estimate), ((Some(50), None), Some(50), None));
    assert_eq!(loads(&steps)[4..], [16, 32, 50, 50]);
}

/// By chance 64 fails once, while the truth is 100.
#[test]
fn a_failure_that_ends_the_growth_is_doubted_once() {
    let mut truth = up_to(100);
    let (found, steps) =
        search(PLAN, |step, before| if (step.load, before) == (64, 0) { only(TooMuch) } else { truth(step, before) });
    assert_eq!(ends(&found), (Some(100), Some(101)), "{steps:?}");
}

/// Between 60 and 80 the server does not carry what it carries above: the answer lies below all of that.
#[test]
fn a_load_that_is_sustained_above_one_that_failed_is_no_lower_bound() {
    let hole = |step: Step, _| {
        let fails = (60..80).contains(&step.load) || step.load > 200;
        only(if fails { TooMuch } else { Sustained })
    };
    let (found, steps) = search(SearchPlan { first: 50, growth: 1.5, closed: false, ..PLAN }, hole);
    assert_eq!(loads(&steps)[..2], [50, 75]);
    let (lower, upper) = (found.lower.unwrap(), found.upper.unwrap());
    assert!(lower <= 59 && (60..75).contains(&upper), "{found:?} {steps:?}");
}

#[test]
fn without_trials_near_the_limit_it_is_bracketed_to_the_resolution() {
    let (found, steps) = search(SearchPlan { trials: 0, ..PLAN }, up_to(100));
    assert_eq!(loads(&steps), [1, 2, 4, 8, 16, 32, 64, 128, 128, 96, 112, 104, 100]);
    assert_eq!(found, Bounds::of_loads(Some(100), Some(104)));
}

/// Without margins the interval is that of pass and fail.
#[test]
fn pass_and_fail_alone_tell_a_threshold() {
    let (found, steps) = search(PLAN, |step, _| only(if step.load <= 1000 { Sustained } else { TooMuch }));
    let estimate = found.estimate.unwrap();
    assert_eq!(estimate.method, Method::Threshold);
    assert!(estimate.low <= 1000.5 && 1000.5 <= estimate.high, "{estimate:?}");
    assert!((estimate.high - estimate.low) / estimate.high < 0.1, "{estimate:?} after {}", steps.len());
    assert!(steps.len() <= 14 + 24, "{}", steps.len());
}

/// Near the limit it is chance: the interval is wide, and a load far below is no answer where a greater one is sure.
#[test]
fn a_sentinel_above_the_intervals_lower_end_is_what_is_quoted() {
    let mut trials = 0;
    let (found, steps) = search(PLAN, |step, _| {
        trials += 1;
        let passes = match step.purpose {
            Purpose::Below | Purpose::Above => trials % 5 == 0,
            _ => step.load <= 1000,
        };
        only(if passes { Sustained } else { TooMuch })
    });
    let sentinel = steps.iter().find(|step| step.purpose == Purpose::Sentinel).unwrap().load;
    assert!(found.lower.is_some_and(|lower| lower < sentinel), "{found:?}");
    assert_eq!(found.sustained, Some(sentinel), "{found:?}");
}

#[test]
fn a_limit_that_moves_is_told_with_both_levels() {
    let mut trials = 0;
    let (found, _) = search(SearchPlan { resolution: 0.001, ..PLAN }, |step, before| {
        trials += 1;
        let wobble = f64::from(trials * 7 % 5) * 0.002;
        let report = up_to(if trials < 24 { 1000 } else { 700 })(step, before);
        TrialReport { margin: report.margin.map(|margin| margin + wobble), ..report }
    });
    let moved = found.estimate.unwrap().moved.unwrap();
    assert!((20..=27).contains(&moved.at_trial), "{moved:?}");
    let (before, after) = (moved.before.unwrap(), moved.after.unwrap());
    assert!((0.97..1.03).contains(&(before / 1000.0)) && (0.9..1.1).contains(&(after / 700.0)), "{moved:?}");
}

#[test]
fn a_bound_that_is_the_clients_says_so() {
    let (found, _) = search(PLAN, |step: Step, _| only(if step.load <= 100 { Sustained } else { TooMuchForClient }));
    assert!(found.client_limited && found.estimate.is_none(), "{found:?}");
    assert!(found.lower.is_some_and(|lower| lower <= 100) && found.upper.is_some_and(|upper| upper > 100), "{found:?}");
    let (found, _) = search(PLAN, |_, _| only(TooMuchForClient));
    assert!(found.client_limited && found.sustained.is_none(), "{found:?}");
}

/// A client that is held up every now and then.
#[test]
fn what_only_the_client_failed_is_no_vote() {
    let (mut truth, mut trials) = (up_to(100), 0);
    let (found, steps) = search(PLAN, |step, before| {
        trials += 1;
        if trials % 5 == 0 && step.purpose != Purpose::Above { only(TooMuchForClient) } else { truth(step, before) }
    });
    assert!(found.estimate.is_some() && !found.client_limited, "{found:?} {steps:?}");
    assert_eq!(ends(&found), (Some(100), Some(101)));
}

/// With growth from 1 to 128 and a limit of 100: ten trials of it, another between, and four blocks of three.
#[test]
fn what_is_left_is_told_at_each_trial() {
    let (mut search, mut truth, mut told) = (CapacitySearch::new(PLAN), up_to(100), Vec::new());
    loop {
        told.push((search.step().load, search.left(), search.is_near()));
        if let Decision::Done(_) = search.decide(truth(search.step(), 0)) {
            break;
        }
    }
    assert_eq!(told.len(), 11 + 12);
    // If the first fails it is run again, and there is nothing below it.
    assert_eq!(told[0], (1, (2 + 12, 2 + 24), false));
    // If 128 fails it is run again, then come 96 and 112, which is near enough when they are sustained.
    assert_eq!(told[7], (128, (4 + 12, 4 + 24), false));
    for (place, &(_, left, is_near)) in told[11..].iter().enumerate() {
        let made = u32::try_from(place).unwrap();
        assert_eq!((left, is_near), ((12 - made, 24 - made), true));
    }
    let bracketed = CapacitySearch::new(SearchPlan { trials: 0, ..PLAN });
    assert_eq!(bracketed.left(), (2, 2), "no blocks");
}

#[test]
fn a_trial_is_near_the_limit_or_a_sentinel_unless_it_says_nothing_of_the_database() {
    let of = |purpose, verdict| {
        let made = Made { step: Step { load: 1, purpose }, report: only(verdict) };
        (made.is_near(), made.is_sentinel())
    };
    for verdict in [Sustained, TooMuch] {
        assert_eq!([Purpose::Below, Purpose::Above].map(|purpose| of(purpose, verdict)), [(true, false); 2]);
        assert_eq!(of(Purpose::Sentinel, verdict), (false, true));
        assert_eq!([Purpose::Grow, Purpose::Retest].map(|purpose| of(purpose, verdict)), [(false, false); 2]);
    }
    let all = [Purpose::Below, Purpose::Above, Purpose::Sentinel, Purpose::Grow];
    assert_eq!(all.map(|purpose| of(purpose, TooMuchForClient)), [(false, false); 4]);
}

#[test]
fn a_bound_of_no_load_is_none() {
    let (found, _) = search(PLAN, |step, _| only(if step.load <= 1 { Sustained } else { TooMuch }));
    assert!(found.lower != Some(0) && found.estimate.is_some(), "{found:?}");
}

#[test]
fn a_blocks_loads_lie_around_what_is_known_and_are_two() {
    let loads = |lower, upper, most, known: Option<&Estimate>| {
        let mut blocks = Blocks::around(lower, upper);
        blocks.begin(SearchPlan { most, ..PLAN }, known);
        let of = |purpose| blocks.left.iter().find(|step| step.purpose == purpose).unwrap().load;
        [of(Purpose::Sentinel), of(Purpose::Below), of(Purpose::Above)]
    };
    // The middle is 1,095.4, the first reach 5 %.
    assert_eq!(loads(1_000, 1_200, 100_000, None), [822, 1_043, 1_151]);
    assert_eq!(loads(1, 1, 1, None), [1, 1, 2], "also where no more may be tried");
    let (method, moved) = (Method::Threshold, None);
    let tiny = Estimate { load: 0.5, low: 0.1, high: 1.0, method, spread: 0.05, trials: 12, settled: true, moved };
    assert_eq!(loads(1, 2, 100_000, Some(&tiny)), [1, 1, 2]);
    assert_eq!((SearchPlan { growth: 1.01, ..PLAN }.grown(10), PLAN.grown(10)), (11, 20));
}

/// A search whose blocks are begun and that has run these trials.
fn near(begun: u32, trials: &[(Purpose, TrialVerdict)]) -> CapacitySearch {
    let made =
        trials.iter().map(|&(purpose, verdict)| Made { step: Step { load: 100, purpose }, report: only(verdict) });
    let blocks = Blocks { begun, ..Blocks::around(95, 105) };
    CapacitySearch { made: made.collect(), blocks: Some(blocks), ..CapacitySearch::new(PLAN) }
}

fn estimate(low: f64, high: f64, settled: bool, moved: bool) -> Estimate {
    let moved = moved.then_some(Move { at_trial: 9, before: None, after: None });
    Estimate { load: low, low, high, method: Method::Crossing, spread: 0.01, trials: 12, settled, moved }
}

#[test]
fn it_is_enough_when_the_interval_is_narrow_and_the_last_block_agrees_or_there_were_enough_trials() {
    let is_enough = |begun, trials: usize, of| near(begun, &vec![(Purpose::Below, Sustained); trials]).is_enough(&of);
    assert!(is_enough(4, 12, estimate(950.0, 1_000.0, true, false)), "as narrow as the resolution");
    assert!(!is_enough(3, 12, estimate(950.0, 1_000.0, true, false)), "too few blocks");
    assert!(!is_enough(4, 12, estimate(949.0, 1_000.0, true, false)), "too wide");
    assert!(!is_enough(4, 12, estimate(950.0, 1_000.0, false, false)), "not settled");
    assert!(is_enough(4, 12, estimate(950.0, 1_000.0, false, true)), "the limit moved, and that is told");
    // Between two whole loads next to each other there is none.
    assert!(is_enough(4, 12, estimate(10.1, 10.9, true, false)));
    assert!(!is_enough(4, 12, estimate(10.1, 11.1, true, false)));
    // As many trials as are meant.
    assert!(is_enough(4, 24, estimate(500.0, 1_000.0, false, false)));
    assert!(!is_enough(4, 23, estimate(500.0, 1_000.0, false, false)));
    assert!(!is_enough(3, 24, estimate(500.0, 1_000.0, false, false)));
}

#[test]
fn trials_of_all_three_kinds_of_a_block_are_counted_and_no_others() {
    use Purpose::{Above, Below, Bisect, Grow, Retest, Sentinel};
    let all = [Grow, Retest, Bisect, Below, Above, Sentinel, Above].map(|purpose| (purpose, TooMuch));
    assert_eq!(near(1, &all).trials_near(), 4);
}

#[test]
fn a_client_that_was_the_limit_of_five_trials_above_is_the_answer() {
    let is_clients = |trials: &[(Purpose, TrialVerdict)]| near(4, trials).is_clients();
    let above = (Purpose::Above, TooMuchForClient);
    assert!(!is_clients(&[above; 4]) && is_clients(&[above; 5]));
    assert!(!is_clients(&[(Purpose::Below, TooMuchForClient); 9]), "a load that the client should make");
    assert!(!is_clients(&[(Purpose::Above, TooMuch); 9]), "the database's limit");
    let (found, steps) =
        search(
            PLAN,
            |step, before| {
                if step.purpose == Purpose::Above { only(TooMuchForClient) } else { up_to(100)(step, before) }
            },
        );
    assert_eq!(steps.iter().filter(|step| step.purpose == Purpose::Above).count(), 5);
    assert_eq!(found.estimate, None, "no interval of the database's limit");
}

/// What is quoted is the sentinel only where it was sustained by most of its trials and lies within the interval.
#[test]
fn a_sentinel_is_quoted_where_most_of_its_trials_sustained_it() {
    let of = |verdicts: &[TrialVerdict]| {
        let mut search = near(4, &[]);
        let load = search.blocks.as_ref().unwrap().sentinel;
        verdicts.iter().for_each(|&verdict| search.tallies.note(load, verdict));
        (load, search.sustained_sentinel())
    };
    assert_eq!(of(&[Sustained, Sustained, TooMuch]), (75, Some(75)));
    assert_eq!(of(&[Sustained, TooMuch]).1, None);
    assert_eq!(of(&[TooMuch]).1, None);
    assert_eq!(CapacitySearch::new(PLAN).sustained_sentinel(), None);
}

proptest! {
    #[test]
    fn the_truth_lies_within_the_bounds(truth in 1_u32..50_000, first in 1_u32..5_000, seed in any::<u64>()) {
        let (found, _) = search(SearchPlan { first, seed, ..PLAN }, up_to(truth));
        let (lower, upper) = (found.lower.unwrap(), found.upper.unwrap());
        prop_assert!(lower <= truth && truth < upper, "{found:?}");
        prop_assert!(upper - lower <= 1 || f64::from(upper - lower) / f64::from(upper) <= 0.05);
        prop_assert!(found.sustained.is_some_and(|load| load <= truth));
    }

    /// Whatever the verdicts are, the search ends within its trials.
    #[test]
    fn verdicts_without_sense_end(verdicts in prop::collection::vec(any::<bool>(), 200), first in 1_u32..5_000) {
        let mut told = verdicts.into_iter().cycle();
        let plan = SearchPlan { first, trials: 12, ..PLAN };
        let (found, steps) = search(plan, |_, _| only(if told.next() == Some(true) { Sustained } else { TooMuch }));
        prop_assert!(steps.len() <= plan.most_whatever_they_say() as usize, "{}", steps.len());
        prop_assert!(found.lower.zip(found.upper).is_none_or(|(lower, upper)| lower < upper));
    }
}
