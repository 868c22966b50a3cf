//! Writes a batch as one request: for each value an object with the name of its stream, its time and the value, both as
//! texts, as NREL's own client writes them. The server would make a float of a number, and a text becomes a decimal number
//! as it stands.

use super::{
    ALL,
    client::{JSON, POST_DATA},
    error::of_write,
    names::stream,
};
use async_trait::async_trait;
use hyper::{StatusCode, Uri, body::Bytes};
use iotbench_backend_kit::{
    http::{
        Connection, Server,
        connection::{given_up, uri},
        limits::MAX_REFUSAL_BYTES,
    },
    millis::NS_PER_MS,
    refuse::refuse,
};
use iotbench_core::{Acknowledged, Batch, Cause, Column, Error, SignalId, TableSpec, Writer};
use std::{mem, sync::Arc};

/// The server answers a value that equals this number with nothing; with a point behind it, it is another one to it.
const ANSWERED_WITH_NOTHING: i64 = 2_147_483_647;

/// A connection that posts batches.
pub(crate) struct DatabusWriter {
    /// `None` once an exchange was left in the middle.
    connection: Option<Connection>,
    uri: Uri,
    table: Arc<TableSpec>,
    encoder: Encoder,
    text: Vec<u8>,
}

impl DatabusWriter {
    pub(crate) async fn connect(server: &Server, table: Arc<TableSpec>, stem: &str) -> Result<Self, Error> {
        Ok(Self {
            connection: Some(server.connect().await?),
            uri: uri(&format!("{}{POST_DATA}", server.base_path))?,
            encoder: Encoder::new(&table, stem)?,
            table,
            text: Vec::new(),
        })
    }

    async fn post(&mut self, body: Bytes) -> Result<(), Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let response = connection.post(&self.uri, JSON, body).await?;
        let (head, body) = response.into_parts();
        let text = connection.short_body(body, MAX_REFUSAL_BYTES).await?;
        self.connection = Some(connection);
        if head.status == StatusCode::OK { Ok(()) } else { Err(of_write(head.status, &head.headers, &text)) }
    }
}

#[async_trait]
impl Writer for DatabusWriter {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        refuse(batch, &self.table)?;
        refuse_times(batch)?;
        let points = batch.len() as u64;
        if points == 0 {
            return Ok(Acknowledged::default());
        }
        self.encoder.encode(batch, &mut self.text);
        let body = Bytes::from(mem::take(&mut self.text));
        let bytes = body.len() as u64;
        let posted = self.post(body.clone()).await;
        // The request is answered, and so its body is ours alone again: this gives back the buffer and copies nothing.
        self.text = Vec::from(body);
        posted.map(|()| Acknowledged { points, bytes })
    }
}

/// Refuses times between milliseconds, and those that no question reaches.
///
/// # Errors
/// Data with nothing applied.
fn refuse_times(batch: &Batch) -> Result<(), Error> {
    match batch.timestamps_ns().iter().find(|&&time| !ALL.holds(time)) {
        None => Ok(()),
        Some(time) => {
            let message = format!("Databus stores whole milliseconds from 1970 to 2199, and not the time {time} ns");
            Err(Error::new(Cause::Data, message))
        }
    }
}

/// Encodes batches. Nothing is allocated per datapoint once the buffer has its size.
struct Encoder {
    /// What the object of each stream begins with, device by device and signal by signal, up to the time.
    heads: Vec<Vec<u8>>,
    width: usize,
}

