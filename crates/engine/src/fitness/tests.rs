//! Facts of machines, and what is said of them.

use super::*;

const TERMS: FitnessTerms = FitnessTerms { others_cpu: 0.05, memory_bytes: 2 << 30 };

/// A machine with nothing wrong.
fn sound() -> MachineFacts {
    MachineFacts {
        processors: Some(8),
        processors_usable: Some(8),
        quota_cores: Some(8.0),
        governor: Some("performance".into()),
        others: Some(OthersNow { seconds: 2.0, cpu: 0.05, steal: Some(0.02), busiest: vec![] }),
        clock: ClockFacts {
            source: Some("tsc".into()),
            available: vec!["tsc".into(), "hpet".into()],
            resolution_ns: Some(1),
            reading_ns: Some(22.4),
            slack_ns: Some(50_000),
            wakes_late_ns: Some([61_000, 140_000]),
        },
        memory: MemoryFacts {
            total_bytes: Some(16 << 30),
            available_bytes: Some(9 << 30),
            limit_bytes: None,
            swapped_bytes: Some(0),
        },
        open_files: Some(4096),
        folders: vec![disk()],
    }
}

fn disk() -> FolderFacts {
    FolderFacts {
        of: "private servers".into(),
        path: "/tmp".into(),
        filesystem: Some("ext4".into()),
        in_memory: false,
        free_bytes: Some(300 << 20),
        appends: Some(AppendFacts {
            bytes: 8192,
            count: 200,
            p50_ns: 215_000,
            p99_ns: 1_290_000,
            drifted: Some(false),
        }),
        failed: None,
    }
}

/// What is found beside what is all right, each as `about: found`.
fn wrong(facts: &MachineFacts) -> Vec<String> {
    let found = judge_machine(facts, TERMS).into_iter().filter(|finding| finding.fitness != Fitness::Ok);
    found.map(|finding| format!("{} {}: {}", finding.fitness.name(), finding.about, finding.found)).collect()
}

/// What one finding of a machine advises.
fn advice(facts: &MachineFacts, about: &str) -> String {
    judge_machine(facts, TERMS).into_iter().find(|finding| finding.about == about).unwrap().advice
}

#[test]
fn a_sound_machine_has_nothing_to_be_said_against() {
    assert_eq!(wrong(&sound()), Vec::<String>::new());
    let all = judge_machine(&sound(), TERMS);
    let about: Vec<_> = all.iter().map(|finding| finding.about.as_str()).collect();
    let expected =
        ["processors", "CPU quota", "governor", "foreign load", "steal", "clock", "timers", "memory", "open files"];
    assert_eq!(about, expected.into_iter().chain(["disk of private servers"]).collect::<Vec<_>>());
    assert!(all.iter().all(|finding| finding.advice.is_empty()), "{all:?}");
    let last = all.last().unwrap();
    assert_eq!(
        (last.found.as_str(), last.details.as_str()),
        ("8 KiB are on it after 215 µs (p50), 1.2 ms (p99)", "/tmp on ext4, 300 MiB free")
    );
}

#[test]
fn a_machine_of_which_nothing_is_known_is_not_accused() {
    assert_eq!(wrong(&MachineFacts::default()), Vec::<String>::new());
}

type Change = fn(&mut MachineFacts);

#[test]
fn each_thing_that_spoils_a_measurement_is_a_warning_with_what_to_do() {
    let cases: [(Change, &str, &str); 14] = [
        (|f| f.processors_usable = Some(1), "processors: 1 usable of 8", "--url"),
        (|f| f.quota_cores = Some(1.5), "CPU quota: 1.5 of 8 processors", "cpuset"),
        (|f| f.governor = Some("powersave".into()), "governor: powersave", "cpupower"),
        (|f| f.others.as_mut().unwrap().cpu = 0.372, "foreign load: 37 %", "end the programs"),
        (|f| f.others.as_mut().unwrap().steal = Some(0.03), "steal: 3 %", "hypervisor"),
        (|f| f.clock.reading_ns = Some(900.0), "clock: tsc", "another machine"),
        (|f| f.clock.source = Some("hpet".into()), "clock: hpet", "echo tsc > /sys/devices"),
        (|f| f.clock.resolution_ns = Some(4_000_000), "clock: tsc", "another machine"),
        (|f| f.clock.wakes_late_ns = Some([600_000, 4_000_000]), "timers: wakes 600 µs late", "high-resolution"),
        (|f| f.memory.available_bytes = Some(1 << 30), "memory: 1 GiB free", "--server-memory"),
        (|f| f.memory.limit_bytes = Some(512 << 20), "memory: 512 MiB free", "--server-memory"),
        (|f| f.open_files = Some(1024), "open files: at most 1024", "ulimit"),
        (|f| f.folders[0].in_memory = true, "disk of private servers: in memory", "TMPDIR"),
        (|f| f.folders[0].free_bytes = Some(255 << 20), "disk of private servers: full", "make room"),
    ];
    for (change, expected, remedy) in cases {
        let mut facts = sound();
        change(&mut facts);
        assert_eq!(wrong(&facts), [format!("warning {expected}")]);
        let about = expected.split(": ").next().unwrap();
        assert!(advice(&facts, about).contains(remedy), "{}", advice(&facts, about));
    }
}

#[test]
fn a_disk_that_cannot_be_written_or_that_changes_is_a_warning() {
    let mut facts = sound();
    facts.folders[0].failed = Some("Read-only file system".into());
    assert_eq!(wrong(&facts), ["warning disk of private servers: Read-only file system"]);
    facts.folders = vec![disk()];
    facts.folders[0].appends.as_mut().unwrap().drifted = Some(true);
    assert!(wrong(&facts)[0].starts_with("warning disk of private servers: its speed changes: 8 KiB"));
    facts.folders = vec![disk()];
    facts.folders[0].appends.as_mut().unwrap().p50_ns = 9_999;
    assert_eq!(wrong(&facts), ["warning disk of private servers: 8 KiB are on it after 9 µs (p50), 1.2 ms (p99)"]);
    facts.folders = vec![disk()];
    facts.folders[0].appends.as_mut().unwrap().drifted = None;
    assert_eq!(wrong(&facts), Vec::<String>::new(), "too few appends convict of nothing");
}

#[test]
fn who_loads_the_machine_is_named_and_may_where_all_is_allowed() {
    let mut facts = sound();
    let busy = BusyProcess { pid: 4711, name: "cargo".into(), cpu: 0.22 };
    facts.others = Some(OthersNow { seconds: 2.0, cpu: 0.3, steal: None, busiest: vec![busy] });
    let found = judge_machine(&facts, TERMS).into_iter().find(|finding| finding.about == "foreign load").unwrap();
    assert_eq!((found.fitness, found.details.as_str()), (Fitness::Warning, "cargo (process 4711) 22 %"));
    let all = FitnessTerms { others_cpu: 1.0, ..TERMS };
    let allowed = judge_machine(&facts, all).into_iter().find(|finding| finding.about == "foreign load").unwrap();
    assert_eq!(allowed.fitness, Fitness::Ok);
}

#[test]
fn figures_have_the_unit_that_suits_them() {
    assert_eq!([size(1), size(1536), size(5 << 29)], ["1 B", "1.5 KiB", "2.5 GiB"]);
    assert_eq!([time(999), time(50_000), time(1_290_000)], ["999 ns", "50 µs", "1.2 ms"]);
    assert_eq!([percent(0.005), percent(0.004), percent(1.0)], [1, 0, 100]);
}
