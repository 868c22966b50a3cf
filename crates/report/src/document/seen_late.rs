//! What a client that could not run makes of the greatest durations: an answer that came meanwhile was seen late.

use super::{
    Latency,
    latency::{Durations, Figures},
};
use crate::terminal::figure::duration;
use iotbench_engine::{ClientLoad, Measured, Outcome};
use iotbench_recorder::OwnDelayRange;
use std::time::Duration;

impl Latency {
    /// Of what was measured, seen late by at most so much.
    pub(crate) fn of(measured: &Measured, seen_late: Duration) -> Self {
        let mut latency = Self::from(&measured.recording);
        let seen_late_us = seen_late.as_secs_f64() * 1e6;
        let of_kinds = latency.kinds.iter_mut().flat_map(|kind| [&mut kind.by_operation, &mut kind.by_request]);
        [&mut latency.by_operation, &mut latency.by_request]
            .into_iter()
            .chain(latency.failed.as_mut())
            .chain(latency.unknown.as_mut())
            .chain(of_kinds)
            .for_each(|durations| durations.see_late(seen_late_us));
        latency.kinds.iter_mut().filter_map(|kind| kind.busy.as_mut()).for_each(|busy| busy.see_late(seen_late_us));
        latency
    }
}

/// By how much whoever made the load may have seen an answer late.
pub(super) fn seen_late(outcome: &Outcome) -> Duration {
    let of_agents = outcome.agents.iter().filter_map(|agent| agent.client.as_ref());
    let own = outcome.measured.as_ref().map(|measured| &measured.client).filter(|_| outcome.agents.is_empty());
    own.into_iter().chain(of_agents).map(ClientLoad::seen_late).max().unwrap_or_default()
}

/// That the greatest response time is a range because of it.
pub(super) fn remark(latency: Option<&Latency>, seen_late: Duration) -> Option<String> {
    latency?.by_operation.response.range("max").filter(|_| !seen_late.is_zero())?;
    let stood_still = duration(seen_late.as_secs_f64() * 1e6);
    Some(format!(
        "told as a range, of the response times: the maximum. The client could not run for up to {stood_still}, and may have seen \
         its answer late by as much"
    ))
}

impl Durations {
    /// The lag ends with the send.
    pub(super) fn see_late(&mut self, seen_late_us: f64) {
        self.response.see_late(seen_late_us);
        self.service.see_late(seen_late_us);
    }
}

impl Figures {
    /// Makes the greatest a range, or lowers its lower end or bound: by so much, and not below the highest quantile that is told,
    /// of which it is no part.
    fn see_late(&mut self, seen_late_us: f64) {
        let names = ["p999", "p99", "p95", "p90", "p50"];
        let told = |name| self.known(name).or(self.range(name).map(|(low, _)| low)).or(self.least(name));
        let highest_us = names.into_iter().find_map(told).unwrap_or_default();
        let lowered = |greatest_us: f64| (greatest_us - seen_late_us).max(highest_us).min(greatest_us);
        if let Some(max) = self.at_least.as_mut().and_then(|at_least| at_least.max.as_mut()) {
            *max = lowered(*max);
        }
        let range = self.range("max").or(self.max.map(|max| (max, max)));
        let range = range.and_then(|(low, high)| OwnDelayRange::of(lowered(low) * 1e3, high * 1e3));
        if let Some(range) = range {
            self.give_range("max", range);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_recorder::LatencyHistogram;

    /// 2,000 durations of 5 ms and one of 80 ms, as seen by a client that could not run once for so many milliseconds: the
    /// greatest of them.
    fn greatest(ms: u64) -> (Option<f64>, Option<(f64, f64)>) {
        let mut durations = LatencyHistogram::new();
        durations.record_many(5_000_000, 2_000);
        durations.record(80_000_000);
        let mut figures = Figures::from(&durations);
        figures.see_late(ms as f64 * 1e3);
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
        let mut figures = Figures::from(&LatencyHistogram::new());
        figures.give_range("max", OwnDelayRange { without_ns: 50e6, with_ns: 80e6 });
        figures.see_late(30_000.0);
        assert_eq!(figures.range("max"), Some((20_000.0, 80_000.0)));
    }
}
