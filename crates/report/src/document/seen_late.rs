//! What a client that could not run makes of means and of the greatest durations: answers that came meanwhile were seen late.

use super::{Latency, latency::Durations, latency_summary::LatencySummary};
use crate::terminal::figure::duration;
use iotbench_recorder::{LatencyHistogram, OwnDelayRange, Recording, SeenLate};
use std::time::Duration;

/// The shortest time for which it is known that a client could not run: what was under way in one took longer.
const SHORTEST: Duration = Duration::from_millis(50);

impl Latency {
    /// Of what was measured, seen late by at most so much.
    #[must_use]
    pub fn of(recording: &Recording, seen_late: &SeenLate) -> Self {
        let mut latency = Self::from(recording);
        let of_kinds = latency.kinds.iter_mut().flat_map(|kind| [&mut kind.by_operation, &mut kind.by_request]);
        [&mut latency.by_operation, &mut latency.by_request]
            .into_iter()
            .chain(latency.failed.as_mut())
            .chain(latency.unknown.as_mut())
            .chain(of_kinds)
            .for_each(|durations| durations.see_late(seen_late));
        let busy = latency.kinds.iter_mut().filter_map(|kind| kind.busy.as_mut());
        busy.for_each(|busy| {
            let altogether_us = altogether_us(busy, seen_late);
            busy.see_late(seen_late, altogether_us);
        });
        latency
    }
}

/// That figures are ranges because of it.
#[must_use]
pub fn remark(latency: Option<&Latency>, seen_late: &SeenLate) -> Option<String> {
    let durations = &latency?.by_operation;
    let is_max = durations.response.range("max").is_some();
    // The service time has no other reason to be a range.
    let is_mean = durations.service.range("mean").is_some();
    let figures = match (is_mean, is_max) {
        _ if seen_late.longest.is_zero() => return None,
        (false, false) => return None,
        (false, true) => "told as a range, of the response times: the maximum",
        (true, false) => "told as ranges, of service and response times: the means",
        (true, true) => "told as ranges, of service and response times: the means and the maxima",
    };
    let stood_still = duration(us(seen_late.longest));
    Some(format!(
        "{figures}. The client could not run for up to {stood_still}, and may have seen answers late by as much"
    ))
}

fn us(length: Duration) -> f64 {
    length.as_secs_f64() * 1e6
}

/// By how much all these were seen late together, at most. What was under way when the client stopped took as long as the stop, or
/// longer, and a connection has one operation under way at a time.
fn altogether_us(service: &LatencySummary, seen_late: &SeenLate) -> f64 {
    let with_unanswered = service.bounded().map(|bounded| bounded.at_least().clone());
    let of_slow = with_unanswered.as_ref().map_or(0.0, |histogram| of_slow_us(histogram, us(seen_late.altogether)));
    match seen_late.connections {
        0 => of_slow,
        connections => of_slow.min(us(seen_late.altogether) * connections as f64),
    }
}

/// The sum over those that took long enough to have been under way in a stop, of each at most so much.
fn of_slow_us(service: &LatencyHistogram, most_us: f64) -> f64 {
    let slow = service
        .recorded()
        .map(|(ns, count)| (ns as f64 / 1e3, count as f64))
        .filter(|(took_us, _)| *took_us >= us(SHORTEST));
    slow.map(|(took_us, count)| took_us.min(most_us) * count).sum::<f64>() + service.overflow() as f64 * most_us
}

impl Durations {
    /// The lag ends with the send.
    pub fn see_late(&mut self, seen_late: &SeenLate) {
        let altogether_us = altogether_us(&self.service, seen_late);
        self.response.see_late(seen_late, altogether_us);
        self.service.see_late(seen_late, altogether_us);
    }
}

impl LatencySummary {
    /// Makes the mean and the greatest ranges, or lowers their lower ends or bounds: the mean by so much of all together, the
    /// greatest by the longest, and not below the highest quantile that is told, of which it is no part.
    fn see_late(&mut self, seen_late: &SeenLate, altogether_us: f64) {
        self.see_mean_late(altogether_us);
        let longest_us = us(seen_late.longest);
        let names = ["p999", "p99", "p95", "p90", "p50"];
        let told = |name| self.known(name).or(self.range(name).map(|(low, _)| low)).or(self.least(name));
        let highest_us = names.into_iter().find_map(told).unwrap_or_default();
        let lowered = |greatest_us: f64| (greatest_us - longest_us).max(highest_us).min(greatest_us);
        if let Some(max) = self.at_least.as_mut().and_then(|at_least| at_least.max.as_mut()) {
            *max = lowered(*max);
        }
        self.widen("max", lowered);
    }

