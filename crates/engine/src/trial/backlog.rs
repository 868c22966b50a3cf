//! Whether the queue of an open loop grew, by what was offered and what ended in each second.
//!
//! Just above capacity C the queue of a load λ grows by λ − C a second, while the mean response of T seconds is only
//! (λ/C − 1) T/2: a limit on the response alone passes 102 % of the capacity for a minute. So a load is sustained only if at
//! least 99 % of what is offered ends, and if the queue's length has no upward trend.

use super::beyond;
use crate::{
    outcome::SecondFigures,
    plan::StopPlan,
    trend::{Line, MIN_POINTS, STANDARD_ERRORS},
};
use iotbench_recorder::WINDOW_NS;
use serde::{Deserialize, Serialize};

/// Part of what is offered that has to end.
pub(super) const ACHIEVED_PART: f64 = 0.99;
/// Growth by less than this part of what is offered is none, however certain it is: over a minute it is 60 ms of queue.
const PROVEN_PART: f64 = 0.001;
/// Growth by so many operations is the grain of counting.
const PROVEN_OPERATIONS: f64 = 2.0;
/// Growth by this part of what is offered has to be excluded.
const EXCLUDED_PART: f64 = 0.01;
/// But not that of so few operations: seconds with few operations tell no more.
pub(super) const EXCLUDED_OPERATIONS: f64 = 10.0;

impl StopPlan {
    /// How many seconds of a trial pass before its queue is judged: an operation may be on its way for as long as the limit on
    /// its response.
    #[must_use]
    pub fn settling_s(&self) -> usize {
        let limits_ns = [self.mean_response_ns, self.quantile_response.map(|(_, ns)| ns)];
        let longest_ns = limits_ns.into_iter().flatten().max().unwrap_or(0);
        usize::try_from(longest_ns.div_ceil(WINDOW_NS)).unwrap_or(usize::MAX).max(1)
    }

    /// A trial of fewer seconds does not tell whether its queue grows.
    #[must_use]
    pub fn least_trial_s(&self) -> usize {
        self.settling_s().saturating_add(MIN_POINTS)
    }
}

/// What happened to a queue in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecondOfQueue {
    /// Operations that were due in it.
    pub offered: u64,
    /// Operations that ended in it, however they did.
    pub ended: u64,
}

impl From<&SecondFigures> for SecondOfQueue {
    fn from(second: &SecondFigures) -> Self {
        Self { offered: second.offered, ended: second.ok + second.errors + second.dropped }
    }
}

/// What became of a queue over the settled part of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Backlog {
    /// Operations that ended, over those that were offered.
    pub achieved_ratio: f64,
    /// Operations by which the queue grew in a second, by least squares.
    pub growth_per_s: f64,
    /// The standard error of that, the resemblance of one second to the next allowed for.
    pub growth_error_per_s: f64,
    /// Seconds looked at.
    seconds: f64,
    /// What was offered in them.
    offered: f64,
}

impl Backlog {
    /// From the seconds of a trial that began with an empty queue. The first `settling` are left out: in them the operations
    /// fill the way through the server, which is no queue. `None`: what is left is too short to tell a trend.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn of(seconds: &[SecondOfQueue], settling: usize) -> Option<Self> {
        let mut queue = 0.0;
        let lengths = seconds.iter().zip(1_u32..).map(|(second, end_s)| {
            queue += second.offered as f64 - second.ended as f64;
            (f64::from(end_s), queue)
        });
        let lengths: Vec<_> = lengths.skip(settling).collect();
        let line = Line::through(&lengths)?;
        let sum = |of: fn(&SecondOfQueue) -> u64| seconds.iter().skip(settling).map(of).sum::<u64>() as f64;
        let (offered, ended) = (sum(|s| s.offered), sum(|s| s.ended));
        (offered > 0.0).then(|| Self {
            achieved_ratio: ended / offered,
            growth_per_s: line.slope,
            growth_error_per_s: line.error_of_a_course(),
            seconds: lengths.len() as f64,
            offered,
        })
    }

    /// Whether less than 99 % was achieved, and not only because of a stall at the end.
    #[must_use]
    pub fn fell_behind(&self) -> bool {
        let lacking = self.offered * (1.0 - self.achieved_ratio);
        let grew = self.growth_per_s > STANDARD_ERRORS * self.growth_error_per_s;
        let a_second = self.offered / self.seconds;
        self.achieved_ratio < ACHIEVED_PART && lacking > EXCLUDED_OPERATIONS && (grew || lacking > a_second)
    }

    /// Why a load with such a queue cannot go on; `None`: it can.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let rate = self.offered / self.seconds;
        let lacking = self.offered * (1.0 - self.achieved_ratio);
        if self.achieved_ratio < ACHIEVED_PART && lacking > PROVEN_OPERATIONS {
            return Some(told_achieved(self.achieved_ratio));
        }
        let margin = STANDARD_ERRORS * self.growth_error_per_s;
        let over_all = |growth_per_s: f64| growth_per_s * self.seconds;
        let grew = format!("the backlog grew by {:.1} ± {margin:.1} operations/s", self.growth_per_s);
        let matters = over_all(self.growth_per_s) > (PROVEN_PART * self.offered).max(PROVEN_OPERATIONS);
        if self.growth_per_s > margin && matters {
            return Some(format!("{grew} at {rate:.1} offered"));
        }
        let most = (EXCLUDED_PART * self.offered).max(EXCLUDED_OPERATIONS);
        let is_unclear = over_all(self.growth_per_s + margin) > most;
        is_unclear.then(|| format!("{grew} at {rate:.1} offered, which may be too much: a longer trial tells"))
    }
}

