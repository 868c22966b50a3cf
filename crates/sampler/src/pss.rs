//! Proportional set sizes of many processes within a CPU budget.
//!
//! `smaps_rollup` walks a process's page tables: about 1.5 ms for 128 MiB, far too much for 200 processes a second.
//! Each look therefore reads as many as the budget allows, unread processes first, then the oldest readings, and sums
//! the latest reading of each living process. The sum is unknown until each of them was read once.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::cpu_credit::{CpuCredit, thread_cpu_s};
use crate::probe_error::ProbeError;
use crate::process_files::{FileContent, read_record};
use crate::sample::MemoryKinds;
use crate::tree_account::ProcessId;

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
        self.credit.set_share(share);
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
                FileContent::Known(pss) => _ = self.readings.insert(id, Reading { look: self.look, pss: Some(pss) }),
                FileContent::Forbidden => _ = self.readings.insert(id, Reading { look: self.look, pss: None }),
                FileContent::Ended => ended.push(id),
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

fn read_pss(pid: i32) -> Result<FileContent<Pss>, ProbeError> {
    let path = PathBuf::from(format!("/proc/{pid}/smaps_rollup"));
    Ok(match read_record(&path)? {
        FileContent::Known(text) => match parse_smaps_rollup(&String::from_utf8_lossy(&text)) {
            Some(pss) => FileContent::Known(pss),
            // A process that is ending has no memory map any more and the file is empty.
            None => FileContent::Ended,
        },
        FileContent::Ended => FileContent::Ended,
        FileContent::Forbidden => FileContent::Forbidden,
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
}
