//! The figures as Prometheus reads them: OpenMetrics text. <https://prometheus.io/docs/specs/om/open_metrics_spec/>

use super::{
    board::Board,
    families::{Family, Figures, Labels, Number},
    tally::bounds_s,
};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, NoLabelSet, text::encode},
    metrics::MetricType,
    registry::Registry,
};
use std::fmt;

pub(super) fn text(board: &Board) -> Result<String, fmt::Error> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Families(board.families())));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

#[derive(Debug)]
struct Families(Vec<Family>);

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|family| one_family(&mut encoder, family))
    }
}

fn one_family(encoder: &mut DescriptorEncoder<'_>, Family { name, help, figures, .. }: &Family) -> fmt::Result {
    let mut family = encoder.encode_descriptor(name, help, None, kind(figures))?;
    let each = |figures: &[(Labels, Number)], one: &mut dyn FnMut(&Labels, Number) -> fmt::Result| {
        figures.iter().try_for_each(|(labels, number)| one(labels, *number))
    };
    match figures {
        Figures::Counter(counts) => each(counts, &mut |labels, number| {
            let mut encoder = family.encode_family(labels)?;
            match number {
                Number::Integer(count) => encoder.encode_counter::<NoLabelSet, _, f64>(&count, None),
                Number::Float(count) => encoder.encode_counter::<NoLabelSet, _, f64>(&count, None),
            }
        }),
        Figures::Gauge(figures) => each(figures, &mut |labels, number| {
            let mut encoder = family.encode_family(labels)?;
            match number {
                Number::Integer(figure) => encoder.encode_gauge(&figure),
                Number::Float(figure) => encoder.encode_gauge(&figure),
            }
        }),
        Figures::Histogram(all) => all.iter().try_for_each(|(labels, responses)| {
            let bounds = bounds_s().chain([f64::INFINITY]);
            let buckets: Vec<(f64, u64)> = bounds.zip(responses.buckets.iter().copied()).collect();
            let (sum_s, count) = (responses.sum_s, responses.count());
            family.encode_family(labels)?.encode_histogram::<NoLabelSet>(sum_s, count, &buckets, None)
        }),
    }
}

fn kind(figures: &Figures) -> MetricType {
    match figures {
        Figures::Counter(_) => MetricType::Counter,
        Figures::Gauge(_) => MetricType::Gauge,
        Figures::Histogram(_) => MetricType::Histogram,
    }
}
