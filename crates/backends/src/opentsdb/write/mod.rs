//! One connection that writes: as many requests a batch as the server's longest body asks for.

mod account;
mod http;
mod json;

pub(crate) use http::HttpWriter;

use super::question::ALL;
use iotbench_backend_kit::refuse::refuse;
use iotbench_core::{Batch, Cause, Error, TableSpec};

/// Refuses what cannot be stored as it is: times between milliseconds, or out of range.
///
/// # Errors
/// Data with nothing applied.
fn refuse_batch(batch: &Batch, table: &TableSpec) -> Result<(), Error> {
    refuse(batch, table)?;
    match batch.timestamps_ns().iter().find(|&&time| !ALL.holds(time)) {
        None => Ok(()),
        Some(time) => {
            let message =
                format!("OpenTSDB stores whole milliseconds, here from 1971 to 2099, and not the time {time} ns");
            Err(Error::new(Cause::Data, message))
        }
    }
}
