//! The search for the greatest load that is sustained, as a pure state machine: reports of trials in, the next trial or the
//! interval out.
//!
//! It brackets the limit with single trials, and then runs blocks of trials near it: one load below the limit, one above it,
//! and a sentinel, which is known to pass, in random order, until the interval is narrow enough or there were enough trials.
//! The terms are those of MLRsearch (RFC 9971): the *relevant lower bound* is the greatest load that was sustained with no
//! smaller one that failed, the *relevant upper bound* the least load that failed.

mod estimate;
#[cfg(test)]
mod simulation;
mod tallies;
#[cfg(test)]
mod tests;
mod told;

pub use estimate::{Estimate, Method, Move};
pub use tallies::Tallies;

use crate::ramp::{Bounds, Decision, Purpose, Step};
use iotbench_statistics::{Slope, interleaved};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A search as meant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchPlan {
    /// The load of the first trial.
    pub first: u32,
    /// The factor from one trial to the next while the load grows, above 1.
    pub growth: f64,
    /// A greater load than this is not tried.
    pub most: u32,
    /// The search ends when (upper − lower) / upper is at most this.
    pub resolution: f64,
    /// At most so many trials near the limit; 0: the limit is only bracketed, to the resolution.
    pub trials: u32,
    /// Whether trials are of users of one closed loop with a limit on the mean: of a saturated server R + Z grows at least as
    /// the users do.
    pub closed: bool,
    /// Decides the order of trials within a block.
    pub seed: u64,
}

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialVerdict {
    /// The load was sustained.
    Sustained,
    /// It was too much for the database.
    TooMuch,
    /// It was too much for the client: of the database it only says that its limit is not known.
    TooMuchForClient,
}

/// What a trial tells the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialReport {
    /// How it ended.
    pub verdict: TrialVerdict,
    /// How far it was from its limit: the logarithm of what the limit is on, over the limit. `None`: not known.
    pub margin: Option<f64>,
}

/// A trial that was run.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Made {
    step: Step,
    report: TrialReport,
}

impl Made {
    /// Whether it was run to tell the limit, and says something of the database.
    fn is_near(&self) -> bool {
        matches!(self.step.purpose, Purpose::Below | Purpose::Above) && self.is_databases()
    }

    fn is_sentinel(&self) -> bool {
        self.step.purpose == Purpose::Sentinel && self.is_databases()
    }

    fn is_databases(&self) -> bool {
        self.report.verdict != TrialVerdict::TooMuchForClient
    }
}

/// The limit is bracketed within so many trials, or never. Far more than any search needs whose trials agree.
const MAX_BRACKETING: u32 = 100;
/// The limit is bracketed when what failed is at most so many times what was sustained.
const BRACKET: f64 = 1.25;
/// A block is a trial below the limit, one above it and a sentinel.
const OF_A_BLOCK: u32 = 3;
/// Blocks before the interval is looked at.
const MIN_BLOCKS: u32 = 4;
/// A block's loads lie at most so far from the limit, as a part of it.
const FARTHEST: f64 = 0.1;
/// As far as those of the first block, of which the spread is not known yet.
const FIRST_REACH: f64 = 0.05;
/// Of so many trials of a load the majority decides while the limit is bracketed.
const VOTES: u32 = 3;
/// So often the client is the limit of a load before it is left at that.
const MAX_BY_CLIENT: u32 = 5;
/// The sentinel's load is this part of the limit.
const SENTINEL: f64 = 0.75;

/// A search under way.
#[derive(Clone, Debug)]
pub struct CapacitySearch {
    plan: SearchPlan,
    current: Step,
    tallies: Tallies,
    made: Vec<Made>,
    blocks: Option<Blocks>,
}

/// The trials near the limit.
#[derive(Clone, Debug)]
struct Blocks {
    /// The loads between which the limit was bracketed.
    bracket: (f64, f64),
    sentinel: u32,
    begun: u32,
    /// What is left of the present one.
    left: VecDeque<Step>,
}

impl CapacitySearch {
    /// A search that has not begun.
    #[must_use]
    pub fn new(plan: SearchPlan) -> Self {
        let current = Step { load: plan.first.min(plan.most), purpose: Purpose::Grow };
        Self { plan, current, tallies: Tallies::default(), made: Vec::new(), blocks: None }
    }

    /// The trial to run now.
    #[must_use]
    pub fn step(&self) -> Step {
        self.current
    }

    /// Takes the report of the present trial.
    pub fn decide(&mut self, report: TrialReport) -> Decision {
        self.made.push(Made { step: self.current, report });
        self.tallies.note(self.current.load, report.verdict);
        match self.following() {
            Some(step) => {
                self.current = step;
                Decision::Next(step)
            }
            None => Decision::Done(self.bounds()),
        }
    }

