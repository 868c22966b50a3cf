//! Whether what lies between the marks is one whole rise of the sawtooth.

use crate::{marks::Marks, reason::Reason};

/// With fewer datapoints, noise could pass for a cycle.
pub const LEAST_POINTS: u64 = 24;

// Shares of the amplitude. Noise of which no value is beyond ±0.0866 of the amplitude, a standard deviation of 0.025 of
// bounded noise, stays within them in cycles of 32 datapoints and more.

/// By how much a rise may fall back.
const MOST_FALL: f64 = 3.0 / 16.0;
/// By how much a rise may go on from one datapoint to the next.
const MOST_CLIMB: f64 = 7.0 / 32.0;
/// How high a rise must come.
const LEAST_PEAK: f64 = 7.0 / 8.0;
/// By how much a rise without noise may stray from a straight line.
const MOST_STRAY: f64 = 1.0 / 16.0;
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
        let clear = self.fall <= MOST_FALL * a && self.climb <= MOST_CLIMB * a && self.highest >= LEAST_PEAK * a;
        if self.points < LEAST_POINTS || !clear {
            return Err(Reason::Noise);
        }
        let most_stray = MOST_STRAY * a + FALLS_ASTRAY * self.fall;
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
