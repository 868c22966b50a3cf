//! The files of probes, and what the probes of a search cost of storage and time that are not real.

use super::*;
use crate::storage_probe::{MIN_APPENDS, PROBE_APPENDS};
use std::{
    os::unix::fs::MetadataExt,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

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
fn where_no_file_can_be_made_the_reason_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let error = RandomFile::in_folder(&folder.path().join("missing")).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

fn ns(time: Duration) -> u64 {
    time.as_nanos().try_into().unwrap()
}

#[test]
fn work_is_probed_where_a_probe_has_time_for_it() {
    let machine = ThisMachine::default();
    assert_eq!(machine.work(Duration::from_secs(60)).len(), usize::try_from(PROBE_PIECES).unwrap());
    assert!(machine.work(Duration::ZERO).is_empty(), "none is begun after its time");
    let times = |trials: u32, trial_ns: u64| {
        let (limit, for_work) = ProbeBudget::default().limit(0, trials, trial_ns).unwrap().divided();
        (ns(for_work) / MS, limit.goes_on(0, 0))
    };
    assert_eq!((times(24, 5 * S), times(3, 2 * S), times(1, S)), ((6, true), (0, true), (0, true)));
    // 0.8 % of two minutes for 25 probes, less the work.
    let (appends, _) = ProbeBudget::default().limit(0, 24, 5 * S).unwrap().divided();
    assert_eq!(
        (appends.exceeded_by(33_400 * US), appends.exceeded_by(32_000 * US)),
        (Duration::from_millis(1), Duration::ZERO)
    );
}

/// Storage whose appends take so long, and whose time passes by them and by what is said.
#[derive(Debug)]
struct Virtual {
    began: Instant,
    passed_ns: AtomicU64,
    append_ns: AtomicU64,
}

impl Virtual {
    fn pass(&self, ns: u64) {
        self.passed_ns.fetch_add(ns, Ordering::Relaxed);
    }
}

impl StorageProber for Arc<Virtual> {
    fn file(&self, _: &Path) -> io::Result<Box<dyn ProbeFile>> {
        Ok(Box::new(Self::clone(self)))
    }

    /// All that it may take.
    fn work(&self, within: Duration) -> Vec<ProbeTime> {
        self.pass(ns(within));
        Vec::new()
    }

    fn now(&self) -> Instant {
        self.began + Duration::from_nanos(self.passed_ns.load(Ordering::Relaxed))
    }
}

impl ProbeFile for Arc<Virtual> {
    fn append(&mut self) -> io::Result<ProbeTime> {
        let append_ns = self.append_ns.load(Ordering::Relaxed);
        self.pass(append_ns);
        Ok(ProbeTime { took: Duration::from_nanos(append_ns), waited: Duration::ZERO })
    }
}

/// A search of trials that take two seconds more than they count, whose appends take so long by the trial. Gives how many
/// appends each probe had, none where there was no probe, and the share of the search's time.
fn search(trials: u32, trial_ns: u64, append_ns: impl Fn(u32) -> u64) -> (Vec<Option<u32>>, f64) {
    let (passed_ns, first_ns) = (AtomicU64::new(0), AtomicU64::new(0));
    let storage = Arc::new(Virtual { began: Instant::now(), passed_ns, append_ns: first_ns });
    let mut probing = Probing::new(Arc::new(Arc::clone(&storage)), PathBuf::new());
    let mut made = Vec::new();
    for done in 0..=trials {
        storage.append_ns.store(append_ns(done), Ordering::Relaxed);
        let is_made = probing.probe(trials - done, trial_ns, || false).unwrap();
        let probe = std::mem::take(&mut probing.made).pop();
        assert_eq!(is_made, probe.is_some());
        made.push(probe.map(|probe| u32::try_from(probe.appends()).unwrap()));
        if done < trials {
            storage.pass(trial_ns + 2 * S);
        }
    }
    (made, probing.budget.spent_ns() as f64 / probing.elapsed_ns() as f64)
}

#[test]
fn probes_take_less_than_a_hundredth_of_the_search_however_slow_the_storage_is() {
    for append_us in [20, 100, 300, 1_000, 3_000, 7_000, 30_000] {
        for (trials, trial_ns) in [(24, 5 * S), (24, 60 * S), (3, S), (60, S), (300, 5 * S)] {
            let (made, share) = search(trials, trial_ns, |_| append_us * US);
            assert!(share < 0.01, "{append_us} µs, {trials} trials of {trial_ns} ns: {share}, {made:?}");
        }
    }
}

#[test]
fn fast_storage_is_probed_whole_and_slow_storage_as_often_as_it_can_be_judged() {
    let (fast, _) = search(24, 5 * S, |_| 150 * US);
    assert!(fast.iter().all(|appends| *appends == Some(PROBE_APPENDS)), "{fast:?}");
    let (slow, _) = search(24, 5 * S, |_| 7 * MS);
    let judged = slow.iter().filter(|appends| appends.is_some_and(|appends| appends >= MIN_APPENDS)).count();
    assert!((8..=16).contains(&judged) && slow[0].is_some_and(|appends| appends >= MIN_APPENDS), "{slow:?}");
}

#[test]
fn storage_that_becomes_slow_in_mid_search_is_still_judged() {
    for append_us in [300, 1_000, 3_000] {
        let (made, share) = search(24, 5 * S, |done| if done < 12 { append_us * US } else { 4 * append_us * US });
        assert!(made[12].is_some_and(|appends| appends >= MIN_APPENDS), "{append_us} µs: {made:?}");
        assert!(share < 0.01, "{append_us} µs: {share}");
    }
}

#[test]
fn a_probe_ends_where_the_run_is_to_end_and_with_a_disk_that_fails() {
    let storage =
        Arc::new(Virtual { began: Instant::now(), passed_ns: AtomicU64::new(0), append_ns: AtomicU64::new(MS) });
    let mut probing = Probing::new(Arc::new(Arc::clone(&storage)), PathBuf::new());
    assert!(probing.probe(24, 5 * S, || storage.passed_ns.load(Ordering::Relaxed) >= 20 * MS).unwrap());
    assert_eq!((probing.last.as_ref().map(StorageProbe::appends), probing.budget.spent_ns()), (Some(20), 20 * MS));
    let mut probing = Probing::new(Arc::<ThisMachine>::default(), PathBuf::from("/nowhere"));
    assert!(probing.probe(24, 5 * S, || false).is_err() && probing.made.is_empty());
}

/// Appends of 7 ms: enough of them to judge by are a tenth of a second, and a second allows 8 ms.
#[test]
fn slow_storage_is_probed_again_when_enough_time_has_passed_since_the_last_probe() {
    let storage =
        Arc::new(Virtual { began: Instant::now(), passed_ns: AtomicU64::new(0), append_ns: AtomicU64::new(7 * MS) });
    let mut probing = Probing::new(Arc::new(Arc::clone(&storage)), PathBuf::new());
    let mut after = |pause_ns| {
        storage.pass(pause_ns);
        probing.probe(100, 60 * S, || false).unwrap()
    };
    assert_eq!([0, S, 100 * S, S].map(&mut after), [true, false, true, false]);
}

/// Pairs of neighbouring probes of this machine's disk that are told as drift, with and without two busy loops beside them: by
/// whole times, and as they are judged. For the figures in docs/method/capacity.md.
#[test]
#[ignore = "measures the machine"]
fn pairs_of_probes_that_are_told_as_drift_beside_busy_loops() {
    const PROBES: u16 = 40;
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let probe = || -> Vec<ProbeTime> {
        let mut file = RandomFile::in_folder(folder.path()).unwrap();
        (0..PROBE_APPENDS).map(|_| file.append().unwrap()).collect()
    };
    let whole = |appends: &Vec<ProbeTime>| {
        StorageProbe::of(&appends.iter().map(|a| ProbeTime { waited: Duration::ZERO, ..*a }).collect::<Vec<_>>())
    };
    for loops in [0, 2] {
        let is_over = AtomicBool::new(false);
        let probes: Vec<_> = std::thread::scope(|scope| {
            for _ in 0..loops {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let probes = (0..PROBES).map(|_| (probe(), std::thread::sleep(Duration::from_millis(100))).0).collect();
            is_over.store(true, Ordering::Relaxed);
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
