//! What a database's clients noticed of what was done to its processes. Pure.

use crate::{outcome::SecondFigures, plan::ActionPlan, silence::Silence, trial::SecondOfQueue};
use iotbench_core::ProcessAction;
use iotbench_recorder::WINDOW_NS;

/// The load has recovered when it is back at this part of what it was before.
const RECOVERED_PART: f64 = 0.9;
/// And stays there for so many seconds.
const STEADY_SECONDS: usize = 3;
/// So few operations more that wait tell nothing.
const FEW_OPERATIONS: f64 = 10.0;

/// An action that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionTaken {
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
pub struct ScenarioPhase {
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
    pub marks: Vec<ActionTaken>,
    /// The measured part before the first action.
    pub before: ScenarioPhase,
    /// From the first action until the load had recovered, or to the end.
    pub during: ScenarioPhase,
    /// After it had recovered.
    pub after: ScenarioPhase,
    /// Seconds of it in which no operation succeeded.
    pub outage_s: u64,
    /// The longest time without a success from the first action to the end of the measured part.
    pub silence: Option<Silence>,
    /// The longest one before it.
    pub silence_before: Option<Silence>,
    /// From the last action until the load was back at 90 % of the median before, for three seconds at least, with no more
    /// waiting than before; `None`: it was not, or there was nothing to compare it with.
    pub recovery_ns: Option<u64>,
}

impl Scenario {
    /// Whether a process was ended and started again, so that a server which is not there is on its way back.
    #[must_use]
    pub(crate) fn starts_again(&self) -> bool {
        let is_start = |action| matches!(action, ProcessAction::Restart | ProcessAction::Crash);
        self.marks.iter().any(|mark| mark.error.is_none() && is_start(mark.action.action))
    }

    /// From the seconds of a measured part that began at `from_ns`.
    pub fn of(marks: Vec<ActionTaken>, seconds: &[SecondFigures], from_ns: u64) -> Self {
        let within = |ns: u64| ns.saturating_sub(from_ns);
        let second = |ns: u64| usize::try_from(within(ns) / WINDOW_NS).unwrap_or(usize::MAX).min(seconds.len());
        let first = marks.first().map_or(seconds.len(), |mark| second(mark.from_ns));
        let first_ns = marks.first().map_or(u64::MAX, |mark| within(mark.from_ns));
        let last_ns = marks.last().map_or(u64::MAX, |mark| mark.from_ns);
        let silence_before = Silence::longest(seconds, 0..first_ns, true);
        let silence = Silence::longest(seconds, first_ns..u64::MAX, false);
        let usual = usual(seconds, first);
        let recovered = (second(last_ns)..(seconds.len() + 1).saturating_sub(STEADY_SECONDS))
            .find(|&s| usual[s..s + STEADY_SECONDS].iter().all(|&is_usual| is_usual));
        let recovered_ns = recovered.map(|second| {
            let steady_ns = second as u64 * WINDOW_NS..(second + STEADY_SECONDS) as u64 * WINDOW_NS;
            let longest = silence.filter(|longest| longest.exceeds(silence_before.as_ref()));
            let ended_ns = longest.map(|longest| longest.ended_ns).filter(|ended_ns| steady_ns.contains(ended_ns));
            ended_ns.unwrap_or(steady_ns.start)
        });
        let until = recovered.unwrap_or(seconds.len()).max(first);
        Self {
            marks,
            before: stretch(&seconds[..first]),
            during: stretch(&seconds[first..until]),
            after: stretch(&seconds[until..]),
            outage_s: seconds[first..until].iter().filter(|s| s.ok == 0).count() as u64,
            silence,
            silence_before,
            recovery_ns: recovered_ns.map(|ns| (from_ns + ns).saturating_sub(last_ns)),
        }
    }
}

/// Whether each second was as those before `first` were: as fast, and with no more that was due and had not ended. A server
/// that works off what has queued up answers fast, and late.
#[expect(clippy::cast_precision_loss, reason = "operations of a second")]
fn usual(seconds: &[SecondFigures], first: usize) -> Vec<bool> {
    let Some(median) = median(&seconds[..first]) else { return vec![false; seconds.len()] };
    let waiting: Vec<f64> = seconds
        .iter()
        .map(SecondOfQueue::from)
        .scan(0.0, |waiting, second| {
            *waiting += second.offered as f64 - second.ended as f64;
            Some(*waiting)
        })
        .collect();
    let more = ((1.0 - RECOVERED_PART) * median).max(FEW_OPERATIONS);
    let most = waiting[..first].iter().copied().fold(0.0, f64::max) + more;
    let is_usual =
        |(second, waiting): (&SecondFigures, &f64)| second.ok as f64 >= RECOVERED_PART * median && *waiting <= most;
    seconds.iter().zip(&waiting).map(is_usual).collect()
}

