//! Writes lines over TCP: `putm METRIC MILLISECONDS VALUE device=NUMBER TAG=VALUE…`, one a value. Nothing is acknowledged.

use super::refuse_batch;
use async_trait::async_trait;
use iotbench_backend_kit::{
    http::{error::of_connect, server::resolve},
    metrics::{DEVICE, NS_PER_MS, Queued, metric},
};
use iotbench_core::{
    Acknowledged, Action, Applied, Batch, Cause, Column, Error, SignalId, TableSpec, ValueType, Writer,
};
use std::{io::Write as _, sync::Arc};
use tokio::{io::AsyncWriteExt, net::TcpStream};

/// A connection that sends lines.
pub(crate) struct TelnetWriter {
    stream: TcpStream,
    table: Arc<TableSpec>,
    /// `putm METRIC ` of each signal.
    heads: Vec<Vec<u8>>,
    lines: Vec<u8>,
    queued: Arc<Queued>,
}

impl TelnetWriter {
    pub(crate) async fn connect(
        (host, port): &(String, u16),
        table: Arc<TableSpec>,
        queued: Arc<Queued>,
    ) -> Result<Self, Error> {
        if table.schema.signals().iter().any(|signal| signal.value_type == ValueType::Text) {
            let message = "a line holds no text with spaces: send texts with protocol = \"http\"";
            return Err(Error::new(Cause::Data, message).action(Action::Stop));
        }
        let addresses = resolve(host, *port).await?;
        let failed = |e: &std::io::Error| of_connect(e, host, *port);
        let stream = TcpStream::connect(addresses.as_slice()).await.map_err(|e| failed(&e))?;
        stream.set_nodelay(true).map_err(|e| failed(&e))?;
        let signals = (0..).take(table.schema.width());
        let heads = signals.map(|signal: SignalId| format!("putm {} ", metric(&table, signal)).into_bytes()).collect();
        Ok(Self { stream, table, heads, lines: Vec::new(), queued })
    }

    fn encode(&mut self, batch: &Batch) {
        let mut digits = itoa::Buffer::new();
        let out = &mut self.lines;
        out.clear();
        let tags = self.table.schema.tags();
        for run_rows in batch.tagged_rows(tags) {
            for row in run_rows.rows {
                let ms = batch.timestamps_ns()[row] / NS_PER_MS;
                for (head, column) in self.heads.iter().zip(batch.columns()) {
                    out.extend_from_slice(head);
                    out.extend_from_slice(digits.format(ms).as_bytes());
                    out.push(b' ');
                    push_number(out, column, row);
                    // Writing to a Vec cannot fail.
                    let _ = write!(out, " {DEVICE}={}", run_rows.run.device);
                    for (tag, value) in tags.at(run_rows.run.device, run_rows.run.first) {
                        let _ = write!(out, " {}={value}", tag.name);
                    }
                    out.push(b'\n');
                }
            }
        }
    }
}

#[async_trait]
impl Writer for TelnetWriter {
    /// Hands a batch to the network: that is all that success says.
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        refuse_batch(batch, &self.table)?;
        self.encode(batch);
        let sent = self.stream.write_all(&self.lines).await;
        sent.map_err(|e| Error::new(Cause::Connect, e).action(Action::DiscardWriter).applied(Applied::Maybe))?;
        let points = batch.len() as u64;
        self.queued.acknowledged(points * batch.columns().len() as u64);
        Ok(Acknowledged { points, bytes: self.lines.len() as u64 })
    }
}

fn push_number(out: &mut Vec<u8>, column: &Column, row: usize) {
    match column {
        Column::F32(values) => push_float(out, f64::from(values[row])),
        Column::F64(values) => push_float(out, values[row]),
        Column::I64(values) => out.extend_from_slice(itoa::Buffer::new().format(values[row]).as_bytes()),
        Column::U16(values) => out.extend_from_slice(itoa::Buffer::new().format(values[row]).as_bytes()),
        // Refused when the connection was made.
        Column::Text(_) => {}
    }
}

/// A number is a float where it has a point.
fn push_float(out: &mut Vec<u8>, value: f64) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value);
    if text.contains('.') {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    let (mantissa, exponent) = text.split_at(text.find('e').unwrap_or(text.len()));
    for part in [mantissa, ".0", exponent] {
        out.extend_from_slice(part.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_float_has_a_point_and_stays_what_it_is() {
        for value in [0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, -1e22, f64::MAX] {
            let mut out = Vec::new();
            push_float(&mut out, value);
            let text = String::from_utf8(out).unwrap();
            assert!(text.contains('.'), "{text}");
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{text}");
        }
    }
}
