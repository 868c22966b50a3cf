//! Whether a load was sustained in a trial, by what was counted in it. Pure.

mod backlog;

pub use backlog::{Backlog, SecondOfQueue};

use crate::{plan::StopPlan, search::TrialVerdict, units::Span, visibility::Visibility};
use iotbench_recorder::{LatencyHistogram, Level, LoadCounts};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a load failed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The response time.
    Latency,
    /// Operations ended more slowly than they were offered.
    Backlog,
    /// Operations failed, timed out, or none was answered.
    Errors,
    /// Operations were never started.
    Loss,
    /// What was acknowledged became visible more slowly.
    Visibility,
    /// Throughput, response time and users contradict each other: the load did not settle.
    Unsteady,
    /// The client did not keep its own schedule.
    Client,
}

/// Why a load was not sustained.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What it failed by.
    pub limit: Limit,
    /// With figures, for people.
    pub message: String,
}

impl Failure {
    fn new(limit: Limit, message: String) -> Self {
        Self { limit, message }
    }
}

impl Limit {
    /// What a trial that failed by it, or by nothing, says of its load.
    #[must_use]
    pub fn verdict(limit: Option<Self>) -> TrialVerdict {
        match limit {
            None => TrialVerdict::Sustained,
            Some(Self::Client) => TrialVerdict::TooMuchForClient,
            Some(_) => TrialVerdict::TooMuch,
        }
    }

    /// For people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Backlog => "backlog",
            Self::Errors => "errors",
            Self::Loss => "loss",
            Self::Visibility => "visibility",
            Self::Unsteady => "unsteady",
            Self::Client => "client",
        }
    }
}

/// What was counted in a trial.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    /// Operations by their fate.
    pub load: LoadCounts,
    /// The mean response time, or what it is at least where operations have no answer; `None`: nothing was due.
    pub mean_response_ns: Option<f64>,
    /// The response times of what was acknowledged.
    pub response: &'a LatencyHistogram,
    /// How long each of the operations without an answer has waited at least.
    pub waited_ns: u64,
    /// What became of the queue; `None`: the load has none, or the trial is too short to tell.
    pub backlog: Option<Backlog>,
    /// X (R + Z) / N, which Little's law says is 1; `None`: not the users of one closed loop.
    pub littles_ratio: Option<f64>,
    /// Requests that were not stored when their window ended.
    pub late: u64,
    /// How fast what was acknowledged became visible; `None`: an acknowledgement says that it is.
    pub visibility: Option<Visibility>,
    /// What the client is to blame for, if it is for anything.
    pub client: Option<String>,
}

/// A schedule that the client itself did not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenPacing {
    /// The 99th percentile of how late operations were sent although a connection was free.
    pub p99_us: u64,
    /// What it may be.
    pub limit_us: u64,
}

/// So far from 1 the ratio of Little's law may be.
pub const LITTLES_TOLERANCE: f64 = 0.02;

/// Below this a pacing error never matters.
const PACING_FLOOR_NS: u64 = 2_000_000;
/// Part of the median response time that a pacing error may reach.
const PACING_PART: u64 = 20;

impl BrokenPacing {
    /// Whether operations were sent later than the response times allow. `None`: they were not, or there are too few.
    pub fn of(pacing_error: &LatencyHistogram, response: &LatencyHistogram) -> Option<Self> {
        let p99_ns = pacing_error.quantile(Level::P99).ns()?;
        let p50_ns = response.value_at(Level::P50).unwrap_or(0);
        let limit_ns = PACING_FLOOR_NS.max(p50_ns / PACING_PART);
        (p99_ns > limit_ns).then_some(Self { p99_us: p99_ns / 1000, limit_us: limit_ns / 1000 })
    }
}

impl std::fmt::Display for BrokenPacing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { p99_us, limit_us } = self;
        write!(f, "1 % of the operations were sent more than {p99_us} µs after their time, and {limit_us} µs may be")
    }
}

