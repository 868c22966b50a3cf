//! Probes of the storage under a search: what drifts is told, and what drifted meanwhile is run again. The storage is one of
//! the test's own, with latencies that nobody waits for.

use crate::operations::{
    planned, planned_on,
    scripted::{SUCCEED, Script, Scripted},
};
use iotbench_core::Registry;
use iotbench_engine::{
    Event, Observer, Outcome, PROBE_APPENDS, ProbeFile, ProbeTime, RunOptions, StepFigures, StopSignal, StorageLevels,
    StorageProbe, StorageProber, run,
};
use std::{
    io,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

const RAMP: &str = ramp!("steps = [1, 3, 2, 4]\n");

const FAST: Duration = Duration::from_micros(20);
const SLOW: Duration = Duration::from_micros(80);

/// Storage whose n-th probe takes as long for each append as this says.
#[derive(Clone, Debug)]
struct Storage {
    append: fn(usize) -> io::Result<Duration>,
    /// And so long more, for which its thread has no processor.
    waited: fn(usize) -> Duration,
    probes: Arc<Mutex<usize>>,
}

impl Storage {
    fn new(append: fn(usize) -> io::Result<Duration>) -> Self {
        Self { append, waited: |_| Duration::ZERO, probes: Arc::default() }
    }
}

impl StorageProber for Storage {
    fn file(&self, _: &Path) -> io::Result<Box<dyn ProbeFile>> {
        let mut probes = self.probes.lock().unwrap();
        *probes += 1;
        Ok(Box::new(File(self.clone(), *probes - 1)))
    }
}

struct File(Storage, usize);

impl ProbeFile for File {
    fn append(&mut self) -> io::Result<ProbeTime> {
        let waited = (self.0.waited)(self.1);
        Ok(ProbeTime { took: (self.0.append)(self.1)? + waited, waited })
    }
}

fn run_on(storage: &Storage, set: &[&str], resumed: Vec<StepFigures>, observer: &mut dyn Observer) -> Outcome {
    let backend = Scripted::new(Script { write: |_| SUCCEED, commit: |_| SUCCEED });
    backend.state.lock().unwrap().bytes = Some(4096);
    let folder = tempfile::tempdir().unwrap();
    let planned = planned(backend, folder.path(), RAMP, set);
    let options = RunOptions { storage_prober: Some(Arc::new(storage.clone())), resumed, ..RunOptions::default() };
    let outcome = run(planned, backend, options, observer, &StopSignal::default());
    assert_eq!((outcome.load.check(), outcome.points.check()), (Ok(()), Ok(())), "{:?}", outcome.verdict);
    outcome
}

fn steps(outcome: &Outcome) -> &[StepFigures] {
    &outcome.capacity.as_ref().unwrap().steps
}

/// Of each step: its load, how many probes it has, how often it was run before, and whether the storage drifted.
fn told(outcome: &Outcome) -> Vec<(u32, usize, u32, Option<bool>)> {
    let of = |step: &StepFigures| {
        (
            step.step.load,
            step.conditions.storage_probes.len(),
            step.conditions.drifted_before,
            step.conditions.storage_drifted,
        )
    };
    steps(outcome).iter().map(of).collect()
}

fn levels(outcome: &Outcome) -> StorageLevels {
    StorageLevels::of(steps(outcome).iter().flat_map(|step| &step.conditions.storage_probes)).unwrap()
}

const STEADY: Option<bool> = Some(false);
const DRIFTED: Option<bool> = Some(true);

#[test]
fn storage_is_probed_before_a_search_between_its_trials_and_after_it_for_less_than_a_hundredth_of_its_time() {
    for state in ["ramp.state=fresh", "ramp.state=keep"] {
        let outcome = run_on(&Storage::new(|_| Ok(FAST)), &[state], vec![], &mut ());
        assert_eq!(told(&outcome), [(1, 2, 0, STEADY), (3, 1, 0, STEADY), (2, 1, 0, STEADY), (4, 1, 0, STEADY)]);
        let probes = || steps(&outcome).iter().flat_map(|step| &step.conditions.storage_probes);
        assert!(probes().all(|probe| probe.appends() == u64::from(PROBE_APPENDS)), "{state}");
        assert!(probes().all(|probe| probe.median_ns() == Some(20_000)), "{state}");
        assert!(!levels(&outcome).have_drifted());
        let probing = &outcome.machine.storage_probing;
        assert_eq!(probing.not_probed, None);
        assert!(probing.spent_ns >= 5 * 200 * 20_000, "{probing:?}");
        assert!(probing.spent_ns * 100 < probing.elapsed_ns, "{state}: {probing:?}");
    }
}

#[test]
fn a_trial_in_which_storage_becomes_four_times_as_slow_is_run_again_and_the_change_is_told() {
    // The third probe is the one after the second trial.
    let storage = Storage::new(|probe| Ok(if probe < 2 { FAST } else { SLOW }));
    let outcome = run_on(&storage, &[], vec![], &mut ());
    assert_eq!(told(&outcome), [(1, 2, 0, STEADY), (3, 2, 1, STEADY), (2, 1, 0, STEADY), (4, 1, 0, STEADY)]);
    let levels = levels(&outcome);
    assert_eq!((levels.least_ns, levels.most_ns), (20_000, 80_000));
    let probing = &outcome.machine.storage_probing;
    assert!(probing.spent_ns * 100 < probing.elapsed_ns, "{probing:?}");
}

#[test]
fn processors_that_become_busy_in_mid_search_are_no_drift_of_the_storage() {
    let waited = |probe| if probe < 2 { Duration::ZERO } else { SLOW };
    let outcome = run_on(&Storage { waited, ..Storage::new(|_| Ok(FAST)) }, &[], vec![], &mut ());
    assert_eq!(told(&outcome), [(1, 2, 0, STEADY), (3, 1, 0, STEADY), (2, 1, 0, STEADY), (4, 1, 0, STEADY)]);
    let levels = levels(&outcome);
    assert_eq!((levels.least_ns, levels.most_ns, levels.have_drifted()), (20_000, 20_000, false));
    let shares =
        steps(&outcome).iter().flat_map(|s| &s.conditions.storage_probes).map(|probe| probe.waiting_share().unwrap());
    assert_eq!(shares.collect::<Vec<_>>(), [0.0, 0.0, 0.8, 0.8, 0.8]);
}

#[test]
fn a_trial_is_run_again_twice_at_most_all_together_four_times_and_then_counts_as_one_with_drift() {
    let storage = Storage::new(|probe| Ok(if probe.is_multiple_of(2) { FAST } else { SLOW }));
    let outcome = run_on(&storage, &["ramp.steps=[1, 2, 3]"], vec![], &mut ());
    assert_eq!(told(&outcome), [(1, 4, 2, DRIFTED), (2, 3, 2, DRIFTED), (3, 1, 0, DRIFTED)]);
}

#[test]
fn a_trial_that_passes_while_the_load_grows_is_not_run_again_for_drift() {
    let storage = Storage::new(|probe| Ok(if probe.is_multiple_of(2) { FAST } else { SLOW }));
    let grow =
        ["ramp.steps=[]", "ramp.first=1", "ramp.trials=0", "ramp.most=4", "ramp.step=3s", "stop.mean_response=1s"];
    let outcome = run_on(&storage, &grow, vec![], &mut ());
    // The last one, of the greatest load that may be tried, is the answer.
    assert_eq!(told(&outcome), [(1, 2, 0, DRIFTED), (2, 1, 0, DRIFTED), (4, 1, 0, DRIFTED), (4, 3, 2, DRIFTED)]);
}

/// Notes each step.
#[derive(Default)]
struct Steps(Vec<StepFigures>);

impl Observer for Steps {
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        if let Event::StepEnded { figures, .. } = event {
            self.0.push((*figures).clone());
        }
        Ok(())
    }
}

