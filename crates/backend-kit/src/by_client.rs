//! What the client makes of the figures of each device, where a database works out no more than these.

use crate::{filled, having, total};
use iotbench_core::{Error, Query, Reader, Reply, Schema, Sink};

/// Puts the figures of devices together, looks which meet a condition, and fills buckets that hold no point: `None` where something else is asked.
///
/// # Errors
/// The reader's own; the sink's; Client for what several devices do not have, and for a tag that is none of the table's.
pub async fn answer(
    reader: &mut dyn Reader,
    query: &Query,
    schema: &Schema,
    sink: &mut dyn Sink,
) -> Option<Result<Reply, Error>> {
    match query {
        Query::Having { .. } => having::answer(reader, query, schema, sink).await,
        Query::Filled { .. } => filled::answer(reader, query, sink).await,
        _ => total::answer(reader, query, schema.tags(), sink).await,
    }
}
