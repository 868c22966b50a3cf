//! What a database's clients noticed of what was done to its processes. Pure.

use crate::{outcome::SecondFigures, plan::ActionPlan};
use iotbench_recorder::WINDOW_NS;

/// The load has recovered when it is back at this part of what it was before.
const RECOVERED_PART: f64 = 0.9;
/// And stays there for so many seconds.
const STEADY_SECONDS: usize = 3;

/// An action that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// What was to be done.
    pub action: ActionPlan,
    /// When it was begun, in nanoseconds since the load's start.
    pub from_ns: u64,
    /// When it was done; a process that was restarted had been started then, and may not have answered yet.
    pub to_ns: Option<u64>,
    /// Why it could not be done.
    pub error: Option<String>,
}

/// A stretch of a run between two marks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stretch {
    /// How many whole seconds it has.
    pub seconds: u64,
    /// Operations acknowledged a second.
    pub operations_per_s: f64,
    /// Operations that failed or had no answer.
    pub errors: u64,
}

/// A scenario as it went.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What was done.
    pub marks: Vec<Mark>,
    /// The measured part before the first action.
    pub before: Stretch,
    /// From the first action until the load had recovered, or to the end.
    pub during: Stretch,
    /// After it had recovered.
    pub after: Stretch,
    /// Seconds of it in which no operation succeeded.
    pub outage_s: u64,
    /// From the last action until the load was back at 90 % of the median before, for three seconds at least; `None`: it was
    /// not, or there was nothing to compare it with.
    pub recovery_ns: Option<u64>,
}

impl Scenario {
    /// From the seconds of a measured part that began at `from_ns`.
    pub fn of(marks: Vec<Mark>, seconds: &[SecondFigures], from_ns: u64) -> Self {
        let second = |ns: u64| {
            let second = usize::try_from(ns.saturating_sub(from_ns) / WINDOW_NS).unwrap_or(usize::MAX);
            second.min(seconds.len())
        };
        let first = marks.first().map_or(seconds.len(), |mark| second(mark.from_ns));
        let last_ns = marks.last().map_or(u64::MAX, |mark| mark.from_ns);
        let usual = median(&seconds[..first]);
        #[expect(clippy::cast_precision_loss, reason = "operations of a second")]
        let is_usual = |s: &SecondFigures| usual.is_some_and(|usual| s.ok as f64 >= RECOVERED_PART * usual);
        let recovered = (second(last_ns)..(seconds.len() + 1).saturating_sub(STEADY_SECONDS))
            .find(|&s| seconds[s..s + STEADY_SECONDS].iter().all(is_usual));
        let until = recovered.unwrap_or(seconds.len()).max(first);
        let recovery_ns = recovered.map(|s| (from_ns + s as u64 * WINDOW_NS).saturating_sub(last_ns));
        Self {
            marks,
            before: stretch(&seconds[..first]),
            during: stretch(&seconds[first..until]),
            after: stretch(&seconds[until..]),
            outage_s: seconds[first..until].iter().filter(|s| s.ok == 0).count() as u64,
            recovery_ns,
        }
    }
}

fn median(seconds: &[SecondFigures]) -> Option<f64> {
    let mut ok: Vec<u64> = seconds.iter().map(|s| s.ok).collect();
    ok.sort_unstable();
    #[expect(clippy::cast_precision_loss, reason = "operations of a second")]
    let at = |place: usize| ok.get(place).map(|&n| n as f64);
    Some(f64::midpoint(at(ok.len().checked_sub(1)? / 2)?, at(ok.len() / 2)?))
}

fn stretch(seconds: &[SecondFigures]) -> Stretch {
    let ok: u64 = seconds.iter().map(|s| s.ok).sum();
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let operations_per_s = ok as f64 / seconds.len().max(1) as f64;
    Stretch { seconds: seconds.len() as u64, operations_per_s, errors: seconds.iter().map(|s| s.errors).sum() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::ProcessAction;

    const S: u64 = WINDOW_NS;

    fn mark(from_ns: u64) -> Mark {
        let action = ActionPlan { at_ns: from_ns, action: ProcessAction::Restart, role: "server".into(), node: 0 };
        Mark { action, from_ns, to_ns: Some(from_ns + 1), error: None }
    }

    fn seconds(ok: &[u64]) -> Vec<SecondFigures> {
        ok.iter().map(|&ok| SecondFigures { ok, errors: u64::from(ok < 50), ..SecondFigures::default() }).collect()
    }

    #[test]
    fn outage_and_recovery_are_told_from_the_seconds() {
        // The measured part begins at 5 s; the process is restarted at 8.4 s.
        let ok = [100, 90, 110, 40, 0, 0, 60, 95, 120, 100, 100];
        let scenario = Scenario::of(vec![mark(8 * S + 4 * S / 10)], &seconds(&ok), 5 * S);
        assert_eq!(scenario.before, Stretch { seconds: 3, operations_per_s: 100.0, errors: 0 });
        assert_eq!(scenario.during, Stretch { seconds: 4, operations_per_s: 25.0, errors: 3 });
        assert_eq!((scenario.after.seconds, scenario.after.errors, scenario.outage_s), (4, 0, 2));
        assert_eq!(scenario.recovery_ns, Some(36 * S / 10), "7 s into the part, which began at 5 s");
    }

    #[test]
    fn what_nobody_notices_has_recovered_at_once() {
        let scenario = Scenario::of(vec![mark(2 * S)], &seconds(&[100; 8]), 0);
        assert_eq!((scenario.outage_s, scenario.recovery_ns, scenario.during.seconds), (0, Some(0), 0));
    }

    #[test]
    fn a_load_that_does_not_come_back_has_not_recovered() {
        for ok in [&[100, 100, 0, 0, 0, 0][..], &[100, 100, 0, 100, 100], &[0, 0, 100, 100, 100][2..]] {
            let at = if ok.len() == 3 { 0 } else { 2 * S };
            let scenario = Scenario::of(vec![mark(at)], &seconds(ok), 0);
            assert_eq!(scenario.recovery_ns, None, "{ok:?}");
            assert_eq!(scenario.after.seconds, 0);
        }
    }

    #[test]
    fn several_actions_are_one_disturbance() {
        // Stopped at 2 s, continued at 5 s; in between the load came back, which does not count.
        let ok = [100, 100, 0, 100, 100, 0, 50, 100, 100, 100];
        let scenario = Scenario::of(vec![mark(2 * S), mark(5 * S)], &seconds(&ok), 0);
        assert_eq!((scenario.during.seconds, scenario.outage_s), (5, 2));
        assert_eq!(scenario.recovery_ns, Some(2 * S));
    }

    #[test]
    fn without_an_action_or_seconds_there_is_nothing_to_tell() {
        let none = Scenario::of(vec![], &seconds(&[100; 5]), 0);
        assert_eq!((none.before.seconds, none.during.seconds, none.recovery_ns), (5, 0, None));
        let early = Scenario::of(vec![mark(9 * S)], &[], 0);
        assert_eq!((early.before.seconds, early.recovery_ns), (0, None));
    }
}