#[test]
fn a_search_that_goes_on_keeps_the_probes_of_its_earlier_steps() {
    let mut first = Steps::default();
    run_on(&Storage::new(|_| Ok(FAST)), &[], vec![], &mut first);
    let resumed = serde_json::to_string(&first.0[..2]).unwrap();
    let resumed: Vec<StepFigures> = serde_json::from_str(&resumed).unwrap();
    let outcome = run_on(&Storage::new(|_| Ok(SLOW)), &[], resumed, &mut ());
    // The third step has the probe before this sitting's load and the one after it.
    assert_eq!(told(&outcome), [(1, 2, 0, STEADY), (3, 1, 0, STEADY), (2, 2, 0, STEADY), (4, 1, 0, STEADY)]);
    assert!(levels(&outcome).have_drifted(), "between the sittings");
}

#[test]
fn a_probe_that_fails_ends_probing_and_not_the_search() {
    let storage = Storage::new(|probe| if probe < 2 { Ok(FAST) } else { Err(io::Error::other("broken disk")) });
    let outcome = run_on(&storage, &[], vec![], &mut ());
    assert_eq!(told(&outcome), [(1, 2, 0, STEADY), (3, 0, 0, None), (2, 0, 0, None), (4, 0, 0, None)]);
    assert!(outcome.machine.storage_probing.not_probed.unwrap().ends_with("broken disk"));
}

