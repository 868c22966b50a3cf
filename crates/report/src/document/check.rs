//! Whether a document's numbers agree with each other.

use super::{Document, Latency, LatencySummary, Status};
use iotbench_recorder::ConservationError;

/// Numbers of a document that contradict each other: it was changed, or the program is at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Inconsistency {
    /// Operations or datapoints that were lost or counted twice.
    #[error("{0}")]
    Count(ConservationError),
    /// As before, in a step of a ramp.
    #[error("step {step}: {error}")]
    Step {
        /// Its place, from 1.
        step: usize,
        /// What does not hold.
        error: ConservationError,
    },
    /// Minimum, quantiles and maximum are not in ascending order.
    #[error("{0}: minimum, quantiles and maximum are not in ascending order")]
    Order(&'static str),
    /// The saved distribution is damaged, or is not the one that the figures are of.
    #[error("{0}: the histogram does not hold as many durations as the count says")]
    Histogram(&'static str),
}

impl Document {
    /// Checks offered = started + dropped + pending + undelivered, started = ok + fail + unknown, generated =
    /// dropped + pending + undelivered + sent,
    /// sent = acked + failed + unknown (of a run that has ended), and that figures and distributions agree.
    ///
    /// # Errors
    /// Everything that does not hold.
    pub fn check(&self) -> Result<(), Vec<Inconsistency>> {
        let mut found = Vec::new();
        if self.verdict.status != Status::Running {
            found.extend(broken(self.load.counts.check()).map(Inconsistency::Count));
            found.extend(broken(self.points.counts.check()).map(Inconsistency::Count));
        }
        for (index, step) in self.capacity.iter().flat_map(|c| &c.steps).enumerate() {
            let errors = broken(step.load.check());
            found.extend(errors.map(|error| Inconsistency::Step { step: index + 1, error }));
        }
        if let Some(latency) = &self.latency {
            for (name, figures) in distributions(latency) {
                found.extend(check_figures(name, figures));
            }
        }
        if found.is_empty() { Ok(()) } else { Err(found) }
    }
}

fn broken(result: Result<(), Vec<ConservationError>>) -> impl Iterator<Item = ConservationError> {
    result.err().into_iter().flatten()
}

fn distributions(latency: &Latency) -> impl Iterator<Item = (&'static str, &LatencySummary)> {
    let parts = [
        Some(("latency of operations", &latency.by_operation)),
        Some(("latency of requests", &latency.by_request)),
        latency.failed.as_ref().map(|d| ("latency of failures", d)),
        latency.unknown.as_ref().map(|d| ("latency of unanswered operations", d)),
    ];
    let kinds = latency.kinds.iter().flat_map(|kind| {
        [("latency of a kind's operations", &kind.by_operation), ("latency of a kind's requests", &kind.by_request)]
    });
    parts
        .into_iter()
        .flatten()
        .chain(kinds)
        .flat_map(|(name, d)| [&d.response, &d.service, &d.lag].map(|figures| (name, figures)))
        .chain(latency.kinds.iter().filter_map(|kind| Some(("busy time of a kind's operations", kind.busy.as_ref()?))))
}

fn check_figures(name: &'static str, figures: &LatencySummary) -> Option<Inconsistency> {
    let LatencySummary { min, p50, p90, p95, p99, p999, max, .. } = *figures;
    let ascending: Vec<_> = [min, p50, p90, p95, p99, p999, max].into_iter().flatten().collect();
    let least = figures.at_least.as_ref().map(|f| [f.p50, f.p90, f.p95, f.p99, f.p999, f.max]);
    let least: Vec<_> = least.into_iter().flatten().flatten().collect();
    if !ascending.is_sorted() || !least.is_sorted() {
        return Some(Inconsistency::Order(name));
    }
    let held = figures.histogram().map_or(0, |histogram| histogram.count());
    let counted = figures.count.checked_sub(figures.overflow);
    (counted != Some(held)).then_some(Inconsistency::Histogram(name))
}
