//! Outcomes of other kinds than a fixed load and a ramp.

use super::fixed;
use iotbench_engine::{
    ActionPlan, ActionTaken, ClientFigures, MachineFigures, OperationPlan, Outcome, Payload, Phase, Reason, Scenario,
    ScenarioPhase, Silence, Stored, SweptValue, TargetFacts, Verdict,
};
use iotbench_recorder::{LoadCounts, OperationKind, PointCounts, Recorder, Recording, Requests, Timing};
use std::sync::Arc;

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

/// A run whose server was restarted after two seconds.
pub fn disturbed() -> Outcome {
    let action = |action, role: &str, node| ActionPlan { at_ns: 2_000_000_000, action, role: role.into(), node };
    let marks = vec![
        ActionTaken {
            action: action(iotbench_core::ProcessAction::Restart, "server", 0),
            from_ns: 2_000_120_000,
            to_ns: Some(3_200_000_000),
            error: None,
        },
        ActionTaken {
            action: action(iotbench_core::ProcessAction::Kill, "front", 1),
            from_ns: 4_000_000_000,
            to_ns: None,
            error: Some("there is no front on node 1".into()),
        },
    ];
    let stretch = |seconds, operations_per_s, errors| ScenarioPhase { seconds, operations_per_s, errors };
    let scenario = Scenario {
        marks,
        before: stretch(2, 1024.0, 0),
        during: stretch(4, 211.5, 17),
        after: stretch(5, 1019.0, 0),
        outage_s: 3,
        silence: Some(Silence { at_least_ns: 3_234_375_000, at_most_ns: Some(3_265_625_000), ended_ns: 4_015_625_000 }),
        silence_before: Some(Silence { at_least_ns: 0, at_most_ns: Some(31_250_000), ended_ns: 1 }),
        recovery_ns: Some(4_000_000_000),
    };
    Outcome { scenario: Some(scenario), ..fixed(12_345, 17, 0) }
}

/// A run that never reached its database.
pub fn unreached() -> Outcome {
    let reason = Reason::Target { cause: iotbench_core::Cause::Connect, message: "connection refused".into() };
    let reached = fixed(1, 0, 0);
    Outcome {
        verdict: Verdict::of(vec![reason]),
        phase: Phase::Create,
        target: TargetFacts { facts: None, ..reached.target },
        load: LoadCounts::default(),
        points: PointCounts::default(),
        stored: Stored::default(),
        measured: None,
        machine: MachineFigures {
            counters: None,
            resources: vec![],
            storage_bytes_before: None,
            storage_bytes_after: None,
            sampler_cpu_pct: f64::NAN,
            ..reached.machine
        },
        client: ClientFigures::default(),
        ..reached
    }
}
