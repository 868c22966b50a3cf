//! A process and all its descendants, read from `/proc`.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::cpu_credit::thread_cpu_s;
use crate::network::NetworkProbe;
use crate::probe_error::ProbeError;
use crate::process_files::{FileContent, ProcessStat, list_pids, read_io, read_stat};
use crate::pss::PssLedger;
use crate::sample::{DiskCounters, Method, NetworkCounters, Sample, Source};
use crate::tree_account::{ProcessId, ProcessRow, TreeAccount, Usage};

/// A process outside the tree is looked at again after this many looks, in case its pid was reused.
const RECHECK_LOOKS: i32 = 16;
/// A tree that changes faster than it can be read is taken as it is after this many attempts; the account then shows
/// a vanished child twice until the tree has used that much more.
const ATTEMPTS: u32 = 4;

#[derive(Debug)]
pub(crate) struct ProcessTree {
    account: TreeAccount,
    /// What the trees before this one had used.
    earlier: Usage,
    /// Processes seen outside the tree; a host has thousands, and reading them all at each look is too dear.
    strangers: HashSet<i32>,
    /// Roots below this one that are measured for themselves: they and their descendants are not in it.
    excluded: HashSet<ProcessId>,
    look: i32,
    disk_readable: bool,
    ended: bool,
    pss: PssLedger,
    network: NetworkProbe,
}

impl ProcessTree {
    pub fn new(pid: i32, cpu_share: f64) -> Result<Self, ProbeError> {
        let stat = read_stat(pid)?.ok_or(ProbeError::NoSuchProcess { pid })?;
        Ok(Self {
            account: TreeAccount::new(stat.row.id),
            earlier: Usage::default(),
            strangers: HashSet::new(),
            excluded: HashSet::new(),
            look: 0,
            disk_readable: true,
            ended: false,
            pss: PssLedger::new(cpu_share),
            network: NetworkProbe::Undecided,
        })
    }

    pub fn set_cpu_share(&mut self, share: f64) {
        self.pss.set_share(share);
    }

    /// Leaves out this process, as it is now, and its descendants; and its parent, which inherits what they used, unless that
    /// is the root.
    pub fn exclude(&mut self, pid: i32) -> Result<(), ProbeError> {
        let Some(row) = read_stat(pid)?.map(|stat| stat.row) else { return Ok(()) };
        let parent = read_stat(row.parent_pid)?.map(|stat| stat.row.id);
        self.excluded.extend(parent.filter(|id| *id != self.account.root()));
        self.excluded.insert(row.id);
        Ok(())
    }

    /// Another root, in the place of the one that has ended. What the tree below that one had used stays.
    pub fn follow(&mut self, pid: i32) -> Result<(), ProbeError> {
        let root = read_stat(pid)?.map(|stat| stat.row.id).ok_or(ProbeError::NoSuchProcess { pid })?;
        if root != self.account.root() {
            self.earlier = self.earlier.plus(self.account.total());
            self.account = TreeAccount::new(root);
            self.strangers.clear();
            self.ended = false;
        }
        Ok(())
    }

    /// See [`NetworkProbe::be_exact`] and [`NetworkProbe::follow`].
    pub fn network(&mut self) -> &mut NetworkProbe {
        &mut self.network
    }

    pub fn method(&self) -> Method {
        Method { source: Source::ProcessTree, network: self.network.method() }
    }