impl Trial<'_> {
    /// Why its load is too much; `None`: it is sustained, as every operation was followed to its answer.
    #[must_use]
    pub fn failure(&self, stop: &StopPlan) -> Option<Failure> {
        self.blamed(self.fails_already(stop).or_else(|| self.unanswered()).or_else(|| self.by_littles_law()))
    }

    /// Whether it is too much whatever becomes of the operations that have no answer yet: what is known of them is a lower
    /// bound, which may fail a load and never pass it.
    #[must_use]
    pub fn fails_already(&self, stop: &StopPlan) -> Option<Failure> {
        self.by_criterion(stop).or_else(|| self.by_course())
    }

    /// That the client was the limit, where it was.
    fn blamed(&self, failure: Option<Failure>) -> Option<Failure> {
        let failure = failure?;
        let Some(client) = &self.client else { return Some(failure) };
        Some(Failure::new(Limit::Client, format!("{}; but the client was the limit: {client}", failure.message)))
    }

    fn unanswered(&self) -> Option<Failure> {
        let Self { load, .. } = self;
        let message =
            || format!("{} of {} operations had no answer within twice the deadline", load.pending, load.offered);
        (load.pending > 0).then(|| Failure::new(Limit::Errors, message()))
    }

    /// A mean that throughput and users contradict is no figure to rely on.
    fn by_littles_law(&self) -> Option<Failure> {
        let ratio = self.littles_ratio.filter(|ratio| (ratio - 1.0).abs() > LITTLES_TOLERANCE)?;
        let message = format!(
            "its figures do not fit together: X (R + Z) / N is {ratio:.3}, and Little's law wants 1 within {} %",
            LITTLES_TOLERANCE * 100.0
        );
        Some(Failure::new(Limit::Unsteady, message))
    }

    /// By the stop criterion.
    fn by_criterion(&self, stop: &StopPlan) -> Option<Failure> {
        let load = &self.load;
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let share = |n: u64| n as f64 / load.offered.max(1) as f64;
        let Some(mean_ns) = self.mean_response_ns else {
            return Some(Failure::new(Limit::Errors, "no operation was answered".into()));
        };
        let counts = [
            (load.unknown, stop.timeouts, Limit::Errors, "timed out"),
            (load.fail, stop.errors, Limit::Errors, "failed"),
            (load.dropped, stop.errors, Limit::Loss, "were never started"),
        ];
        if let Some((n, _, limit, what)) = counts.into_iter().find(|&(n, most, ..)| share(n) > most) {
            return Some(Failure::new(limit, format!("{n} of {} operations {what}", load.offered)));
        }
        #[expect(clippy::cast_precision_loss, reason = "limits are far below 2^53 ns")]
        if let Some(limit_ns) = stop.mean_response_ns.filter(|&limit| mean_ns > limit as f64) {
            let bound = if load.pending > 0 { "at least " } else { "" };
            let message = format!("mean response {bound}{:.3} s > {}", mean_ns / 1e9, span(limit_ns));
            return Some(Failure::new(Limit::Latency, message));
        }
        let (q, limit_ns) = stop.quantile_response?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a million")]
        let level = Level::from_parts_per_million((q * 1e6).round() as u32)?;
        let waiting = self.waiting_longer_than(limit_ns);
        if share(waiting) > 1.0 - q {
            let limit = span(limit_ns);
            let message = format!("{waiting} of {} operations or more had waited longer than {limit}", load.offered);
            return Some(Failure::new(Limit::Latency, message));
        }
        let value_ns = self.response.value_at(level).filter(|&v| v > limit_ns)?;
        let value_s = Duration::from_nanos(value_ns).as_secs_f64();
        let message = format!("p{} of the response {value_s:.3} s > {}", q * 100.0, span(limit_ns));
        Some(Failure::new(Limit::Latency, message))
    }

    /// How many of the operations without an answer have waited longer than this, for all that is known.
    fn waiting_longer_than(&self, limit_ns: u64) -> u64 {
        if self.waited_ns > limit_ns { self.load.pending } else { 0 }
    }

    /// By what would become too much if it went on: the criterion alone passes an overload for as long as its queue is short.
    fn by_course(&self) -> Option<Failure> {
        if self.late > 0 {
            let message =
                format!("{} of {} requests were not stored when their window ended", self.late, self.load.offered);
            return Some(Failure::new(Limit::Latency, message));
        }
        let backlog = self.backlog.and_then(|backlog| backlog.failure());
        backlog.map(|message| Failure::new(Limit::Backlog, message)).or_else(|| {
            let message = self.visibility?.failure()?;
            Some(Failure::new(Limit::Visibility, message))
        })
    }
}

