//! The whole machine, from `/proc/{stat,meminfo,diskstats,vmstat,net/dev}` and the counters of its energy.

use std::path::PathBuf;
use std::time::Duration;

use procfs::{Current, CurrentSI, DiskStat, KernelStats, Meminfo, ProcError};

use crate::disk::is_physical;
use crate::energy::Energy;
use crate::network::Interfaces;
use crate::others::Others;
use crate::page_cache::PageCache;
use crate::probe_error::ProbeError;
use crate::process_files::list_pids;
use crate::sample::{DiskCounters, MemoryKinds, Method, NetworkCounters, NetworkMethod, Sample, Source};

/// How many processors the machine has that are on.
#[must_use]
pub fn processors() -> Option<u32> {
    u32::try_from(KernelStats::current().ok()?.cpu_time.len()).ok().filter(|count| *count > 0)
}

/// The memory of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryNow {
    /// All of it.
    pub total_bytes: u64,
    /// What programs can still have without swapping, as the kernel estimates it.
    pub available_bytes: u64,
    /// What is swapped out.
    pub swapped_bytes: u64,
}

/// The memory of the machine now; `None`: the kernel does not tell.
#[must_use]
pub fn memory_now() -> Option<MemoryNow> {
    let memory = Meminfo::current().ok()?;
    Some(MemoryNow {
        total_bytes: memory.mem_total,
        available_bytes: memory.mem_available?,
        swapped_bytes: memory.swap_total.saturating_sub(memory.swap_free),
    })
}

/// `/proc/diskstats` counts in sectors of this size, whatever the device's own.
const SECTOR_BYTES: u64 = 512;

#[derive(Debug)]
pub(crate) struct Host {
    interfaces: Interfaces,
    energy: Energy,
    others: Others,
}

impl Host {
    pub fn new() -> Self {
        Self { interfaces: Interfaces::new(true), energy: Energy::of_machine(), others: Others::default() }
    }

    /// The trees of these processes are not others'.
    pub fn beside(&mut self, roots: &[i32]) {
        self.others = Others::beside(roots);
    }

    /// Nor is the tree of this one.
    pub fn follow(&mut self, root: i32) {
        self.others.add(root);
    }

    pub fn method(&self) -> Method {
        Method { source: Source::Host, network: Some(NetworkMethod::Interface) }
    }

    pub fn sample(&mut self, at: Duration) -> Result<Sample, ProbeError> {
        let cpu = KernelStats::current().map_err(|error| failed("/proc/stat", error))?.total;
        let user_ticks = cpu.user + cpu.nice;
        let system_ticks = cpu.system + cpu.irq.unwrap_or(0) + cpu.softirq.unwrap_or(0);
        let memory = Meminfo::current().map_err(|error| failed("/proc/meminfo", error))?;
        let disk = procfs::diskstats().ok().and_then(|devices| disk_bytes(&devices, is_physical));
        let cache = PageCache::of_machine();
        let network = self.interfaces.read(Some("self"));
        Ok(Sample {
            at,
            cpu_s: seconds(user_ticks + system_ticks),
            user_s: seconds(user_ticks),
            system_s: seconds(system_ticks),
            processes: u32::try_from(list_pids()?.len()).unwrap_or(u32::MAX),
            rss_bytes: None,
            pss_bytes: memory.anon_pages.map(|anon| anon + memory.mapped),
            memory: memory_kinds(&memory),
            disk: DiskCounters {
                read_bytes: disk.map(|(read, _)| read),
                written_bytes: disk.map(|(_, written)| written),
                dirtied_bytes: cache.map(|cache| cache.dirtied_bytes),
                dirty_bytes: cache.map(|cache| cache.dirty_bytes),
                ..DiskCounters::default()
            },
            others_cpu_s: self.others.used_ticks()?.map(seconds),
            steal_s: cpu.steal.map(seconds),
            network: NetworkCounters {
                rx_bytes: network.map(|bytes| bytes.rx),
                tx_bytes: network.map(|bytes| bytes.tx),
                ..NetworkCounters::default()
            },
            energy_uj: self.energy.used_uj(),
        })
    }
}

fn memory_kinds(memory: &Meminfo) -> Option<MemoryKinds> {
    let shmem_bytes = memory.shmem?;
    Some(MemoryKinds {
        anon_bytes: memory.anon_pages?,
        shmem_bytes,
        mapped_file_bytes: None,
        page_cache_bytes: Some((memory.cached + memory.buffers).saturating_sub(shmem_bytes)),
    })
}

/// Bytes read and written by the devices that `counts` tells to be real; `None` if there are none.
fn disk_bytes(devices: &[DiskStat], counts: impl Fn(u32, u32) -> bool) -> Option<(u64, u64)> {
    let number = |id: i32| u32::try_from(id).unwrap_or(0);
    devices
        .iter()
        .filter(|device| counts(number(device.major), number(device.minor)))
        .map(|device| (device.sectors_read * SECTOR_BYTES, device.sectors_written * SECTOR_BYTES))
        .reduce(|sum, device| (sum.0 + device.0, sum.1 + device.1))
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 ticks, three million years")]
fn seconds(ticks: u64) -> f64 {
    ticks as f64 / procfs::ticks_per_second() as f64
}

fn failed(path: &str, error: ProcError) -> ProbeError {
    let path = PathBuf::from(path);
    match error {
        ProcError::Io(source, _) => ProbeError::Unreadable { path, source },
        other => ProbeError::malformed(&path, other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_devices_count() {
        let lines = [
            " 254       0 vda 100 0 2000 5 200 0 4000 9 0 7 14",
            " 254       1 vda1 90 0 1900 5 190 0 3900 9 0 7 14",
            "   7       0 loop0 1 0 8 0 1 0 8 0 0 0 0",
        ];
        let devices: Vec<DiskStat> = lines.iter().map(|line| DiskStat::from_line(line).unwrap()).collect();
        assert_eq!(disk_bytes(&devices, |major, minor| (major, minor) == (254, 0)), Some((2000 * 512, 4000 * 512)));
        assert_eq!(disk_bytes(&devices, |_, _| false), None);
    }
}
