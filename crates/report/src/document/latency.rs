//! How long operations took. All figures are microseconds.

use super::{latency_summary::LatencySummary, rounding::mean_us};
use iotbench_recorder::{Bounded, ByOutcome, KindRecording, LatencyHistogram, Recording};
use serde::{Deserialize, Serialize};

/// How long operations of the measured part took. Successes, failures and operations without a verdict are kept apart:
/// no failure, however fast, improves the figures of what succeeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Operations that did not fail: what a user waits for.
    pub by_operation: Durations,
    /// Requests that did not fail: what the database is asked.
    pub by_request: Durations,
    /// Operations that failed; null without any.
    pub failed: Option<Durations>,
    /// Operations without a verdict, up to the moment they were given up; null without any.
    pub unknown: Option<Durations>,
    /// Mean absolute difference of the response times of successive successes.
    pub jitter: Option<f64>,
    /// The same by kind of operation.
    pub kinds: Vec<KindLatency>,
}

/// How long operations of one kind took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindLatency {
    /// The kind's name.
    pub name: String,
    /// Operations that did not fail.
    pub by_operation: Durations,
    /// Requests that did not fail.
    pub by_request: Durations,
    /// The busy time of successful operations: their service time without the pauses between requests, so begin, requests
    /// and commit. Null where operations do not pause.
    #[serde(default)]
    pub busy: Option<LatencySummary>,
}

/// The three durations; response = lag + service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Durations {
    /// From the intended start to the last reply: what a user waits.
    pub response: LatencySummary,
    /// From the send to the last reply: what the database takes.
    pub service: LatencySummary,
    /// From the intended start to the send.
    pub lag: LatencySummary,
}

impl From<&Recording> for Latency {
    fn from(recording: &Recording) -> Self {
        let pooled = recording.pooled();
        let operations = pooled.by_operation();
        Self {
            by_operation: Durations::with_bounds(operations, pooled.never_started()),
            by_request: Durations::with_bounds(pooled.by_request(), pooled.never_started()),
            failed: operations.fail().map(Durations::from),
            unknown: operations.unknown().map(Durations::from),
            jitter: pooled.jitter().mean_ns().and_then(mean_us),
            kinds: recording
                .kinds()
                .iter()
                .enumerate()
                .map(|(index, kind)| KindLatency::new(&kind.name, recording.kind(index)))
                .collect(),
        }
    }
}

impl KindLatency {
    fn new(name: &str, kind: &KindRecording) -> Self {
        Self {
            name: name.into(),
            by_operation: Durations::with_bounds(kind.by_operation(), kind.never_started()),
            by_request: Durations::with_bounds(kind.by_request(), kind.never_started()),
            busy: kind.busy().map(LatencySummary::from),
        }
    }
}

impl Durations {
    /// Of operations or requests, and of what was never started. (An operation that never was is a request that never was.)
    #[must_use]
    pub fn with_bounds(by_outcome: &ByOutcome, never_started: Option<&LatencyHistogram>) -> Self {
        let (ok, unknown) = (by_outcome.ok(), by_outcome.unknown());
        Self::bounded(ok, unknown, never_started)
    }

    /// Of those that succeeded, those without an answer, and how long those that were never started have waited.
    pub(crate) fn bounded(
        ok: &iotbench_recorder::Latency,
        unknown: Option<&iotbench_recorder::Latency>,
        never_started: Option<&LatencyHistogram>,
    ) -> Self {
        type Part = fn(&iotbench_recorder::Latency) -> &LatencyHistogram;
        let of = |part: Part, never: Option<&LatencyHistogram>| {
            LatencySummary::from(&Bounded::new(part(ok), unknown.map(part), never))
        };
        Self {
            response: LatencySummary::with_own_delay(
                &Bounded::new(ok.response(), unknown.map(iotbench_recorder::Latency::response), never_started),
                &Bounded::new(ok.undelayed(), unknown.map(iotbench_recorder::Latency::undelayed), never_started),
            ),
            // What was never sent was never served.
            service: of(iotbench_recorder::Latency::service, None),
            lag: of(iotbench_recorder::Latency::lag, never_started),
        }
    }
}

impl From<&iotbench_recorder::Latency> for Durations {
    fn from(latency: &iotbench_recorder::Latency) -> Self {
        Self::bounded(latency, None, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::figure::figure_of;
    use iotbench_recorder::{OperationKind, Outcome, Payload, Recorder, Requests, Timing};

    /// 2,000 operations of 1 ms, of which 60 were sent 300 µs later than they could have been.
    fn held_up() -> Latency {
        let kinds: std::sync::Arc<[_]> = [OperationKind { name: "write".into(), requests: Requests::One }].into();
        let mut recorder = Recorder::new(std::sync::Arc::clone(&kinds));
        for number in 0..2_000_u64 {
            let (due_ns, own_ns) = (number * 1_000_000, if number < 60 { 300_000 } else { 0 });
            let sent_ns = due_ns + own_ns;
            let timing = Timing::new(due_ns, sent_ns, sent_ns + 1_000_000).unwrap().with_own_delay(own_ns);
            recorder.complete(0, Outcome::Ok, &timing, &Payload::undivided(Outcome::Ok, 1, 1, 1));
        }
        let mut all = Recording::new(kinds);
        recorder.finish().iter().for_each(|window| all.merge(window.recording()).unwrap());
        Latency::from(&all)
    }

    #[test]
    fn what_the_client_may_have_made_is_a_range_and_the_rest_a_figure() {
        let latency = held_up();
        let response = &latency.by_operation.response;
        assert!(response.p99.is_none() && response.max.is_none() && response.p50.is_some() && response.mean.is_some());
        assert_eq!(response.ranges.keys().collect::<Vec<_>>(), ["max", "p99"]);
        assert!(!response.ci95.contains_key("p99") && !response.unsupported.contains_key("p99"));
        assert_eq!(figure_of(response, "p99").replace('\u{a0}', " "), "1.00 ms to 1.30 ms");
        assert_eq!(figure_of(response, "p50").replace('\u{a0}', " "), "1.00 ms");
        assert_eq!(latency.by_request, latency.by_operation);
        assert_eq!(latency.kinds[0].by_operation.response.ranges, response.ranges);
    }
}