impl Encoder {
    fn new(table: &TableSpec, stem: &str) -> Result<Self, Error> {
        let width = table.schema.width();
        let signals = SignalId::try_from(width).map_err(|e| Error::new(Cause::Client, e))?;
        let streams =
            (0..table.devices).flat_map(|device| (0..signals).map(move |signal| stream(stem, device, signal)));
        let heads = streams.map(|name| format!(r#"{{"_tableName":"{name}","time":""#).into_bytes()).collect();
        Ok(Self { heads, width })
    }

    /// Puts a batch in the place of what `out` holds.
    fn encode(&self, batch: &Batch, out: &mut Vec<u8>) {
        let mut digits = itoa::Buffer::new();
        out.clear();
        out.extend_from_slice(br#"{"_dataset":["#);
        for run_rows in batch.run_rows() {
            let heads = &self.heads[run_rows.run.device as usize * self.width..][..self.width];
            for row in run_rows.rows {
                let time = digits.format(batch.timestamps_ns()[row] / NS_PER_MS).as_bytes();
                for (head, column) in heads.iter().zip(batch.columns()) {
                    out.extend_from_slice(head);
                    out.extend_from_slice(time);
                    out.extend_from_slice(br#"","value":""#);
                    push_value(out, column, row);
                    out.extend_from_slice(br#""},"#);
                }
            }
        }
        if out.last() == Some(&b',') {
            out.pop();
        }
        out.extend_from_slice(b"]}");
    }
}

/// Floats are written in the shortest decimal form of their 64-bit value.
fn push_value(out: &mut Vec<u8>, column: &Column, row: usize) {
    match column {
        Column::F32(values) => {
            out.extend_from_slice(zmij::Buffer::new().format_finite(f64::from(values[row])).as_bytes());
        }
        Column::F64(values) => out.extend_from_slice(zmij::Buffer::new().format_finite(values[row]).as_bytes()),
        Column::I64(values) => {
            out.extend_from_slice(itoa::Buffer::new().format(values[row]).as_bytes());
            if values[row] == ANSWERED_WITH_NOTHING {
                out.extend_from_slice(b".0");
            }
        }
        Column::U16(values) => out.extend_from_slice(itoa::Buffer::new().format(values[row]).as_bytes()),
        // No schema with texts comes here: the capabilities exclude them.
        Column::Text(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Applied, Layout, Marker, Name, Run, Schema, Signal, Value, ValueType};

    fn table() -> TableSpec {
        let signal = |name: &str, value_type| Signal { name: name.into(), value_type, max_text_bytes: 0 };
        let types = [("a", ValueType::F64), ("b", ValueType::I64), ("c", ValueType::U16)];
        TableSpec {
            name: Name::new("t").unwrap(),
            layout: Layout::Wide,
            schema: Schema::new(types.map(|(name, value_type)| signal(name, value_type)).into()).unwrap(),
            devices: 12,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        }
    }

    fn batch(table: &TableSpec, points: u32, step_ns: i64) -> Batch {
        let mut batch = Batch::new(&table.schema);
        for device in [0, 11] {
            let run = Run { device, first: 0, count: points };
            batch.append(run, |times, columns| {
                for index in run.indices() {
                    times.push(i64::try_from(index).unwrap() * step_ns);
                    let values = [Value::F64(1e300), Value::I64(ANSWERED_WITH_NOTHING), Value::U16(7)];
                    for (column, value) in columns.iter_mut().zip(values) {
                        assert!(column.push(value));
                    }
                }
            });
        }
        batch
    }

    #[test]
    fn each_value_is_an_object_with_its_stream() {
        let table = table();
        let encoder = Encoder::new(&table, "s").unwrap();
        let mut out = b"what was there before".to_vec();
        encoder.encode(&batch(&table, 1, NS_PER_MS), &mut out);
        let expected = concat!(
            r#"{"_dataset":[{"_tableName":"s_0_0","time":"0","value":"1e+300"},"#,
            r#"{"_tableName":"s_0_1","time":"0","value":"2147483647.0"},"#,
            r#"{"_tableName":"s_0_2","time":"0","value":"7"},"#,
            r#"{"_tableName":"s_11_0","time":"0","value":"1e+300"},"#,
            r#"{"_tableName":"s_11_1","time":"0","value":"2147483647.0"},"#,
            r#"{"_tableName":"s_11_2","time":"0","value":"7"}]}"#,
        );
        assert_eq!(String::from_utf8(out.clone()).unwrap(), expected);
        encoder.encode(&Batch::new(&table.schema), &mut out);
        assert_eq!(out, br#"{"_dataset":[]}"#);
    }

    #[test]
    fn a_time_that_is_not_stored_as_it_is_is_refused() {
        let table = table();
        assert!(refuse_times(&batch(&table, 3, NS_PER_MS)).is_ok());
        for step_ns in [1, -NS_PER_MS, i64::MAX / NS_PER_MS * NS_PER_MS] {
            let error = refuse_times(&batch(&table, 2, step_ns)).unwrap_err();
            assert_eq!((error.cause, error.applied), (Cause::Data, Applied::No), "{step_ns}");
        }
    }

    #[test]
    fn a_warm_encoder_allocates_nothing() {
        let table = table();
        let (encoder, batch) = (Encoder::new(&table, "s").unwrap(), batch(&table, 500, NS_PER_MS));
        let mut out = Vec::new();
        encoder.encode(&batch, &mut out);
        let counted = allocation_counter::measure(|| encoder.encode(&batch, &mut out));
        assert_eq!(counted.count_total, 0);
    }
}
