//! Probes of the database's storage before, between and after the steps of a ramp, while there is no load.

use super::{Session, load::Running};
use crate::{
    ramp::{RampPlan, RampPolicy},
    storage_probe::{PROBE_BYTES, ProbeAppend, ProbeBudget, ProbeLimit, StorageProbe},
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
    os::{fd::OwnedFd, unix::fs::FileExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

/// Where probes are made.
pub trait StorageProber: fmt::Debug + Send + Sync {
    /// A new file in a folder, for one probe.
    ///
    /// # Errors
    /// It cannot be made there.
    fn file(&self, folder: &Path) -> io::Result<Box<dyn ProbeFile>>;
}

/// The file of one probe. It goes with its owner.
pub trait ProbeFile {
    /// Appends a block of [`PROBE_BYTES`], and waits until it is on the disk.
    ///
    /// # Errors
    /// The disk is full, or broken.
    fn append(&mut self) -> io::Result<ProbeAppend>;
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
                self.outcome.storage_probing.not_probed = Some(why);
                return;
            }
        };
        let prober = self.options.storage_prober.clone().unwrap_or_else(|| Arc::new(FilesOfThisMachine));
        let (budget, began) = (ProbeBudget::default(), Instant::now());
        self.probing = Some(Probing { prober, folder, began, budget, last: None, made: Vec::new() });
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
        let Some(limit) = probing.budget.limit(probing.elapsed_ns(), coming, ramp.step_ns) else { return };
        let is_to_end = || self.stop.ends();
        if let Err(error) = probing.probe(limit, is_to_end) {
            let folder = probing.folder.display();
            let why = format!("its file in {folder} failed: {error}");
            self.outcome.storage_probing.not_probed = Some(why);
        }
        let (spent_ns, elapsed_ns) = (probing.budget.spent_ns(), probing.elapsed_ns());
        (self.outcome.storage_probing.spent_ns, self.outcome.storage_probing.elapsed_ns) = (spent_ns, elapsed_ns);
        if self.outcome.storage_probing.not_probed.is_some() {
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
        if self.options.elsewhere.is_some() {
            return Err("the server runs on another machine".into());
        }
        if self.outcome.embedded && self.outcome.storage_bytes_before.is_none() {
            return Err("the database does not say that it has files".into());
        }
        let folder = self.files().ok_or("it is not known where on this machine the database has its files")?;
        // What a test injects is not the folder's.
        if self.options.storage_prober.is_none() && self.outcome.data_disk.medium == Some(Medium::Memory) {
            return Err("the database's files lie in memory".into());
        }
        Ok(folder)
    }
}

impl Probing {
    fn elapsed_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn probe(&mut self, limit: ProbeLimit, is_to_end: impl Fn() -> bool) -> io::Result<()> {
        let began = Instant::now();
        let mut file = self.prober.file(&self.folder)?;
        let (mut appends, mut took_ns, mut count) = (Vec::new(), 0_u64, 0);
        while limit.goes_on(count, took_ns) && !is_to_end() {
            let append = file.append()?;
            appends.push(append);
            took_ns = took_ns.saturating_add(u64::try_from(append.took.as_nanos()).unwrap_or(u64::MAX));
            count += 1;
        }
        drop(file);
        let probe = StorageProbe::of(&appends);
        let in_all_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.budget.note(&probe, in_all_ns.max(took_ns), self.elapsed_ns());
        self.made.push(probe.clone());
        self.last = Some(probe);
        Ok(())
    }
}

/// Real files, each under a name of its own that nobody can foresee.
#[derive(Debug)]
struct FilesOfThisMachine;

impl StorageProber for FilesOfThisMachine {
    fn file(&self, folder: &Path) -> io::Result<Box<dyn ProbeFile>> {
        Ok(Box::new(RandomFile::in_folder(folder)?))
    }
}

#[derive(Debug)]
struct RandomFile {
    folder: OwnedFd,
    name: String,
    file: File,
    /// What the kernel says of the thread's scheduling; none where it does not.
    schedstat: Option<File>,
}

