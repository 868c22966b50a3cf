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
    answer::Answer,
    cell::{Cell, number, value},
    line_protocol::{DEVICE, SIGNAL},
};
use iotbench_core::{Aggregate, ComputedBy, Error, Layout, Reply, SignalId, Sink, TableSpec, Value, ValueType};

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
        let mut rows = Rows {
            answer: Answer::new(sink, vec![ValueType::F64; self.signals().len()]),
            aggregates: self.aggregates,
            width: self.signals().len(),
            device: None,
            figures: vec![None; self.signals().len() * self.aggregates.len()],
        };
        let types = self.signals().iter().map(|&signal| table.schema.signals()[usize::from(signal)].value_type);
        let types: Vec<ValueType> = types.collect();
        // InfluxQL does not cast texts to numbers.
        let (bytes, computed_by) = if types.contains(&ValueType::Text) {
            (self.of_datapoints(client, table, &types, &mut rows).await?, ComputedBy::Client)
        } else {
            let of_series = |series: &Series<'_>| self.take_series(table, series, &mut rows);
            (client.ask(&self.statement(table), of_series).await?, ComputedBy::Server)
        };
        rows.flush()?;
        rows.answer.finish(bytes, computed_by)
    }

    fn statement(&self, table: &TableSpec) -> String {
        let figures = |field: &str| {
            let figures = self.aggregates.iter().map(|&aggregate| format!("{}({field})", function(aggregate)));
            figures.collect::<Vec<_>>().join(", ")
        };
        let is_narrow = table.layout == Layout::Narrow;
        let fields = if is_narrow { &self.signals()[..1] } else { self.signals() };
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
    fn take_series(&self, table: &TableSpec, series: &Series<'_>, rows: &mut Rows<'_>) -> Result<(), Error> {
        let first = match (table.layout, series.tags.get(SIGNAL)) {
            (Layout::Narrow, Some(name)) => {
                self.signals().iter().position(|&signal| signal_name(table, signal) == name.as_str())
            }
            (Layout::Narrow, None) => None,
            _ => Some(0),
        };
        let (Some(first), many) = (first, self.aggregates.len()) else { return Ok(()) };
        for row in series.rows() {
            rows.begin(device_of(series)?)?;
            for (place, cell) in row.iter().skip(1).enumerate() {
                rows.set(first + place / many, place % many, number(cell)?);
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
        rows: &mut Rows<'_>,
    ) -> Result<u64, Error> {
        let mut sums = vec![Sums::default(); self.signals().len()];
        let mut take = |device: u32, _: i64, cells: &[Cell<'_>]| {
            if rows.device != Some(device) {
                sums.fill(Sums::default());
                rows.begin(device)?;
            }
            for (place, (cell, &value_type)) in cells.iter().zip(types).enumerate() {
                if let Some(number) = value(cell, value_type)?.and_then(|value| value.as_f64()) {
                    sums[place].add(number);
                    for (which, &aggregate) in self.aggregates.iter().enumerate() {
                        rows.set(place, which, Some(sums[place].figure(aggregate)));
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

/// Collects the figures of one device and answers with them when the next one begins.
struct Rows<'a> {
    answer: Answer<'a>,
    aggregates: &'a [Aggregate],
    width: usize,
    device: Option<u32>,
    figures: Vec<Option<f64>>,
}

impl Rows<'_> {
    fn begin(&mut self, device: u32) -> Result<(), Error> {
        if self.device != Some(device) {
            self.flush()?;
            self.device = Some(device);
        }
        Ok(())
    }

    fn set(&mut self, signal: usize, aggregate: usize, figure: Option<f64>) {
        if let Some(place) = self.figures.get_mut(aggregate * self.width + signal) {
            *place = figure;
        }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let Some(device) = self.device.take() else { return Ok(()) };
        for figures in self.figures.chunks(self.width).take(self.aggregates.len()) {
            self.answer.row(device, 0, |columns| {
                columns.iter_mut().zip(figures).try_for_each(|(column, figure)| column.push(figure.map(Value::F64)))
            })?;
        }
        self.figures.fill(None);
        Ok(())
    }
}

/// What figures are made of.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    last: f64,
    min: f64,
    max: f64,
    sum: f64,
    count: u64,
}

impl Sums {
    fn add(&mut self, number: f64) {
        let is_first = self.count == 0;
        self.min = if is_first { number } else { self.min.min(number) };
        self.max = if is_first { number } else { self.max.max(number) };
        self.last = number;
        self.sum += number;
        self.count += 1;
    }

    fn figure(&self, aggregate: Aggregate) -> f64 {
        match aggregate {
            Aggregate::Last => self.last,
            Aggregate::Min => self.min,
            Aggregate::Max => self.max,
            #[expect(clippy::cast_precision_loss, reason = "fewer points than 2^53")]
            Aggregate::Mean => self.sum / self.count as f64,
        }
    }
}
