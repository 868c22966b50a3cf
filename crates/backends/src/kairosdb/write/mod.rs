//! One connection that writes: a request, or lines, a batch.

mod http;
mod json;
mod telnet;

pub(crate) use http::HttpWriter;
pub(crate) use telnet::TelnetWriter;

use super::question::ALL;
use iotbench_backend_kit::refuse::refuse;
use iotbench_core::{Batch, Cause, Column, Error, TableSpec};

/// A text is stored with two bytes of length in an encoding that doubles some characters.
const LONGEST_TEXT: usize = 32_767;

/// Refuses what cannot be stored as it is: times between milliseconds, texts that are empty or too long.
///
/// # Errors
/// Data with nothing applied.
fn refuse_batch(batch: &Batch, table: &TableSpec) -> Result<(), Error> {
    refuse(batch, table)?;
    if let Some(time) = batch.timestamps_ns().iter().find(|&&time| !ALL.holds(time)) {
        let message = format!("KairosDB stores whole milliseconds from 1970 to 2199, and not the time {time} ns");
        return Err(Error::new(Cause::Data, message));
    }
    for column in batch.columns() {
        let Column::Text(texts) = column else { continue };
        let lengths = (0..texts.len()).filter_map(|row| texts.get(row)).map(str::len);
        if let Some(length) = lengths.into_iter().find(|length| !(1..=LONGEST_TEXT).contains(length)) {
            let message = format!("KairosDB stores texts of 1 to {LONGEST_TEXT} bytes, and not one of {length}");
            return Err(Error::new(Cause::Data, message));
        }
    }
    Ok(())
}
