//! The newest datapoint of each device, where a database has no question for that: each is asked for by itself.

use crate::{answer::NOTHING_BY_CLIENT, ask::Asked};
use iotbench_core::{Devices, Error, Query, Reader, Reply, Sink};

/// Answers [`Query::LastPoints`] by a question a device, one after the other: not of one state of the database. A table has
/// `of_table` devices.
///
/// # Errors
/// The reader's own.
pub async fn last_points(
    reader: &mut dyn Reader,
    devices: Asked<'_>,
    of_table: u32,
    sink: &mut dyn Sink,
) -> Result<Reply, Error> {
    let mut all = NOTHING_BY_CLIENT;
    for device in (0..of_table).filter(|&device| devices.contains(device)) {
        let newest = Query::Newest { devices: Devices::Some(vec![device]), limit: 1 };
        let Reply { rows, bytes, .. } = reader.query(&newest, sink).await?;
        all.rows += rows;
        all.bytes += bytes;
    }
    Ok(all)
}