    /// Reads the tree. The first look at which only zombies are left gives the final figures; after it, and when
    /// nothing at all is left, the tree is gone.
    pub fn sample(&mut self, at: Duration) -> Result<Sample, ProbeError> {
        if self.ended {
            return Err(ProbeError::Gone);
        }
        let started_s = thread_cpu_s();
        let stats = self.read_consistently()?;
        let living: Vec<&ProcessStat> = stats.iter().filter(|stat| !stat.zombie).collect();
        self.ended = living.is_empty();
        if stats.is_empty() {
            return Err(ProbeError::Gone);
        }
        let ids: Vec<ProcessId> = living.iter().map(|stat| stat.row.id).collect();
        let network = self.network.read(&ids, at);
        let pss = self.pss.refresh(&ids, at, thread_cpu_s() - started_s)?;
        let used = self.earlier.plus(self.account.total());
        let disk = |bytes: u64| self.disk_readable.then_some(bytes);
        Ok(Sample {
            at,
            cpu_s: seconds(used.user_ticks + used.system_ticks),
            user_s: seconds(used.user_ticks),
            system_s: seconds(used.system_ticks),
            processes: u32::try_from(living.len()).unwrap_or(u32::MAX),
            rss_bytes: Some(living.iter().map(|stat| stat.rss_bytes).sum()),
            pss_bytes: pss.map(|pss| pss.bytes),
            memory: pss.and_then(|pss| pss.kinds),
            disk: DiskCounters {
                read_bytes: disk(used.read_bytes),
                written_bytes: disk(used.written_bytes),
                cancelled_bytes: disk(used.cancelled_bytes),
                ..DiskCounters::default()
            },
            others_cpu_s: None,
            steal_s: None,
            network: NetworkCounters {
                rx_bytes: network.map(|counted| counted.bytes.rx),
                tx_bytes: network.map(|counted| counted.bytes.tx),
                doubtful_bytes: network.map_or(0, |counted| counted.doubtful_bytes),
                missed: network.map_or(0, |counted| counted.missed),
            },
            energy_uj: None,
        })
    }

    /// Reads the tree and takes it into the account. A child that was read and then waited for would be in its
    /// parent's record too, so the tree is read again while any of its processes vanishes meanwhile.
    fn read_consistently(&mut self) -> Result<Vec<ProcessStat>, ProbeError> {
        let mut attempt = 1;
        loop {
            let stats = self.read_members()?;
            let rows = self.with_disk_use(&stats)?;
            let present = list_pids()?;
            if attempt == ATTEMPTS || rows.iter().all(|row| present.contains(&row.id.pid)) {
                self.account.update(&rows);
                return Ok(stats);
            }
            attempt += 1;
        }
    }

    /// The tree's processes, children before parents: newcomers first, then the known members by age.
    fn read_members(&mut self) -> Result<Vec<ProcessStat>, ProbeError> {
        self.look = (self.look + 1) % RECHECK_LOOKS;
        let pids = list_pids()?;
        self.strangers.retain(|pid| pids.contains(pid) && pid % RECHECK_LOOKS != self.look);
        let newcomers = pids.iter().filter(|pid| !self.account.holds_pid(**pid) && !self.strangers.contains(pid));
        let members = self.account.members().into_iter().map(|id| id.pid);
        let mut table: HashMap<i32, ProcessStat> = HashMap::new();
        for pid in newcomers.copied().chain(members) {
            table.extend(read_stat(pid)?.map(|stat| (pid, stat)));
        }
        let counted = table.values().filter(|stat| !self.excluded.contains(&stat.row.id));
        let rows: Vec<ProcessRow> = counted.map(|stat| stat.row).collect();
        let inside = self.account.select(&rows);
        let selected: Vec<ProcessStat> = inside.iter().filter_map(|row| table.remove(&row.id.pid)).collect();
        self.strangers.extend(table.keys());
        Ok(selected)
    }

    fn with_disk_use(&mut self, stats: &[ProcessStat]) -> Result<Vec<ProcessRow>, ProbeError> {
        let mut rows = Vec::with_capacity(stats.len());
        for stat in stats {
            let mut row = stat.row;
            let io = self.disk_use(stat)?;
            row.held = row.held.plus(io);
            row.inherited = row.inherited.plus(io);
            rows.push(row);
        }
        Ok(rows)
    }

    /// The process's storage counters, its last seen ones if it is ending.
    fn disk_use(&mut self, stat: &ProcessStat) -> Result<Usage, ProbeError> {
        let before = Usage { user_ticks: 0, system_ticks: 0, ..self.account.held(stat.row.id).unwrap_or_default() };
        if !self.disk_readable {
            return Ok(before);
        }
        Ok(match read_io(stat.row.id.pid)? {
            FileContent::Known(io) => io,
            FileContent::Forbidden if !stat.zombie => {
                // A sum without one member would be wrong, now and ever after.
                self.disk_readable = false;
                before
            }
            FileContent::Ended | FileContent::Forbidden => before,
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 ticks, three million years")]
fn seconds(ticks: u64) -> f64 {
    ticks as f64 / procfs::ticks_per_second() as f64
}
