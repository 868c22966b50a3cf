//! A run that was killed comes back as it stood, whatever became of its files.

use super::{observer, observer_of, second_beside};
use crate::outcomes;
use iotbench_engine::{Event, MachineFigures, Observer, Others, OthersSecond, OthersShare, Outcome, Phase, Verdict};
use iotbench_report::{
    Document, FolderError, JOURNAL_FILE, LATENCY_FILE, LockError, MANIFEST_FILE, PROFILE_FILE, RUN_FILE, RecoverError,
    Recovered, SERIES_FILE, Status, check_manifest, read_document, recover,
};
use iotbench_session::{FolderObserver, document_of};
use proptest::{prelude::*, sample::Index};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};
use tempfile::TempDir;

/// What a run of 20 000 operations leaves that is killed while it drains.
fn killed(out: &Path, ok: u64, fail: u64, unknown: u64) -> PathBuf {
    killed_beside(out, [ok, fail, unknown], |_| None)
}

/// The same of a machine that others used so in each second.
fn killed_beside(out: &Path, counts: [u64; 3], others: impl Fn(u64) -> Option<OthersSecond>) -> PathBuf {
    let before = Outcome { verdict: Verdict::running(), phase: Phase::Create, ..outcomes::unreached() };
    killed_after(&before, observer(out), counts, others)
}

/// The same of which this was written last.
fn killed_after(
    checkpoint: &Outcome,
    mut observer: FolderObserver,
    [ok, fail, unknown]: [u64; 3],
    others: impl Fn(u64) -> Option<OthersSecond>,
) -> PathBuf {
    let path = observer.folder().path().to_owned();
    observer.event(&Event::Checkpoint(checkpoint)).unwrap();
    for phase in [Phase::Create, Phase::Measure, Phase::Drain] {
        observer.event(&Event::Phase { phase, length_ns: None }).unwrap();
    }
    for window in outcomes::windows(ok, fail, unknown) {
        second_beside(&window, &[], others(window.first_second()), &mut observer).unwrap();
    }
    path
}

