//! A budget of CPU time for work that can wait.

use std::time::Duration;

/// CPU time that may be spent before any was earned, so that a small tree has its figure at the first look.
const ADVANCE_S: f64 = 0.02;
/// The least part of the budget that goes to work that can wait, however dear the rest of a look is.
const MIN_PART: f64 = 0.1;

/// CPU time earned by the clock and spent on work that can wait.
#[derive(Debug)]
pub(crate) struct CpuCredit {
    share: f64,
    balance_s: f64,
    earned_at: Option<Duration>,
}

impl CpuCredit {
    /// `share` of one core is earned.
    pub fn new(share: f64) -> Self {
        Self { share, balance_s: ADVANCE_S, earned_at: None }
    }

    pub fn set_share(&mut self, share: f64) {
        self.share = share;
    }

    /// Earns for the time since the last call, less what the look cost otherwise. Credit is not hoarded.
    pub fn earn(&mut self, at: Duration, base_cost_s: f64) {
        let Some(before) = self.earned_at.replace(at) else { return };
        let earned_s = at.saturating_sub(before).as_secs_f64() * self.share;
        let left_s = (earned_s - base_cost_s).max(earned_s * MIN_PART);
        self.balance_s = (self.balance_s + left_s).min(ADVANCE_S.max(left_s));
    }

    pub fn spend(&mut self, cost_s: f64) {
        self.balance_s -= cost_s;
    }

    pub fn is_positive(&self) -> bool {
        self.balance_s > 0.0
    }
}

/// CPU time of the calling thread, in seconds.
pub(crate) fn thread_cpu_s() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(now).map_or(0.0, |cpu| cpu.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spending_never_exceeds_share_and_advance() {
        let mut credit = CpuCredit::new(0.01);
        let (mut spent_s, dearest_s) = (0.0, 0.3);
        for tick in 0..600_u32 {
            credit.earn(Duration::from_secs(u64::from(tick)), 0.004);
            while credit.is_positive() {
                let cost_s = if tick % 7 == 0 { dearest_s } else { 0.0015 };
                credit.spend(cost_s);
                spent_s += cost_s;
            }
        }
        let allowed_s = 600.0 * (0.01 - 0.004) + ADVANCE_S + dearest_s;
        assert!(spent_s <= allowed_s, "{spent_s} > {allowed_s}");
        assert!(spent_s >= 600.0 * (0.01 - 0.004) * 0.9, "{spent_s}: the budget is used");
    }

    #[test]
    fn a_dear_look_still_leaves_a_part() {
        let mut credit = CpuCredit::new(0.01);
        credit.earn(Duration::ZERO, 0.0);
        credit.spend(ADVANCE_S);
        credit.earn(Duration::from_secs(1), 1.0);
        assert!(credit.is_positive());
    }
}
