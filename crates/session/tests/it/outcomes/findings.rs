//! What an outcome can have beside its load.

use super::LENGTH_NS;
use iotbench_core::{CarrierFacts, Cause, Counter, Error, Schema, Signal, TagsKept};
use iotbench_engine::{
    AgentClock, AgentFigures, Answers, Audit, AuditFindings, AuditScope, Carried, ClientLoad, CounterFigure,
    CounterStretch, CountersCost, FindingKind, Freshness, Messages, Outcome, ReadCounts, Reason, SchemaChange, Stages,
    TagAudit, TagFault, Verdict, VerifyMode,
};
use iotbench_recorder::LatencyHistogram;
use iotbench_sampler::{CpuShares, Hiccup, HiccupCause, Hiccups, Lateness};
use std::time::Duration;

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
    outcome.target.embedded = false;
    let measured = outcome.measured.as_mut().unwrap();
    let cpu = Some(CpuShares { cores: 0.62, allowed_cores: 2.0, busiest_thread: Some(0.41), ..CpuShares::default() });
    measured.client = ClientLoad { length_ns: LENGTH_NS, hiccups, cpu, ceiling_ratio: Some(0.021), connections: 1 };
    let limits = measured.client.limitations(measured.recording.pooled().by_operation().ok().response(), false);
    outcome.verdict = Verdict::of(limits.iter().map(|limit| Reason::ClientLimited(limit.to_string())).collect());
}

/// A load of two agents, of which one was lost and the other's clock is not known well.
pub fn with_agents(outcome: &mut Outcome) {
    let measured = outcome.measured.as_ref().unwrap();
    let response = measured.recording.pooled().response();
    let cpu = Some(CpuShares { cores: 0.25, allowed_cores: 2.0, busiest_thread: Some(0.125), ..CpuShares::default() });
    let client = Some(ClientLoad { length_ns: LENGTH_NS, cpu, ..ClientLoad::default() });
    let clock = AgentClock { uncertainty_ns: 80_000, drift_ns: 2_000, limit_ns: 1_000_000, late_ns: 5_000 };
    let (load, points) = (outcome.load, outcome.points);
    let agent = AgentFigures { load, points, response, client, clock, ..AgentFigures::default() };
    let lost = AgentFigures {
        name: "rack-2".into(),
        devices: 2..4,
        client: None,
        clock: AgentClock { uncertainty_ns: 3_000_000, ..clock },
        lost: Some("nothing was heard of it for 5.0 s".into()),
        ..agent.clone()
    };
    outcome.target.embedded = false;
    outcome.agents = vec![AgentFigures { name: "rack-1".into(), devices: 0..2, ..agent }, lost];
}

/// A server that began anew once, and refused one of twelve looks.
pub fn with_counters(outcome: &mut Outcome) {
    let figure = |counter, first, last, growth| CounterFigure { counter, first, last, growth };
    let figures = vec![
        figure(Counter::RowsWritten, 1_000, 41_000, 40_000),
        figure(Counter::WalBytes, 9_000_000, 1_000_000, 5_242_880),
        figure(Counter::Deadlocks, 3, 3, 0),
    ];
    let stretch = CounterStretch { from_ns: 1_000, to_ns: LENGTH_NS + 1_000, resets: 1, figures };
    outcome.measured.as_mut().unwrap().counters = Some(stretch);
    let failure = Some(Error::new(Cause::Connect, "it starts again"));
    outcome.machine.counters =
        Some(CountersCost { looks: 12, failed: 1, took: Duration::from_micros(30_250), failure });
}

/// A second signal that devices sent from 2.5 s on, which the database took 40 ms to add.
pub fn with_added_signal(outcome: &mut Outcome) {
    let mut signals = outcome.plan.table.schema.signals().to_vec();
    signals.push(Signal { name: "added".into(), ..signals[0].clone() });
    outcome.plan.table.schema = Schema::new(signals).unwrap().with_added(1).unwrap();
    outcome.stored.schema_change = Some(SchemaChange { from_ns: 2_500_000_000, altered_ns: Some(2_540_000_000) });
}

/// A broker that lost 10 of 110 messages, and acknowledged all.
pub fn with_via(outcome: &mut Outcome) {
    let settings = [("qos", "1"), ("payload", "json64")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    let facts = CarrierFacts {
        name: "mqtt".into(),
        address: "mqtt://127.0.0.1:1883".into(),
        port: Some(1883),
        version: Some("mosquitto version 2.0.11".into()),
        settings: settings.into(),
        promises_delivery: true,
    };
    let mut stages = Stages::default();
    for n in 0..100 {
        stages.publish.record(20_000 + n * 100);
        stages.broker.record(300_000 + n * 1_000);
        stages.queue.record(50_000 + n * 500);
        stages.acknowledgement.record(250_000 + n * 1_000);
    }
    outcome.carried = Some(Carried {
        facts: Some(facts),
        published: 110,
        published_points: 110,
        acknowledged: Some(110),
        delivered: 100,
        delivered_points: 100,
        duplicates: 3,
        reordered: 2,
        too_late: 1,
        foreign: 1,
        held_back: 5,
        held_back_ns: 2_000_000,
        backlogged: 7,
        backlogged_ns: 9_000_000,
        dropped_by_carrier: Some(10),
        measured: Messages { published: 110, delivered: 100 },
        of_sensors: Messages::default(),
        of_sensors_measured: Messages::default(),
        stages,
    });
    (outcome.load.undelivered, outcome.points.undelivered) = (10, 10);
    outcome.load.offered += 10;
    outcome.points.generated += 10;
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
    findings.note_elsewhere(2, "of no device of this run");
    findings.note(FindingKind::UnknownPresent, 8, second, "");
    findings.note(FindingKind::UnknownAbsent, 9, second, "");
    let mut tags = TagAudit::default();
    (tags.kept, tags.asked, tags.right) = (TagsKept::WithDevices, 32, 30);
    tags.note(TagFault::Wrong, 4, "site is \"east\" instead of \"west\"".into());
    tags.note(TagFault::Missing, 6, String::new());
    outcome.stored.audit = Some(Audit {
        scope: AuditScope::Sample,
        devices: 32,
        of_devices: 1000,
        rows: 955,
        findings,
        tags: Some(tags),
        shows_duplicates: true,
        ended: true,
        cut_short: Some("the sample ended after 10 s".into()),
    });
    outcome.points.dropped += 1;
    outcome.points.generated += 1;
}

/// The answers of searches for machine cycles, of which one was wrong.
pub fn with_reads(outcome: &mut Outcome) {
    outcome.reading.counts = ReadCounts {
        requests: 1_200,
        by_client: 200,
        cycles: 199,
        no_cycles: 1,
        with_rows: 1_100,
        first_rows_ns: 2_200_000,
        ..ReadCounts::default()
    };
    let mut lag = LatencyHistogram::new();
    (0..200).for_each(|n| lag.record(400_000 + n * 1_000));
    let mut unseen = LatencyHistogram::new();
    unseen.record(20_000_000_000);
    outcome.reading.freshness = Some(Freshness { lag, unseen });
    outcome.reading.answers = Some(Answers {
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
