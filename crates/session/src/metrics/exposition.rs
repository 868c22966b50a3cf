//! The figures as Prometheus reads them: OpenMetrics text. <https://prometheus.io/docs/specs/om/open_metrics_spec/>

use super::{
    Board, Target,
    tally::{BOUNDS_NS, Place, Responses, Tally, Used},
};
use crate::watch::{LoadSoFar, PHASES};
use iotbench_engine::Phase;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, NoLabelSet, text::encode},
    metrics::MetricType,
    registry::Registry,
};
use std::{fmt, time::Duration};

type Labels = Vec<(&'static str, String)>;

pub(super) fn text(board: &Board) -> Result<String, fmt::Error> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(board.clone()));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

impl Collector for Board {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.operations(&mut encoder)?;
        self.datapoints(&mut encoder)?;
        self.responses(&mut encoder)?;
        self.resources(&mut encoder)?;
        self.present(&mut encoder)
    }
}

impl Board {
    fn operations(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let offered = self.each(|tally| [(None, tally.load.counts.offered)]);
        counter(encoder, "iotbench_operations_offered", "Operations that were due", offered)?;
        let ended = self.each(|Tally { load: LoadSoFar { counts, .. }, .. }| {
            let of = |outcome, count| (Some(("outcome", outcome)), count);
            [of("ok", counts.ok), of("fail", counts.fail), of("unknown", counts.unknown), of("dropped", counts.dropped)]
        });
        counter(encoder, "iotbench_operations", "Operations by how they ended; dropped: never started", ended)?;
        let errors =
            self.each(|tally| tally.load.errors.iter().map(|(cause, &count)| (Some(("cause", cause.as_str())), count)));
        counter(encoder, "iotbench_errors", "Errors by cause", errors)
    }

    fn datapoints(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let points = self.each(|Tally { load: LoadSoFar { counts, .. }, .. }| {
            let (of, points) = (|fate, count| (Some(("fate", fate)), count), counts.points);
            let sent = [of("acked", points.acked), of("failed", points.failed), of("unknown", points.unknown)];
            sent.into_iter().chain([of("dropped", points.dropped)])
        });
        counter(encoder, "iotbench_points", "Datapoints by their fate; dropped: lost before they were sent", points)?;
        let values = self.each(|tally| [(None, tally.load.counts.values_acked)]);
        counter(encoder, "iotbench_values", "Values of the acknowledged datapoints", values)?;
        let rows = self.each(|tally| [(None, tally.load.counts.rows_read)]);
        counter(encoder, "iotbench_rows_read", "Rows of answers", rows)?;
        let bytes = self.each(|tally| [(None, tally.load.counts.bytes)]);
        counter(encoder, "iotbench_content_bytes", "Content sent and received, as far as the backend tells", bytes)
    }

    fn responses(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let (name, help) = ("iotbench_response_seconds", "Response times of operations that succeeded");
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
        for (target, tally) in &self.targets {
            let Responses { buckets, sum_s } = &tally.response;
            #[expect(clippy::cast_precision_loss, reason = "bounds of two digits")]
            let bounds = BOUNDS_NS.iter().map(|&ns| ns as f64 / 1e9).chain([f64::INFINITY]);
            let buckets: Vec<(f64, u64)> = bounds.zip(buckets.iter().copied()).collect();
            let (labels, count) = (target.labels(None), tally.response.count());
            family.encode_family(&labels)?.encode_histogram::<NoLabelSet>(*sum_s, count, &buckets, None)?;
        }
        Ok(())
    }

    fn resources(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let cpu = self.each_place(|used| Some(used.usage.cpu_s));
        counter(encoder, "iotbench_cpu_seconds", "CPU time of a role's processes, in seconds of one core", cpu)?;
        let read = self.each_place(|used| used.usage.disk_read_bytes);
        counter(encoder, "iotbench_disk_read_bytes", "Bytes fetched from storage devices", read)?;
        let written = self.each_place(|used| used.usage.disk_written_bytes);
        counter(encoder, "iotbench_disk_written_bytes", "Bytes sent to storage devices", written)?;
        let received = self.each_place(|used| used.usage.net_rx_bytes);
        counter(encoder, "iotbench_network_received_bytes", "Bytes received", received)?;
        let sent = self.each_place(|used| used.usage.net_tx_bytes);
        counter(encoder, "iotbench_network_sent_bytes", "Bytes sent", sent)?;
        let memory = self.each_place(|used| used.memory_bytes);
        gauge(encoder, "iotbench_memory_bytes", "Memory of a role's processes, shared pages once where known", memory)
    }

    /// What is only told of the run that is under way.
    fn present(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let present = self.present.as_ref().and_then(|present| Some((&self.targets.get(present.target)?.0, present)));
        let phases = present.iter().flat_map(|(target, present)| {
            let of = |phase: Phase| (target.labels(Some(("phase", phase.name()))), u64::from(phase == present.phase));
            PHASES.map(of)
        });
        gauge(encoder, "iotbench_phase", "1 for the phase that the run is in", phases)?;
        let users = present.iter().map(|(target, present)| (target.labels(None), u64::from(present.figures.users)));
        gauge(encoder, "iotbench_users", "Virtual users; 0 where there are none", users)?;
        let step = present.iter().filter_map(|(target, p)| Some((target.labels(None), u64::from(p.step?.load))));
        gauge(encoder, "iotbench_step_load", "The load of a search's present step", step)?;
        let quantiles = present.iter().flat_map(|(target, present)| {
            let of = |quantile, ns: Option<u64>| {
                Some((target.labels(Some(("quantile", quantile))), Duration::from_nanos(ns?).as_secs_f64()))
            };
            [of("0.5", present.figures.p50_ns), of("0.99", present.figures.p99_ns)].into_iter().flatten()
        });
        let help = "Response times of the last second that succeeded";
        gauge(encoder, "iotbench_response_quantile_seconds", help, quantiles)
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
    fn labels(&self, label: Option<(&'static str, &str)>) -> Labels {
        let own = [("profile", &*self.profile), ("backend", &*self.backend), ("layout", self.layout)];
        own.into_iter().chain(label).map(|(name, value)| (name, value.to_owned())).collect()
    }
}

fn counter<V: EncodeCounterValue>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    counts: impl Iterator<Item = (Labels, V)>,
) -> fmt::Result {
    let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
    for (labels, count) in counts {
        family.encode_family(&labels)?.encode_counter::<NoLabelSet, _, f64>(&count, None)?;
    }
    Ok(())
}

fn gauge<V: EncodeGaugeValue>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    figures: impl Iterator<Item = (Labels, V)>,
) -> fmt::Result {
    let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    for (labels, figure) in figures {
        family.encode_family(&labels)?.encode_gauge(&figure)?;
    }
    Ok(())
}