    /// The interval as far as it is known.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let by_trials = self.tallies.bounds();
        let Some(estimate) = self.estimate().filter(|_| !self.is_clients()) else { return by_trials };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "loads, and the cast saturates")]
        let [low, high] = [estimate.low.floor() as u32, estimate.high.ceil() as u32];
        let sustained = self.tallies.sustained_near(low).max(self.sustained_sentinel().filter(|&load| load <= high));
        Bounds {
            sustained,
            lower: Some(low).filter(|&low| low > 0),
            upper: Some(high),
            estimate: Some(estimate),
            client_limited: false,
        }
    }

    /// How many trials are left, the present one included: at least, if growing ends with it and no trial contradicts another,
    /// and at most.
    #[must_use]
    pub fn left(&self) -> (u32, u32) {
        let Some(blocks) = &self.blocks else {
            let (least_near, bracketing) = (self.plan.least_near(), self.expected_bracketing());
            return (bracketing + least_near, bracketing + self.plan.most_near());
        };
        let of_block = 1 + u32::try_from(blocks.left.len()).unwrap_or(u32::MAX);
        let to_come = |blocks_in_all: u32| blocks_in_all.saturating_sub(blocks.begun) * OF_A_BLOCK;
        (of_block + to_come(MIN_BLOCKS), of_block + to_come(self.plan.most_near() / OF_A_BLOCK))
    }

    /// Trials until the limit is bracketed, if growing ends with the present one and what was run before is so again.
    fn expected_bracketing(&self) -> u32 {
        let mut search = self.clone();
        for trials in 1..MAX_BRACKETING {
            let step = search.current;
            let is_sustained = search.tallies.of(step.load).is_sustained().unwrap_or(step.purpose != Purpose::Grow);
            let verdict = if is_sustained { TrialVerdict::Sustained } else { TrialVerdict::TooMuch };
            let is_done = matches!(search.decide(TrialReport { verdict, margin: None }), Decision::Done(_));
            if is_done || search.is_near() {
                return trials;
            }
        }
        MAX_BRACKETING
    }

    /// The sentinel, if it was sustained by most of its trials.
    fn sustained_sentinel(&self) -> Option<u32> {
        let sentinel = self.blocks.as_ref()?.sentinel;
        (self.tallies.of(sentinel).is_sustained() == Some(true)).then_some(sentinel)
    }

    /// Whether the limit is bracketed, and trials near it are run.
    #[must_use]
    pub fn is_near(&self) -> bool {
        self.blocks.is_some()
    }

    fn estimate(&self) -> Option<Estimate> {
        let slope = if self.plan.closed { Slope::AtLeast(1.0) } else { Slope::Unknown };
        Estimate::of(&self.made, self.blocks.as_ref()?.bracket, slope, self.plan.seed)
    }

    fn following(&mut self) -> Option<Step> {
        if self.made.len() >= self.plan.most_whatever_they_say() as usize {
            return None;
        }
        if self.blocks.is_none() {
            match self.bracketing() {
                Bracketing::Next(step) => return Some(step),
                Bracketing::Ended => return None,
                Bracketing::Found(..) if self.plan.trials == 0 => return None,
                Bracketing::Found(lower, upper) => self.blocks = Some(Blocks::around(lower, upper)),
            }
        }
        if let Some(step) = self.blocks.as_mut()?.left.pop_front() {
            return Some(step);
        }
        let estimate = self.estimate();
        if estimate.as_ref().is_some_and(|estimate| self.is_enough(estimate)) || self.is_clients() {
            return None;
        }
        let plan = self.plan;
        let blocks = self.blocks.as_mut()?;
        blocks.begin(plan, estimate.as_ref());
        blocks.left.pop_front()
    }

    fn is_enough(&self, estimate: &Estimate) -> bool {
        let is_narrow = estimate.width() <= self.plan.resolution || estimate.high.ceil() - estimate.low.floor() <= 1.0;
        let begun = self.blocks.as_ref().map_or(0, |blocks| blocks.begun);
        let is_told = is_narrow && (estimate.settled || estimate.moved.is_some());
        begun >= MIN_BLOCKS && (is_told || self.trials_near() >= self.plan.trials)
    }

    /// Trials of blocks that say something of the database.
    fn trials_near(&self) -> u32 {
        let is_of_block =
            |made: &&Made| matches!(made.step.purpose, Purpose::Below | Purpose::Above | Purpose::Sentinel);
        u32::try_from(self.made.iter().filter(is_of_block).count()).unwrap_or(u32::MAX)
    }

    /// Whether the client was so often the limit of a block's trials that more of them would tell no more.
    fn is_clients(&self) -> bool {
        let is_clients =
            |made: &&Made| made.step.purpose == Purpose::Above && made.report.verdict == TrialVerdict::TooMuchForClient;
        self.made.iter().filter(is_clients).count() >= MAX_BY_CLIENT as usize
    }

    /// Grows until a load fails, whose failure is doubted once, and halves until the bracket is narrow.
    fn bracketing(&self) -> Bracketing {
        let load = self.current.load;
        if self.tallies.of(load).is_sustained().is_none() {
            // As many for as against it.
            return Bracketing::Next(self.current);
        }
        if self.tallies.of(load).is_clients() && !self.is_decided(load) {
            // It has said nothing of the database yet.
            return Bracketing::Next(Step { load, purpose: Purpose::Retest });
        }
        let Bounds { lower, upper, client_limited, .. } = self.tallies.bounds();
        if let Some(load) = upper.filter(|&load| !self.is_decided(load) && self.is_doubtful(load)) {
            return Bracketing::Next(Step { load, purpose: Purpose::Retest });
        }
        match (lower, upper) {
            (Some(lower), None) if lower < self.plan.most => {
                Bracketing::Next(Step { load: self.plan.grown(lower), purpose: Purpose::Grow })
            }
            // The greatest load that may be tried: once more.
            (Some(lower), None) if !self.is_decided(lower) => {
                Bracketing::Next(Step { load: lower, purpose: Purpose::Retest })
            }
            (lower, Some(upper)) if !self.plan.is_bracket(lower, upper) => {
                let lower = lower.unwrap_or(0);
                Bracketing::Next(Step { load: lower + (upper - lower) / 2, purpose: Purpose::Bisect })
            }
            (Some(lower), Some(upper)) if !client_limited => Bracketing::Found(lower, upper),
            _ => Bracketing::Ended,
        }
    }

    /// Whether a failure may be none: it ended the growth, a greater load was sustained, or it was the very first trial, of a
    /// server that may only have been cold.
    fn is_doubtful(&self, failed: u32) -> bool {
        let has_grown_to = |made: &Made| made.step == Step { load: failed, purpose: Purpose::Grow };
        self.tallies.is_sustained_above(failed) || self.made.iter().any(has_grown_to)
    }

    /// Whether no further trial of this load can change what the majority says.
    fn is_decided(&self, load: u32) -> bool {
        self.tallies.of(load).is_decided(VOTES)
    }
}

