//! The datapoints of one statement, as its rows come.

use super::{
    points::{Shape, Values},
    selection::Selection,
};
use crate::mariadb::error::classify;
use futures_util::TryStreamExt;
use iotbench_core::{Chunk, Error, ReplyColumn};
use sqlx::MySqlConnection;
use std::ops::ControlFlow;

/// Takes a datapoint: device, time, and what gives its values.
pub(crate) type Take<'t> = dyn FnMut(u32, i64, &mut dyn Values) -> Result<ControlFlow<()>, Error> + Send + 't;

/// Gives each datapoint of a selection to `take` until that breaks.
pub(crate) async fn each(
    connection: &mut MySqlConnection,
    shape: &dyn Shape,
    selection: &Selection<'_>,
    bytes: &mut u64,
    take: &mut Take<'_>,
) -> Result<(), Error> {
    let statement = shape.select(selection)?;
    let mut points = shape.points(selection);
    let mut rows = sqlx::query_with(&statement.sql, statement.arguments).fetch(connection);
    let mut is_wanted = true;
    while is_wanted {
        let row = rows.try_next().await.map_err(|e| classify(&e))?;
        is_wanted = row.is_some();
        points.push(row)?;
        while let Some((device, time)) = points.next() {
            if take(device, time, &mut *points)?.is_break() {
                is_wanted = false;
                break;
            }
        }
    }
    *bytes += points.bytes();
    Ok(())
}

/// A row of a chunk.
pub(crate) struct ChunkRow<'c> {
    pub(crate) chunk: &'c Chunk,
    pub(crate) row: usize,
}

impl Values for ChunkRow<'_> {
    fn values(&mut self, columns: &mut [ReplyColumn]) -> Result<(), Error> {
        columns.iter_mut().zip(&self.chunk.columns).try_for_each(|(to, from)| to.push(from.get(self.row)))
    }
}
