//! Outcomes of runs that never were, for tests.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made is a failed test")]

mod findings;
mod kinds;
mod ramps;

pub use findings::{with_added_signal, with_agents, with_audit, with_counters, with_hiccups, with_reads, with_via};
pub use kinds::{disturbed, swept, transactions, unreached};
pub use ramps::{drifting, mixed, past_the_peak, queued, ramp};

use iotbench_core::{
    Acknowledgement, Counts, Layout, Marker, Name, Promise, PromiseLevel, PromiseSource, Schema, ServerFacts, Settings,
    Signal, TableSpec, ValueType,
};
use iotbench_engine::{
    ClientFigures, ClientLoad, DataDisk, GroupPlan, Load, MachineFigures, Measured, OperationPlan, Outcome, Part,
    Payload, Phase, PhasesPlan, Plan, RampState, ReadFigures, Reason, SecondFigures, Shape, StopPlan, Stored,
    TargetFacts, Verdict, parse_profile,
};
use iotbench_recorder::{LatencyHistogram, OperationKind, PointCounts, Recorder, Recording, Requests, Timing, Window};
use iotbench_report::{Environment, Filesystem, Provenance, Tool};
use iotbench_sampler::{
    CpuFigures, DiskFigures, Medium, MemoryFigures, Method, NetworkFigures, NetworkMethod, Source, Summary,
};
use iotbench_session::document_of;
use serde_json::Value;
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

const PROFILE: &str = r#"
name = "pmu_write"
summary = "how many phasor measurement units can write at once?"

[dataset]
name = "pmu"

[[groups]]
name = "pmus"
[groups.load]
model = "closed"
users = 16
think_time = "1s"
[[groups.operations]]
kind = "write"
datapoints = "since_last"
"#;

const POINTS_PER_OPERATION: u64 = 50;
const VALUES_PER_POINT: u64 = 15;
const LENGTH_NS: u64 = 10_000_000_000;

pub fn started() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_607_200)
}

pub fn provenance() -> Provenance {
    Provenance {
        tool: Tool { version: "0.1.0".into(), git: Some("abc1234".into()), features: vec!["sqlite".into()] },
        command: ["iotbench", "run", "--profile", "pmu_write"].map(Into::into).into(),
        environment: Environment {
            cpu: Some("Example 9000".into()),
            cores: Some(2),
            cores_usable: Some(2),
            numa_nodes: Some(1),
            memory_bytes: Some(8 << 30),
            kernel: Some("6.12.0".into()),
            os: Some("Debian GNU/Linux 13".into()),
            filesystem: Some(Filesystem { kind: "ext4".into(), options: "rw,relatime".into() }),
            database_filesystem: Some(Filesystem { kind: "ext4".into(), options: "rw,relatime".into() }),
            governor: Some("performance".into()),
            thp: Some("madvise".into()),
            clocksource: Some("tsc".into()),
            steal_pct: Some(0.25),
        },
        managed: false,
    }
}

pub fn plan() -> Plan {
    let profile = parse_profile("pmu_write.toml", PROFILE).unwrap();
    let signal = Signal { name: "u".into(), value_type: ValueType::F32, max_text_bytes: 0 };
    Plan {
        run_id: "20260105T100000Z-pmu_write-sqlite-wide-abcd".into(),
        profile,
        seed: 1,
        origin_ns: 1_767_225_600_000_000_000,
        backend: "sqlite".into(),
        settings: Settings::default(),
        table: TableSpec {
            name: Name::new("iotbench_pmu_write").unwrap(),
            layout: Layout::Wide,
            schema: Schema::new(vec![signal]).unwrap(),
            devices: 16,
            marker: Marker { run_id: "r".into(), fingerprint: "0123456789abcdef".into() },
        },
        devices: 0..16,
        start_utc_ns: None,
        groups: vec![GroupPlan {
            name: "pmus".into(),
            operation: OperationPlan::write("pmus", Payload::SinceLast { window_ns: 2_000_000_000 }),
            others: vec![],
            load: Load::Closed { users: 16, think_ns: 1_000_000_000 },
            shape: Shape::Constant,
            connections: 1,
            devices: None,
            part: Part::default(),
            draw: Default::default(),
            undivided: false,
        }],
        phases: PhasesPlan {
            preload: 0,
            preload_devices: 16,
            warmup_ns: 0,
            duration_ns: LENGTH_NS,
            operations: None,
            deadline_ns: 60_000_000_000,
            drain_ns: 60_000_000_000,
            settle_ns: 60_000_000_000,
            run_deadline_ns: None,
            others_cpu: 0.05,
            server_counters: true,
        },
        ramp: None,
        state: RampState::Keep,
        not_probed: None,
        disk_bound: None,
        sweep: None,
        scenario: vec![],
        stop: StopPlan {
            mean_response_ns: Some(1_000_000_000),
            quantile_response: None,
            errors: 0.0,
            timeouts: 0.0,
            max_loss: None,
        },
        remarks: vec!["closed loop: a slow answer delays the next operation of its user".into()],
    }
}