/// What comes while the limit is not bracketed.
enum Bracketing {
    /// This trial.
    Next(Step),
    /// The limit lies between these loads.
    Found(u32, u32),
    /// Nothing: no load, or every load, is sustained, or the client is the limit.
    Ended,
}

impl Blocks {
    fn around(lower: u32, upper: u32) -> Self {
        let bracket = (f64::from(lower), f64::from(upper));
        let sentinel = whole(SENTINEL * (bracket.0 * bracket.1).sqrt()).clamp(1, lower);
        Self { bracket, sentinel, begun: 0, left: VecDeque::new() }
    }

    /// Another one, around what is known by now.
    fn begin(&mut self, plan: SearchPlan, known: Option<&Estimate>) {
        let middle = known.map_or((self.bracket.0 * self.bracket.1).sqrt(), |known| known.load);
        let least = (plan.resolution / 2.0).min(FARTHEST);
        let reach = known.map_or(FIRST_REACH, |known| known.spread).clamp(least, FARTHEST);
        let below = whole((middle / (1.0 + reach)).floor()).max(1);
        let above = whole((middle * (1.0 + reach)).ceil()).clamp(below + 1, plan.most.max(below + 1));
        let loads = [
            Step { load: below, purpose: Purpose::Below },
            Step { load: above, purpose: Purpose::Above },
            Step { load: self.sentinel, purpose: Purpose::Sentinel },
        ];
        let order = interleaved(loads.len(), 1, plan.seed.wrapping_add(self.begun.into()));
        self.left = order.into_iter().filter_map(|place| loads.get(place).copied()).collect();
        self.begun += 1;
    }
}

/// A load as a whole number.
fn whole(load: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a load, and the cast saturates")]
    let whole = load.round() as u32;
    whole
}

impl SearchPlan {
    fn least_near(&self) -> u32 {
        self.most_near().min(MIN_BLOCKS * OF_A_BLOCK)
    }

    /// The most trials near the limit: blocks are whole.
    pub(crate) fn most_near(&self) -> u32 {
        if self.trials == 0 {
            return 0;
        }
        self.trials.div_ceil(OF_A_BLOCK).max(MIN_BLOCKS) * OF_A_BLOCK
    }

    fn is_bracket(&self, lower: Option<u32>, upper: u32) -> bool {
        let (lower, most) =
            (lower.unwrap_or(0), if self.trials == 0 { 1.0 / (1.0 - self.resolution) } else { BRACKET });
        upper - lower <= 1 || f64::from(upper) <= most * f64::from(lower)
    }

    /// More trials are never run.
    pub(crate) fn most_whatever_they_say(&self) -> u32 {
        MAX_BRACKETING + self.most_near()
    }

    fn grown(&self, load: u32) -> u32 {
        whole((f64::from(load) * self.growth).min(f64::from(self.most))).max(load + 1).min(self.most)
    }
}
