//! What the server works out: counts, and figures of signals, device by device.

use crate::victoriametrics::{
    client::{Client, Figure, improper, window_text},
    series::{self, ALL, Own, signal_of},
};
use iotbench_backend_kit::{
    ask::{Ask, Asked},
    figures::Collected,
    line_protocol::{DEVICE, SIGNAL},
    millis::Millis,
};
use iotbench_core::{Aggregate, ComputedBy, Counts, Error, Reply, Sink, TableSpec};
use std::collections::BTreeMap;

/// The label that tells the figures of one expression apart.
const FIGURE: &str = "figure";

/// Datapoints and values, and the bytes of the answer. A device has as many datapoints as its fullest series has
/// samples: one that lost a value shows, one that lost all is gone. Flushes first: what was acknowledged and not dropped
/// is there.
pub(crate) async fn count(client: &mut Client, own: &Own) -> Result<(Counts, u64), Error> {
    client.flush().await?;
    let samples = format!("count_over_time({}{})", own.selector(), window_text(series::count(ALL)));
    let expression = format!(
        "union(label_set(sum(max({samples}) by ({DEVICE})), \"{FIGURE}\", \"points\"), \
         label_set(sum({samples}), \"{FIGURE}\", \"values\"))"
    );
    let (figures, bytes) = client.figures(&expression, ALL).await?;
    let of = |name: &str| figures.iter().find(|figure| figure.label(FIGURE) == name).map_or(Ok(0), whole);
    Ok((Counts { points: of("points")?, values: of("values")? }, bytes))
}

/// Samples of all devices of the first signal, which stands for the datapoints. Counting costs by the sample: this asks for one
/// series of each device, once. Flushes first.
pub(crate) async fn count_first_signal(client: &mut Client, own: &Own, table: &TableSpec) -> Result<u64, Error> {
    client.flush().await?;
    let Some(selector) = own.of(table, Asked::All, &[0]) else { return Ok(0) };
    let expression = format!("sum(count_over_time({selector}{}))", window_text(series::count(ALL)));
    let (figures, _) = client.figures(&expression, ALL).await?;
    figures.first().map_or(Ok(0), whole)
}

fn whole(figure: &Figure) -> Result<u64, Error> {
    let number = figure.number()?;
    let is_count = number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&number);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number from 0 to 2^53")]
    if is_count { Ok(number as u64) } else { Err(improper(&format!("{number} stands where a count should"))) }
}

/// Which figures are wanted, over which datapoints.
pub(crate) struct Wish<'a> {
    pub(crate) ask: Ask<'a>,
    pub(crate) aggregates: &'a [Aggregate],
    pub(crate) span: Millis,
}

impl Wish<'_> {
    /// Answers with a row a device and aggregate.
    pub(crate) async fn answer(
        &self,
        client: &mut Client,
        own: &Own,
        table: &TableSpec,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let width = self.ask.signals.len();
        let mut collected = Collected::default();
        let (Some(selector), false) = (own.of(table, self.ask.devices, self.ask.signals), self.aggregates.is_empty())
        else {
            return collected.answer(width, 0, ComputedBy::Server, sink);
        };
        let (figures, bytes) = client.figures(&self.expression(&selector, series::count(self.span)), self.span).await?;
        for figure in &figures {
            let Some((device, place)) = self.place(table, &figure.metric)? else { continue };
            collected.set((device, 0), place, width * self.aggregates.len(), Some(figure.number()?));
        }
        collected.answer(width, bytes, ComputedBy::Server, sink)
    }

    pub(super) fn expression(&self, selector: &str, window_ms: i64) -> String {
        let figures = self.aggregates.iter().enumerate().map(|(number, &aggregate)| {
            let values = format!("{selector}{}", window_text(window_ms));
            let figure = format!("{} keep_metric_names", call(aggregate, &values));
            format!("label_set({figure}, \"{FIGURE}\", \"{number}\")")
        });
        format!("union({})", figures.collect::<Vec<_>>().join(", "))
    }

    /// The device of a figure, and its place among the figures of that device; `None` for one that is not wanted.
    pub(super) fn place(
        &self,
        table: &TableSpec,
        labels: &BTreeMap<String, String>,
    ) -> Result<Option<(u32, usize)>, Error> {
        let label = |name: &str| labels.get(name).map_or("", String::as_str);
        let signal = signal_of(table, label("__name__"), labels.get(SIGNAL).map(String::as_str));
        let column = signal.and_then(|signal| self.ask.signals.iter().position(|&wanted| wanted == signal));
        let device = match label(DEVICE) {
            "" => 0,
            text => text.parse().map_err(|_| improper(&format!("the label {DEVICE} is {text:?}")))?,
        };
        let row: usize = label(FIGURE).parse().map_err(|_| improper(&"a figure without its number"))?;
        let is_wanted = self.ask.devices.contains(device) && row < self.aggregates.len();
        Ok(column.filter(|_| is_wanted).map(|column| (device, row * self.ask.signals.len() + column)))
    }
}

/// What gives a figure of values.
fn call(aggregate: Aggregate, values: &str) -> String {
    let function = match aggregate {
        Aggregate::First => "first_over_time",
        Aggregate::Last => "last_over_time",
        Aggregate::Min => "min_over_time",
        Aggregate::Mean => "avg_over_time",
        Aggregate::Max => "max_over_time",
        Aggregate::Sum => "sum_over_time",
        Aggregate::Count => "count_over_time",
        // Between two ranks it lies on the line from one value to the other.
        Aggregate::Percentile(percentile) => return format!("quantile_over_time({}, {values})", percentile.fraction()),
    };
    format!("{function}({values})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Percentile;

    #[test]
    fn a_percentile_is_asked_for_as_a_part_of_one() {
        let p99 = Aggregate::Percentile(Percentile::parse("p99").unwrap());
        assert_eq!(call(p99, "{a=\"b\"}[5ms]"), "quantile_over_time(0.99, {a=\"b\"}[5ms])");
        assert_eq!(call(Aggregate::Mean, "{a=\"b\"}[5ms]"), "avg_over_time({a=\"b\"}[5ms])");
    }
}
