//! Outcomes of runs that never were, for tests.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made is a failed test")]
#![allow(dead_code, reason = "each test file uses some of them")]

use iotbench_core::{
    Acknowledgement, Counts, Layout, Marker, Name, Promise, PromiseLevel, PromiseSource, Schema, ServerFacts, Settings,
    Signal, TableSpec, ValueType,
};
use iotbench_engine::{
    ActionPlan, Afterwards, Answers, Audit, AuditFindings, AuditScope, Bounds, Capacity, ClientFigures, ClientLoad,
    Course, FindingKind, Freshness, GroupPlan, Limit, Load, Mark, Measured, OperationPlan, Outcome, Part, Payload,
    Phase, PhasesPlan, Plan, Purpose, Quantity, RampPlan, ReadCounts, Reason, Scenario, SearchPlan, SecondFigures,
    Step, StepFigures, StopPlan, Stretch, SweptValue, Verdict, VerifyMode, Visibility, parse_profile,
};
use iotbench_recorder::{
    LatencyHistogram, LoadCounts, OperationKind, PointCounts, Recorder, Recording, Requests, Timing, Window,
};
use iotbench_report::{Environment, Filesystem, Provenance, Tool};
use iotbench_sampler::{CpuShares, Hiccup, HiccupCause, Hiccups, Lateness, Method, NetworkMethod, Source, Summary};
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
            connections: 1,
            part: Part::default(),
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
        },
        ramp: None,
        sweep: None,
        scenario: vec![],
        stop: StopPlan { mean_response_ns: Some(1_000_000_000), quantile_response: None, errors: 0.0, timeouts: 0.0 },
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
            iotbench_recorder::Outcome::Fail => recorder.error(timing.replied_ns(), "server", "database is locked"),
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
            errors: c.fail + c.unknown,
            points: c.points.acked,
            values: c.values_acked,
            responses: window.recording().kind(0).by_operation().ok().count(),
            response_sum_ns: u64::try_from(window.recording().kind(0).by_operation().ok().response().sum_ns()).unwrap(),
        });
    }
    let pacing_error = LatencyHistogram::new();
    Measured {
        from_ns: 0,
        to_ns: LENGTH_NS,
        recording,
        counts,
        seconds,
        pacing_error,
        visibility: None,
        client: ClientLoad::default(),
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
        gone_at: None,
        cpu_s: Some(4.25),
        user_s: Some(3.0),
        system_s: Some(1.25),
        cpu_pct_mean: Some(42.5),
        processes_max: Some(1),
        pss_bytes_mean: Some(30 << 20),
        pss_bytes_max: Some(32 << 20),
        rss_bytes_mean: Some(33 << 20),
        rss_bytes_max: Some(35 << 20),
        disk_read_bytes: Some(0),
        disk_written_bytes: Some(123_456_789),
        net_rx_bytes: None,
        net_tx_bytes: None,
    }
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
        facts: Some(facts()),
        acknowledgement: Acknowledgement::Durable,
        embedded: true,
        endpoints: vec!["sqlite:/data/run/database/iotbench.sqlite".into()],
        load,
        points,
        preloaded_points: 0,
        empty_transaction_ns: None,
        stored: Some(Counts { points: points.acked, values: points.acked * VALUES_PER_POINT }),
        ledger: None,
        audit: None,
        reads: ReadCounts::default(),
        answers: None,
        freshness: None,
        scenario: None,
        measured: Some(measured),
        capacity: None,
        writes_alone: None,
        resources: vec![client_summary()],
        sampler_cpu_pct: 0.125,
        storage_bytes_before: Some(4_096),
        storage_bytes_after: Some(4_096 + points.acked * 80),
        client: ClientFigures { pacing_error, ..ClientFigures::default() },
    }
}