/// Less than enough of the offered rate, and told as less.
pub(super) fn told_achieved(ratio: f64) -> String {
    format!("only {} % of the offered rate was achieved", beyond(100.0 * ratio, 100.0 * ACHIEVED_PART, 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A server that ends as many as it can of what waits, up to `capacity` a second.
    fn trial(offered: &[u64], capacity: u64) -> Vec<SecondOfQueue> {
        let mut queue = 0;
        let second = |&offered: &u64| {
            queue += offered;
            let ended = queue.min(capacity);
            queue -= ended;
            SecondOfQueue { offered, ended }
        };
        offered.iter().map(second).collect()
    }

    fn failure(offered: u64, capacity: u64, seconds: usize) -> Option<String> {
        Backlog::of(&trial(&vec![offered; seconds], capacity), 1).unwrap().failure()
    }

    #[test]
    fn a_queue_that_grows_by_a_quarter_of_a_percent_is_found_in_a_minute() {
        assert_eq!(failure(400, 400, 60), None);
        let why = "the backlog grew by 1.0 ± 0.0 operations/s at 401.0 offered";
        assert_eq!(failure(401, 400, 60).as_deref(), Some(why));
        let why = "only 98.0 % of the offered rate was achieved";
        assert_eq!(failure(408, 400, 60).as_deref(), Some(why));
    }

    #[test]
    fn the_way_through_the_server_is_no_queue() {
        let mut seconds = vec![SecondOfQueue { offered: 1000, ended: 1000 }; 10];
        seconds[0].ended = 500;
        let backlog = Backlog::of(&seconds, 1).unwrap();
        assert_eq!((backlog.achieved_ratio, backlog.growth_per_s, backlog.failure()), (1.0, 0.0, None));
        assert!(Backlog::of(&seconds, 0).unwrap().failure().is_some(), "half a second of answers are to come");
    }

    #[test]
    fn a_short_trial_and_one_without_load_tell_nothing() {
        assert_eq!(Backlog::of(&trial(&[100; 4], 100), 1), None);
        assert_eq!(Backlog::of(&trial(&[0; 9], 100), 1), None);
    }

    /// The queue swings by 100 operations, and ten seconds do not tell whether it grows; a minute does.
    #[test]
    fn growth_that_cannot_be_excluded_asks_for_a_longer_trial() {
        let swinging = |seconds: usize| {
            let ends = [310, 450, 440].into_iter().cycle().take(seconds);
            let seconds: Vec<_> = ends.map(|ended| SecondOfQueue { offered: 400, ended }).collect();
            Backlog::of(&seconds, 1).unwrap().failure()
        };
        let why = swinging(10).unwrap();
        assert!(why.ends_with("which may be too much: a longer trial tells"), "{why}");
        assert_eq!(swinging(60), None);
    }

    #[test]
    fn few_operations_are_judged_by_their_grain() {
        let pending = [1, 0, 1, 0, 0, 1, 0, 1, 0, 1];
        let (mut before, mut seconds) = (0, Vec::new());
        for now in pending {
            seconds.push(SecondOfQueue { offered: 5, ended: 5 + before - now });
            before = now;
        }
        assert_eq!(Backlog::of(&seconds, 1).unwrap().failure(), None);
    }

    proptest! {
        /// Bursts that the server works off are no trend; two percent too much are one whatever the bursts.
        #[test]
        fn bursts_are_no_growth(period in 2_u64..10, phase in 0_u64..10) {
            let offered: Vec<u64> = (0..60).map(|s| if (s + phase) % period == 0 { 500 } else { 380 }).collect();
            let mean = offered.iter().sum::<u64>() as f64 / 60.0;
            let keeps_up = Backlog::of(&trial(&offered, 460), 1).unwrap();
            prop_assert!(keeps_up.failure().is_none(), "{:?}", keeps_up);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred")]
            let falls = Backlog::of(&trial(&offered, (mean / 1.02) as u64), 1).unwrap();
            prop_assert!(falls.failure().is_some(), "{:?}", falls);
        }
    }

    /// A queue of so many offered in 20 seconds, with what else a backlog is judged by.
    fn judged(offered: f64, achieved_ratio: f64, growth_per_s: f64, growth_error_per_s: f64) -> Backlog {
        Backlog { achieved_ratio, growth_per_s, growth_error_per_s, seconds: 20.0, offered }
    }

    #[test]
    fn what_a_queue_may_be_it_may_be_to_the_last_operation() {
        let failure = |backlog: Backlog| backlog.failure();
        assert_eq!(failure(judged(1_000.0, ACHIEVED_PART, 0.0, 0.0)), None, "99 % may be");
        let lacking = failure(judged(1_000.0, 0.989, 0.0, 0.0));
        assert_eq!(lacking.as_deref(), Some("only 98.9 % of the offered rate was achieved"));
        assert_eq!(told_achieved(0.989_98), "only 98.998 % of the offered rate was achieved", "less than 99 %");
        assert_eq!(failure(judged(200.0, 0.99, 0.0, 0.0)), None);
        assert_eq!(failure(judged(128.0, 0.984_375, 0.0, 0.0)), None, "two operations are the grain of counting");
        assert!(failure(judged(128.0, 0.976_562_5, 0.0, 0.0)).is_some(), "three are not");
        // 0.1 a second are two operations in all, and of 4,000 offered four are a thousandth.
        assert_eq!(failure(judged(100.0, 1.0, 0.1, 0.0)), None);
        let grew = failure(judged(100.0, 1.0, 0.125, 0.0));
        assert_eq!(grew.as_deref(), Some("the backlog grew by 0.1 ± 0.0 operations/s at 5.0 offered"));
        assert_eq!(failure(judged(4_000.0, 1.0, 0.2, 0.0)), None);
        assert!(failure(judged(4_000.0, 1.0, 0.25, 0.0)).is_some());
        assert_eq!(failure(judged(100.0, 1.0, 0.125, 0.0625)), None, "two standard errors are no proof");
        // Ten operations, or a hundredth, have to be excluded.
        assert_eq!(failure(judged(100.0, 1.0, 0.0, 0.25)), None);
        let unclear = failure(judged(100.0, 1.0, 0.0, 0.255)).unwrap();
        assert!(
            unclear.ends_with("± 0.5 operations/s at 5.0 offered, which may be too much: a longer trial tells"),
            "{unclear}"
        );
        assert_eq!(failure(judged(2_000.0, 1.0, 0.25, 0.375)), None, "0.25 + 0.75 a second are twenty of two thousand");
        assert!(failure(judged(2_000.0, 1.0, 0.25, 0.4)).is_some());
    }

    #[test]
    fn a_load_falls_behind_by_more_than_a_grain_while_its_queue_grows_or_by_more_than_a_second() {
        let behind = |offered, ratio, growth, error| judged(offered, ratio, growth, error).fell_behind();
        assert!(behind(20_000.0, 0.98, 1.0, 0.25));
        assert!(!behind(20_000.0, ACHIEVED_PART, 1.0, 0.25), "99 % are carried");
        assert!(!behind(640.0, 0.984_375, 1.0, 0.25) && behind(704.0, 0.984_375, 1.0, 0.25), "ten, and eleven");
        assert!(!behind(20_000.0, 0.96, 1.0, 0.5), "no proof that it grew, and less than a second's");
        // Of sixteen seconds a sixteenth is a second's.
        let sixteen = |ratio| Backlog { seconds: 16.0, ..judged(16_000.0, ratio, 0.0, 0.0) };
        assert!(!sixteen(0.9375).fell_behind() && sixteen(0.9365).fell_behind());
    }

    #[test]
    fn a_trial_settles_for_as_long_as_its_longest_limit() {
        let stop = |mean_response_ns, quantile_ns: Option<u64>| StopPlan {
            mean_response_ns,
            quantile_response: quantile_ns.map(|ns| (0.99, ns)),
            errors: 0.0,
            timeouts: 0.0,
            max_loss: None,
        };
        assert_eq!(stop(None, None).settling_s(), 1);
        assert_eq!(stop(Some(WINDOW_NS), Some(2 * WINDOW_NS + 1)).settling_s(), 3);
        assert_eq!(stop(Some(5 * WINDOW_NS), Some(1)).least_trial_s(), 5 + MIN_POINTS);
    }

    #[test]
    fn all_that_ended_in_a_second_counts_however_it_did() {
        let second = SecondFigures { offered: 40, ok: 5, errors: 7, dropped: 11, ..SecondFigures::default() };
        assert_eq!(SecondOfQueue::from(&second), SecondOfQueue { offered: 40, ended: 23 });
    }
}
