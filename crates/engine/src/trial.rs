//! Whether a load was sustained in a trial, by what was counted in it. Pure.

mod backlog;
pub mod overload;

pub use backlog::{Backlog, SecondOfQueue};

use crate::{plan::StopPlan, search::TrialVerdict, units::Span, visibility::Visibility};
use iotbench_recorder::{Bounded, LatencyHistogram, Level, LoadCounts, QuantileBounds};
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
pub struct Trial {
    /// Operations by their fate.
    pub load: LoadCounts,
    /// Datapoints that were lost before they were sent, and all that were due.
    pub lost: [u64; 2],
    /// The mean response time, or what it is at least where operations have no answer; `None`: nothing was due.
    pub mean_response_ns: Option<f64>,
    /// The response times of what was acknowledged, of what has no answer, and of what was never started.
    pub response: Bounded,
    /// The same without the client's own delay.
    pub undelayed: Bounded,
    /// Whether client and database are one process: what delays one is the other's doing as well.
    pub embedded: bool,
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
    /// How the client did not keep its schedule. What the response times failed by, `undelayed` tells whose fault it is.
    pub pacing: Option<BrokenPacing>,
}

/// A schedule that the client itself did not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenPacing {
    /// The 99th percentile of how late operations were sent after they were due and a connection was free.
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

/// All that a number of 64 bits has near 1.
const MAX_DECIMALS: usize = 16;

/// Decimals of a second that are nanoseconds.
const NS_DECIMALS: u32 = 9;

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

impl Trial {
    /// Why its load is too much; `None`: it is sustained, as every operation was followed to its answer.
    #[must_use]
    pub fn failure(&self, stop: &StopPlan) -> Option<Failure> {
        let by_bounds = || self.unanswered().or_else(|| self.by_unknown_quantile(stop));
        self.blamed(self.fails_already(stop).or_else(by_bounds).or_else(|| self.by_littles_law()))
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
        let pacing = self.pacing.filter(|_| failure.limit != Limit::Latency || self.late > 0);
        let Some(client) = self.client.clone().or_else(|| Some(pacing?.to_string())) else { return Some(failure) };
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
        let limit = 1.0 + LITTLES_TOLERANCE.copysign(ratio - 1.0);
        let message = format!(
            "its figures do not fit together: X (R + Z) / N is {}, and Little's law wants 1 within {} %",
            beyond(ratio, limit, 3),
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
        if let Some(failure) = self.by_loss(stop) {
            return Some(failure);
        }
        #[expect(clippy::cast_precision_loss, reason = "limits are far below 2^53 ns")]
        if let Some(limit_ns) = stop.mean_response_ns.filter(|&limit| mean_ns > limit as f64) {
            let bound = if self.response.is_known() { "" } else { "at least " };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "above a limit, far below 2^64 ns"
            )]
            let told = told_above(mean_ns as u64, limit_ns);
            let message = format!("mean response {bound}{told} > {}", span(limit_ns));
            let is_met = self.undelayed.at_least().mean_ns().is_some_and(|mean_ns| mean_ns <= limit_ns as f64);
            return Some(own_or_latency(is_met && !self.embedded, message));
        }
        let (q, limit_ns, found) = quantile(&self.response, stop)?;
        let (bound, value_ns) = match found.at_most_ns.filter(|_| found.is_known()) {
            Some(value_ns) => ("", value_ns),
            None => ("at least ", found.at_least_ns),
        };
        let told = || told_above(value_ns, limit_ns);
        let message = || format!("p{} of the response {bound}{} > {}", q * 100.0, told(), span(limit_ns));
        let without = || quantile(&self.undelayed, stop).filter(|_| !self.embedded);
        let is_met = || without().is_some_and(|(.., without)| without.at_least_ns <= limit_ns);
        (value_ns > limit_ns).then(|| own_or_latency(is_met(), message()))
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn by_loss(&self, stop: &StopPlan) -> Option<Failure> {
        let [lost, due] = self.lost;
        let is_too_much = lost as f64 > stop.max_loss? * due as f64;
        let message =
            || format!("{lost} of {due} datapoints were lost because their devices could not send them in time");
        is_too_much.then(|| Failure::new(Limit::Loss, message()))
    }

    /// Although not too great for all that is known, the quantile may be.
    fn by_unknown_quantile(&self, stop: &StopPlan) -> Option<Failure> {
        let (q, limit_ns, found) = quantile(&self.response, stop)?;
        let may_be_met = found.at_most_ns.is_some_and(|at_most_ns| at_most_ns <= limit_ns);
        let message = || {
            let missing = self.response.count() - self.response.known().count();
            format!(
                "whether p{} of the response is within {} is not known: {missing} of {} operations had no answer",
                q * 100.0,
                span(limit_ns),
                self.response.count()
            )
        };
        (!may_be_met).then(|| Failure::new(Limit::Latency, message()))
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

/// The quantile that has a limit, the limit, and what is known of it.
pub(crate) fn quantile(response: &Bounded, stop: &StopPlan) -> Option<(f64, u64, QuantileBounds)> {
    let (q, limit_ns) = stop.quantile_response?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a million")]
    let level = Level::from_parts_per_million((q * 1e6).round() as u32)?;
    Some((q, limit_ns, response.bounds(level)?))
}

/// A limit of the response times that is not met: by the client's fault, where it is without the client's own delay.
fn own_or_latency(is_met_without: bool, message: String) -> Failure {
    if is_met_without {
        return Failure::new(Limit::Client, format!("{message}, and without the client's own delay it is met"));
    }
    Failure::new(Limit::Latency, message)
}

/// A time above a limit in seconds, cut off after three decimals, or after as many more as tell it to within 0.5 % and from the
/// limit.
fn told_above(ns: u64, limit_ns: u64) -> String {
    let cut_off = |decimals: u32| ns - ns % 10_u64.pow(NS_DECIMALS - decimals);
    let tells = |&decimals: &u32| cut_off(decimals) > limit_ns && ns % 10_u64.pow(NS_DECIMALS - decimals) <= ns / 200;
    let decimals = (3..NS_DECIMALS).find(tells).unwrap_or(NS_DECIMALS);
    let (seconds, rest_ns) = (ns / 10_u64.pow(NS_DECIMALS), ns % 10_u64.pow(NS_DECIMALS));
    let rest = rest_ns / 10_u64.pow(NS_DECIMALS - decimals);
    format!("{seconds}.{rest:0width$} s", width = decimals as usize)
}

/// A figure beyond a limit, with so many decimals, or with as many more as tell it from the limit.
fn beyond(figure: f64, limit: f64, decimals: usize) -> String {
    let told = |figure: f64, places: usize| format!("{figure:.places$}");
    let is_apart = |&places: &usize| told(figure, places) != told(limit, places);
    told(figure, (decimals..MAX_DECIMALS).find(is_apart).unwrap_or(MAX_DECIMALS))
}

/// For people.
pub fn span(ns: u64) -> Span {
    Span(Duration::from_nanos(ns))
}

#[cfg(test)]
mod tests;
