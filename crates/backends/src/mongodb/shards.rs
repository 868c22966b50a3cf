//! A cluster of shards, and dividing a collection over it.

use super::{layout::Table, ownership::run};
use iotbench_core::{Action, Cause, Error};
use mongodb::{
    Database,
    bson::{Document, doc},
};

/// Whether a server that says this of itself is a router of shards.
pub(crate) fn is_router(hello: &Document) -> bool {
    hello.get_str("msg").is_ok_and(|message| message == "isdbgrid")
}

/// How many shards a router that says this of them knows; `None`: it may not tell us.
pub(crate) fn count(listed: &Document) -> Option<usize> {
    listed.get_array("shards").ok().map(Vec::len)
}

/// Asks whether the server is a router of so many shards.
///
/// # Errors
/// It is none, or one of another number.
pub(crate) fn refuse_others(wanted: u16, is_router: bool, shards: Option<usize>) -> Result<(), Error> {
    let message = match shards {
        _ if wanted == 0 => return Ok(()),
        _ if !is_router => {
            format!(
                "the setting shards asks for {wanted}, and this address is no router of shards: name a mongos by --url"
            )
        }
        Some(found) if found != usize::from(wanted) => {
            format!(
                "the cluster has {found} shards, and the setting shards asks for {wanted}: add or remove some, or leave it out"
            )
        }
        _ => return Ok(()),
    };
    Err(Error::new(Cause::Server, message).action(Action::Stop))
}

/// Divides a new collection over the shards, where there are any: by a hash of `_id`, as the study of Gkamas et al. 2022 does.
pub(crate) async fn divide(database: &Database, table: &Table) -> Result<(), Error> {
    if !is_router(&run(database, doc! { "hello": 1 }).await?) {
        return Ok(());
    }
    let admin = database.client().database("admin");
    for command in commands(database.name(), table) {
        run(&admin, command).await?;
    }
    Ok(())
}

/// What a router is told of a new collection.
fn commands(database: &str, table: &Table) -> [Document; 2] {
    let collection = format!("{database}.{}", table.name());
    [
        // Needed before version 6.0, without effect since.
        doc! { "enableSharding": database },
        doc! { "shardCollection": collection, "key": table.shard_keys() },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mongodb::layout::tests::table;
    use iotbench_core::{Layout, ValueType};

    #[test]
    fn collections_are_divided_by_a_hash_and_time_series_by_device_or_time() {
        let key = |layout, devices| {
            let [enable, shard] = commands("d", &table(layout, devices, ValueType::F64, "{}"));
            assert_eq!(enable, doc! { "enableSharding": "d" });
            assert_eq!(shard.get_str("shardCollection").unwrap(), "d.t");
            shard.get_document("key").cloned().unwrap()
        };
        for layout in [Layout::Document, Layout::Bulk, Layout::Narrow] {
            assert_eq!(key(layout, 2), doc! { "_id": "hashed" }, "{layout}");
        }
        assert_eq!(key(Layout::Wide, 2), doc! { "device": 1 });
        assert_eq!(key(Layout::Wide, 1), doc! { "time": 1 });
    }

    #[test]
    fn a_router_says_what_it_is_and_how_many_shards_it_has() {
        assert!(is_router(&doc! { "isWritablePrimary": true, "msg": "isdbgrid" }));
        assert!(!is_router(&doc! { "isWritablePrimary": true, "setName": "r" }));
        assert_eq!(count(&doc! { "shards": [{ "_id": "a" }, { "_id": "b" }] }), Some(2));
        assert_eq!(count(&doc! {}), None);
    }

    #[test]
    fn another_cluster_than_was_asked_for_is_refused() {
        assert_eq!(refuse_others(0, false, None), Ok(()));
        assert_eq!(refuse_others(2, true, Some(2)), Ok(()));
        assert_eq!(refuse_others(2, true, None), Ok(()), "who may not list them is believed");
        assert!(refuse_others(2, false, None).unwrap_err().message.contains("name a mongos"));
        assert!(refuse_others(2, true, Some(4)).unwrap_err().message.contains("has 4 shards"));
    }
}
