//! Whether something became better or worse, by several figures at once.

use crate::{
    difference::{Difference, NoDifference, Sides, difference},
    holm::holm,
    interval::CONFIDENCE,
};

/// Nobody is told to make more runs than these.
pub const MAX_RUNS: usize = 1_000;

/// Which way a figure should go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Such as a response time.
    LessIsBetter,
    /// Such as a throughput.
    MoreIsBetter,
}

/// One figure of two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// What was measured.
    pub sides: Sides,
    /// Which way it should go.
    pub direction: Direction,
    /// Whether a regression of it counts; the others are judged and shown.
    pub is_gated: bool,
}

/// What may be said of one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The interval excludes 0, and the change is at least the threshold, the right way.
    Better,
    /// The same, the wrong way.
    Worse,
    /// The whole interval lies within the threshold: what difference there is does not matter.
    Same,
    /// Neither: the runs do not tell.
    Undecided,
}

/// A figure judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The change with its interval, or why there is none.
    pub difference: Result<Difference, NoDifference>,
    /// What may be said.
    pub verdict: Verdict,
    /// The p value after Holm over the gated figures; none of the others.
    pub p_holm: Option<f64>,
    /// Whether it is gated, worse, and believed after Holm.
    pub is_regression: bool,
    /// Of what is undecided for want of runs: about so many a side decide it, if runs go on spreading as they do; none: more
    /// than [`MAX_RUNS`].
    pub runs_needed: Option<usize>,
}

/// Judges a family of figures. A change below `threshold`, a part of the base, does not matter. A figure is a regression only
/// if its p value after Holm over the gated ones is at most 0.05, so that a family without a difference raises an alarm in at
/// most 5 % of all cases, however many figures it has.
#[must_use]
pub fn judge_family(tests: &[Test], threshold: f64) -> Vec<Judged> {
    let differences: Vec<_> = tests.iter().map(|test| difference(&test.sides)).collect();
    let gated = |place: &usize| tests[*place].is_gated && differences[*place].is_ok();
    let family: Vec<usize> = (0..tests.len()).filter(gated).collect();
    let adjusted = holm(&family.iter().filter_map(|&place| Some(differences[place].ok()?.p_value)).collect::<Vec<_>>());
    let judge = |(place, test): (usize, &Test)| {
        let found = differences[place];
        let verdict =
            found.map_or(Verdict::Undecided, |d| verdict(test.direction, d.change, (d.low, d.high), threshold));
        let p_holm = family.iter().position(|&own| own == place).and_then(|own| adjusted.get(own)).copied();
        let undecided = found.ok().filter(|_| verdict == Verdict::Undecided);
        let is_believed = p_holm.is_some_and(|p| p <= 1.0 - CONFIDENCE);
        Judged {
            difference: found,
            verdict,
            p_holm,
            is_regression: verdict == Verdict::Worse && is_believed,
            runs_needed: undecided.and_then(|d| runs_needed(&d, test.direction, threshold)),
        }
    };
    tests.iter().enumerate().map(judge).collect()
}

fn verdict(direction: Direction, change: f64, (low, high): (f64, f64), threshold: f64) -> Verdict {
    let excludes_0 = low > 0.0 || high < 0.0;
    let is_more = change > 0.0;
    if excludes_0 && change.abs() >= threshold {
        let is_better = is_more == (direction == Direction::MoreIsBetter);
        return if is_better { Verdict::Better } else { Verdict::Worse };
    }
    if -threshold <= low && high <= threshold { Verdict::Same } else { Verdict::Undecided }
}