/// Windows of ten seconds in which so many operations ended well, badly and not at all.
pub fn windows(ok: u64, fail: u64, unknown: u64) -> Vec<Window> {
    let kinds: Arc<[OperationKind]> = [OperationKind { name: "pmus".into(), requests: Requests::One }].into();
    let mut recorder = Recorder::new(kinds);
    let mut windows = Vec::new();
    let all = ok + fail + unknown;
    for number in 0..all {
        let due_ns = number * (LENGTH_NS / all);
        windows.extend(recorder.take_windows(due_ns.saturating_sub(1_500_000_000)));
        let service_ns = 300_000 + number % 97 * 10_000;
        let timing = Timing::new(due_ns, due_ns + 10_000 + number % 7 * 1_000, due_ns + 20_000 + service_ns).unwrap();
        let outcome = match number {
            n if n < ok => iotbench_recorder::Outcome::Ok,
            n if n < ok + fail => iotbench_recorder::Outcome::Fail,
            _ => iotbench_recorder::Outcome::Unknown,
        };
        recorder.generate_points(due_ns, POINTS_PER_OPERATION, 0);
        recorder.offer(0, due_ns, 1);
        recorder.start(0, due_ns, timing.sent_ns(), POINTS_PER_OPERATION);
        let values = POINTS_PER_OPERATION * VALUES_PER_POINT;
        let payload = iotbench_recorder::Payload::undivided(outcome, POINTS_PER_OPERATION, values, 400);
        recorder.complete(0, outcome, &timing, &payload);
        match outcome {
            iotbench_recorder::Outcome::Ok => {}
            iotbench_recorder::Outcome::Fail | iotbench_recorder::Outcome::Expired => {
                recorder.error(timing.replied_ns(), "server", "database is locked");
            }
            iotbench_recorder::Outcome::Unknown => recorder.error(timing.replied_ns(), "timed_out", "no answer"),
        }
    }
    windows.extend(recorder.finish());
    windows
}

fn measured(windows: &[Window]) -> Measured {
    let kinds: Arc<[OperationKind]> = [OperationKind { name: "pmus".into(), requests: Requests::One }].into();
    let mut recording = Recording::new(kinds);
    let mut counts = iotbench_recorder::WindowCounts::default();
    let mut seconds = Vec::new();
    for window in windows {
        recording.merge(window.recording()).unwrap();
        counts.merge(window.counts());
        let c = window.counts();
        seconds.push(SecondFigures {
            offered: c.offered,
            dropped: c.dropped,
            ok: c.ok,
            ok_parts: c.ok_parts,
            errors: c.fail + c.unknown,
            points: c.points.acked,
            values: c.values_acked,
            responses: window.recording().kind(0).by_operation().ok().count(),
            response_sum_ns: u64::try_from(window.recording().kind(0).by_operation().ok().response().sum_ns()).unwrap(),
        });
    }
    let mut pacing_error = LatencyHistogram::new();
    (0..counts.ok).for_each(|n| pacing_error.record(20_000 + n % 50 * 1_000));
    Measured {
        from_ns: 0,
        to_ns: LENGTH_NS,
        recording,
        counts,
        seconds,
        pacing_error,
        visibility: None,
        client: ClientLoad::default(),
        resources: Vec::new(),
        counters: None,
    }
}

