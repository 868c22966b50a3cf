//! What others have of the machine now, before anything of one's own runs.

use std::collections::HashMap;
use std::time::Instant;

use serde::Serialize;

use crate::disturbance::share_between;
use crate::host::processors;
use crate::probe::{Probe, Target};
use crate::probe_error::ProbeError;
use crate::process_files::{list_pids, read_stat};
use crate::sample::Sample;
use crate::tree_account::ProcessId;

/// So many of the busiest are named.
const NAMED: usize = 3;

/// A look at the machine that has begun and not ended.
#[derive(Debug)]
pub struct OthersLook {
    probe: Probe,
    began: Instant,
    first: Sample,
    processes: HashMap<ProcessId, f64>,
}

/// What others had of the machine during a look, as shares of all its processors' time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OthersNow {
    /// How long it was looked at.
    pub seconds: f64,
    /// Other programs; where they are not all to be seen, as in a container, all that ran but this process, the kernel included.
    pub cpu: f64,
    /// Other machines of the hypervisor; `None`: the kernel does not tell.
    pub steal: Option<f64>,
    /// The busiest programs that are to be seen.
    pub busiest: Vec<BusyProcess>,
}

/// A program of others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BusyProcess {
    /// The process.
    pub pid: i32,
    /// What it is called.
    pub name: String,
    /// Its share of all processors' time.
    pub cpu: f64,
}

impl OthersLook {
    /// Begins. Nothing waits until [`end`](Self::end).
    ///
    /// # Errors
    /// The machine cannot be looked at.
    pub fn begin() -> Result<Self, ProbeError> {
        let began = Instant::now();
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let mut probe = Probe::new(&Target::Host)?.beside(&[own]);
        let first = sampled(&mut probe, began)?;
        Ok(Self { probe, began, first, processes: processes()? })
    }

    /// When it began.
    #[must_use]
    pub fn began(&self) -> Instant {
        self.began
    }

    /// Ends it. What is short is coarse: the kernel counts in hundredths of a second.
    ///
    /// # Errors
    /// The machine cannot be looked at.
    pub fn end(mut self) -> Result<OthersNow, ProbeError> {
        let last = sampled(&mut self.probe, self.began)?;
        let of_processors = f64::from(processors().unwrap_or(1));
        let share = |of| share_between(&self.first, &last, of_processors, of);
        let seconds = last.at.saturating_sub(self.first.at).as_secs_f64();
        Ok(OthersNow {
            seconds,
            cpu: share(|sample| sample.others_cpu_s).or_else(|| share(|sample| Some(sample.cpu_s))).unwrap_or(0.0),
            steal: share(|sample| sample.steal_s),
            busiest: busiest(&self.processes, &processes()?, seconds * of_processors),
        })
    }
}

/// The whole machine, of which what this process has used is left out where others cannot be told from it.
fn sampled(probe: &mut Probe, began: Instant) -> Result<Sample, ProbeError> {
    let sample = probe.sample(began.elapsed())?;
    let own_pid = i32::try_from(std::process::id()).unwrap_or(0);
    let own_s = read_stat(own_pid)?.map_or(0.0, |stat| seconds(stat.row.held.user_ticks + stat.row.held.system_ticks));
    Ok(Sample { cpu_s: sample.cpu_s - own_s, ..sample })
}

/// What every process but this one has used by itself, in seconds: the time of children that ended would come all at once.
fn processes() -> Result<HashMap<ProcessId, f64>, ProbeError> {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let mut used = HashMap::new();
    for pid in list_pids()?.into_iter().filter(|pid| *pid != own) {
        let Some(stat) = read_stat(pid)? else { continue };
        let (held, inherited) = (stat.row.held, stat.row.inherited);
        let own_ticks =
            (held.user_ticks + held.system_ticks).saturating_sub(inherited.user_ticks + inherited.system_ticks);
        used.insert(stat.row.id, seconds(own_ticks));
    }
    Ok(used)
}

/// Those that used most of so many seconds between two looks, if it is more than a hundredth.
fn busiest(before: &HashMap<ProcessId, f64>, now: &HashMap<ProcessId, f64>, of_s: f64) -> Vec<BusyProcess> {
    let used = |(id, used_s): (&ProcessId, &f64)| (id.pid, used_s - before.get(id).copied().unwrap_or(0.0));
    let mut used: Vec<(i32, f64)> = now.iter().map(used).filter(|(_, used_s)| *used_s > 0.01 * of_s).collect();
    used.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    used.truncate(NAMED);
    let named = |(pid, used_s): (i32, f64)| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        Some(BusyProcess { pid, name: name.trim_end().to_owned(), cpu: (used_s / of_s).min(1.0) })
    };
    used.into_iter().filter_map(named).collect()
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53 ticks, three million years")]
fn seconds(ticks: u64) -> f64 {
    ticks as f64 / procfs::ticks_per_second() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_are_named_by_what_they_used_between_two_looks() {
        let own = i32::try_from(std::process::id()).unwrap();
        let id = |pid, start_ticks| ProcessId { pid, start_ticks };
        let before = HashMap::from([(id(own, 1), 100.0), (id(1, 1), 5.0)]);
        let now = HashMap::from([(id(own, 1), 100.5), (id(1, 1), 5.001)]);
        let found = busiest(&before, &now, 2.0);
        assert_eq!(found.iter().map(|busy| (busy.pid, busy.cpu)).collect::<Vec<_>>(), [(own, 0.25)]);
        assert!(!found[0].name.is_empty());
    }

    #[test]
    fn a_look_tells_shares_of_the_time_since_it_began() {
        let look = OthersLook::begin().unwrap();
        let before = look.began();
        std::thread::sleep(std::time::Duration::from_millis(30));
        let now = look.end().unwrap();
        let all = [Some(now.cpu), now.steal].into_iter().flatten().chain(now.busiest.iter().map(|busy| busy.cpu));
        assert!(now.seconds >= 0.03 && now.seconds <= before.elapsed().as_secs_f64(), "{now:?}");
        assert!(all.into_iter().all(|share| (0.0..=1.0).contains(&share)), "{now:?}");
    }
}
