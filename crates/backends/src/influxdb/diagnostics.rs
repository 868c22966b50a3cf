//! What the server says of itself: `SHOW DIAGNOSTICS` and `SHOW STATS`.

use super::client::Client;
use iotbench_core::{Cause, Error, Name};
use std::collections::BTreeMap;

/// One part of the server: a name, the tags that tell it from others of that name, and its figures as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) tags: BTreeMap<String, String>,
    pub(crate) figures: BTreeMap<String, String>,
}

/// Every part that a statement of this kind answers with.
pub(crate) async fn parts(client: &mut Client, statement: &str) -> Result<Vec<Part>, Error> {
    let mut parts = Vec::new();
    client
        .ask(statement, |series| {
            for row in series.rows() {
                let figures = series.columns.iter().cloned().zip(row.iter().map(ToString::to_string));
                let (name, tags) = (series.name.clone(), series.tags.clone());
                parts.push(Part { name, tags, figures: figures.collect() });
            }
            Ok(())
        })
        .await?;
    Ok(parts)
}

/// The bytes that a database's shards occupy, logs included; `None` where we may not ask.
pub(crate) async fn disk_bytes(client: &mut Client, database: &Name) -> Result<Option<u64>, Error> {
    let shards = match parts(client, "SHOW STATS FOR 'shard'").await {
        Err(e) if e.cause == Cause::Auth => return Ok(None),
        shards => shards?,
    };
    let of_database = shards.iter().filter(|shard| shard.tags.get("database").is_some_and(|d| d == database.as_str()));
    Ok(of_database.map(|shard| figure(shard, "diskBytes")).sum())
}

/// A figure that counts; `None` where the part has none of that name.
pub(crate) fn figure(part: &Part, name: &str) -> Option<u64> {
    part.figures.get(name)?.parse().ok()
}