/// For people.
pub fn span(ns: u64) -> Span {
    Span(Duration::from_nanos(ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOP: StopPlan = StopPlan {
        mean_response_ns: Some(1_000_000_000),
        quantile_response: Some((0.999, 50_000_000)),
        errors: 0.0,
        timeouts: 0.01,
    };

    fn histogram(values_ns: impl IntoIterator<Item = u64>) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        values_ns.into_iter().for_each(|ns| histogram.record(ns));
        histogram
    }

    fn failure(change: impl FnOnce(&mut Trial<'_>)) -> Option<(Limit, String)> {
        let response = histogram([1_000_000; 1000]);
        let load = LoadCounts { offered: 1000, started: 1000, ok: 1000, ..LoadCounts::default() };
        let mut trial = Trial {
            load,
            mean_response_ns: Some(1e6),
            response: &response,
            waited_ns: 0,
            backlog: None,
            littles_ratio: None,
            late: 0,
            visibility: None,
            client: None,
        };
        change(&mut trial);
        trial.failure(&STOP).map(|failure| (failure.limit, failure.message))
    }

    #[test]
    fn what_a_load_failed_by_is_named() {
        assert_eq!(failure(|_| ()), None);
        assert_eq!(failure(|t| t.load.unknown = 10), None, "1 % may");
        let named = |change: fn(&mut Trial<'_>)| failure(change).unwrap();
        assert_eq!(named(|t| t.mean_response_ns = None), (Limit::Errors, "no operation was answered".into()));
        assert_eq!(named(|t| t.load.unknown = 11), (Limit::Errors, "11 of 1000 operations timed out".into()));
        assert_eq!(named(|t| t.load.fail = 1), (Limit::Errors, "1 of 1000 operations failed".into()));
        assert_eq!(named(|t| t.load.dropped = 1), (Limit::Loss, "1 of 1000 operations were never started".into()));
        assert_eq!(named(|t| t.mean_response_ns = Some(1.1e9)), (Limit::Latency, "mean response 1.100 s > 1s".into()));
        assert_eq!(named(|t| t.late = 3).0, Limit::Latency);
        assert_eq!(
            named(|t| (t.load.pending, t.waited_ns) = (20, 51_000_000)),
            (Limit::Latency, "20 of 1000 operations or more had waited longer than 50ms".into())
        );
        let unanswered = (Limit::Errors, "20 of 1000 operations had no answer within twice the deadline".into());
        assert_eq!(
            named(|t| (t.load.pending, t.waited_ns) = (20, 49_000_000)),
            unanswered,
            "a bound never passes a load"
        );
        assert_eq!(named(|t| t.littles_ratio = Some(0.975)).0, Limit::Unsteady);
        assert_eq!(failure(|t| t.littles_ratio = Some(1.019)), None);
        let growing = |t: &mut Trial<'_>| {
            let seconds: Vec<_> = (0..10).map(|_| SecondOfQueue { offered: 100, ended: 90 }).collect();
            t.backlog = Backlog::of(&seconds, 1);
        };
        assert_eq!(failure(growing).unwrap().0, Limit::Backlog);
    }

    #[test]
    fn a_quantile_is_held_to_its_limit() {
        let slow = histogram((0..1000).map(|n| if n < 2 { 60_000_000 } else { 1_000_000 }));
        let message = "p99.9 of the response 0.060 s > 50ms";
        let found = failure(|t| t.response = Box::leak(Box::new(slow)));
        assert_eq!(found, Some((Limit::Latency, message.into())));
    }

    #[test]
    fn a_client_that_was_late_is_to_blame_for_what_failed_and_for_nothing_else() {
        let pacing_error = histogram([5_000_000; 2000]);
        let response = histogram([10_000_000; 2000]);
        let broken = BrokenPacing::of(&pacing_error, &response).unwrap();
        assert_eq!(broken, BrokenPacing { p99_us: 5000, limit_us: 2000 });
        assert_eq!(BrokenPacing::of(&pacing_error, &histogram([200_000_000; 2000])), None, "5 % of the response may");
        assert_eq!(failure(|t| t.client = Some(broken.to_string())), None);
        let (limit, message) = failure(|t| (t.load.fail, t.client) = (1, Some(broken.to_string()))).unwrap();
        assert_eq!(limit, Limit::Client);
        assert!(message.starts_with("1 of 1000 operations failed; but the client"), "{message}");
    }
}
