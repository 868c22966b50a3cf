//! Private MongoDB servers: one, a replica set of three, or a cluster of shards.

use iotbench_core::{ConfigFile, On, Origin, Program, Ready, Recipe, Role, StopBy, Variant};

const MONGOD: Program = Program { name: "mongod", folders: &["{servers}/mongodb/bin"], from: Origin::ServersScript };
const MONGOS: Program = Program {
    name: "mongos",
    folders: &["{servers}/mongodb/bin"],
    from: Origin::Elsewhere("MongoDB's package mongodb-org-mongos"),
};

/// What starts a `mongod`, with the words that say what it is a part of.
macro_rules! start {
    ($($part:literal),*) => {
        &[
            "{mongod}",
            $($part,)*
            // The default is a part of the whole disk.
            "--oplogSize=990",
            "{settings}",
            "--wiredTigerEngineConfigString=cache_size={memory_bytes}",
            "--dbpath={data}",
            "--port={port}",
            "{closed}--bind_ip={host}",
            // The first user is made from the server's own machine.
            "{open}--bind_ip={host},127.0.0.1",
            "--nounixsocket",
        ]
    };
}

/// The settings that what starts it decides, with those that more of it decide.
macro_rules! reserved {
    ($($more:literal),*) => {
        &[
            "wiredtigerengineconfigstring",
            "dbpath",
            "port",
            "bind-ip",
            "bind-ip-all",
            "nounixsocket",
            "fork",
            "logpath",
            "config",
            "oplogsize",
            $($more,)*
        ]
    };
}

/// By this the members of a set know one another, and a server that has one lets nobody else in. The first user is made when
/// they are ready: `Backend::join`.
const KEY: ConfigFile = ConfigFile { path: "members.key", text: "{password}" };

const SERVER: Role = Role {
    name: "server",
    on: On::EveryNode,
    ports: &["port"],
    open_ports: &[],
    files: &[KEY],
    init: &[&["mkdir", "{data}"]],
    environment: &[],
    // Several nodes are members of a set of this name; one alone is none.
    start: start!("--replSet={cluster}", "--keyFile={run}/members.key"),
    setting: &["--{key}={value}"],
    reserved: reserved!("keyfile"),
    // A GET on its port is answered with advice.
    ready: Ready::Http { port: "port", path: "/" },
    ready_within_s: 60,
    stop: StopBy::Terminate,
    url: Some("mongodb://iotbench:{password}@{host}:{port}/?authSource=admin"),
};

const ONE: Recipe = Recipe {
    programs: &[MONGOD],
    jars: &[],
    version: &["{mongod}", "--version"],
    user: "mongodb",
    tuning: TUNING,
    nodes: &[1, 3],
    roles: &[SERVER],
    // The driver does it: `Backend::join`.
    join: &[],
};

pub(crate) static RECIPE: Recipe = ONE;

/// What is a part of a cluster of shards is a replica set of one: its name and kind are no settings.
const RESERVED_OF_PARTS: &[&str] = reserved!("replset", "configsvr", "shardsvr", "configdb");

/// It knows the shards, and as all parts of a cluster asks nobody for a password, and where each part of a collection is.
const CONFIG: Role = Role {
    name: CONFIG_ROLE,
    on: On::FirstNode,
    files: &[],
    start: start!("--configsvr", "--replSet=config"),
    reserved: RESERVED_OF_PARTS,
    url: None,
    ..SERVER
};

const SHARD: Role = Role {
    name: SHARD_ROLE,
    on: On::OtherNodes,
    files: &[],
    start: start!("--shardsvr", "--replSet=shard{node}"),
    reserved: RESERVED_OF_PARTS,
    url: None,
    ..SERVER
};

/// Clients talk to it alone. It waits for the config server's set to be formed before it listens.
const ROUTER: Role = Role {
    name: "router",
    on: On::FirstNode,
    files: &[],
    init: &[],
    start: &[
        "{mongos}",
        "{settings}",
        "--configdb=config/{config.port.first}",
        "--port={port}",
        "--bind_ip={host}",
        "--nounixsocket",
        // It would wait 15 s for clients when it is asked to stop.
        "--setParameter=mongosShutdownTimeoutMillisForSignaledShutdown=0",
    ],
    reserved: RESERVED_OF_PARTS,
    ready: Ready::Joined,
    url: Some("mongodb://{host}:{port}/"),
    ..SERVER
};

pub(crate) const CONFIG_ROLE: &str = "config";
pub(crate) const SHARD_ROLE: &str = "shard";

/// Config server and router on the first node, a shard on each other; the driver joins them: `Backend::join`.
const fn sharded(nodes: &'static [u32]) -> Recipe {
    Recipe { programs: &[MONGOD, MONGOS], nodes, roles: &[CONFIG, SHARD, ROUTER], ..ONE }
}

/// With 1 shard, with 2, and so on.
static SHARDED: [Recipe; 8] = [
    sharded(&[2]),
    sharded(&[3]),
    sharded(&[4]),
    sharded(&[5]),
    sharded(&[6]),
    sharded(&[7]),
    sharded(&[8]),
    sharded(&[9]),
];

/// The most shards of a private cluster.
pub(crate) const MAX_SHARDS: usize = SHARDED.len();

/// The recipe with so many shards; `None` for a number that is refused elsewhere.
pub(crate) fn with_shards(shards: u64) -> Option<&'static Recipe> {
    let place = usize::try_from(shards).ok()?.checked_sub(1)?;
    SHARDED.get(place)
}

/// What else a private server can be.
pub(crate) static VARIANTS: [Variant; 1] = [Variant { setting: "shards = 2", recipe: &SHARDED[1] }];

/// What tunes it and does no more.
const TUNING: &[&str] = &[
    "journalCommitInterval",
    "maxConns",
    "syncdelay",
    "wiredTigerCollectionBlockCompressor",
    "wiredTigerIndexPrefixCompression",
    "wiredTigerJournalCompressor",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_has_as_many_shards_as_are_asked_for() {
        for shards in 1..=8_u32 {
            let recipe = with_shards(shards.into()).unwrap();
            let nodes = recipe.nodes[0];
            let on = |role: usize| recipe.roles[role].on.of(nodes).collect::<Vec<_>>();
            assert_eq!((on(0), on(2)), (vec![0], vec![0]), "config server and router are on the first node");
            assert_eq!(on(1), (1..=shards).collect::<Vec<_>>());
        }
        assert!(with_shards(0).is_none() && with_shards(9).is_none());
    }

    #[test]
    fn the_router_is_started_last_and_is_all_that_clients_know() {
        let roles = with_shards(2).unwrap().roles;
        assert_eq!(roles.iter().map(|role| role.name).collect::<Vec<_>>(), ["config", "shard", "router"]);
        assert_eq!(roles.iter().filter(|role| role.url.is_some()).count(), 1);
        assert!(matches!(roles[2].ready, Ready::Joined));
        assert!(roles[2].start.contains(&"--configdb=config/{config.port.first}"));
        assert!(roles[1].start.contains(&"--replSet=shard{node}"), "each shard is a set of its own");
    }
}
