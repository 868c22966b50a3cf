//! Writes a batch as points of the crate's, as its documentation shows it: each is built with its names, and goes into the
//! body as a piece of its own.

use super::of_request;
use crate::influxdb::DIALECT;
use ::influxdb2::{
    Client,
    models::{DataPoint, FieldValue},
};
use async_trait::async_trait;
use futures_util::stream;
use iotbench_backend_kit::line_protocol::{DEVICE, Encoder, SIGNAL, VALUE, device_digits};
use iotbench_core::{Acknowledged, Batch, Cause, Column, Error, Layout, Name, TableSpec, Writer};
use std::sync::Arc;

/// A client of the crate's that writes.
pub(crate) struct CrateWriter {
    client: Client,
    bucket: Name,
    table: Arc<TableSpec>,
    /// Refuses what our own client refuses.
    encoder: Encoder,
}

impl CrateWriter {
    pub(crate) fn new(client: Client, bucket: Name, table: Arc<TableSpec>) -> Result<Self, Error> {
        let encoder = Encoder::new(DIALECT, Arc::clone(&table))?;
        Ok(Self { client, bucket, table, encoder })
    }
}

#[async_trait]
impl Writer for CrateWriter {
    /// How many bytes were sent, the crate does not tell.
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        self.encoder.check(batch)?;
        let points = points(&self.table, batch)?;
        let lines = points.len();
        if lines > 0 {
            let written = self.client.write(self.bucket.as_str(), stream::iter(points)).await;
            written.map_err(|e| of_request(e, lines))?;
        }
        Ok(Acknowledged { points: batch.len() as u64, bytes: 0 })
    }
}

fn points(table: &TableSpec, batch: &Batch) -> Result<Vec<DataPoint>, Error> {
    let width = device_digits(table);
    let signals = table.schema.signals();
    let mut points = Vec::with_capacity(batch.len());
    for run_rows in batch.tagged_rows(table.schema.tags()) {
        let device = table.has_device_column().then(|| format!("{:0width$}", run_rows.run.device));
        let start = |time_ns: i64| {
            let point = DataPoint::builder(table.name.as_str()).timestamp(time_ns);
            let point = match &device {
                Some(device) => point.tag(DEVICE, device.as_str()),
                None => point,
            };
            let tags = table.schema.tags().at(run_rows.run.device, run_rows.run.first);
            tags.fold(point, |point, (tag, value)| point.tag(tag.name.as_str(), value.to_string()))
        };
        for row in run_rows.rows {
            let time_ns = batch.timestamps_ns()[row];
            let fields = signals.iter().zip(batch.columns()).map(|(signal, column)| (&signal.name, field(column, row)));
            if table.layout == Layout::Narrow {
                for (name, field) in fields {
                    points.push(start(time_ns).tag(SIGNAL, name).field(VALUE, field).build().map_err(refused)?);
                }
            } else {
                let point = fields.fold(start(time_ns), |point, (name, field)| point.field(name, field));
                points.push(point.build().map_err(refused)?);
            }
        }
    }
    Ok(points)
}

fn refused(error: impl std::fmt::Display) -> Error {
    Error::new(Cause::Client, error)
}

fn field(column: &Column, row: usize) -> FieldValue {
    match column {
        Column::F32(values) => FieldValue::F64(f64::from(values[row])),
        Column::F64(values) => FieldValue::F64(values[row]),
        Column::I64(values) => FieldValue::I64(values[row]),
        Column::U16(values) => FieldValue::I64(i64::from(values[row])),
        Column::Text(values) => FieldValue::String(values.get(row).unwrap_or_default().to_owned()),
    }
}
