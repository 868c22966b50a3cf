//! Proportional set sizes of many processes within a CPU budget.
//!
//! `smaps_rollup` walks a process's page tables: about 1.5 ms for 128 MiB, far too much for 200 processes a second.
//! Each look therefore reads as many as the budget allows, unread processes first, then the oldest readings, and sums
//! the latest reading of each living process. The sum is unknown until each of them was read once.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::probe::ProbeError;
use crate::process_files::{Answer, read};
use crate::sample::MemoryKinds;
use crate::tree_account::ProcessId;

/// CPU time that may be spent before any was earned, so that a small tree has its figure at the first look.
const ADVANCE_S: f64 = 0.02;
/// The least part of the budget that goes to proportional sizes, however dear the rest of a look is.
const LEAST_PART: f64 = 0.1;

/// The proportional set size of one process or many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pss {
    pub bytes: u64,
    /// Absent before Linux 5.4.
    pub kinds: Option<MemoryKinds>,
}

impl Pss {
    fn plus(self, other: Self) -> Self {
        let kinds = self.kinds.zip(other.kinds).map(|(a, b)| MemoryKinds {
            anon_bytes: a.anon_bytes + b.anon_bytes,
            shmem_bytes: a.shmem_bytes + b.shmem_bytes,
            mapped_file_bytes: a.mapped_file_bytes.zip(b.mapped_file_bytes).map(|(a, b)| a + b),
            page_cache_bytes: None,
        });
        Self { bytes: self.bytes + other.bytes, kinds }
    }

    const NOTHING: Self = Self {
        bytes: 0,
        kinds: Some(MemoryKinds { anon_bytes: 0, shmem_bytes: 0, mapped_file_bytes: Some(0), page_cache_bytes: None }),
    };
}

#[derive(Debug)]
struct Reading {
    look: u64,
    /// `None` if it may not be read.
    pss: Option<Pss>,
}

/// The latest reading of each living process.
#[derive(Debug)]
pub(crate) struct PssLedger {
    readings: HashMap<ProcessId, Reading>,
    credit: CpuCredit,
    look: u64,
}

impl PssLedger {
    /// `share` of one core may be spent by a whole look, this ledger included.
    pub fn new(share: f64) -> Self {
        Self { readings: HashMap::new(), credit: CpuCredit::new(share), look: 0 }
    }

    pub fn set_share(&mut self, share: f64) {
        self.credit.share = share;
    }

    /// Reads what the budget allows. `base_cost_s` is the CPU time that the look has taken so far. `None` while a
    /// process was never read, and where one may not be read.
    pub fn refresh(&mut self, living: &[ProcessId], at: Duration, base_cost_s: f64) -> Result<Option<Pss>, ProbeError> {
        self.look += 1;
        self.credit.earn(at, base_cost_s);
        let mut queue: Vec<(u64, ProcessId)> =
            living.iter().map(|id| (self.readings.get(id).map_or(0, |reading| reading.look), *id)).collect();
        queue.sort_unstable();
        let mut ended = Vec::new();
        for (_, id) in queue {
            if !self.credit.is_positive() {
                break;
            }
            let started_s = thread_cpu_s();
            match read_pss(id.pid)? {
                Answer::Known(pss) => _ = self.readings.insert(id, Reading { look: self.look, pss: Some(pss) }),
                Answer::Forbidden => _ = self.readings.insert(id, Reading { look: self.look, pss: None }),
                Answer::Ended => ended.push(id),
            }
            self.credit.spend(thread_cpu_s() - started_s);
        }
        let mut kept = HashMap::with_capacity(living.len());
        let mut sum = Some(Pss::NOTHING);
        for id in living.iter().filter(|id| !ended.contains(id)) {
            let reading = self.readings.remove(id);
            let pss = reading.as_ref().and_then(|reading| reading.pss);
            sum = sum.zip(pss).map(|(sum, pss)| sum.plus(pss));
            kept.extend(reading.map(|reading| (*id, reading)));
        }
        self.readings = kept;
        Ok(sum)
    }
}

/// CPU time earned by the clock and spent on work that can wait.
#[derive(Debug)]
struct CpuCredit {
    share: f64,
    balance_s: f64,
    earned_at: Option<Duration>,
}

impl CpuCredit {
    fn new(share: f64) -> Self {
        Self { share, balance_s: ADVANCE_S, earned_at: None }
    }

    /// Earns for the time since the last call, less what the look cost otherwise. Credit is not hoarded.
    fn earn(&mut self, at: Duration, base_cost_s: f64) {
        let Some(before) = self.earned_at.replace(at) else { return };
        let earned_s = at.saturating_sub(before).as_secs_f64() * self.share;
        let left_s = (earned_s - base_cost_s).max(earned_s * LEAST_PART);
        self.balance_s = (self.balance_s + left_s).min(ADVANCE_S.max(left_s));
    }

    fn spend(&mut self, cost_s: f64) {
        self.balance_s -= cost_s;
    }

    fn is_positive(&self) -> bool {
        self.balance_s > 0.0
    }
}

/// CPU time of the calling thread, in seconds.
pub(crate) fn thread_cpu_s() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(now).map_or(0.0, |cpu| cpu.as_secs_f64())
}

fn read_pss(pid: i32) -> Result<Answer<Pss>, ProbeError> {
    let path = PathBuf::from(format!("/proc/{pid}/smaps_rollup"));
    Ok(match read(&path)? {
        Answer::Known(text) => match parse_smaps_rollup(&String::from_utf8_lossy(&text)) {
            Some(pss) => Answer::Known(pss),
            // A process that is ending has no memory map any more and the file is empty.
            None => Answer::Ended,
        },
        Answer::Ended => Answer::Ended,
        Answer::Forbidden => Answer::Forbidden,
    })
}

fn parse_smaps_rollup(text: &str) -> Option<Pss> {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
    };
    let kinds = match (field("Pss_Anon"), field("Pss_Shmem"), field("Pss_File")) {
        (Some(anon_bytes), Some(shmem_bytes), file @ Some(_)) => {
            Some(MemoryKinds { anon_bytes, shmem_bytes, mapped_file_bytes: file, page_cache_bytes: None })
        }
        _ => None,
    };
    Some(Pss { bytes: field("Pss")?, kinds })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLLUP: &str = "\
55b5def52000-7ffd59bf8000 ---p 00000000 00:00 0                          [rollup]
Rss:                1596 kB
Pss:                 435 kB
Pss_Dirty:           112 kB
Pss_Anon:            112 kB
Pss_File:            323 kB
Pss_Shmem:             0 kB
Shared_Clean:       1424 kB
";

    #[test]
    fn rollup_is_read_by_kind() {
        let kinds = MemoryKinds {
            anon_bytes: 112 * 1024,
            shmem_bytes: 0,
            mapped_file_bytes: Some(323 * 1024),
            page_cache_bytes: None,
        };
        assert_eq!(parse_smaps_rollup(ROLLUP), Some(Pss { bytes: 435 * 1024, kinds: Some(kinds) }));
    }

    #[test]
    fn rollup_of_an_old_kernel_has_no_kinds() {
        assert_eq!(parse_smaps_rollup("Rss: 8 kB\nPss: 4 kB\n"), Some(Pss { bytes: 4096, kinds: None }));
        assert_eq!(parse_smaps_rollup(""), None);
    }

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
