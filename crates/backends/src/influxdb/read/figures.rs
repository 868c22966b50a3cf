//! Last, least, mean and greatest of signals, device by device.

use super::{
    decode::device_of,
    points::{Wanted, stream},
};
use crate::influxdb::{
    chunk::Series,
    client::Client,
    influxql::{Select, field, signal_name, signals_condition},
};
use iotbench_backend_kit::{
    cell::{Cell, number, value},
    figures::Streamed,
    line_protocol::{DEVICE, SIGNAL},
    series,
};
use iotbench_core::{Aggregate, ComputedBy, Error, Layout, Reply, SignalId, Sink, TableSpec, ValueType};

/// Which figures are wanted, over which datapoints.
pub(crate) struct Wish<'a> {
    pub(crate) wanted: Wanted<'a>,
    pub(crate) aggregates: &'a [Aggregate],
}

impl Wish<'_> {
    fn signals(&self) -> &[SignalId] {
        self.wanted.ask.signals
    }

    /// Answers with a row a device and aggregate.
    pub(crate) async fn answer(
        &self,
        client: &mut Client,
        table: &TableSpec,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let mut figures = Streamed::new(sink, self.signals().len(), self.aggregates.len());
        let types = self.signals().iter().map(|&signal| table.schema.signals()[usize::from(signal)].value_type);
        let types: Vec<ValueType> = types.collect();
        // InfluxQL does not cast texts to numbers.
        let (bytes, computed_by) = if types.contains(&ValueType::Text) {
            (self.of_datapoints(client, table, &types, &mut figures).await?, ComputedBy::Client)
        } else {
            let of_series = |series: &Series<'_>| self.take_series(table, series, &mut figures);
            (client.ask(&self.statement(table), of_series).await?, ComputedBy::Server)
        };
        figures.finish(bytes, computed_by)
    }

    fn statement(&self, table: &TableSpec) -> String {
        let figures = |field: &str| {
            let figures = self.aggregates.iter().map(|&aggregate| format!("{}({field})", function(aggregate)));
            figures.collect::<Vec<_>>().join(", ")
        };
        let is_narrow = table.layout == Layout::Narrow;
        let fields = if is_narrow { self.signals().get(..1).unwrap_or_default() } else { self.signals() };
        let columns: Vec<_> = fields.iter().map(|&signal| figures(&field(table, signal))).collect();
        let mut groups = Vec::new();
        groups.extend(table.has_device_column().then_some(DEVICE));
        groups.extend(is_narrow.then_some(SIGNAL));
        Select::new(&columns.join(", "), table)
            .filter(self.wanted.devices)
            .filter(&signals_condition(table, self.signals()))
            .during(self.wanted.ask.span)
            .group_by(&groups)
            .into_text()
    }

    /// The figures of one device, or in layout narrow of one signal of it.
    fn take_series(&self, table: &TableSpec, series: &Series<'_>, figures: &mut Streamed<'_>) -> Result<(), Error> {
        let first = match (table.layout, series.tags.get(SIGNAL)) {
            (Layout::Narrow, Some(name)) => {
                self.signals().iter().position(|&signal| signal_name(table, signal) == name.as_str())
            }
            (Layout::Narrow, None) => None,
            _ => Some(0),
        };
        let (Some(first), many) = (first, self.aggregates.len()) else { return Ok(()) };
        for row in series.rows() {
            figures.begin(device_of(series)?)?;
            for (place, cell) in row.iter().skip(1).enumerate() {
                figures.set(place % many, first + place / many, number(cell)?);
            }
        }
        Ok(())
    }

    /// The same out of every datapoint.
    async fn of_datapoints(
        &self,
        client: &mut Client,
        table: &TableSpec,
        types: &[ValueType],
        figures: &mut Streamed<'_>,
    ) -> Result<u64, Error> {
        let mut sums = vec![series::Series::default(); self.signals().len()];
        let mut take = |device: u32, _: i64, cells: &[Cell<'_>]| {
            if figures.begin(device)? {
                sums.fill(series::Series::default());
            }
            for (place, (cell, &value_type)) in cells.iter().zip(types).enumerate() {
                if let Some(number) = value(cell, value_type)?.and_then(|value| value.as_f64()) {
                    sums[place].take(number);
                    for (which, &aggregate) in self.aggregates.iter().enumerate() {
                        figures.set(which, place, sums[place].figure(aggregate));
                    }
                }
            }
            Ok(())
        };
        stream(client, table, &self.wanted, &mut take).await
    }
}

fn function(aggregate: Aggregate) -> &'static str {
    match aggregate {
        Aggregate::Last => "last",
        Aggregate::Min => "min",
        Aggregate::Mean => "mean",
        Aggregate::Max => "max",
    }
}
