//! What the client makes of answers that a database gives, where it has no question for more: a backend that asks nothing else of its
//! database has all queries.

use crate::{condition, consecutive, descending, filled, having, percentile, rollup, top, total};
use iotbench_core::{Error, Query, Reader, Reply, Schema, Sink};

/// Puts the figures of devices together, chooses among them, looks which meet a condition, fills buckets that hold no point, finds
/// percentiles, what lies between consecutive values, and what is asked of the answers to others ([`of_others`]): `None` where something else is asked, which a database has to answer itself.
///
/// # Errors
/// The reader's own; the sink's; Client for what several devices do not have, and for a tag that is none of the table's.
pub async fn answer(
    reader: &mut dyn Reader,
    query: &Query,
    schema: &Schema,
    sink: &mut dyn Sink,
) -> Option<Result<Reply, Error>> {
    if let Some(answer) = of_others(reader, query, schema, sink).await {
        return Some(answer);
    }
    match query {
        Query::Having { .. } => having::answer(reader, query, schema, sink).await,
        Query::TopDevices { .. } => top::answer(reader, query, sink).await,
        Query::Consecutive { .. } => consecutive::answer(reader, query, sink).await,
        Query::Aggregates { .. } | Query::Buckets { .. } => percentile::answer(reader, query, sink).await,
        _ => total::answer(reader, query, schema.tags(), sink).await,
    }
}

/// What is asked of the answers to other questions, and of no database by itself: buckets that hold no point, figures over the points that
/// meet a condition and those that are compared then, points from the newest on, and what figures of devices come to. `None` where
/// something else is asked.
///
/// # Errors
/// As [`answer`].
pub async fn of_others(
    reader: &mut dyn Reader,
    query: &Query,
    schema: &Schema,
    sink: &mut dyn Sink,
) -> Option<Result<Reply, Error>> {
    match query {
        Query::Filled { .. } => filled::answer(reader, query, sink).await,
        Query::Where { .. } => condition::answer(reader, query, schema, sink).await,
        Query::Descending { .. } => descending::answer(reader, query, schema, sink).await,
        Query::Rollup { .. } => rollup::answer(reader, query, schema, sink).await,
        Query::Having { of, per, .. } if per.is_some() || matches!(**of, Query::Where { .. }) => {
            having::answer(reader, query, schema, sink).await
        }
        _ => None,
    }
}
