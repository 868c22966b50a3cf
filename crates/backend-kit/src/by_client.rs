//! What the client makes of answers that a database gives, where it has no question for more: a backend that asks nothing else of its
//! database has all queries.

use crate::{consecutive, filled, having, percentile, top, total};
use iotbench_core::{Error, Query, Reader, Reply, Schema, Sink};

/// Puts the figures of devices together, chooses among them, looks which meet a condition, fills buckets that hold no point, finds
/// percentiles, and what lies between consecutive values: `None` where something else is asked, which a database has to answer itself.
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
        Query::TopDevices { .. } => top::answer(reader, query, sink).await,
        Query::Consecutive { .. } => consecutive::answer(reader, query, sink).await,
        Query::Aggregates { .. } | Query::Buckets { .. } => percentile::answer(reader, query, sink).await,
        _ => total::answer(reader, query, schema.tags(), sink).await,
    }
}