    fn see_mean_late(&mut self, altogether_us: f64) {
        let lowered = |mean_us: f64, count: u64| {
            let lower_us = mean_us - altogether_us / count.max(1) as f64;
            lower_us.max(0.0)
        };
        if let Some(at_least) = &mut self.at_least {
            at_least.mean = at_least.mean.map(|mean| lowered(mean, at_least.count));
        }
        let count = self.count;
        self.widen("mean", |mean| lowered(mean, count));
    }

    /// Lowers the lower end of a figure, where that matters.
    fn widen(&mut self, name: &str, lowered: impl Fn(f64) -> f64) {
        let range = self.range(name).or(self.known(name).map(|figure| (figure, figure)));
        let range = range.and_then(|(low, high)| OwnDelayRange::of(lowered(low) * 1e3, high * 1e3));
        if let Some(range) = range {
            self.give_range(name, range);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_recorder::{Bounded, OperationKind, Payload, Recorder, Requests};
    use std::sync::Arc;

    /// A client with two connections that could not run once, for so many milliseconds.
    fn stopped(ms: u64) -> SeenLate {
        let stop = Duration::from_millis(ms);
        SeenLate { longest: stop, altogether: stop, connections: 2 }
    }

    /// 2,000 durations of 5 ms and one of 80 ms, as seen by a client that could not run once for so many milliseconds: the
    /// greatest of them.
    fn greatest(ms: u64) -> (Option<f64>, Option<(f64, f64)>) {
        let mut durations = LatencyHistogram::new();
        durations.record_many(5_000_000, 2_000);
        durations.record(80_000_000);
        let mut figures = LatencySummary::from(&durations);
        figures.see_late(&stopped(ms), 0.0);
        assert!(figures.p99.is_some() && figures.mean.is_some(), "no other figure is of one operation");
        (figures.max, figures.range("max"))
    }

    #[test]
    fn an_answer_that_came_while_the_client_could_not_run_may_be_the_greatest() {
        assert_eq!([greatest(0), greatest(4)], [(Some(80_000.0), None); 2], "within 5 %");
        assert_eq!(greatest(60), (None, Some((20_000.0, 80_000.0))));
        let (max, range) = greatest(700);
        assert!(
            max.is_none() && range.is_some_and(|(low, _)| (low / 5_000.0 - 1.0).abs() < 0.001),
            "as 99 % took: {range:?}"
        );
    }

    #[test]
    fn a_range_and_a_bound_are_lowered() {
        let mut figures = LatencySummary::from(&LatencyHistogram::new());
        figures.give_range("max", OwnDelayRange { without_ns: 50e6, with_ns: 80e6 });
        figures.see_late(&stopped(30), 0.0);
        assert_eq!(figures.range("max"), Some((20_000.0, 80_000.0)));
    }

    /// 800 operations of 3 ms on one connection, one of which was under way when the client stopped for a second; and how they
    /// are told.
    fn with_one_under_way(service_ms: u64, connections: u64) -> Durations {
        let mut latency = iotbench_recorder::Latency::default();
        let mut record = |service_ns: u64| {
            let timing = iotbench_recorder::Timing::new(0, 0, service_ns).unwrap();
            latency.record(&timing);
        };
        (0..799).for_each(|_| record(service_ms * 1_000_000));
        record(service_ms * 1_000_000 + 1_000_000_000);
        let mut durations = Durations::from(&latency);
        durations.see_late(&SeenLate { connections, ..stopped(1_000) });
        durations
    }

    #[test]
    fn what_was_under_way_in_a_stop_is_taken_from_the_lower_end_of_the_mean() {
        let durations = with_one_under_way(3, 1);
        for figures in [&durations.response, &durations.service] {
            assert_eq!((figures.mean, figures.std_dev), (None, None));
            let (low, high) = figures.range("mean").unwrap();
            assert!((low - 3_000.0).abs() < 10.0 && (high - 4_250.0).abs() < 1.0, "{low} to {high}");
            let (low, high) = figures.range("max").unwrap();
            assert!((low - 3_000.0).abs() < 10.0 && (high - 1_003_000.0).abs() < 1.0, "{low} to {high}");
        }
        assert!(durations.lag.mean.is_some(), "what is sent is sent");
    }

    /// 4 ms after their time: when the answer was seen does not change when it was sent.
    #[test]
    fn what_was_sent_late_was_not_seen_late() {
        let mut latency = iotbench_recorder::Latency::default();
        let mut record = |answered_ns| {
            let timing = iotbench_recorder::Timing::new(0, 4_000_000, answered_ns).unwrap();
            latency.record(&timing);
        };
        (0..799).for_each(|_| record(7_000_000));
        record(1_007_000_000);
        let mut durations = Durations::from(&latency);
        durations.see_late(&SeenLate { connections: 1, ..stopped(1_000) });
        assert!(durations.service.range("mean").is_some());
        assert_eq!((durations.lag.mean, durations.lag.range("mean")), (Some(4_000.0), None));
    }

    /// A hundred answers after 3 ms, and one operation that had none after 5 s: the bounds are of all 101.
    #[test]
    fn the_bounds_of_what_was_not_answered_are_lowered_too() {
        let mut known = LatencyHistogram::new();
        known.record_many(3_000_000, 100);
        let mut all = known.clone();
        all.record(5_000_000_000);
        let mut figures = LatencySummary::from(&Bounded::from_parts(known, Some(all)).unwrap());
        figures.see_late(&stopped(1_000), 1e6);
        let at_least = figures.at_least.unwrap();
        let mean_us = at_least.mean.unwrap();
        assert!((mean_us - (5_300_000.0 - 1e6) / 101.0).abs() < 1.0, "{mean_us}");
        assert_eq!(at_least.max, Some(4_000_000.0));
    }

    #[test]
    fn no_mean_is_less_than_nothing() {
        let mut durations = LatencyHistogram::new();
        durations.record_many(3_000_000, 10);
        let mut figures = LatencySummary::from(&durations);
        figures.see_late(&stopped(1_000), 1e6);
        assert_eq!(figures.range("mean"), Some((0.0, 3_000.0)));
    }

    /// Of operations that end so by turns, the first of each takes 900 ms and the others 3; so do its request and what it kept busy.
    fn one_slow_of_each(outcomes: &[iotbench_recorder::Outcome]) -> Latency {
        let kind = OperationKind { name: "g".into(), requests: Requests::Paused };
        let kinds: Arc<[OperationKind]> = [kind].into();
        let mut recorder = Recorder::new(Arc::clone(&kinds));
        for (number, &outcome) in (0..).zip(outcomes.iter().cycle().take(800 * outcomes.len())) {
            let due_ns = number * 1_000_000;
            let took_ns = if number < outcomes.len() as u64 { 900_000_000 } else { 3_000_000 };
            let timing = iotbench_recorder::Timing::new(due_ns, due_ns, due_ns + took_ns).unwrap();
            recorder.offer(0, due_ns, 1);
            recorder.start(0, due_ns, due_ns, 1);
            recorder.complete_request(0, due_ns, outcome, &timing);
            recorder.record_busy(0, due_ns, timing.replied_ns(), took_ns);
            recorder.complete(0, outcome, &timing, &Payload::undivided(outcome, 1, 1, 0));
        }
        let mut recording = Recording::new(kinds);
        recorder.finish().iter().for_each(|window| recording.merge(window.recording()).unwrap());
        Latency::of(&recording, &SeenLate { connections: 1, ..stopped(1_000) })
    }

    #[test]
    fn answers_may_have_been_seen_late_wherever_they_are_told() {
        use iotbench_recorder::Outcome::{Fail, Ok, Unknown};
        let is_range =
            |figures: &LatencySummary| figures.range("max").is_some_and(|(low, _)| (low - 3_000.0).abs() < 10.0);
        let ok = one_slow_of_each(&[Ok]);
        let [kind] = ok.kinds.as_slice() else { panic!("one kind") };
        for durations in [&ok.by_operation, &ok.by_request, &kind.by_operation, &kind.by_request] {
            assert!(is_range(&durations.service) && is_range(&durations.response), "{durations:?}");
        }
        assert!(kind.busy.as_ref().is_some_and(is_range), "{kind:?}");
        let failed = one_slow_of_each(&[Ok, Fail]).failed;
        assert!(failed.as_ref().is_some_and(|durations| is_range(&durations.service)), "{failed:?}");
        let unknown = one_slow_of_each(&[Ok, Unknown]).unknown;
        assert!(unknown.as_ref().is_some_and(|durations| is_range(&durations.service)), "{unknown:?}");
    }

    /// Where all operations take longer than a stop can be short, no more are late than there are connections.
    #[test]
    fn no_more_were_under_way_than_there_are_connections() {
        let mean = |connections| with_one_under_way(900, connections).service.range("mean");
        assert_eq!(mean(2), None, "2.5 of 901 ms: it is told as it is");
        assert!(mean(100).is_some_and(|(low, _)| (low - 776_250.0).abs() < 100.0), "{:?}", mean(100));
        assert!(mean(0).is_some_and(|(low, _)| low < 902_000.0 / 2.0), "nobody knows how many: {:?}", mean(0));
    }

    #[test]
    fn operations_shorter_than_any_stop_were_not_under_way_in_one() {
        let mut figures = LatencyHistogram::new();
        figures.record_many(49_000_000, 10);
        assert_eq!(of_slow_us(&figures, 1e6), 0.0);
        figures.record_many(51_000_000, 2);
        figures.record_many(3_000_000_000, 1);
        assert!((of_slow_us(&figures, 1e6) - 1_102_000.0).abs() < 200.0);
        figures.record(u64::MAX);
        assert_eq!(figures.overflow(), 1);
        assert!((of_slow_us(&figures, 1e6) - 2_102_000.0).abs() < 200.0, "longer than can be told apart");
    }
}
