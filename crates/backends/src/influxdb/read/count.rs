//! Counts what is stored.

use super::decode::device_of;
use crate::influxdb::{client::Client, influxql::Select, marker::no_mark};
use iotbench_backend_kit::cell::Cell;
use iotbench_backend_kit::line_protocol::{DEVICE, SIGNAL};
use iotbench_core::{Cause, Counts, Error, Layout, TableSpec};
use std::collections::BTreeMap;

/// Datapoints and values, and the bytes of the answer. InfluxQL counts the values of a field, not the points, so a
/// device has as many datapoints as its fullest signal has values: one that lost a value shows, one that lost all is
/// gone.
pub(crate) async fn count(client: &mut Client, table: &TableSpec) -> Result<(Counts, u64), Error> {
    let mut points_of: BTreeMap<u32, u64> = BTreeMap::new();
    let mut values = 0;
    let bytes = client
        .ask(&statement(table), |series| {
            let points = points_of.entry(device_of(series)?).or_default();
            for cell in series.rows().flat_map(|row| row.iter().skip(1)) {
                let count = whole(cell)?;
                values += count;
                *points = count.max(*points);
            }
            Ok(())
        })
        .await?;
    Ok((Counts { points: points_of.values().sum(), values }, bytes))
}

fn statement(table: &TableSpec) -> String {
    let mut groups = Vec::new();
    groups.extend(table.has_device_column().then_some(DEVICE));
    groups.extend((table.layout == Layout::Narrow).then_some(SIGNAL));
    Select::new("count(*)", table).filter(&no_mark()).group_by(&groups, None).into_text()
}

fn whole(cell: &Cell<'_>) -> Result<u64, Error> {
    match cell {
        Cell::Null => Ok(0),
        Cell::Integer(count) if *count >= 0 => Ok(count.unsigned_abs()),
        other => Err(Error::new(Cause::Protocol, format!("{other:?} stands where a count should"))),
    }
}
