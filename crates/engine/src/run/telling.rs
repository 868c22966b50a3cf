//! When a second is told, and of which phase it is. Pure.

use crate::outcome::Phase;

/// What has to be known of the past to tell a second after its end.
#[derive(Debug)]
pub(super) struct Telling {
    /// When each phase began, in nanoseconds since the start, in order.
    phases: Vec<(u64, Phase)>,
    looked_ns: u64,
    /// Since when this process runs again that could not.
    resumed_ns: Option<u64>,
}

impl Telling {
    /// The load begins in this phase.
    pub(super) fn new(phase: Phase) -> Self {
        Self { phases: vec![(0, phase)], looked_ns: 0, resumed_ns: None }
    }

    /// A phase begins.
    pub(super) fn begin(&mut self, phase: Phase, at_ns: u64) {
        self.phases.push((at_ns, phase));
    }

    /// The present phase.
    pub(super) fn phase(&self) -> Option<Phase> {
        self.phases.last().map(|&(_, phase)| phase)
    }

    /// The phase of what began at a time.
    pub(super) fn phase_at(&self, ns: u64) -> Phase {
        let begun = self.phases.iter().rev().find(|(from_ns, _)| *from_ns <= ns);
        begun.or(self.phases.first()).map_or(Phase::Measure, |&(_, phase)| phase)
    }

    /// Seconds that ended before this are told now. After a time in which this process did not look, its threads have their seconds
    /// still to hand over: they get as long for that as at other times.
    pub(super) fn before_ns(&mut self, now_ns: u64, grace_ns: u64) -> u64 {
        if now_ns.saturating_sub(self.looked_ns) > grace_ns {
            self.resumed_ns = Some(now_ns);
        }
        self.looked_ns = now_ns;
        let is_too_soon = self.resumed_ns.is_some_and(|resumed_ns| now_ns < resumed_ns.saturating_add(grace_ns));
        if is_too_soon { 0 } else { now_ns.saturating_sub(grace_ns) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;
    const GRACE_NS: u64 = S * 15 / 100;

    /// A second is told after its end, when the next phase has begun.
    #[test]
    fn a_second_is_of_the_phase_in_which_it_began() {
        let mut telling = Telling::new(Phase::WarmUp);
        telling.begin(Phase::Measure, 2 * S);
        telling.begin(Phase::Drain, 3 * S + S / 2);
        assert_eq!(telling.phase(), Some(Phase::Drain));
        let phases: Vec<_> = (0..5).map(|second| telling.phase_at(second * S)).collect();
        assert_eq!(phases, [Phase::WarmUp, Phase::WarmUp, Phase::Measure, Phase::Measure, Phase::Drain]);
    }

    #[test]
    fn a_second_is_told_soon_after_its_end_but_not_at_once_after_a_stop() {
        let mut telling = Telling::new(Phase::Measure);
        let mut before = |now_ns| telling.before_ns(now_ns, GRACE_NS);
        assert_eq!(before(S / 10), 0);
        assert_eq!(before(S / 5), S / 20);
        assert_eq!(before(S / 5 + GRACE_NS), S / 5, "it has looked in time");
        assert_eq!(before(S / 5 + 2 * GRACE_NS + 1), 0, "and a little too late");
        assert_eq!(before(7 * S), 0, "the others have just begun to run again");
        assert_eq!(before(7 * S + GRACE_NS - 1), 0);
        assert_eq!(before(7 * S + GRACE_NS), 7 * S);
    }
}
