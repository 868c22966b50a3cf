//! Why a process could not run, by what the kernel counted meanwhile. Pure.

use serde::{Deserialize, Serialize};

/// What the kernel's counters grew by over a stall.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Evidence {
    /// How long the ticker was ready to run and did not; `None`: the kernel does not tell.
    pub run_delay_s: Option<f64>,
    /// What a hypervisor took from all processors together.
    pub steal_s: Option<f64>,
    /// How long quotas held back this process's cgroups, over all processors.
    pub throttled_s: f64,
    /// CPU time of the whole process; `None`: this ticker does not look at it.
    pub process_cpu_s: Option<f64>,
}

/// Why a process could not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HiccupCause {
    /// A quota of a cgroup was used up.
    CpuQuota,
    /// A hypervisor gave the processors to others.
    Steal,
    /// It was ready and other threads ran: the machine is too busy.
    RunQueue,
    /// It was not ready, nor did any part of it run: it was stopped by a signal, a debugger or a freezer, or its whole
    /// machine stood still without the kernel's knowing.
    Stopped,
    /// The counters tell none of these.
    Unknown,
}

/// A stall as the tickers saw it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Observed {
    pub length_s: f64,
    /// Of how many tickers, how many were late.
    pub late: usize,
    pub tickers: usize,
    pub cores: usize,
    /// The greatest growth that any of them saw.
    pub evidence: Evidence,
}

/// A counter explains a stall when it has grown by so much of its length: the rest is noise at both ends.
const EXPLAINS: f64 = 0.5;
/// Of a quota half as much does: when it lets a process run again, all its threads are ready at once, and wait for each other.
const QUOTA_EXPLAINS: f64 = 0.25;
/// A process that was stopped ran no more than this part of the stall, before it and after it.
const STANDS_STILL: f64 = 0.1;

impl HiccupCause {
    /// Whether it also held back a database that shares the process, so that it is none of the database's doing.
    #[must_use]
    pub fn is_from_outside(self) -> bool {
        matches!(self, Self::Stopped | Self::Steal)
    }

    /// The most particular explanation first: who is throttled or stolen from also waits in a run queue.
    pub(super) fn of(observed: &Observed) -> Self {
        let Observed { length_s, late, tickers, cores, evidence } = *observed;
        let explains = |grown_s: Option<f64>, times: f64| grown_s.is_some_and(|s| s >= EXPLAINS * length_s * times);
        #[expect(clippy::cast_precision_loss, reason = "a few processors")]
        let cores_concerned = (cores as f64 * late as f64 / tickers.max(1) as f64).max(1.0);
        let stands_still = evidence.process_cpu_s.is_some_and(|s| s <= STANDS_STILL * length_s);
        if evidence.throttled_s >= QUOTA_EXPLAINS * length_s {
            Self::CpuQuota
        } else if explains(evidence.steal_s, cores_concerned) {
            Self::Steal
        } else if explains(evidence.run_delay_s, 1.0) {
            Self::RunQueue
        } else if late == tickers && stands_still {
            Self::Stopped
        } else {
            Self::Unknown
        }
    }

    const ALL: [Self; 5] = [Self::CpuQuota, Self::Steal, Self::RunQueue, Self::Stopped, Self::Unknown];

    /// The cause of this [name](Self::name).
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.name() == name)
    }

    /// One word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CpuQuota => "cpu_quota",
            Self::Steal => "steal",
            Self::RunQueue => "run_queue",
            Self::Stopped => "stopped",
            Self::Unknown => "unknown",
        }
    }
}

impl std::fmt::Display for HiccupCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::CpuQuota => "the CPU quota of its cgroup was used up",
            Self::Steal => "the hypervisor gave its processors to others",
            Self::RunQueue => "other programs had the processors",
            Self::Stopped => "it was stopped, or its whole machine was",
            Self::Unknown => "the kernel's counters do not tell why",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 300 ms in which nothing is counted, seen by both of two tickers on two cores.
    const STILL: Observed = Observed {
        length_s: 0.3,
        late: 2,
        tickers: 2,
        cores: 2,
        evidence: Evidence { run_delay_s: Some(0.0), steal_s: Some(0.0), throttled_s: 0.0, process_cpu_s: Some(0.001) },
    };

    fn cause(change: impl FnOnce(&mut Observed)) -> HiccupCause {
        let mut observed = STILL;
        change(&mut observed);
        HiccupCause::of(&observed)
    }

    #[test]
    fn a_process_that_neither_ran_nor_was_ready_was_stopped() {
        assert_eq!(cause(|_| ()), HiccupCause::Stopped);
        assert_eq!(
            cause(|o| o.evidence.run_delay_s = Some(0.02)),
            HiccupCause::Stopped,
            "it waited a little at the end"
        );
        assert_eq!(cause(|o| o.evidence.run_delay_s = None), HiccupCause::Stopped, "a kernel without schedstat");
    }

    #[test]
    fn one_of_several_late_or_a_process_that_ran_was_not_stopped() {
        assert_eq!(cause(|o| o.late = 1), HiccupCause::Unknown);
        assert_eq!(cause(|o| o.evidence.process_cpu_s = Some(0.1)), HiccupCause::Unknown);
        assert_eq!(cause(|o| o.evidence.process_cpu_s = None), HiccupCause::Unknown);
    }

    #[test]
    fn a_counter_that_grew_by_half_the_stall_explains_it_and_a_quota_by_a_quarter() {
        assert_eq!(cause(|o| o.evidence.run_delay_s = Some(0.29)), HiccupCause::RunQueue);
        assert_eq!(cause(|o| o.evidence.throttled_s = 0.08), HiccupCause::CpuQuota);
        assert_eq!(cause(|o| o.evidence.steal_s = Some(0.6)), HiccupCause::Steal);
        assert_eq!(cause(|o| o.evidence.throttled_s = 0.07), HiccupCause::Stopped);
    }

    #[test]
    fn steal_counts_over_the_processors_that_stood_still() {
        assert_eq!(cause(|o| o.evidence.steal_s = Some(0.2)), HiccupCause::Stopped, "two processors miss 0.6 s");
        let of_one = |o: &mut Observed| (o.late, o.evidence.steal_s) = (1, Some(0.2));
        assert_eq!(cause(of_one), HiccupCause::Steal);
        let of_many = |o: &mut Observed| (o.cores, o.tickers, o.late, o.evidence.steal_s) = (128, 4, 1, Some(0.2));
        assert_eq!(cause(of_many), HiccupCause::Unknown, "what 128 processors miss in passing");
    }

    #[test]
    fn who_is_throttled_or_stolen_from_waits_in_a_run_queue_too() {
        let throttled = |o: &mut Observed| (o.evidence.run_delay_s, o.evidence.throttled_s) = (Some(0.3), 0.3);
        assert_eq!(cause(throttled), HiccupCause::CpuQuota);
        let stolen = |o: &mut Observed| (o.evidence.run_delay_s, o.evidence.steal_s) = (Some(0.3), Some(0.6));
        assert_eq!(cause(stolen), HiccupCause::Steal);
    }
}
