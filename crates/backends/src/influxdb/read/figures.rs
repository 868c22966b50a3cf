//! Figures of signals, device by device, and of time buckets.

use super::{
    decode::{device_of, time},
    points::Wanted,
};
use crate::influxdb::{
    chunk::Series,
    client::Client,
    influxql::{Select, condition, field, signal_name, signals_condition},
};
use iotbench_backend_kit::{
    cell::number,
    figures::{Collected, Group, Streamed},
    grouped_by::{GroupedBy, place_of},
    line_protocol::{DEVICE, SIGNAL},
    percentile,
};
use iotbench_core::{Aggregate, BucketWidth, ComputedBy, Error, Layout, Reply, SignalId, Sink, TableSpec};

/// Takes a figure: of a group, an aggregate and a signal.
type Take<'t> = dyn FnMut(Group, usize, usize, Option<f64>) -> Result<(), Error> + 't;

/// Which figures are wanted, over which datapoints.
pub(crate) struct Wish<'a> {
    pub(crate) wanted: Wanted<'a>,
    pub(crate) aggregates: &'a [Aggregate],
    /// In buckets as long as this.
    pub(crate) width: Option<BucketWidth>,
    /// Of which datapoints together.
    pub(crate) by: GroupedBy,
}

impl Wish<'_> {
    fn signals(&self) -> &[SignalId] {
        self.wanted.ask.signals
    }

    /// Whether the least value is asked for too: where the rank of a percentile is below a half the server has none, and the least
    /// is the nearest.
    fn has_least(&self) -> bool {
        percentile::is_among(self.aggregates)
    }

    /// Answers with a row a device, bucket and aggregate.
    pub(crate) async fn answer(
        &self,
        client: &mut Client,
        table: &TableSpec,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let signals = self.signals().len();
        let tag = self.by.tag(table.schema.tags())?;
        // In layout narrow the buckets of a device come signal by signal, and the values of a tag come by the alphabet.
        if tag.is_some() || self.width.is_some() && table.layout == Layout::Narrow {
            let (mut figures, width) = (Collected::default(), signals * self.aggregates.len());
            let of_series = |series: &Series<'_>| {
                self.take_series(table, series, &mut |group, aggregate, signal, figure| {
                    figures.set(group, aggregate * signals + signal, width, figure);
                    Ok(())
                })
            };
            let bytes = client.ask(&self.statement(table, tag), of_series).await?;
            return figures.answer(signals, bytes, ComputedBy::Server, sink);
        }
        let mut figures = Streamed::new(sink, signals, self.aggregates.len());
        let of_series = |series: &Series<'_>| {
            self.take_series(table, series, &mut |group, aggregate, signal, figure| {
                figures.begin(group)?;
                figures.set(aggregate, signal, figure);
                Ok(())
            })
        };
        let bytes = client.ask(&self.statement(table, tag), of_series).await?;
        figures.finish(bytes, ComputedBy::Server)
    }

    fn statement(&self, table: &TableSpec, tag: Option<&str>) -> String {
        let figures = |field: &str| {
            let figures = self.aggregates.iter().map(|&aggregate| call(aggregate, field));
            figures.chain(self.has_least().then(|| call(Aggregate::Min, field))).collect::<Vec<_>>().join(", ")
        };
        let is_narrow = table.layout == Layout::Narrow;
        let fields = if is_narrow { self.signals().get(..1).unwrap_or_default() } else { self.signals() };
        let columns: Vec<_> = fields.iter().map(|&signal| figures(&field(table, signal))).collect();
        let mut groups = Vec::new();
        groups.extend((table.has_device_column() && self.by == GroupedBy::Device).then_some(DEVICE));
        groups.extend(tag);
        groups.extend(is_narrow.then_some(SIGNAL));
        let holds = self.wanted.ask.predicate;
        let select = Select::new(&columns.join(", "), table)
            .filter(self.wanted.devices)
            .filter(&signals_condition(table, self.signals()))
            .filter(&holds.map_or(String::new(), |holds| condition(&field(table, self.wanted.ask.signal), holds)))
            .during(self.wanted.ask.span)
            .group_by(&groups, self.width);
        match self.wanted.ask.newest() {
            Some(buckets) => select.latest_first().limit(buckets).into_text(),
            None => select.into_text(),
        }
    }

    /// The figures of one device or value of a tag, or in layout narrow of one signal of it.
    fn take_series(&self, table: &TableSpec, series: &Series<'_>, take: &mut Take<'_>) -> Result<(), Error> {
        let first = match (table.layout, series.tags.get(SIGNAL)) {
            (Layout::Narrow, Some(name)) => {
                self.signals().iter().position(|&signal| signal_name(table, signal) == name.as_str())
            }
            (Layout::Narrow, None) => None,
            _ => Some(0),
        };
        let Some(first) = first else { return Ok(()) };
        let many = self.aggregates.len() + usize::from(self.has_least());
        let of = match self.by {
            GroupedBy::Tag(tag) => {
                let tags = table.schema.tags();
                place_of(tags, tag, self.by.tag(tags)?.and_then(|name| series.tags.get(name)).map(String::as_str))?
            }
            GroupedBy::Device | GroupedBy::Nothing => device_of(series)?,
        };
        for row in series.rows() {
            let group = (of, if self.width.is_some() { time(row)? } else { 0 });
            for (signal, cells) in row.get(1..).unwrap_or_default().chunks(many).enumerate() {
                for (place, (aggregate, cell)) in self.aggregates.iter().zip(cells).enumerate() {
                    let least = cells.last().filter(|_| aggregate.is_percentile());
                    let figure = match number(cell)? {
                        None => least.map(number).transpose()?.flatten(),
                        figure => figure,
                    };
                    take(group, place, first + signal, figure)?;
                }
            }
        }
        Ok(())
    }
}

/// What gives a figure of a field.
fn call(aggregate: Aggregate, field: &str) -> String {
    let function = match aggregate {
        Aggregate::First => "first",
        Aggregate::Last => "last",
        Aggregate::Min => "min",
        Aggregate::Mean => "mean",
        Aggregate::Max => "max",
        Aggregate::Sum => "sum",
        Aggregate::Count => "count",
        Aggregate::Percentile(percentile) => return format!("percentile({field}, {})", percentile.percent()),
    };
    format!("{function}({field})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Percentile;

    #[test]
    fn a_percentile_is_asked_for_in_percent() {
        let of = |text| call(Aggregate::Percentile(Percentile::parse(text).unwrap()), "\"a\"");
        assert_eq!((of("p99.9"), of("p50")), ("percentile(\"a\", 99.9)".into(), "percentile(\"a\", 50)".into()));
    }
}