/// The least number of runs a side whose interval would decide, with the spread and the change of these. An interval becomes
/// shorter with every run, so that the number is found by halving.
fn runs_needed(found: &Difference, direction: Direction, threshold: f64) -> Option<usize> {
    let decides = |count: usize| {
        let interval = found.with_runs(count as f64);
        verdict(direction, found.change, interval, threshold) != Verdict::Undecided
    };
    let (mut too_few, mut enough) = (1, MAX_RUNS);
    if !decides(enough) {
        return None;
    }
    while enough - too_few > 1 {
        let middle = usize::midpoint(too_few, enough);
        if decides(middle) { enough = middle } else { too_few = middle }
    }
    Some(enough)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{LessIsBetter, MoreIsBetter};

    fn test(direction: Direction, base: &[f64], new: &[f64]) -> Test {
        Test { sides: Sides::Apart { base: base.into(), new: new.into() }, direction, is_gated: true }
    }

    fn verdicts(tests: &[Test], threshold: f64) -> Vec<Verdict> {
        judge_family(tests, threshold).iter().map(|judged| judged.verdict).collect()
    }

    const LOW: [f64; 5] = [99.8, 100.1, 100.0, 99.9, 100.2];
    const HIGH: [f64; 5] = [109.8, 110.1, 110.0, 109.9, 110.2];

    #[test]
    fn the_direction_decides_which_change_is_worse() {
        let tests = [
            test(LessIsBetter, &LOW, &HIGH),
            test(MoreIsBetter, &LOW, &HIGH),
            test(LessIsBetter, &HIGH, &LOW),
            test(MoreIsBetter, &HIGH, &LOW),
        ];
        use Verdict::{Better, Worse};
        assert_eq!(verdicts(&tests, 0.03), [Worse, Better, Better, Worse]);
        let regressions: Vec<bool> = judge_family(&tests, 0.03).iter().map(|judged| judged.is_regression).collect();
        assert_eq!(regressions, [true, false, false, true]);
    }

    #[test]
    fn a_change_below_the_threshold_is_none_and_a_wide_interval_tells_nothing() {
        let noisy = [80.0, 120.0, 95.0, 130.0, 90.0];
        let tests = [test(LessIsBetter, &LOW, &HIGH), test(LessIsBetter, &LOW, &LOW), test(LessIsBetter, &LOW, &noisy)];
        assert_eq!(verdicts(&tests, 0.2), [Verdict::Same, Verdict::Same, Verdict::Undecided]);
        let needed = judge_family(&tests, 0.2)[2].runs_needed.unwrap();
        assert!((6..40).contains(&needed), "{needed}");
    }

    #[test]
    fn what_is_not_gated_is_judged_and_is_no_regression() {
        let shown = Test { is_gated: false, ..test(LessIsBetter, &LOW, &HIGH) };
        let judged = judge_family(&[shown, test(LessIsBetter, &LOW, &LOW)], 0.03);
        assert_eq!((judged[0].verdict, judged[0].is_regression, judged[0].p_holm), (Verdict::Worse, false, None));
        // A family of one is not adjusted.
        assert_eq!(judged[1].p_holm, judged[1].difference.ok().map(|d| d.p_value));
    }

    #[test]
    fn one_run_a_side_decides_nothing() {
        let judged = judge_family(&[test(LessIsBetter, &[1.0], &[9.0])], 0.03);
        assert_eq!(judged[0].difference, Err(NoDifference::TooFewRuns));
        assert_eq!((judged[0].verdict, judged[0].runs_needed), (Verdict::Undecided, None));
    }

    #[test]
    fn ten_figures_ask_for_more_certainty_than_one() {
        // p is about 0.02.
        let doubtful = test(LessIsBetter, &[100.0, 104.0, 98.0, 102.0], &[106.0, 110.0, 105.0, 103.0]);
        let same = test(LessIsBetter, &[100.0, 104.0, 98.0, 102.0], &[101.0, 103.0, 99.0, 101.0]);
        let family: Vec<Test> = std::iter::once(doubtful.clone()).chain(vec![same; 9]).collect();
        let (alone, among) = (judge_family(&[doubtful], 0.03)[0], judge_family(&family, 0.03)[0]);
        assert_eq!((alone.verdict, among.verdict), (Verdict::Worse, Verdict::Worse));
        assert!(alone.is_regression && !among.is_regression, "{:?} {:?}", alone.p_holm, among.p_holm);
    }
}
