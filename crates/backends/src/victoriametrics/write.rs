//! Writes lines: each value becomes a sample of a series of its own.

use super::{
    GREATEST_INTEGER,
    client::connect,
    config::Config,
    error,
    series::{EARLIEST_MS, OWN_LABEL, Own},
};
use iotbench_backend_kit::http::connection::uri;
use iotbench_backend_kit::{
    http::HttpWriter,
    line_protocol::{Dialect, Encoder, TimeRule},
};
use iotbench_core::{Batch, Cause, Column, Error, TableSpec, TimeUnit};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::sync::Arc;

const DIALECT: Dialect = Dialect {
    product: "VictoriaMetrics",
    times: TimeRule { unit: TimeUnit::Ms, earliest_ns: EARLIEST_MS * 1_000_000, latest_ns: i64::MAX },
    refuse_values,
    escapes_newlines: false,
    has_typed_fields: false,
};

/// A writer on a connection of its own. The label that makes the series ours is added by the server.
pub(crate) async fn writer(config: &Config, own: &Own, table: Arc<TableSpec>) -> Result<HttpWriter<Encoder>, Error> {
    let label = utf8_percent_encode(&own.label, NON_ALPHANUMERIC);
    let (path, database) = (&config.server.base_path, &config.database);
    let path = format!("{path}/write?db={database}&precision=ms&extra_label={OWN_LABEL}={label}");
    let encoder = Encoder::new(DIALECT, table)?;
    Ok(HttpWriter::new(connect(&config.server).await?, uri(&path)?, encoder, config.gzip, error::of_write))
}

/// Refuses what a 64-bit float does not hold.
fn refuse_values(batch: &Batch) -> Result<(), Error> {
    let held = -GREATEST_INTEGER..=GREATEST_INTEGER;
    for column in batch.columns() {
        if let Column::I64(values) = column
            && let Some(value) = values.iter().find(|value| !held.contains(*value))
        {
            let message = format!("VictoriaMetrics keeps every number as a 64-bit float, which does not hold {value}");
            return Err(Error::new(Cause::Data, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Run, Schema, Signal, Value, ValueType};

    #[test]
    fn integers_that_would_be_rounded_are_refused() {
        let signal = Signal { name: "a".into(), value_type: ValueType::I64, max_text_bytes: 0 };
        let schema = Schema::new(vec![signal]).unwrap();
        for (value, is_taken) in [
            (0, true),
            (GREATEST_INTEGER, true),
            (-GREATEST_INTEGER, true),
            (GREATEST_INTEGER + 1, false),
            (i64::MIN, false),
        ] {
            let mut batch = Batch::new(&schema);
            batch.append(Run { device: 0, first: 0, count: 1 }, |times, columns| {
                times.push(0);
                assert!(columns[0].push(Value::I64(value)));
            });
            assert_eq!(refuse_values(&batch).is_ok(), is_taken, "{value}");
        }
    }
}