fn median(seconds: &[SecondFigures]) -> Option<f64> {
    let mut ok: Vec<u64> = seconds.iter().map(|s| s.ok).collect();
    ok.sort_unstable();
    #[expect(clippy::cast_precision_loss, reason = "operations of a second")]
    let at = |place: usize| ok.get(place).map(|&n| n as f64);
    Some(f64::midpoint(at(ok.len().checked_sub(1)? / 2)?, at(ok.len() / 2)?))
}

fn stretch(seconds: &[SecondFigures]) -> ScenarioPhase {
    let ok: u64 = seconds.iter().map(|s| s.ok).sum();
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let operations_per_s = ok as f64 / seconds.len().max(1) as f64;
    ScenarioPhase { seconds: seconds.len() as u64, operations_per_s, errors: seconds.iter().map(|s| s.errors).sum() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::ProcessAction;
    use iotbench_recorder::PART_NS;
    use std::ops::Range;

    const S: u64 = WINDOW_NS;

    fn mark(from_ns: u64) -> ActionTaken {
        let action = ActionPlan { at_ns: from_ns, action: ProcessAction::Restart, role: "server".into(), node: 0 };
        ActionTaken { action, from_ns, to_ns: Some(from_ns + 1), error: None }
    }

    fn seconds(ok: &[u64]) -> Vec<SecondFigures> {
        let of = |&ok: &u64| {
            let errors = u64::from(ok < 50);
            let ok_parts = if ok > 0 { u64::MAX } else { 0 };
            SecondFigures { offered: ok + errors, ok, ok_parts, errors, ..SecondFigures::default() }
        };
        ok.iter().map(of).collect()
    }

    /// 100 are due each second; all are answered at once but for `stall_ns`, whose operations are then answered at `rate` a
    /// second with those that follow.
    fn open_loop(count: u64, stall_ns: Range<u64>, rate: u64) -> Vec<SecondFigures> {
        let mut seconds = vec![SecondFigures::default(); usize::try_from(count).unwrap()];
        let mut free_ns = 0;
        for due_ns in (0..count * 100).map(|n| n * S / 100) {
            let begun_ns = if stall_ns.contains(&due_ns) { stall_ns.end.max(free_ns) } else { due_ns.max(free_ns) };
            free_ns = begun_ns + S / rate;
            seconds[usize::try_from(due_ns / S).unwrap()].offered += 1;
            if let Some(second) = seconds.get_mut(usize::try_from(free_ns / S).unwrap()) {
                second.ok += 1;
                second.ok_parts |= 1 << (free_ns % S / PART_NS);
            }
        }
        seconds
    }

    #[test]
    fn an_outage_below_a_second_is_told_within_its_parts() {
        let kill_ns = 5 * S + S / 10;
        let scenario = Scenario::of(vec![mark(kill_ns)], &open_loop(12, kill_ns..kill_ns + 8 * S / 10, 10_000), 0);
        assert_eq!(scenario.outage_s, 0, "each second has a success");
        let silence = scenario.silence.unwrap();
        assert!((770_000_000..800_000_000).contains(&silence.at_least_ns), "{silence:?}");
        assert!((800_000_000..850_000_000).contains(&silence.at_most_ns.unwrap()), "{silence:?}");
        assert!(scenario.silence_before.unwrap().at_most_ns.unwrap() < 50_000_000);
        let recovery_ns = scenario.recovery_ns.unwrap();
        assert!(
            (800_000_000..820_000_000).contains(&recovery_ns),
            "not at once, although no second shows it: {recovery_ns}"
        );
    }

    #[test]
    fn a_load_that_works_off_what_has_queued_up_has_not_recovered() {
        // 250 wait at 7.6 s, and at 150 a second 50 fewer each: until about 12.6 s, although each second has its 100.
        let kill_ns = 5 * S + S / 10;
        let seconds = open_loop(20, kill_ns..kill_ns + 25 * S / 10, 150);
        assert!(seconds[8].ok > 100 && seconds[9].ok > 100 && seconds[10].ok > 100);
        let scenario = Scenario::of(vec![mark(kill_ns)], &seconds, 0);
        let recovery_s = scenario.recovery_ns.unwrap() / S;
        assert!((6..=7).contains(&recovery_s), "{recovery_s}");
        assert!((2_400_000_000..2_500_000_000).contains(&scenario.silence.unwrap().at_least_ns));
    }

    #[test]
    fn outage_and_recovery_are_told_from_the_seconds() {
        // The measured part begins at 5 s; the process is restarted at 8.4 s.
        let ok = [100, 90, 110, 40, 0, 0, 60, 95, 120, 100, 100];
        let scenario = Scenario::of(vec![mark(8 * S + 4 * S / 10)], &seconds(&ok), 5 * S);
        assert_eq!(scenario.before, ScenarioPhase { seconds: 3, operations_per_s: 100.0, errors: 0 });
        assert_eq!(scenario.during, ScenarioPhase { seconds: 4, operations_per_s: 25.0, errors: 3 });
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