/// A client on the edge that was stopped and had to wait.
pub fn with_hiccups(outcome: &mut Outcome) {
    let ms = Duration::from_millis;
    let stopped = Hiccup { from: ms(4_200), length: ms(301), stalled: ms(300), cause: HiccupCause::Stopped };
    let waited = Hiccup { from: ms(7_030), length: ms(64), stalled: ms(32), cause: HiccupCause::RunQueue };
    let hiccups = Hiccups { count: 2, stalled: ms(332), stalled_from_outside: ms(300), longest: vec![stopped, waited] };
    let late = [120, 40, 9, 5, 4, 3, 2, 2, 0];
    outcome.client.lateness = Lateness { ticks: 19_400, late, max: ms(300), cpu_pct: 1.5 };
    outcome.client.hiccups = hiccups.clone();
    outcome.client.ceiling_per_s = Some(812_000.0);
    outcome.embedded = false;
    let measured = outcome.measured.as_mut().unwrap();
    let cpu = Some(CpuShares { cores: 0.62, allowed_cores: 2.0, busiest_thread: Some(0.41), ..CpuShares::default() });
    measured.client = ClientLoad { length_ns: LENGTH_NS, hiccups, cpu, ceiling_ratio: Some(0.021) };
    let limits = measured.client.limitations(measured.recording.pooled().by_operation().ok().response(), false);
    outcome.verdict = Verdict::of(limits.iter().map(|limit| Reason::ClientLimited(limit.to_string())).collect());
}

/// A sample of what is stored, in which some of each kind was found.
pub fn with_audit(outcome: &mut Outcome) {
    let mut findings = AuditFindings::default();
    (0..950).for_each(|_| findings.note_right());
    let second = 1_767_607_200_000_000_000;
    (0..40).for_each(|n| findings.note(FindingKind::Lost, 3, second + n * 20_000_000, ""));
    findings.note(FindingKind::Duplicate, 5, second, "");
    findings.note(FindingKind::Corrupt, 5, second + 1, "analog_01 is 2 and was sent as 1");
    findings.note(FindingKind::Alien, 7, second, "nothing was sent for this time");
    findings.note_elsewhere(2);
    findings.note(FindingKind::UnknownPresent, 8, second, "");
    findings.note(FindingKind::UnknownAbsent, 9, second, "");
    outcome.audit = Some(Audit {
        scope: AuditScope::Sample,
        devices: 32,
        of_devices: 1000,
        rows: 955,
        findings,
        shows_duplicates: true,
        ended: true,
        cut_short: Some("the sample ended after 10 s".into()),
    });
    outcome.points.dropped += 1;
    outcome.points.generated += 1;
}

/// The answers of searches for machine cycles, of which one was wrong.
pub fn with_reads(outcome: &mut Outcome) {
    outcome.reads = ReadCounts {
        requests: 1_200,
        by_client: 200,
        cycles: 199,
        no_cycles: 1,
        with_rows: 1_100,
        first_rows_ns: 2_200_000,
    };
    let mut lag = LatencyHistogram::new();
    (0..200).for_each(|n| lag.record(400_000 + n * 1_000));
    outcome.freshness = Some(Freshness { lag, unseen: 1 });
    outcome.answers = Some(Answers {
        mode: VerifyMode::Sample,
        right: 600,
        wrong: 1,
        not_judged: 2,
        skipped: 3,
        cycles_right: 99,
        cycles_wrong: 1,
        examples: vec!["Count: 5 and should be 6".into()],
    });
}

/// A ramp of a mixed load whose writes were run alone too.
pub fn mixed() -> Outcome {
    let mut outcome = Outcome { writes_alone: fixed(25_000, 0, 0).measured, ..ramp() };
    let steps = &mut outcome.capacity.as_mut().unwrap().steps;
    let confirmed = steps.last().unwrap().clone();
    let step = Step { purpose: Purpose::WritesAlone, ..confirmed.step };
    steps.push(StepFigures { step, operations_per_s: 40.1, mean_response_ns: Some(0.006 * 1e9), ..confirmed });
    outcome
}

