//! Writes lines.

use super::{config::Config, error};
use iotbench_backend_kit::{
    http::{HttpWriter, connection::uri},
    line_protocol::{Dialect, Encoder, TimeRule},
};
use iotbench_core::{Batch, Cause, Column, Error, TableSpec, TimeUnit};
use std::sync::Arc;

/// The latest time that QuestDB stores.
const LATEST_NS: i64 = 9_214_646_399_999_999_999;

const DIALECT: Dialect = Dialect {
    product: "QuestDB",
    times: TimeRule { unit: TimeUnit::Ns, earliest_ns: 0, latest_ns: LATEST_NS },
    refuse_values,
    escapes_newlines: true,
    has_typed_fields: true,
};

/// A writer on a connection of its own.
pub(crate) async fn writer(config: &Config, table: Arc<TableSpec>) -> Result<HttpWriter<Encoder>, Error> {
    let address = uri(&format!("{}/write?precision=n", config.server.base_path))?;
    let encoder = Encoder::new(DIALECT, table)?;
    Ok(HttpWriter::new(config.server.connect().await?, address, encoder, config.gzip, error::of_write))
}

/// Refuses the integer that stands for no value, and the character that breaks the answers of `/exec`.
fn refuse_values(batch: &Batch) -> Result<(), Error> {
    for column in batch.columns() {
        let refused = match column {
            Column::I64(values) if values.contains(&i64::MIN) => "the integer -9223372036854775808, which is its NULL",
            Column::Text(texts)
                if (0..batch.len()).any(|row| texts.get(row).is_some_and(|text| text.contains('\0'))) =>
            {
                "a text with the character U+0000, which comes back as no JSON"
            }
            _ => continue,
        };
        return Err(Error::new(Cause::Data, format!("QuestDB does not keep {refused}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Run, Schema, Signal, Value, ValueType};

    fn is_taken(value: Value<'_>, value_type: ValueType) -> bool {
        let signal = Signal { name: "a".into(), value_type, max_text_bytes: 9 };
        let mut batch = Batch::new(&Schema::new(vec![signal]).unwrap());
        batch.append(Run { device: 0, first: 0, count: 1 }, |times, columns| {
            times.push(0);
            assert!(columns[0].push(value));
        });
        refuse_values(&batch).is_ok()
    }

    #[test]
    fn what_would_come_back_as_something_else_is_refused() {
        assert!(is_taken(Value::I64(i64::MIN + 1), ValueType::I64) && !is_taken(Value::I64(i64::MIN), ValueType::I64));
        assert!(is_taken(Value::Text("\u{1}"), ValueType::Text) && !is_taken(Value::Text("a\0"), ValueType::Text));
    }
}
