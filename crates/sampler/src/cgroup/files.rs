//! The texts of cgroup files, taken apart. Pure.
//!
//! Sources: Linux `Documentation/admin-guide/cgroup-v2.rst` and `cgroup-v1/{cpuacct,memory,blkio-controller}.rst`.

use crate::sample::MemoryKinds;

/// CPU time of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CpuUse {
    pub total_s: f64,
    pub user_s: f64,
    pub system_s: f64,
}

/// Storage traffic of a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct DiskUse {
    pub read_bytes: Option<u64>,
    pub written_bytes: Option<u64>,
}

/// v1: `cpuacct.usage` in nanoseconds, `cpuacct.stat` in clock ticks.
pub(super) fn parse_cpuacct(usage: &str, stat: &str, ticks_per_second: u64) -> Option<CpuUse> {
    let total_ns: u64 = usage.trim().parse().ok()?;
    let seconds = |ticks: u64| scaled(ticks, ticks_per_second);
    Some(CpuUse {
        total_s: scaled(total_ns, 1_000_000_000),
        user_s: seconds(field(stat, "user")?),
        system_s: seconds(field(stat, "system")?),
    })
}

/// v2: `cpu.stat` in microseconds.
pub(super) fn parse_cpu_stat(text: &str) -> Option<CpuUse> {
    let seconds = |name| field(text, name).map(|us| scaled(us, 1_000_000));
    Some(CpuUse { total_s: seconds("usage_usec")?, user_s: seconds("user_usec")?, system_s: seconds("system_usec")? })
}

/// v1 `memory.stat`: the `total_` fields include the groups below; the page cache includes shared memory.
pub(super) fn parse_memory_stat_v1(text: &str) -> Option<MemoryKinds> {
    let shmem_bytes = field(text, "total_shmem")?;
    Some(MemoryKinds {
        anon_bytes: field(text, "total_rss")?,
        shmem_bytes,
        mapped_file_bytes: None,
        page_cache_bytes: Some(field(text, "total_cache")?.saturating_sub(shmem_bytes)),
    })
}

/// v2 `memory.stat`: `file` includes shared memory.
pub(super) fn parse_memory_stat_v2(text: &str) -> Option<MemoryKinds> {
    let shmem_bytes = field(text, "shmem")?;
    Some(MemoryKinds {
        anon_bytes: field(text, "anon")?,
        shmem_bytes,
        mapped_file_bytes: None,
        page_cache_bytes: Some(field(text, "file")?.saturating_sub(shmem_bytes)),
    })
}

/// v2 `io.stat`, devices that `counts` tells to be real. No line at all means no traffic yet.
pub(super) fn parse_io_stat(text: &str, counts: impl Fn(u32, u32) -> bool) -> DiskUse {
    let (mut read_bytes, mut written_bytes) = (0, 0);
    for line in text.lines() {
        let mut words = line.split_whitespace();
        if !words.next().and_then(device).is_some_and(|(major, minor)| counts(major, minor)) {
            continue;
        }
        for (name, value) in words.filter_map(|word| word.split_once('=')) {
            match name {
                "rbytes" => read_bytes += value.parse().unwrap_or(0),
                "wbytes" => written_bytes += value.parse().unwrap_or(0),
                _ => {}
            }
        }
    }
    DiskUse { read_bytes: Some(read_bytes), written_bytes: Some(written_bytes) }
}

/// v1 `blkio.throttle.io_service_bytes_recursive`. Writes through the page cache are charged to nobody in v1, so the
/// written bytes are unknown; and kernels that count only throttled groups list no device at all.
pub(super) fn parse_blkio(text: &str, counts: impl Fn(u32, u32) -> bool) -> DiskUse {
    let reads = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (major, minor) = device(words.next()?)?;
        let bytes = (words.next()? == "Read").then(|| words.next()?.parse::<u64>().ok())??;
        counts(major, minor).then_some(bytes)
    });
    DiskUse { read_bytes: reads.reduce(|a, b| a + b), written_bytes: None }
}

/// `cgroup.procs`: one pid a line, 0 for a process outside our pid namespace.
pub(super) fn parse_pids(text: &str) -> impl Iterator<Item = i32> {
    text.lines().filter_map(|line| line.trim().parse().ok()).filter(|pid| *pid > 0)
}

fn device(word: &str) -> Option<(u32, u32)> {
    let (major, minor) = word.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[expect(clippy::cast_precision_loss, reason = "exact to a nanosecond for 104 days of CPU time, then to two")]
fn scaled(count: u64, per_second: u64) -> f64 {
    count as f64 / per_second as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY_V1: &str = "\
cache 9142272
rss 6733824
shmem 8998912
mapped_file 7589888
hierarchical_memory_limit 9223372036854771712
total_cache 292274176
total_rss 11816960
total_rss_huge 0
total_shmem 8998912
total_mapped_file 11018240
";
    const MEMORY_V2: &str = "\
anon 10485760
file 52428800
kernel 2097152
shmem 4194304
file_mapped 1048576
";
    const IO_V2: &str = "\
254:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0
253:1 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0
7:0
";
    const BLKIO: &str = "\
254:0 Read 4096
254:0 Write 8192
254:0 Sync 12288
254:0 Total 12288
Total 12288
";

    fn first_disk(major: u32, minor: u32) -> bool {
        (major, minor) == (254, 0)
    }

    #[test]
    fn cpu_of_both_versions() {
        let v1 = parse_cpuacct("67511985774\n", "user 4550\nsystem 2200\n", 100);
        assert_eq!(v1, Some(CpuUse { total_s: 67.511_985_774, user_s: 45.5, system_s: 22.0 }));
        let v2 = parse_cpu_stat("usage_usec 64100922\nuser_usec 43211041\nsystem_usec 20889881\nnice_usec 0\n");
        assert_eq!(v2, Some(CpuUse { total_s: 64.100_922, user_s: 43.211_041, system_s: 20.889_881 }));
        assert_eq!(parse_cpu_stat("nr_periods 0\n"), None);
    }

    #[test]
    fn memory_of_both_versions_has_no_page_twice() {
        let v1 = parse_memory_stat_v1(MEMORY_V1).unwrap();
        assert_eq!((v1.anon_bytes, v1.shmem_bytes), (11_816_960, 8_998_912));
        assert_eq!(v1.page_cache_bytes, Some(292_274_176 - 8_998_912));
        let v2 = parse_memory_stat_v2(MEMORY_V2).unwrap();
        assert_eq!((v2.anon_bytes, v2.shmem_bytes), (10_485_760, 4_194_304));
        assert_eq!(v2.page_cache_bytes, Some(52_428_800 - 4_194_304));
    }

    #[test]
    fn layered_devices_count_once() {
        let disk = parse_io_stat(IO_V2, first_disk);
        assert_eq!(disk, DiskUse { read_bytes: Some(4096), written_bytes: Some(8192) });
        assert_eq!(parse_io_stat("", first_disk), DiskUse { read_bytes: Some(0), written_bytes: Some(0) });
    }

    #[test]
    fn blkio_knows_reads_only_and_only_if_it_counts() {
        assert_eq!(parse_blkio(BLKIO, first_disk), DiskUse { read_bytes: Some(4096), written_bytes: None });
        assert_eq!(parse_blkio("Total 0\n", first_disk), DiskUse::default());
    }

    #[test]
    fn pids_of_other_namespaces_are_skipped() {
        assert_eq!(parse_pids("17\n0\n4\n").collect::<Vec<_>>(), [17, 4]);
    }
}