/// Nine in ten operations are transactions of five requests with pauses of 2 ms, the others single requests; all
/// succeeded.
pub fn transactions() -> Outcome {
    let kind = |name: &str, requests| OperationKind { name: name.into(), requests };
    let kinds: Arc<[OperationKind]> =
        [kind("writer/transaction", Requests::Paused), kind("writer/single", Requests::One)].into();
    let mut recorder = Recorder::new(Arc::clone(&kinds));
    let ms = 1_000_000;
    for number in 0..2_000 {
        let (due_ns, kind) = (number * 4 * ms, usize::from(number % 10 == 9));
        let service_ns = if kind == 0 { 11 * ms } else { ms };
        let timing = Timing::new(due_ns, due_ns + 5_000, due_ns + 5_000 + service_ns).unwrap();
        recorder.offer(kind, due_ns, 1);
        recorder.start(kind, due_ns, timing.sent_ns(), 5);
        if kind == 0 {
            for request in 0..5 {
                let at_ns = timing.sent_ns() + request * 2_300_000;
                let request = Timing::new(at_ns, at_ns + 1_000, at_ns + 301_000 + number).unwrap();
                recorder.complete_request(kind, due_ns, iotbench_recorder::Outcome::Ok, &request);
            }
            recorder.record_busy(kind, due_ns, timing.replied_ns(), 3 * ms);
        }
        let payload = iotbench_recorder::Payload::undivided(iotbench_recorder::Outcome::Ok, 5, 75, 0);
        recorder.complete(kind, iotbench_recorder::Outcome::Ok, &timing, &payload);
    }
    let mut recording = Recording::new(kinds);
    recorder.finish().iter().for_each(|window| recording.merge(window.recording()).unwrap());
    let mut outcome = fixed(2_000, 0, 0);
    let group = &mut outcome.plan.groups[0];
    group.name = "writer".into();
    group.operation = OperationPlan {
        share: 9.0,
        requests: 5,
        pause_ns: 2_000_000,
        transaction: true,
        ..OperationPlan::write("writer/transaction", Payload::Count(1))
    };
    group.others = vec![OperationPlan { devices: 5, ..OperationPlan::write("writer/single", Payload::Count(1)) }];
    outcome.load = recording.load();
    outcome.measured.as_mut().unwrap().recording = recording;
    outcome
}

/// A run of a sweep with this value.
pub fn swept(value: u64) -> SweptValue {
    SweptValue {
        field: "groups.0.operations.0.requests".into(),
        value,
        classes: vec![2, 10, 100],
        record_bytes: Some(128),
    }
}

/// A ramp that found its answer between 48 and 50 users.
pub fn ramp() -> Outcome {
    let steps = [
        (16, Purpose::Grow, 15.9, 0.006, None),
        (32, Purpose::Grow, 31.7, 0.011, None),
        (64, Purpose::Grow, 47.1, 1.31, Some("mean response 1.31 s > 1 s")),
        (48, Purpose::Bisect, 46.8, 0.912, None),
        (50, Purpose::Bisect, 46.9, 1.02, Some("mean response 1.02 s > 1 s")),
        (48, Purpose::Confirm, 46.7, 0.934, None),
        (50, Purpose::Confirm, 46.8, 1.04, Some("mean response 1.04 s > 1 s")),
    ];
    let figures = |(place, (users, purpose, rate, mean_s, failure)): (u64, (u32, Purpose, f64, f64, Option<&str>))| {
        let (ok, pending) = (500, u64::from(failure.is_some()) * 3);
        StepFigures {
            step: Step { load: users, purpose },
            from_ns: place * 7_000_000_000,
            length_ns: 6_000_000_000,
            load: LoadCounts { offered: ok + pending, started: ok, ok, pending, ..LoadCounts::default() },
            operations_per_s: rate,
            values_per_s: rate * 750.0,
            mean_response_ns: Some(mean_s * 1e9),
            p99_response_ns: (mean_s < 0.01).then_some(11_000_000),
            points_dropped: pending * POINTS_PER_OPERATION,
            visibility: None,
            backlog: None,
            littles_ratio: Some(rate * (mean_s + 1.0) / f64::from(users)),
            passed: failure.is_none(),
            limit: failure.map(|_| Limit::Latency),
            failure: failure.map(Into::into),
        }
    };
    let capacity = Capacity {
        quantity: Quantity::Users,
        bounds: Bounds { lower: Some(48), upper: Some(50), confirmed: true, client_limited: false },
        criterion: "mean response above 1s, any error, any time-out".into(),
        steps: (0..).zip(steps).map(figures).collect(),
    };
    let mut outcome = fixed(12_345, 0, 0);
    outcome.plan.remarks.insert(0, "indicative: steps of 6s, below 60s".into());
    outcome.plan.stop.mean_response_ns = Some(1_000_000_000);
    let search = SearchPlan { first: 16, growth: 2.0, most: 16_384, resolution: 0.05, repeats: 3 };
    outcome.plan.ramp = Some(RampPlan {
        quantity: Quantity::Users,
        step_ns: 6_000_000_000,
        course: Course::Search(search),
        afterwards: Afterwards::default(),
    });
    Outcome { capacity: Some(capacity), ..outcome }
}

