//! What became of the values of one request, by the server's account of it. Pure.

use crate::opentsdb::error::{of_value, of_write};
use hyper::{HeaderMap, StatusCode};
use iotbench_backend_kit::metrics::{DEVICE, NS_PER_MS, prefix};
use iotbench_core::{Applied, Batch, Error, TableSpec};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// The answer to `/api/put?details`: it comes with 400 where a value is invalid, and with 200 where HBase took one not.
#[derive(Debug, Deserialize)]
struct Account {
    success: u64,
    failed: u64,
    errors: Vec<Refused>,
}

/// A value that was not stored, and why.
#[derive(Debug, Deserialize)]
struct Refused {
    datapoint: Option<Datapoint>,
    error: String,
}

#[derive(Debug, Deserialize)]
struct Datapoint {
    metric: String,
    timestamp: i64,
    tags: BTreeMap<String, String>,
}

/// Judges the answer to a request that held these rows of a batch. Rows of which each value was taken are told to be applied.
///
/// # Errors
/// The first value's, unless all were taken.
pub(crate) fn judge(
    table: &TableSpec,
    batch: &Batch,
    rows: Range<usize>,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<(), Error> {
    let account: Account = match serde_json::from_slice(body) {
        Ok(account) if [StatusCode::OK, StatusCode::BAD_REQUEST].contains(&status) => account,
        _ => return Err(of_write(status, headers, body)),
    };
    let width = table.schema.width();
    let sent = (rows.len() * width) as u64;
    let Some(first) = account.errors.first() else {
        let is_all = status == StatusCode::OK && account.success == sent && account.failed == 0;
        return if is_all { Ok(()) } else { Err(of_write(status, headers, body).applied(Applied::Maybe)) };
    };
    let error = of_value(&first.error);
    let is_certain = account.errors.iter().all(|refused| of_value(&refused.error).applied == Applied::No);
    let applied = if is_certain { taken(&account.errors, table, batch, rows) } else { None };
    Err(error.applied(applied.unwrap_or(Applied::Maybe)))
}

/// The rows of which all values were taken; `None` where of some row some were, or a refused value is of none of the rows.
fn taken(refused: &[Refused], table: &TableSpec, batch: &Batch, rows: Range<usize>) -> Option<Applied> {
    let mut row_of = BTreeMap::new();
    for run_rows in batch.run_rows() {
        for row in run_rows.rows.filter(|row| rows.contains(row)) {
            row_of.insert((run_rows.run.device, batch.timestamps_ns()[row] / NS_PER_MS), row);
        }
    }
    // Two rows of one device and time cannot be told apart.
    if row_of.len() != rows.len() {
        return None;
    }
    let mut refused_of: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for refused in refused {
        let Datapoint { metric, timestamp, tags } = refused.datapoint.as_ref()?;
        let device = tags.get(DEVICE)?.parse().ok()?;
        let signal = metric.strip_prefix(&prefix(&table.name))?;
        refused_of.entry(*row_of.get(&(device, *timestamp))?).or_default().insert(signal);
    }
    if refused_of.values().any(|signals| signals.len() != table.schema.width()) {
        return None;
    }
    let taken: Vec<_> =
        rows.filter(|row| !refused_of.contains_key(row)).map(u32::try_from).collect::<Result<_, _>>().ok()?;
    Some(if taken.is_empty() { Applied::No } else { Applied::Rows(taken) })
}

/// What is applied of a batch of which the rows before this request were taken.
pub(crate) fn with_earlier(earlier: usize, applied: Applied) -> Applied {
    let later = match applied {
        Applied::Maybe => return Applied::Maybe,
        Applied::No if earlier == 0 => return Applied::No,
        Applied::No => Vec::new(),
        Applied::Rows(rows) => rows,
    };
    let Ok(earlier) = u32::try_from(earlier) else { return Applied::Maybe };
    Applied::Rows((0..earlier).chain(later).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Cause, Layout, Marker, Name, Run, Schema, Signal, Value, ValueType};
    use serde_json::json;

    /// Rows 0 to 3: device 1 at 10 s and 11 s, device 2 at the same times.
    fn table_and_batch() -> (TableSpec, Batch) {
        let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::U16, max_text_bytes: 0 };
        let table = TableSpec {
            name: Name::new("t").unwrap(),
            layout: Layout::Wide,
            schema: Schema::new(vec![signal("a"), signal("b")]).unwrap(),
            devices: 3,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        };
        let mut batch = Batch::new(&table.schema);
        for device in [1, 2] {
            batch.append(Run { device, first: 0, count: 2 }, |times, columns| {
                times.extend([10_000_000_000, 11_000_000_000]);
                for column in columns {
                    assert!(column.push(Value::U16(1)) && column.push(Value::U16(2)));
                }
            });
        }
        (table, batch)
    }

    fn refused(signal: &str, device: u32, second: i64, why: &str) -> serde_json::Value {
        let metric = format!("iotbench_t.{signal}");
        let tags = json!({ "device": device.to_string() });
        json!({"datapoint": {"metric": metric, "timestamp": second * 1000, "value": "1", "tags": tags}, "error": why})
    }

    fn judged(rows: Range<usize>, status: u16, account: &serde_json::Value) -> Result<(), Error> {
        let (table, batch) = table_and_batch();
        let status = StatusCode::from_u16(status).unwrap();
        judge(&table, &batch, rows, status, &HeaderMap::new(), account.to_string().as_bytes())
    }

    #[test]
    fn only_what_was_taken_whole_is_acknowledged() {
        assert_eq!(judged(0..4, 200, &json!({"success": 8, "failed": 0, "errors": []})), Ok(()));
        assert_eq!(judged(2..4, 200, &json!({"success": 4, "failed": 0, "errors": []})), Ok(()));
        for (status, account) in [
            (200, json!({"success": 7, "failed": 0, "errors": []})),
            (200, json!({"success": 7, "failed": 1, "errors": []})),
            (400, json!({"success": 8, "failed": 0, "errors": []})),
        ] {
            assert_eq!(judged(0..4, status, &account).unwrap_err().applied, Applied::Maybe, "{status} {account}");
        }
    }

    #[test]
    fn refused_values_are_counted_row_by_row() {
        let why = "Invalid timestamp";
        let (a, b) = (refused("a", 1, 11, why), refused("b", 1, 11, why));
        let account = json!({"success": 6, "failed": 2, "errors": [a, b]});
        let error = judged(0..4, 400, &account).unwrap_err();
        assert_eq!((error.cause, error.applied), (Cause::Data, Applied::Rows(vec![0, 2, 3])));
        let all = json!({"success": 0, "failed": 2, "errors": [a, b]});
        assert_eq!(judged(1..2, 400, &all).unwrap_err().applied, Applied::No);
        let uncertain = [
            // Half of a row.
            json!({"success": 7, "failed": 1, "errors": [a]}),
            // Of a row that was not sent, of another table, of nothing.
            json!({"success": 6, "failed": 2, "errors": [refused("a", 1, 12, why), refused("b", 1, 12, why)]}),
            json!({"success": 7, "failed": 1, "errors": [{"datapoint": null, "error": why}]}),
            // HBase failed, and may have stored it.
            json!({"success": 6, "failed": 2, "errors": [a, refused("b", 1, 11, "Storage exception: x")]}),
        ];
        for account in &uncertain {
            assert_eq!(judged(0..4, 400, account).unwrap_err().applied, Applied::Maybe, "{account}");
        }
        // HBase's failures come with 200.
        let failed = json!({"success": 7, "failed": 1, "errors": [refused("a", 1, 11, "Storage exception: x")]});
        let error = judged(0..4, 200, &failed).unwrap_err();
        assert_eq!((error.cause, error.applied), (Cause::Server, Applied::Maybe));
    }

    #[test]
    fn earlier_requests_of_the_batch_stay_applied() {
        assert_eq!(with_earlier(0, Applied::No), Applied::No);
        assert_eq!(with_earlier(2, Applied::No), Applied::Rows(vec![0, 1]));
        assert_eq!(with_earlier(2, Applied::Rows(vec![3])), Applied::Rows(vec![0, 1, 3]));
        assert_eq!(with_earlier(2, Applied::Maybe), Applied::Maybe);
    }
}
