//! The figures as families of one name each, in no particular text. Pure.

use super::{
    board::{Board, Target},
    tally::{Place, Responses, Tally, Used},
};
use crate::watch::{LoadSoFar, PHASES};
use iotbench_engine::Phase;
use std::{borrow::Cow, time::Duration};

pub(super) type Labels = Vec<(&'static str, String)>;

/// Figures of one name.
#[derive(Debug)]
pub(super) struct Family {
    /// Without the `_total` of a counter.
    pub(super) name: Cow<'static, str>,
    pub(super) help: &'static str,
    /// By the Unified Code for Units of Measure; what is counted stands in braces.
    pub(super) unit: &'static str,
    pub(super) figures: Figures,
}

#[derive(Debug)]
pub(super) enum Figures {
    /// Sums that never fall.
    Counter(Vec<(Labels, Number)>),
    Gauge(Vec<(Labels, Number)>),
    Histogram(Vec<(Labels, Responses)>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(u64),
    Float(f64),
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self::Integer(value)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl Board {
    /// All figures; a family may have none.
    pub(super) fn families(&self) -> Vec<Family> {
        let parts = [self.operations(), self.datapoints(), self.responses(), self.resources(), self.present()];
        parts.into_iter().flatten().collect()
    }

    fn operations(&self) -> Vec<Family> {
        let offered = self.each(|tally| [(None, tally.load.counts.offered)]);
        let ended = self.each(|Tally { load: LoadSoFar { counts, .. }, .. }| {
            let of = |outcome, count| (Some(("outcome", outcome)), count);
            [of("ok", counts.ok), of("fail", counts.fail), of("unknown", counts.unknown), of("dropped", counts.dropped)]
        });
        let errors =
            self.each(|tally| tally.load.errors.iter().map(|(cause, &count)| (Some(("cause", cause.as_str())), count)));
        let (unit, help) = ("{operation}", "Operations by how they ended; dropped: never started");
        vec![
            counter("iotbench_operations_offered", unit, "Operations that were due", offered),
            counter("iotbench_operations", unit, help, ended),
            counter("iotbench_errors", "{error}", "Errors by cause", errors),
        ]
    }

    fn datapoints(&self) -> Vec<Family> {
        let points = self.each(|Tally { load: LoadSoFar { counts, .. }, .. }| {
            let (of, points) = (|fate, count| (Some(("fate", fate)), count), counts.points);
            let sent = [of("acked", points.acked), of("failed", points.failed), of("unknown", points.unknown)];
            sent.into_iter().chain([of("dropped", points.dropped)])
        });
        let values = self.each(|tally| [(None, tally.load.counts.values_acked)]);
        let rows = self.each(|tally| [(None, tally.load.counts.rows_read)]);
        let bytes = self.each(|tally| [(None, tally.load.counts.bytes)]);
        let help = "Datapoints by their fate; dropped: lost before they were sent";
        let content = "Content sent and received, as far as the backend tells";
        vec![
            counter("iotbench_points", "{datapoint}", help, points),
            counter("iotbench_values", "{value}", "Values of the acknowledged datapoints", values),
            counter("iotbench_rows_read", "{row}", "Rows of answers", rows),
            counter("iotbench_content_bytes", "By", content, bytes),
        ]
    }

    fn responses(&self) -> Vec<Family> {
        let responses = self.targets.iter().map(|(target, tally)| (target.labels(None), tally.response.clone()));
        vec![Family {
            name: "iotbench_response_seconds".into(),
            help: "Response times of operations that succeeded",
            unit: "s",
            figures: Figures::Histogram(responses.collect()),
        }]
    }

    fn resources(&self) -> Vec<Family> {
        let cpu = self.each_place(|used| Some(used.usage.cpu_s));
        let read = self.each_place(|used| used.usage.disk_read_bytes);
        let written = self.each_place(|used| used.usage.disk_written_bytes);
        let received = self.each_place(|used| used.usage.net_rx_bytes);
        let sent = self.each_place(|used| used.usage.net_tx_bytes);
        let memory = self.each_place(|used| used.memory_bytes);
        let held = "Memory of a role's processes, shared pages once where known";
        vec![
            counter("iotbench_cpu_seconds", "s", "CPU time of a role's processes, in seconds of one core", cpu),
            counter("iotbench_disk_read_bytes", "By", "Bytes fetched from storage devices", read),
            counter("iotbench_disk_written_bytes", "By", "Bytes sent to storage devices", written),
            counter("iotbench_network_received_bytes", "By", "Bytes received", received),
            counter("iotbench_network_sent_bytes", "By", "Bytes sent", sent),
            gauge("iotbench_memory_bytes", "By", held, memory),
        ]
    }

    /// What is only told of the run that is under way.
    fn present(&self) -> Vec<Family> {
        let present = self.present.as_ref().and_then(|present| Some((&self.targets.get(present.target)?.0, present)));
        let phases = present.iter().flat_map(|(target, present)| {
            let of = |phase: Phase| (target.labels(Some(("phase", phase.name()))), u64::from(phase == present.phase));
            PHASES.map(of)
        });
        let users = present.iter().map(|(target, present)| (target.labels(None), u64::from(present.figures.users)));
        let step = present.iter().filter_map(|(target, p)| Some((target.labels(None), u64::from(p.step?.load))));
        let quantiles = present.iter().flat_map(|(target, present)| {
            let of = |quantile, ns: Option<u64>| {
                Some((target.labels(Some(("quantile", quantile))), Duration::from_nanos(ns?).as_secs_f64()))
            };
            [of("0.5", present.figures.p50_ns), of("0.99", present.figures.p99_ns)].into_iter().flatten()
        });
        let last = "Response times of the last second that succeeded";
        vec![
            gauge("iotbench_phase", "", "1 for the phase that the run is in", phases),
            gauge("iotbench_users", "{user}", "Virtual users; 0 where there are none", users),
            gauge("iotbench_step_load", "", "The load of a search's present step", step),
            gauge("iotbench_response_quantile_seconds", "s", last, quantiles),
        ]
    }

    /// Counts of each target.
    fn each<'a, I: IntoIterator<Item = (Option<(&'static str, &'a str)>, u64)>>(
        &'a self,
        counts: impl Fn(&'a Tally) -> I,
    ) -> impl Iterator<Item = (Labels, u64)> {
        self.targets.iter().flat_map(move |(target, tally)| {
            counts(tally).into_iter().map(move |(label, count)| (target.labels(label), count))
        })
    }

    /// A figure of each role and node, where it is known.
    fn each_place<V>(&self, figure: impl Fn(&Used) -> Option<V>) -> impl Iterator<Item = (Labels, V)> {
        let places = self.targets.iter().flat_map(|(target, tally)| tally.used.iter().map(move |used| (target, used)));
        places.filter_map(move |(target, ((role, node), used)): (&Target, (&Place, &Used))| {
            let mut labels = target.labels(None);
            labels.extend([("role", role.to_string()), ("node", node.to_string())]);
            Some((labels, figure(used)?))
        })
    }
}

impl Target {
    pub(super) fn labels(&self, label: Option<(&'static str, &str)>) -> Labels {
        let own = [("profile", &*self.profile), ("backend", &*self.backend), ("layout", &*self.layout)];
        own.into_iter().chain(label).map(|(name, value)| (name, value.to_owned())).collect()
    }
}

fn counter<V: Into<Number>>(
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    counts: impl Iterator<Item = (Labels, V)>,
) -> Family {
    let counts = counts.map(|(labels, count)| (labels, count.into()));
    Family { name: name.into(), help, unit, figures: Figures::Counter(counts.collect()) }
}

fn gauge<V: Into<Number>>(
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    figures: impl Iterator<Item = (Labels, V)>,
) -> Family {
    let figures = figures.map(|(labels, figure)| (labels, figure.into()));
    Family { name: name.into(), help, unit, figures: Figures::Gauge(figures.collect()) }
}
