//! Whether what lies between the marks is one whole rise of the sawtooth.

use crate::{marks::Marks, reason::Reason};

/// With fewer datapoints, noise could pass for a cycle.
pub const MIN_POINTS: u64 = 24;

// Shares of the amplitude. Noise of which no value is beyond ±0.0866 of the amplitude, a standard deviation of 0.025 of
// bounded noise, stays within them in cycles of 32 datapoints and more.

/// By how much a rise may fall back.
const MAX_FALL: f64 = 3.0 / 16.0;
/// By how much a rise may go on from one datapoint to the next.
const MAX_CLIMB: f64 = 7.0 / 32.0;
/// How high a rise must come.
const MIN_PEAK: f64 = 7.0 / 8.0;
/// By how much a rise without noise may stray from a straight line.
const MAX_STRAY: f64 = 1.0 / 16.0;
/// How often the greatest fall, which is the noise's own measure, it may stray further.
const FALLS_ASTRAY: f64 = 2.0;

/// The least and the greatest step of evenly sampled times add up to twice the mean, whatever their jitter; a lost
/// datapoint makes it thrice the period.
const STEPS_OF_A_GAP: f64 = 2.25;

/// Judges the datapoints from t3 up to, but without, t5, one after another, in constant memory.
#[derive(Clone, Debug)]
pub(crate) struct Rise {
    marks: Marks,
    amplitude: f64,
    points: u64,
    steps: Steps,
    last: Option<(i64, f64)>,
    highest: f64,
    fall: f64,
    climb: f64,
    stray: f64,
    whole: bool,
}

impl Rise {
    pub(crate) fn new(marks: Marks, amplitude: f64) -> Self {
        Self {
            marks,
            amplitude,
            points: 0,
            steps: Steps { count: 0, least_ns: i64::MAX, most_ns: 0 },
            last: None,
            highest: f64::NEG_INFINITY,
            fall: 0.0,
            climb: 0.0,
            stray: 0.0,
            whole: true,
        }
    }

    /// Takes the next datapoint; without a value, something is missing. True when it belongs to the cycle.
    pub(crate) fn push(&mut self, time_ns: i64, abscissa: Option<f64>) -> bool {
        let Some(value) = abscissa.filter(|v| v.is_finite()) else {
            self.whole = false;
            return false;
        };
        // What is expected is known: the first datapoint is t3, and one of them is t4.
        match self.last {
            None => self.whole &= time_ns == self.marks.t3,
            Some((last_ns, _)) => {
                self.steps.add(last_ns, time_ns);
                self.whole &= !(last_ns < self.marks.t4 && self.marks.t4 < time_ns);
            }
        }
        let in_cycle = (self.marks.t4..self.marks.t5).contains(&time_ns);
        if in_cycle {
            self.shape(time_ns, value);
        }
        self.last = Some((time_ns, value));
        in_cycle
    }

    /// Something that belongs to the cycle is missing.
    pub(crate) fn lacks(&mut self) {
        self.whole = false;
    }

    /// How many datapoints the cycle has.
    pub(crate) fn points(&self) -> u64 {
        self.points
    }

    /// The verdict after the last datapoint.
    pub(crate) fn verdict(&self) -> Result<(), Reason> {
        let Some((last_ns, _)) = self.last else { return Err(Reason::Gap) };
        let mut steps = self.steps;
        steps.add(last_ns, self.marks.t5);
        if !self.whole {
            return Err(Reason::Gap);
        }
        if steps.least_ns <= 0 {
            return Err(Reason::Repeated);
        }
        if steps.have_gap(self.marks.t5 - self.marks.t3) {
            return Err(Reason::Gap);
        }
        let a = self.amplitude;
        let clear = self.fall <= MAX_FALL * a && self.climb <= MAX_CLIMB * a && self.highest >= MIN_PEAK * a;
        if self.points < MIN_POINTS || !clear {
            return Err(Reason::Noise);
        }
        let most_stray = MAX_STRAY * a + FALLS_ASTRAY * self.fall;
        if self.stray > most_stray || self.line(self.marks.t4 - self.marks.t3) > most_stray {
            return Err(Reason::Standstill);
        }
        Ok(())
    }

