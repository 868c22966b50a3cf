//! Makes one cluster of shards of private servers that were just started.

use super::{
    error::classify,
    ownership::run,
    recipe::{CONFIG_ROLE, SHARD_ROLE},
    replica_set,
};
use iotbench_core::{Cause, Endpoint, Error, Node, Target};
use mongodb::{
    Client,
    bson::{Document, doc},
};
use std::net::SocketAddr;

/// Whether these are the processes of one.
pub(crate) fn is_one(target: &Target) -> bool {
    target.nodes.iter().any(|node| node.role == SHARD_ROLE)
}

/// Forms the sets of the config server, for which the router waits, and of each shard; then has the router take in the shards
/// that it does not know yet.
pub(crate) async fn form(target: &Target) -> Result<(), Error> {
    let shards = of_role(target, SHARD_ROLE)?;
    for (_, address) in of_role(target, CONFIG_ROLE)?.iter().chain(&shards) {
        replica_set::form(&alone(*address)?).await?;
    }
    let client = Client::with_options(replica_set::options(target)?).map_err(|e| classify(&e))?;
    let admin = client.database("admin");
    let known = names(&run(&admin, doc! { "listShards": 1 }).await?);
    for (node, address) in shards {
        let name = format!("shard{node}");
        if !known.contains(&name) {
            run(&admin, add_shard(&name, address)).await?;
        }
    }
    Ok(())
}

/// A shard is added as the set that it is.
fn add_shard(name: &str, address: SocketAddr) -> Document {
    doc! { "addShard": format!("{name}/{address}"), "name": name }
}

/// The names of the shards that a router lists.
fn names(listed: &Document) -> Vec<String> {
    let shards = listed.get_array("shards").into_iter().flatten();
    shards.filter_map(|shard| Some(shard.as_document()?.get_str("_id").ok()?.to_owned())).collect()
}

/// Numbers and addresses of the nodes of a role.
fn of_role(target: &Target, role: &str) -> Result<Vec<(u32, SocketAddr)>, Error> {
    let address = |node: &Node| {
        let address = node.address.ok_or_else(|| Error::new(Cause::Client, format!("{role} has no address")))?;
        Ok((node.node, address))
    };
    target.nodes.iter().filter(|node| node.role == role).map(address).collect()
}

fn alone(address: SocketAddr) -> Result<Target, Error> {
    let url = format!("mongodb://{address}/").parse().map_err(|e| Error::new(Cause::Client, e))?;
    Ok(Target { endpoints: vec![Endpoint::new(url)], ..Target::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(role: &str, node: u32, port: u16) -> Node {
        let address = Some(SocketAddr::from(([127, 0, 0, 1], port)));
        Node { role: role.into(), node, pid: None, address }
    }

    #[test]
    fn its_processes_are_told_apart_by_their_roles() {
        let nodes = vec![node("config", 0, 1), node("shard", 1, 2), node("shard", 2, 2), node("router", 0, 3)];
        let target = Target { nodes, ..Target::default() };
        assert!(is_one(&target));
        let numbers = |role| of_role(&target, role).unwrap().iter().map(|(node, _)| *node).collect::<Vec<_>>();
        assert_eq!((numbers("config"), numbers("shard")), (vec![0], vec![1, 2]));
        assert!(!is_one(&Target { nodes: vec![node("server", 0, 1)], ..Target::default() }));
    }

    #[test]
    fn a_shard_is_added_by_the_name_of_its_set_and_only_once() {
        let command = add_shard("shard2", SocketAddr::from(([127, 0, 0, 3], 27018)));
        assert_eq!(command, doc! { "addShard": "shard2/127.0.0.3:27018", "name": "shard2" });
        assert_eq!(names(&doc! { "shards": [{ "_id": "shard1", "host": "shard1/h:1" }] }), ["shard1"]);
        assert!(names(&doc! {}).is_empty());
    }
}
