//! Counts what is stored.

use super::{error::classify, sql::quoted};
use iotbench_core::{Counts, Error, Layout, TableSpec};
use rusqlite::Connection;

/// Counts the datapoints and the values of the table.
pub(crate) fn count(connection: &Connection, table: &TableSpec) -> Result<Counts, Error> {
    match table.layout {
        Layout::Wide => count_wide(connection, table),
        _ => todo!(),
    }
    .map_err(|e| classify(&e))
}

fn count_wide(connection: &Connection, table: &TableSpec) -> rusqlite::Result<Counts> {
    let signals = table.schema.signals().iter();
    let values: Vec<_> = signals.map(|s| format!("count({})", quoted(&s.name))).collect();
    let sql = format!("SELECT count(*), {} FROM {}", values.join(", "), table.name);
    connection.query_row(&sql, [], |row| {
        let values = (1..=table.schema.width()).map(|i| row.get::<_, u64>(i));
        Ok(Counts { points: row.get(0)?, values: values.sum::<rusqlite::Result<u64>>()? })
    })
}
