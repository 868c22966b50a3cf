//! Asks Flux. The crate holds an answer whole, and makes a map of each row.

use super::of_request;
use crate::influxdb2::{api::improper, csv::Row};
use ::influxdb2::{Client, models::Query};
use futures_util::FutureExt;
use influxdb2_structmap::value::Value;
use iotbench_core::Error;
use std::panic::AssertUnwindSafe;

/// Asks, and gives every row to `take`. Returns the bytes of the fields: the crate does not tell those of the answer.
///
/// # Errors
/// What the server says; Protocol for what the crate cannot read.
pub(crate) async fn ask(
    client: &Client,
    flux: &str,
    mut take: impl FnMut(&Row<'_>) -> Result<(), Error> + Send,
) -> Result<u64, Error> {
    // The crate panics where a number is missing, as in a row that lost a value. It keeps no state that could be broken.
    let asked = AssertUnwindSafe(client.query_raw(Some(Query::new(flux.to_owned())))).catch_unwind().await;
    let asked =
        asked.map_err(|_| improper(&"the crate influxdb2 cannot read it: it takes no number that is missing"))?;
    let mut bytes = 0;
    for record in asked.map_err(|e| of_request(e, 0))? {
        let (names, values): (Vec<String>, Vec<Value>) = record.values.into_iter().unzip();
        let (types, fields): (Vec<String>, Vec<String>) = values.into_iter().map(typed_text).unzip();
        bytes += fields.iter().map(|field| field.len() as u64).sum::<u64>();
        take(&Row::new(&names, &types, &fields))?;
    }
    Ok(bytes)
}

/// The type of a value by its name in an answer, and the text that it came from, or one that reads the same.
fn typed_text(value: Value) -> (String, String) {
    let (name, text) = match value {
        Value::String(text) => ("string", text),
        Value::Double(number) => ("double", number.into_inner().to_string()),
        Value::Bool(is) => ("boolean", is.to_string()),
        Value::Long(number) => ("long", number.to_string()),
        Value::UnsignedLong(number) => ("unsignedLong", number.to_string()),
        Value::TimeRFC(time) => ("dateTime:RFC3339", time.to_rfc3339()),
        Value::Duration(_) | Value::Base64Binary(_) | Value::Unknown => ("", String::new()),
    };
    (name.to_owned(), text)
}