#[test]
fn where_nothing_is_probed_the_outcome_says_why() {
    let why = |storage: &Storage, set: &[&str]| {
        let outcome = run_on(storage, set, vec![], &mut ());
        assert!(told(&outcome).iter().all(|told| told.1 == 0 && told.3.is_none()));
        outcome.machine.storage_probing.not_probed.unwrap()
    };
    let storage = Storage::new(|_| Ok(FAST));
    assert_eq!(why(&storage, &["ramp.probe=false", "ramp.steps=[1]"]), "ramp.probe is false");
    assert_eq!(*storage.probes.lock().unwrap(), 0);
    // A database that keeps nothing in files.
    let folder = tempfile::tempdir().unwrap();
    let memory = Registry::new(iotbench_backends::BACKENDS).find("memory").unwrap();
    let planned = planned(memory, folder.path(), RAMP, &["ramp.steps=[1]"]);
    let outcome = run(planned, memory, RunOptions::default(), &mut (), &StopSignal::default());
    assert_eq!(outcome.machine.storage_probing.not_probed.unwrap(), "the database does not say that it has files");
}

#[test]
fn sqlite_is_probed_in_its_own_folder_and_nothing_is_left_there() {
    let sqlite = Registry::new(iotbench_backends::BACKENDS).find("sqlite").unwrap();
    // Not the folder for temporary files, which may lie in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let planned = planned(sqlite, folder.path(), RAMP, &["ramp.steps=[1, 2]"]);
    let outcome = run(planned, sqlite, RunOptions::default(), &mut (), &StopSignal::default());
    let appends: Vec<u64> =
        steps(&outcome).iter().flat_map(|s| &s.conditions.storage_probes).map(StorageProbe::appends).collect();
    assert!(appends.len() >= 2 && appends.iter().all(|&appends| appends > 0), "{appends:?}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("probe")), "{left:?}");
}

/// Why a profile's storage is not probed on a backend; or why it is refused.
fn not_probed(backend: &str, text: &str, set: &[&str]) -> Result<Option<String>, String> {
    Ok(planned_on(backend, text, set)?.plan.not_probed)
}

#[test]
fn a_probe_is_refused_where_the_load_cannot_pause_for_it_or_nothing_is_stored() {
    let group = RAMP.split("[[groups]]").nth(1).unwrap().split("[phases]").next().unwrap();
    let devices = |group: &str| group.replace("name =", "devices = 4\nname =");
    let two = [&devices(group), &devices(&group.replace("pmus", "others"))].map(|g| format!("[[groups]]{g}")).concat();
    let two = RAMP.replace(&format!("[[groups]]{group}"), &two);
    assert_eq!(not_probed("sqlite", RAMP, &[]), Ok(None));
    assert_eq!(not_probed("sqlite", RAMP, &["ramp.probe=true"]), Ok(None));
    assert_eq!(not_probed("sqlite", RAMP, &["ramp.probe=false"]), Ok(Some("ramp.probe is false".into())));
    for (backend, text, why) in
        [("blackhole", RAMP, "blackhole stores nothing"), ("sqlite", &two, "only the first group")]
    {
        assert!(not_probed(backend, text, &[]).unwrap().unwrap().contains(why), "{why}");
        let refused = not_probed(backend, text, &["ramp.probe=true"]).unwrap_err();
        assert!(refused.contains("ramp.probe") && refused.contains(why), "{refused}");
    }
    let misspelt = not_probed("sqlite", RAMP, &["ramp.probe=maybe"]).unwrap_err();
    assert!(misspelt.contains("ramp.probe"), "{misspelt}");
    let fixed = RAMP.split("[ramp]").next().unwrap();
    let refused = not_probed("sqlite", fixed, &["ramp.probe=false"]);
    assert!(refused.is_err(), "a fixed load has no steps: {refused:?}");
}