fn assert_is_sound(document: &Document) {
    assert_eq!(document.check(), Ok(()));
    let schema = fs::read_to_string(format!("{}/../../docs/run.schema.json", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let json = serde_json::from_str(&document.to_json().unwrap()).unwrap();
    let errors: Vec<_> = validator.iter_errors(&json).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn a_killed_run_has_the_figures_that_it_would_have_had_at_its_end() {
    for (ok, fail, unknown) in [(20_000, 40, 10), (100, 0, 0), (0, 70, 0)] {
        let out = tempfile::tempdir().unwrap();
        let folder = killed(out.path(), ok, fail, unknown);
        let recovered = recover(&folder).unwrap().document;
        assert_is_sound(&recovered);
        let whole = document_of(&outcomes::fixed(ok, fail, unknown), &outcomes::provenance());
        assert_eq!(recovered.load.counts, whole.load.counts);
        let points = |document: &Document| {
            (document.points.counts.generated, document.points.counts.acked, document.points.counts.unknown)
        };
        assert_eq!(points(&recovered), points(&whole));
        let rates = |document: &Document| {
            let throughput = document.throughput.as_ref().unwrap();
            (throughput.operations_per_s, throughput.points_per_s, throughput.values_per_s, document.measured.clone())
        };
        assert_eq!(rates(&recovered), rates(&whole));
        assert_eq!(recovered.errors, whole.errors);
        let (found, expected) = (recovered.latency.clone().unwrap(), whole.latency.unwrap());
        let hdr = |durations: &iotbench_report::Durations| {
            [&durations.response, &durations.service, &durations.lag].map(|f| (f.count, f.hdr.clone()))
        };
        assert_eq!(hdr(&found.by_operation), hdr(&expected.by_operation), "of the same distribution");
        assert_eq!(hdr(&found.by_request), hdr(&expected.by_request));
        assert_eq!(found.failed.as_ref().map(hdr), expected.failed.as_ref().map(hdr));
        assert_eq!(found.unknown.as_ref().map(hdr), expected.unknown.as_ref().map(hdr));
        assert_eq!((recovered.phase.as_str(), recovered.verdict.status), ("drain", Status::Aborted));
        assert_eq!(
            (recovered.verdict.reasons.join(","), recovered.verdict.exit_code),
            ("iotbench was killed".into(), 137)
        );
        assert_eq!(check_manifest(&folder).unwrap(), []);
        assert_eq!(read_document(&folder).unwrap(), recovered);
    }
}

/// They were told as 0, and the run as undisturbed.
#[test]
fn what_went_with_the_process_is_not_known_and_what_the_series_has_is_read_from_it() {
    let out = tempfile::tempdir().unwrap();
    let used = |second| {
        let cpu = if second == 4 { 0.5 } else { 0.1 };
        Some(OthersSecond { cpu, steal: 0.01, disturbed: true })
    };
    let document = recover(&killed_beside(out.path(), [20_000, 40, 10], used)).unwrap().document;
    assert_is_sound(&document);
    let client = &document.client;
    assert_eq!((&client.hiccups, client.hiccup_count, client.stalled_ms, &client.lateness), (&None, None, None, &None));
    assert_eq!((client.sampler_cpu_pct, client.samples_dropped), (None, None));
    let others = document.others.clone().unwrap();
    assert!(others.seconds >= 9 && others.seconds_disturbed == others.seconds, "{others:?}");
    assert_eq!((others.cpu_pct_max, others.steal_pct_mean), (Some(50.0), Some(1.0)));
    assert!(others.disturbed.as_ref().is_some_and(|told| document.remarks[0] == *told), "{:?}", document.remarks);
    let out = tempfile::tempdir().unwrap();
    let of_nothing = recover(&killed(out.path(), 100, 0, 0)).unwrap().document;
    let others = of_nothing.others.unwrap();
    assert_eq!((others.seconds, others.disturbed), (0, None));
    assert!(others.not_judged.is_some_and(|why| why.contains("killed")));
}

#[test]
fn others_and_rates_are_those_of_the_measured_part_alone() {
    let out = tempfile::tempdir().unwrap();
    let mut plan = outcomes::plan();
    (plan.phases.warmup_ns, plan.phases.duration_ns) = (2_000_000_000, 6_000_000_000);
    let before = Outcome { verdict: Verdict::running(), ..outcomes::unreached() };
    // Two seconds of warm-up, six of the measured part, and two after it.
    let used = |second| {
        let cpu = if (2..8).contains(&second) { 0.1 } else { 0.9 };
        Some(OthersSecond { cpu, steal: 0.0, disturbed: cpu > 0.5 })
    };
    let folder = killed_after(&before, observer_of(out.path(), &plan), [20_000, 0, 0], used);
    let document = recover(&folder).unwrap().document;
    assert_is_sound(&document);
    let part = document.measured.unwrap();
    assert_eq!((part.from_s, part.to_s), (Some(2.0), Some(8.0)));
    let others = document.others.unwrap();
    assert_eq!((others.seconds, others.seconds_disturbed), (6, 0), "{others:?}");
    assert_eq!((others.cpu_pct_mean, others.cpu_pct_max), (Some(10.0), Some(10.0)));
    let per_s = document.throughput.unwrap().operations_per_s.unwrap();
    assert!((per_s / 2_000.0 - 1.0).abs() < 0.001, "{per_s}");
}

/// What `run.json` says of the load is whole by then, and the journal may say less.
#[test]
fn what_was_known_after_the_load_stays_as_it_is() {
    for phase in [Phase::Drain, Phase::Verify, Phase::Drop] {
        let out = tempfile::tempdir().unwrap();
        let known = Outcome { verdict: Verdict::running(), phase, ..outcomes::fixed(20_000, 40, 10) };
        let folder = killed_after(&known, observer(out.path()), [300, 0, 0], |_| None);
        let document = recover(&folder).unwrap().document;
        assert_is_sound(&document);
        let whole = document_of(&known, &outcomes::provenance());
        assert_eq!(document.load, whole.load, "{phase:?}");
        assert_eq!((document.points, document.throughput), (whole.points, whole.throughput), "{phase:?}");
        assert_eq!((document.latency, document.errors), (whole.latency, whole.errors), "{phase:?}");
        assert_eq!((document.client, document.others), (whole.client, whole.others), "{phase:?}");
        let said = |remarks: &[String]| {
            let of_load = remarks.iter().filter(|remark| !remark.starts_with("recovered: "));
            of_load.cloned().collect::<Vec<_>>()
        };
        assert_eq!(said(&document.remarks), said(&whole.remarks), "{phase:?}");
    }
}

/// A document that was written while others disturbed the run, and of which the end is known better.
#[test]
fn each_remark_is_said_once() {
    let out = tempfile::tempdir().unwrap();
    let used = |_| Some(OthersSecond { cpu: 0.3, steal: 0.0, disturbed: true });
    let share = OthersShare { cpu_mean: 0.2, cpu_max: 0.4, steal_mean: 0.0, seconds: 5, disturbed: 5 };
    let others = Others { share: Some(share), not_judged: None };
    let told = outcomes::fixed(20_000, 0, 0);
    let machine = MachineFigures { others, ..told.machine };
    let before = Outcome { verdict: Verdict::running(), phase: Phase::Measure, machine, ..told };
    let document = recover(&killed_after(&before, observer(out.path()), [20_000, 0, 0], used)).unwrap().document;
    let others = document.others.unwrap();
    let disturbed: Vec<_> = document.remarks.iter().filter(|remark| remark.contains("a second is disturbed")).collect();
    assert_eq!(disturbed, [others.disturbed.as_ref().unwrap()]);
    assert_each_once(&document.remarks);
    assert_eq!(document.client.sampler_cpu_pct, None, "it went with the process");
    let out = tempfile::tempdir().unwrap();
    let others = Others { share: None, not_judged: Some("not all processes are to be seen".into()) };
    let machine = MachineFigures { others, ..before.machine };
    let before = Outcome { machine, ..before };
    let document = recover(&killed_after(&before, observer(out.path()), [20_000, 0, 0], |_| None)).unwrap().document;
    assert!(document.remarks.iter().any(|remark| remark.ends_with("was not judged: not all processes are to be seen")));
    assert_each_once(&document.remarks);
}

fn assert_each_once(remarks: &[String]) {
    for remark in remarks {
        assert_eq!(remarks.iter().filter(|other| *other == remark).count(), 1, "{remarks:#?}");
    }
}

#[test]
fn what_was_under_way_is_unknown_and_what_was_due_is_pending() {
    let out = tempfile::tempdir().unwrap();
    let folder = killed(out.path(), 2_000, 0, 0);
    let journal = folder.join(JOURNAL_FILE);
    // The last second with 5 more that were due, of which 3 were sent with 50 datapoints each.
    let text = fs::read_to_string(&journal).unwrap();
    let (before, last) = text.trim_end().rsplit_once('\n').unwrap();
    let mut last: serde_json::Value = serde_json::from_str(last).unwrap();
    for counts in ["operations", "intended"] {
        for (count, more) in [("offered", 5), ("started", 3)] {
            last[counts][count] = (last[counts][count].as_u64().unwrap() + more).into();
        }
    }
    for (count, more) in [("generated", 250), ("sent", 150)] {
        last["points"][count] = (last["points"][count].as_u64().unwrap() + more).into();
    }
    fs::write(&journal, format!("{before}\n{last}\n")).unwrap();
    let document = recover(&folder).unwrap().document;
    assert_is_sound(&document);
    let load = document.load.counts;
    assert_eq!((load.offered, load.ok, load.unknown, load.pending), (2_005, 2_000, 3, 2));
    let points = document.points;
    assert_eq!((points.counts.acked, points.counts.unknown, points.counts.pending), (100_000, 150, 100));
    let response = document.latency.unwrap().by_operation.response;
    assert_eq!((response.count, response.at_least.as_ref().map(|least| least.count)), (2_000, Some(2_005)));
    assert!(response.p50.is_some() && response.mean.is_none() && response.max.is_none(), "five have no end");
}

#[test]
fn what_ended_or_goes_on_or_is_not_ours_is_left_alone() {
    let out = tempfile::tempdir().unwrap();
    let mut observer = observer(out.path());
    let folder = observer.folder().path().to_owned();
    let code = |path: &Path| recover(path).map(|_| ()).map_err(|e| e.exit_code());
    assert!(matches!(recover(&folder), Err(RecoverError::NotBegun(_))));
    observer.event(&Event::Checkpoint(&Outcome { verdict: Verdict::running(), ..outcomes::unreached() })).unwrap();
    let held = recover(&folder).unwrap_err();
    assert!(
        matches!(&held, RecoverError::Folder(FolderError::Lock(LockError::Held { holder: Some(_), .. }))),
        "{held}"
    );
    assert_eq!(held.exit_code(), 31);
    observer.finish(&outcomes::fixed(10, 0, 0)).1.unwrap();
    let before = fs::read(folder.join(RUN_FILE)).unwrap();
    assert_eq!(code(&folder), Err(2), "it has ended");
    assert_eq!(fs::read(folder.join(RUN_FILE)).unwrap(), before);
    let other = out.path().join("other");
    fs::create_dir(&other).unwrap();
    assert_eq!(code(&other), Err(31));
    assert_eq!(other.read_dir().unwrap().count(), 0, "nothing was made in it");
    assert_eq!(code(&out.path().join("none")), Err(2), "a slip of the user's");
}

#[test]
fn recovering_is_done_once_and_a_recovery_that_was_killed_is_done_again() {
    let out = tempfile::tempdir().unwrap();
    let folder = killed(out.path(), 500, 0, 0);
    let first = recover(&folder).unwrap();
    assert!(matches!(recover(&folder), Err(RecoverError::Ended { status: "aborted", .. })));
    fs::remove_file(folder.join(MANIFEST_FILE)).unwrap();
    fs::write(folder.join(".run.json.partial"), "{").unwrap();
    let again = recover(&folder).unwrap();
    assert_eq!(again.document, first.document);
    assert!(!folder.join(".run.json.partial").exists() && check_manifest(&folder).unwrap().is_empty());
}

const FILES: [&str; 5] = [SERIES_FILE, LATENCY_FILE, JOURNAL_FILE, RUN_FILE, PROFILE_FILE];

/// The files of a killed run.
fn files() -> &'static [Vec<u8>; 5] {
    static FILES_OF_RUN: LazyLock<[Vec<u8>; 5]> = LazyLock::new(|| {
        let out = tempfile::tempdir().unwrap();
        let folder = killed(out.path(), 300, 5, 5);
        FILES.map(|name| fs::read(folder.join(name)).unwrap())
    });
    &FILES_OF_RUN
}

/// A folder with these files, but one of them with another content.
fn folder_with(changed: usize, content: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (place, (name, whole)) in FILES.iter().zip(files()).enumerate() {
        fs::write(folder.path().join(name), if place == changed { content } else { whole }).unwrap();
    }
    folder
}

/// Whatever is left of a file, there is a valid document or a reason why not, and what was torn is told.
fn assert_torn_is_sound(torn: usize, length: usize) {
    let content = &files()[torn][..length];
    let (folder, name) = (folder_with(torn, content), FILES[torn]);
    match recover(folder.path()) {
        Ok(Recovered { document, notes }) => {
            assert_is_sound(&document);
            assert_eq!(document.verdict.status, Status::Aborted);
            let is_line_torn = content.last().is_some_and(|&byte| byte != b'\n');
            let is_told = notes.iter().any(|note| note.contains(name));
            assert!(
                is_told || !is_line_torn || [PROFILE_FILE, RUN_FILE].contains(&name),
                "{name} cut to {length}: {notes:?}"
            );
            assert_eq!(check_manifest(folder.path()).unwrap(), []);
        }
        Err(error) => assert!(name == RUN_FILE && error.exit_code() == 30, "{name} cut to {length}: {error}"),
    }
}

#[test]
fn a_file_without_its_end_is_a_document_without_it() {
    for (torn, content) in files().iter().enumerate() {
        [0, 1, content.len() - 1].into_iter().for_each(|length| assert_torn_is_sound(torn, length));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn no_torn_file_is_more_than_a_document_with_less_in_it(torn in 0..FILES.len(), at: Index) {
        assert_torn_is_sound(torn, at.index(files()[torn].len()));
    }

    /// No byte in a file is more than another number in a document, which says so where its counts do not balance.
    #[test]
    fn damaged_files_never_panic(
        damaged in 1..3_usize,
        places in prop::collection::vec(any::<(Index, u8)>(), 1..4),
    ) {
        let mut content = files()[damaged].clone();
        for (at, byte) in places {
            let place = at.index(content.len());
            content[place] = if content[place].is_ascii_digit() { b'9' } else { byte };
        }
        let document = recover(folder_with(damaged, &content).path()).unwrap().document;
        prop_assert_eq!(document.verdict.status, Status::Aborted);
        prop_assert!(document.check().is_ok() || document.verdict.exit_code == 1);
    }
}
