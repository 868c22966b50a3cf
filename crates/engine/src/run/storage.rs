//! Probes of the database's storage before, between and after the steps of a ramp, while there is no load.

mod stopwatch;
mod work;

use super::{Session, load::Running};
use crate::{
    ramp::{RampPlan, RampPolicy},
    storage_probe::{PROBE_APPENDS, PROBE_BYTES, PROBE_PIECES, ProbeBudget, ProbeTime, StorageProbe},
    verdict::Reason,
};
use iotbench_sampler::Medium;
use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, fdatasync, openat, unlinkat},
    io::Errno,
};
use std::{
    fmt,
    fs::File,
    hash::{BuildHasher, RandomState},
    io::{self, Write},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use stopwatch::Stopwatch;
use work::Work;

/// Where probes are made.
pub trait StorageProber: fmt::Debug + Send + Sync {
    /// A new file in a folder, for one probe.
    ///
    /// # Errors
    /// It cannot be made there.
    fn file(&self, folder: &Path) -> io::Result<Box<dyn ProbeFile>>;

    /// Equal pieces of a processor's work, as many as can be begun in this time; none where the processors are not to be probed.
    fn work(&self, _within: Duration) -> Vec<ProbeTime> {
        Vec::new()
    }

    /// The time that appends, and what passes between probes, are a part of.
    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// The file of one probe. It goes with its owner.
pub trait ProbeFile {
    /// Appends a block of [`PROBE_BYTES`], and waits until it is on the disk.
    ///
    /// # Errors
    /// The disk is full, or broken.
    fn append(&mut self) -> io::Result<ProbeTime>;
}

/// Probes the storage of a folder of this machine, for so long at most, but for its last append. The file is removed.
///
/// # Errors
/// No file can be made there, or it cannot be written.
pub fn probe_storage(folder: &Path, within: Duration) -> io::Result<StorageProbe> {
    let began = Instant::now();
    let mut file = RandomFile::in_folder(folder)?;
    let append = |_| (began.elapsed() < within).then(|| file.append());
    let appends = (0..PROBE_APPENDS).map_while(append).collect::<io::Result<Vec<_>>>()?;
    Ok(StorageProbe::of(&appends))
}

/// Probes of a search under way.
#[derive(Debug)]
pub(super) struct Probing {
    prober: Arc<dyn StorageProber>,
    folder: PathBuf,
    /// When the first one began.
    began: Instant,
    budget: ProbeBudget,
    /// The last one, if it was made since the last step ended.
    last: Option<StorageProbe>,
    /// Those that no step has taken yet.
    made: Vec<StorageProbe>,
}

impl Session<'_> {
    /// The probe before the search, if there are to be any.
    pub(super) fn begin_probing(&mut self) {
        let Some(ramp) = self.planned.plan.ramp.clone() else { return };
        let folder = match self.probed_folder() {
            Ok(folder) => folder,
            Err(why) => {
                self.outcome.machine.storage_probing.not_probed = Some(why);
                return;
            }
        };
        let prober = self.options.storage_prober.clone().unwrap_or_else(|| Arc::<ThisMachine>::default());
        self.probing = Some(Probing::new(prober, folder));
        let (least, _) = RampPolicy::new(&ramp).left();
        let made = u32::try_from(self.options.resumed.len()).unwrap_or(u32::MAX);
        self.probe_storage(&ramp, least.saturating_sub(made).max(1));
    }

    /// The probe after a step, with the load paused: whether the storage drifted while it ran. `None`: not known. `coming`: so
    /// many steps follow at the least.
    pub(super) fn probe_after_step(
        &mut self,
        running: &mut Running,
        ramp: &RampPlan,
        coming: u32,
    ) -> Result<Option<bool>, Reason> {
        if self.probing.is_none() || self.is_over(running)? {
            return Ok(None);
        }
        let before = self.probing.as_mut().and_then(|probing| probing.last.take());
        // Under a load it would probe the load, and be one.
        if !self.pause_until_answered(running)? || self.is_over(running)? || !self.wait_for_backlog(running)? {
            return Ok(None);
        }
        self.probe_storage(ramp, coming);
        let after = self.probing.as_ref().and_then(|probing| probing.last.as_ref());
        Ok(before.zip(after).and_then(|(before, after)| before.has_drifted_to(after)))
    }

    /// The probes that were made since this was asked last.
    pub(super) fn take_probes(&mut self) -> Vec<StorageProbe> {
        self.probing.as_mut().map(|probing| std::mem::take(&mut probing.made)).unwrap_or_default()
    }

    fn probe_storage(&mut self, ramp: &RampPlan, coming: u32) {
        let Some(probing) = &mut self.probing else { return };
        let is_to_end = || self.stop.ends();
        match probing.probe(coming, ramp.step_ns, is_to_end) {
            Ok(false) => return,
            Ok(true) => {}
            Err(error) => {
                let folder = probing.folder.display();
                let why = format!("its file in {folder} failed: {error}");
                self.outcome.machine.storage_probing.not_probed = Some(why);
            }
        }
        let (spent_ns, elapsed_ns) = (probing.budget.spent_ns(), probing.elapsed_ns());
        (self.outcome.machine.storage_probing.spent_ns, self.outcome.machine.storage_probing.elapsed_ns) =
            (spent_ns, elapsed_ns);
        if self.outcome.machine.storage_probing.not_probed.is_some() {
            probing.last = None;
        }
    }

    /// Where the database has its files, or why its storage is not probed.
    fn probed_folder(&self) -> Result<PathBuf, String> {
        if let Some(why) = &self.planned.plan.not_probed {
            return Err(why.clone());
        }
        if self.options.loaders.is_some() {
            return Err("agents make the load".into());
        }
        if self.options.remote_samplers.is_some() {
            return Err("the server runs on another machine".into());
        }
        if self.outcome.target.embedded && self.outcome.machine.storage_bytes_before.is_none() {
            return Err("the database does not say that it has files".into());
        }
        let folder = self.files().ok_or("it is not known where on this machine the database has its files")?;
        // What a test injects is not the folder's.
        if self.options.storage_prober.is_none() && self.outcome.machine.data_disk.medium == Some(Medium::Memory) {
            return Err("the database's files lie in memory".into());
        }
        Ok(folder)
    }
}

impl Probing {
    fn new(prober: Arc<dyn StorageProber>, folder: PathBuf) -> Self {
        let began = prober.now();
        Self { prober, folder, began, budget: ProbeBudget::default(), last: None, made: Vec::new() }
    }

    fn elapsed_ns(&self) -> u64 {
        self.ns_since(self.began)
    }

    fn ns_since(&self, began: Instant) -> u64 {
        u64::try_from(self.prober.now().saturating_duration_since(began).as_nanos()).unwrap_or(u64::MAX)
    }

    /// A probe with so many steps of this length still to come; false: it would cost too much, and none was made.
    fn probe(&mut self, coming: u32, step_ns: u64, is_to_end: impl Fn() -> bool) -> io::Result<bool> {
        let Some(limit) = self.budget.limit(self.elapsed_ns(), coming, step_ns) else { return Ok(false) };
        let (limit, for_work) = limit.divided();
        let began = self.prober.now();
        let mut file = self.prober.file(&self.folder)?;
        let (mut appends, mut took_ns, mut count) = (Vec::new(), 0_u64, 0);
        while limit.goes_on(count, took_ns) && !is_to_end() {
            let append = file.append()?;
            appends.push(append);
            took_ns = took_ns.saturating_add(u64::try_from(append.took.as_nanos()).unwrap_or(u64::MAX));
            count += 1;
        }
        drop(file);
        let for_work = for_work.saturating_sub(limit.exceeded_by(took_ns));
        let pieces = if for_work.is_zero() || is_to_end() { Vec::new() } else { self.prober.work(for_work) };
        let probe = StorageProbe::of(&appends).beside(&pieces);
        self.budget.note(&probe, self.ns_since(began).max(took_ns), self.elapsed_ns());
        self.made.push(probe.clone());
        self.last = Some(probe);
        Ok(true)
    }
}

/// This machine's processors, and real files, each under a name of its own that nobody can foresee.
#[derive(Debug, Default)]
struct ThisMachine(Mutex<Option<Work>>);

impl StorageProber for ThisMachine {
    fn file(&self, folder: &Path) -> io::Result<Box<dyn ProbeFile>> {
        Ok(Box::new(RandomFile::in_folder(folder)?))
    }

    fn work(&self, within: Duration) -> Vec<ProbeTime> {
        let began = Instant::now();
        let mut work = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (work, stopwatch) = (work.get_or_insert_with(Work::new), Stopwatch::new());
        // The first one brings back to the caches what a load has displaced.
        work.piece();
        let piece = |_| (began.elapsed() < within).then(|| stopwatch.time(|| work.piece()).1);
        (0..PROBE_PIECES).map_while(piece).collect()
    }
}

#[derive(Debug)]
struct RandomFile {
    folder: OwnedFd,
    name: String,
    file: File,
    stopwatch: Stopwatch,
}

impl RandomFile {
    fn in_folder(folder: &Path) -> io::Result<Self> {
        let folder = openat(CWD, folder, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            // Its keys are the system's own randomness, and others each time.
            let name = format!("iotbench-probe-{:016x}", RandomState::new().hash_one(0));
            match openat(&folder, &name, flags, Mode::RUSR | Mode::WUSR) {
                Ok(file) => return Ok(Self { folder, name, file: file.into(), stopwatch: Stopwatch::new() }),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl ProbeFile for RandomFile {
    fn append(&mut self) -> io::Result<ProbeTime> {
        // Not zeros: some storage does not write them.
        let block = [0xa5; PROBE_BYTES];
        let (done, took) = self.stopwatch.time(|| {
            self.file.write_all(&block)?;
            fdatasync(&self.file).map_err(io::Error::from)
        });
        done?;
        Ok(took)
    }
}

impl Drop for RandomFile {
    fn drop(&mut self) {
        let _ = unlinkat(&self.folder, &self.name, AtFlags::empty());
    }
}

#[cfg(test)]
mod tests;