impl RandomFile {
    fn in_folder(folder: &Path) -> io::Result<Self> {
        let folder = openat(CWD, folder, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            // Its keys are the system's own randomness, and others each time.
            let name = format!("iotbench-probe-{:016x}", RandomState::new().hash_one(0));
            match openat(&folder, &name, flags, Mode::RUSR | Mode::WUSR) {
                Ok(file) => {
                    let schedstat = File::open("/proc/thread-self/schedstat").ok();
                    return Ok(Self { folder, name, file: File::from(file), schedstat });
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl ProbeFile for RandomFile {
    fn append(&mut self) -> io::Result<ProbeAppend> {
        // Not zeros: some storage does not write them.
        let block = [0xa5; PROBE_BYTES];
        let before = self.waited();
        let began = Instant::now();
        self.file.write_all(&block)?;
        fdatasync(&self.file)?;
        let took = began.elapsed();
        let waited = before.zip(self.waited()).map(|(before, after)| after.saturating_sub(before));
        Ok(ProbeAppend { took, waited: waited.unwrap_or_default() })
    }
}

impl RandomFile {
    /// For how long this thread was ready since it began and had no processor.
    fn waited(&self) -> Option<Duration> {
        let mut text = [0; 96];
        let length = self.schedstat.as_ref()?.read_at(&mut text, 0).ok()?;
        waited_in(text.get(..length)?)
    }
}

/// Of `/proc/PID/schedstat`: time on a processor, time waiting for one, and how often it had one (Documentation/scheduler/sched-stats).
fn waited_in(schedstat: &[u8]) -> Option<Duration> {
    let second = std::str::from_utf8(schedstat).ok()?.split_whitespace().nth(1)?;
    second.parse().ok().map(Duration::from_nanos)
}

impl Drop for RandomFile {
    fn drop(&mut self) {
        let _ = unlinkat(&self.folder, &self.name, AtFlags::empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_probes_file_is_its_owners_alone_and_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = [(); 2].map(|()| RandomFile::in_folder(folder.path()).unwrap());
        assert_ne!(files[0].name, files[1].name);
        for _ in 0..3 {
            let append = files[0].append().unwrap();
            assert!(append.took > Duration::ZERO && append.waited <= append.took, "{append:?}");
        }
        let written = std::fs::metadata(folder.path().join(&files[0].name)).unwrap();
        assert_eq!((written.len(), written.mode() & 0o777), (3 * PROBE_BYTES as u64, 0o600));
        drop(files);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn what_a_thread_waited_for_a_processor_is_the_second_figure_of_its_schedstat() {
        assert_eq!(waited_in(b"59384 1215 3\n"), Some(Duration::from_nanos(1215)));
        assert_eq!((waited_in(b"59384\n"), waited_in(b"")), (None, None));
    }

    /// Pairs of neighbouring probes of this machine's disk that are told as drift, with and without two busy loops beside them: by
    /// whole times, and as they are judged. For the figures in docs/method/capacity.md.
    #[test]
    #[ignore = "measures the machine"]
    fn pairs_of_probes_that_are_told_as_drift_beside_busy_loops() {
        const PROBES: u16 = 40;
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let probe = || -> Vec<ProbeAppend> {
            let mut file = RandomFile::in_folder(folder.path()).unwrap();
            (0..crate::PROBE_APPENDS).map(|_| file.append().unwrap()).collect()
        };
        let whole = |appends: &Vec<ProbeAppend>| {
            StorageProbe::of(&appends.iter().map(|a| ProbeAppend { waited: Duration::ZERO, ..*a }).collect::<Vec<_>>())
        };
        for loops in [0, 2] {
            let is_over = std::sync::atomic::AtomicBool::new(false);
            let probes: Vec<_> = std::thread::scope(|scope| {
                for _ in 0..loops {
                    scope.spawn(|| {
                        while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                            std::hint::spin_loop();
                        }
                    });
                }
                let probes = (0..PROBES).map(|_| (probe(), std::thread::sleep(Duration::from_millis(100))).0).collect();
                is_over.store(true, std::sync::atomic::Ordering::Relaxed);
                probes
            });
            let drifts = |probes: Vec<StorageProbe>| {
                let pairs = probes.windows(2).filter(|two| two[0].has_drifted_to(&two[1]) == Some(true));
                (pairs.count(), crate::StorageLevels::of(&probes).unwrap())
            };
            let judged: Vec<StorageProbe> = probes.iter().map(|appends| StorageProbe::of(appends)).collect();
            let waiting = StorageProbe::pooled(&judged).waiting_share().unwrap();
            let ((by_whole, levels), (told, judged)) = (drifts(probes.iter().map(whole).collect()), drifts(judged));
            println!(
                "{loops} busy loops, {:.0} % of the time waited: of {} pairs {by_whole} by whole times, {told} as judged; over all of \
                 them {:.2} and {:.2} times, drifted: {}",
                100.0 * waiting,
                PROBES - 1,
                levels.ratio(),
                judged.ratio(),
                judged.have_drifted(),
            );
        }
    }

    #[test]
    fn where_no_file_can_be_made_the_reason_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let error = RandomFile::in_folder(&folder.path().join("missing")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
