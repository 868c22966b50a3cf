//! What is compared of two runs.

use crate::{
    document::{Document, LatencySummary, Resources},
    terminal::figure::{bytes, duration, significant},
};
use iotbench_statistics::Direction::{self, LessIsBetter, MoreIsBetter};

/// A figure of a run, and which way it should go.
#[derive(Debug)]
pub struct Metric {
    /// Its name, which ends with its unit.
    pub name: &'static str,
    /// Which way it should go.
    pub direction: Direction,
    /// Whether a regression of it counts where the user does not choose.
    pub is_gated: bool,
    of: fn(&Document) -> Option<f64>,
    show: fn(f64) -> String,
}

/// Everything that is compared. Those that are gated say what a user gets; the others say why.
pub static METRICS: [Metric; 12] = [
    metric("capacity", MoreIsBetter, |d| d.capacity.as_ref()?.limit(), significant).gated(),
    metric("operations_per_s", MoreIsBetter, |d| d.throughput.as_ref()?.operations_per_s, significant).gated(),
    metric("response_mean_us", LessIsBetter, |d| response(d)?.at_most("mean"), duration).gated(),
    metric("response_p99_us", LessIsBetter, |d| response(d)?.at_most("p99"), duration).gated(),
    metric("response_p50_us", LessIsBetter, |d| response(d)?.at_most("p50"), duration),
    metric("service_mean_us", LessIsBetter, |d| service(d)?.mean, duration),
    metric("service_p99_us", LessIsBetter, |d| service(d)?.p99, duration),
    metric("values_per_s", MoreIsBetter, |d| above_0(d.throughput.as_ref()?.values_per_s), significant),
    metric("rows_read_per_s", MoreIsBetter, |d| above_0(d.throughput.as_ref()?.rows_read_per_s), significant),
    metric("cpu_us_per_operation", LessIsBetter, cpu_us_per_operation, duration),
    metric("memory_bytes", LessIsBetter, |d| sum(d, |r| r.rss_bytes_mean.map(|bytes| bytes as f64)), whole_bytes),
    metric("bytes_per_point", LessIsBetter, |d| above_0(d.storage.bytes_per_point), significant),
];

const fn metric(
    name: &'static str,
    direction: Direction,
    of: fn(&Document) -> Option<f64>,
    show: fn(f64) -> String,
) -> Metric {
    Metric { name, direction, is_gated: false, of, show }
}

impl Metric {
    const fn gated(self) -> Self {
        Self { is_gated: true, ..self }
    }

    /// The figure of a run; `None`: it does not have it.
    #[must_use]
    pub fn of(&self, document: &Document) -> Option<f64> {
        (self.of)(document).filter(|figure| figure.is_finite())
    }

    /// A figure for people, with its unit.
    pub(crate) fn show(&self, figure: f64) -> String {
        (self.show)(figure)
    }
}

/// The metric of this name.
#[must_use]
pub fn find_metric(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

fn response(document: &Document) -> Option<&LatencySummary> {
    Some(&document.latency.as_ref()?.by_operation.response)
}

fn service(document: &Document) -> Option<&LatencySummary> {
    Some(&document.latency.as_ref()?.by_operation.service)
}

/// What a workload does not do has no figure, and no 0.
fn above_0(figure: Option<f64>) -> Option<f64> {
    figure.filter(|figure| *figure > 0.0)
}

/// The sum over the database's roles, if it is known of each.
fn sum(document: &Document, figure: impl Fn(&Resources) -> Option<f64>) -> Option<f64> {
    let roles: Vec<_> = document.resources.iter().filter(|resources| resources.is_of_database()).collect();
    if roles.is_empty() { None } else { roles.into_iter().map(figure).sum() }
}

/// CPU time of the database for an acknowledged operation: per second alone, a faster database would look dearer.
fn cpu_us_per_operation(document: &Document) -> Option<f64> {
    let operations = document.throughput.as_ref()?.operations_per_s? * document.measured.as_ref()?.length_s?;
    let cpu_s = sum(document, |resources| resources.cpu_s)?;
    (operations > 0.0).then(|| cpu_s * 1e6 / operations)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean of sizes in memory")]
fn whole_bytes(figure: f64) -> String {
    bytes(figure.round() as u64)
}