    fn shape(&mut self, time_ns: i64, value: f64) {
        if self.points > 0
            && let Some((_, last)) = self.last
        {
            self.climb = self.climb.max(value - last);
        }
        self.points += 1;
        self.highest = self.highest.max(value);
        self.fall = self.fall.max(self.highest - value);
        self.stray = self.stray.max((value - self.line(time_ns - self.marks.t4)).abs());
    }

    /// The abscissa of a steady rise, so long after its start.
    #[expect(clippy::cast_precision_loss, reason = "a cycle has far fewer than 2^53 nanoseconds")]
    fn line(&self, after_ns: i64) -> f64 {
        self.amplitude * after_ns as f64 / (self.marks.t5 - self.marks.t4) as f64
    }
}

/// The times between datapoints.
#[derive(Clone, Copy, Debug)]
struct Steps {
    count: u64,
    least_ns: i64,
    most_ns: i64,
}

impl Steps {
    fn add(&mut self, from_ns: i64, to_ns: i64) {
        let step_ns = to_ns.saturating_sub(from_ns);
        self.count += 1;
        self.least_ns = self.least_ns.min(step_ns);
        self.most_ns = self.most_ns.max(step_ns);
    }

    /// Whether one of them is no step of an even sampling that takes so long in all.
    #[expect(clippy::cast_precision_loss, reason = "a cycle has far fewer than 2^53 nanoseconds")]
    fn have_gap(&self, all_ns: i64) -> bool {
        let mean_ns = all_ns as f64 / self.count as f64;
        (self.least_ns as f64 + self.most_ns as f64) > STEPS_OF_A_GAP * mean_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With an amplitude of 32, a rise of 32 datapoints 10 ns apart has the values 0 to 31, and its line is at i after i of them.
    const A: f64 = 32.0;

    fn marks(t3: i64, t5: i64) -> Marks {
        Marks { t3, t4: 0, t5, ..Marks::default() }
    }

    /// What is said of these datapoints.
    fn verdict(marks: Marks, points: impl IntoIterator<Item = (i64, f64)>) -> Result<(), Reason> {
        let mut rise = Rise::new(marks, A);
        points.into_iter().for_each(|(time_ns, value)| {
            assert_eq!(rise.push(time_ns, Some(value)), (0..marks.t5).contains(&time_ns));
        });
        rise.verdict()
    }

    /// A rise of 32 datapoints, some of which have other values.
    fn with_values(value: impl Fn(u32) -> f64) -> Result<(), Reason> {
        let points = (0..32).map(|i| (10 * i64::from(i), value(i)));
        verdict(marks(-10, 320), [(-10, 31.0)].into_iter().chain(points))
    }

    #[test]
    fn a_rise_may_fall_back_and_climb_so_far_and_no_farther() {
        // The fall is from 9, and the climb to what comes after it.
        let with = |fallen, climbed| {
            with_values(|i| match i {
                10 => fallen,
                11 => climbed,
                _ => f64::from(i),
            })
        };
        assert_eq!(with(9.0 - MAX_FALL * A, 10.0), Ok(()));
        assert_eq!(with(9.0 - MAX_FALL * A - 0.01, 9.9), Err(Reason::Noise));
        assert_eq!(with(4.0, 4.0 + MAX_CLIMB * A), Ok(()));
        assert_eq!(with(4.0, 4.0 + MAX_CLIMB * A + 0.01), Err(Reason::Noise));
        // What comes before the cycle is no part of its climb.
        let points = (0..32).map(|i| (10 * i64::from(i), f64::from(i)));
        assert_eq!(verdict(marks(-10, 320), [(-10, -20.0)].into_iter().chain(points)), Ok(()));
    }

    #[test]
    fn a_rise_comes_so_high_and_strays_so_little_from_a_straight_line() {
        let up_to = |peak: f64| {
            let value = |i: u32| peak * f64::from(i) / 31.0;
            // A fall of 1 lets it stray by 2 more.
            with_values(|i| if i == 10 { value(9) - 1.0 } else { value(i) })
        };
        assert_eq!((up_to(MIN_PEAK * A), up_to(MIN_PEAK * A - 0.01)), (Ok(()), Err(Reason::Noise)));
        let apart = |by: f64| with_values(|i| f64::from(i) + by);
        assert_eq!((apart(MAX_STRAY * A), apart(MAX_STRAY * A + 0.01)), (Ok(()), Err(Reason::Standstill)));
        assert_eq!((apart(-MAX_STRAY * A), apart(-MAX_STRAY * A - 0.01)), (Ok(()), Err(Reason::Standstill)));
        // From the end of the cycle before to the start.
        let waits = |t3: i64| {
            let before = (t3 / 10..0).map(|i| (10 * i, if 10 * i == t3 { 31.0 } else { 5.0 }));
            verdict(marks(t3, 320), before.chain((0..32).map(|i| (10 * i, i as f64))))
        };
        assert_eq!((waits(-20), waits(-30)), (Ok(()), Err(Reason::Standstill)));
    }

    #[test]
    fn a_rise_has_so_many_datapoints() {
        let of = |count: i64| {
            let points = (0..count).map(|i| (10 * i, A * i as f64 / count as f64));
            verdict(marks(-10, 10 * count), [(-10, 31.0)].into_iter().chain(points))
        };
        let least = i64::try_from(MIN_POINTS).unwrap();
        assert_eq!((of(least), of(least - 1)), (Ok(()), Err(Reason::Noise)));
    }

    /// 33 steps of 10 ns, the last one longer: together the least and the greatest are 2.25 times the mean at 12.7 ns.
    #[test]
    fn a_step_that_is_too_long_is_a_gap() {
        let points = || [(-10, 31.0)].into_iter().chain((0..32).map(|i| (10 * i64::from(i), f64::from(i))));
        assert_eq!(verdict(marks(-10, 322), points()), Ok(()));
        assert_eq!(verdict(marks(-10, 323), points()), Err(Reason::Gap));
        // And the first one: it is longer by as much.
        let from = |t3| [(t3, 31.0)].into_iter().chain((0..32).map(|i| (10 * i64::from(i), f64::from(i))));
        assert_eq!(
            (verdict(marks(-12, 320), from(-12)), verdict(marks(-13, 320), from(-13))),
            (Ok(()), Err(Reason::Gap))
        );
    }

    #[test]
    fn what_is_expected_and_not_there_is_a_gap_and_what_comes_twice_is_named() {
        let all: Vec<(i64, f64)> =
            [(-10, 31.0)].into_iter().chain((0..32).map(|i| (10 * i64::from(i), f64::from(i)))).collect();
        let without = |place: usize| {
            let mut points = all.clone();
            points.remove(place);
            verdict(marks(-10, 320), points)
        };
        assert_eq!(verdict(marks(-10, 320), []), Err(Reason::Gap));
        assert_eq!((without(0), without(1), without(20)), (Err(Reason::Gap), Err(Reason::Gap), Err(Reason::Gap)));
        let mut twice = all.clone();
        twice.insert(12, all[12]);
        assert_eq!(verdict(marks(-10, 320), twice), Err(Reason::Repeated));
        for missing in [None, Some(f64::NAN), Some(f64::INFINITY)] {
            let mut rise = Rise::new(marks(-10, 320), A);
            all.iter().for_each(|&(time_ns, value)| {
                rise.push(time_ns, Some(value));
            });
            assert_eq!((rise.verdict(), rise.points()), (Ok(()), 32));
            assert!(!rise.push(315, missing));
            assert_eq!(rise.verdict(), Err(Reason::Gap));
        }
        let mut rise = Rise::new(marks(-10, 320), A);
        all.iter().for_each(|&(time_ns, value)| {
            rise.push(time_ns, Some(value));
        });
        rise.lacks();
        assert_eq!(rise.verdict(), Err(Reason::Gap));
    }
}