/// Listed steps of up to twice the users of the peak, with a throughput of the Universal Scalability Law to within 1 %.
pub fn past_the_peak() -> Outcome {
    let mut outcome = ramp();
    let capacity = outcome.capacity.as_mut().unwrap();
    let first = capacity.steps[0].clone();
    let loads = [1, 8, 16, 24, 32, 48, 64, 96];
    let step = |(place, load): (u32, u32)| {
        let users = f64::from(load);
        let law = 20.0 * users / (1.0 + 0.05 * (users - 1.0) + 0.0005 * users * (users - 1.0));
        let off_by = if place.is_multiple_of(2) { 1.01 } else { 0.99 };
        let step = Step { load, purpose: Purpose::Listed };
        StepFigures { step, operations_per_s: law * off_by, ..first.clone() }
    };
    capacity.steps = (0..).zip(loads).map(step).collect();
    capacity.bounds = Bounds { lower: Some(96), upper: None, confirmed: false, client_limited: false };
    outcome.plan.ramp.as_mut().unwrap().course = Course::Steps(loads.to_vec());
    outcome
}

/// A ramp on a database that acknowledges before it stores, and falls behind.
pub fn queued() -> Outcome {
    let mut outcome = ramp();
    let seen = |growth: f64| Visibility {
        acked_per_s: 48_200.0,
        visible_per_s: 48_200.0 * (1.0 - growth),
        lag_first_s: 0.4,
        lag_last_s: 0.4 + 6.0 * growth,
        lag_growth: growth,
        lag_growth_error: 0.004,
    };
    if let Some(measured) = &mut outcome.measured {
        measured.visibility = Some(seen(0.002));
    }
    for step in outcome.capacity.iter_mut().flat_map(|c| &mut c.steps) {
        step.visibility = Some(seen(if step.passed { 0.002 } else { 0.3 }));
    }
    outcome
}

/// A run whose server was restarted after two seconds.
pub fn disturbed() -> Outcome {
    let action = |action, role: &str, node| ActionPlan { at_ns: 2_000_000_000, action, role: role.into(), node };
    let marks = vec![
        Mark {
            action: action(iotbench_core::ProcessAction::Restart, "server", 0),
            from_ns: 2_000_120_000,
            to_ns: Some(3_200_000_000),
            error: None,
        },
        Mark {
            action: action(iotbench_core::ProcessAction::Kill, "front", 1),
            from_ns: 4_000_000_000,
            to_ns: None,
            error: Some("there is no front on node 1".into()),
        },
    ];
    let stretch = |seconds, operations_per_s, errors| Stretch { seconds, operations_per_s, errors };
    let scenario = Scenario {
        marks,
        before: stretch(2, 1024.0, 0),
        during: stretch(4, 211.5, 17),
        after: stretch(5, 1019.0, 0),
        outage_s: 3,
        recovery_ns: Some(4_000_000_000),
    };
    Outcome { scenario: Some(scenario), ..fixed(12_345, 17, 0) }
}

/// A run that never reached its database.
pub fn unreached() -> Outcome {
    let reason = Reason::Target { cause: iotbench_core::Cause::Connect, message: "connection refused".into() };
    Outcome {
        verdict: Verdict::of(vec![reason]),
        phase: Phase::Create,
        facts: None,
        load: LoadCounts::default(),
        points: PointCounts::default(),
        stored: None,
        measured: None,
        resources: vec![],
        storage_bytes_before: None,
        storage_bytes_after: None,
        client: ClientFigures::default(),
        sampler_cpu_pct: f64::NAN,
        ..fixed(1, 0, 0)
    }
}
