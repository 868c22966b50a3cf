//! Dividing a collection over the shards of a cluster.

use super::{layout::Table, ownership::run};
use iotbench_core::Error;
use mongodb::{
    Database,
    bson::{Document, doc},
};

/// Whether a server that says this of itself is a router of shards.
pub(crate) fn is_router(hello: &Document) -> bool {
    hello.get_str("msg").is_ok_and(|message| message == "isdbgrid")
}

/// Divides a new collection over the shards, where there are any: by a hash of `_id`, as the study of Gkamas et al. 2022 does.
pub(crate) async fn divide(database: &Database, table: &Table) -> Result<(), Error> {
    if !is_router(&run(database, doc! { "hello": 1 }).await?) {
        return Ok(());
    }
    let admin = database.client().database("admin");
    // Needed before version 6.0, without effect since.
    run(&admin, doc! { "enableSharding": database.name() }).await?;
    let collection = format!("{}.{}", database.name(), table.name());
    run(&admin, doc! { "shardCollection": collection, "key": table.shard_keys() }).await.map(drop)
}