pub fn facts() -> ServerFacts {
    ServerFacts {
        product: "SQLite".into(),
        version: "3.50.0".into(),
        driver: "rusqlite 0.39".into(),
        method: "insert".into(),
        settings: [("synchronous", "FULL"), ("journal_mode", "wal")].map(|(k, v)| (k.into(), v.into())).into(),
        acknowledgement: Acknowledgement::Durable,
        promise: Promise { level: PromiseLevel::OsCrash, nodes: 1, source: PromiseSource::ReadBack },
    }
}

fn client_summary() -> Summary {
    Summary {
        role: "client+database".into(),
        node: 0,
        method: Method { source: Source::ProcessTree, network: Some(NetworkMethod::Socket) },
        from: Some(Duration::ZERO),
        to: Some(Duration::from_secs(10)),
        samples: 11,
        elsewhere: false,
        is_part: false,
        gone_at: None,
        cpu: CpuFigures { total_s: Some(4.25), user_s: Some(3.0), system_s: Some(1.25), pct_mean: Some(42.5) },
        processes_max: Some(1),
        memory: MemoryFigures {
            pss_bytes_mean: Some(30 << 20),
            pss_bytes_max: Some(32 << 20),
            rss_bytes_mean: Some(33 << 20),
            rss_bytes_max: Some(35 << 20),
        },
        disk: DiskFigures { read_bytes: Some(0), written_bytes: Some(123_456_789), ..DiskFigures::default() },
        network: NetworkFigures::default(),
        energy_uj: None,
    }
}

/// The document of an outcome.
pub fn json(outcome: &Outcome) -> Value {
    let document = document_of(outcome, &provenance());
    serde_json::from_str(&document.to_json().unwrap()).unwrap()
}

/// A run of a fixed load in which so many operations ended well, badly and not at all.
pub fn fixed(ok: u64, fail: u64, unknown: u64) -> Outcome {
    let measured = measured(&windows(ok, fail, unknown));
    let load = measured.recording.load();
    let points = PointCounts {
        generated: load.offered * POINTS_PER_OPERATION,
        sent: load.started * POINTS_PER_OPERATION,
        acked: ok * POINTS_PER_OPERATION,
        failed: fail * POINTS_PER_OPERATION,
        unknown: unknown * POINTS_PER_OPERATION,
        ..PointCounts::default()
    };
    let mut pacing_error = LatencyHistogram::new();
    (0..ok).for_each(|n| pacing_error.record(20_000 + n % 50 * 1_000));
    Outcome {
        plan: plan(),
        started: started(),
        verdict: Verdict::of(if ok == 0 { vec![Reason::NothingMeasured] } else { vec![] }),
        phase: Phase::Drop,
        target: TargetFacts {
            facts: Some(facts()),
            acknowledgement: Acknowledgement::Durable,
            embedded: true,
            endpoints: vec!["sqlite:/data/run/database/iotbench.sqlite".into()],
        },
        load,
        points,
        preloaded_points: 0,
        empty_transaction_ns: None,
        stored: Stored {
            counts: Some(Counts { points: points.acked, values: points.acked * VALUES_PER_POINT }),
            ..Stored::default()
        },
        reading: ReadFigures::default(),
        carried: None,
        scenario: None,
        measured: Some(measured),
        capacity: None,
        writes_alone: None,
        machine: MachineFigures {
            counters: None,
            resources: vec![client_summary()],
            data_disk: DataDisk { medium: Some(Medium::Device), written_back: Some(Duration::from_millis(40)) },
            sampler_cpu_pct: 0.125,
            storage_bytes_before: Some(4_096),
            storage_bytes_after: Some(4_096 + points.acked * 80),
            ..MachineFigures::default()
        },
        client: ClientFigures { pacing_error, ..ClientFigures::default() },
        agents: Vec::new(),
    }
}
