//! What a server is and how it is set, read back from it.

use super::{
    citus::{self, Cluster},
    config::{Config, Division},
    connector::Connector,
    error::classify,
    layout::Table,
    promise::{Durability, least, promise},
    timescale,
};
use iotbench_core::{Acknowledgement, Error, Promise, PromiseLevel, ServerFacts};
use sqlx::PgConnection;
use std::collections::BTreeMap;

/// The parameters that matter for a result.
const PARAMETERS: [&str; 12] = [
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_level",
    "wal_sync_method",
    "wal_writer_delay",
    "commit_delay",
    "synchronous_standby_names",
    "shared_buffers",
    "max_wal_size",
    "max_connections",
    "server_version",
];

/// The facts as a session like those that write sees them.
pub(crate) async fn facts(
    connection: &mut PgConnection,
    connector: &Connector,
    config: &Config,
    table: &Table,
) -> Result<ServerFacts, Error> {
    let sql = "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY($1)";
    let read: Vec<(String, String)> =
        sqlx::query_as(sql).bind(&PARAMETERS[..]).fetch_all(&mut *connection).await.map_err(|e| classify(&e))?;
    let mut settings: BTreeMap<String, String> = read.into_iter().collect();
    let mut version = settings.remove("server_version").unwrap_or_default();
    let mut promise = promise_of(&settings, config);
    settings.retain(|_, value| !value.is_empty());
    match table.division {
        Division::None | Division::Partitions(_) => {}
        Division::Shards => {
            let cluster = Cluster::of(connection, config).await?;
            // Rows are committed on the workers.
            for worker in citus::parameters_of_workers(connection, &DECIDING).await? {
                promise = least(promise, promise_of(&worker, config));
            }
            version = format!("{version} {}", cluster.shown());
            settings.insert("citus".into(), cluster.version);
            settings.insert("citus_workers".into(), cluster.workers.to_string());
            settings.insert("citus_shards".into(), cluster.shards);
            settings.insert("distributed_by".into(), table.hashed().into());
        }
        Division::Chunks(seconds) => {
            let timescale = timescale::version(connection, connector.is_database_ours()).await?;
            version = format!("{version} with TimescaleDB {timescale}");
            settings.insert("timescaledb".into(), timescale);
            settings.insert("chunk_seconds".into(), seconds.to_string());
        }
    }
    let is_durable = promise.level == PromiseLevel::OsCrash;
    settings.insert("unlogged".into(), config.unlogged.to_string());
    settings.insert("indexes".into(), format!("{:?}", config.indexes).to_lowercase());
    settings.insert("partitions".into(), table.partition_names().len().max(1).to_string());
    settings.insert("commit".into(), format!("{:?}", config.commit).to_lowercase());
    settings.insert("tls".into(), connector.tls().description().into());
    Ok(ServerFacts {
        product: "PostgreSQL".into(),
        version,
        driver: "sqlx 0.8.6".into(),
        method: config.method.description().into(),
        settings,
        acknowledgement: if is_durable { Acknowledgement::Durable } else { Acknowledgement::Applied },
        promise,
    })
}

/// Those of the parameters that decide over a commit.
const DECIDING: [&str; 4] = ["fsync", "full_page_writes", "synchronous_commit", "synchronous_standby_names"];

/// What a commit promises on a server with these parameters.
fn promise_of(parameters: &BTreeMap<String, String>, config: &Config) -> Promise {
    let value = |name: &str| parameters.get(name).map_or("", String::as_str);
    promise(Durability {
        fsync: value("fsync") != "off",
        full_page_writes: value("full_page_writes") != "off",
        synchronous_commit: value("synchronous_commit"),
        synchronous_standby_names: value("synchronous_standby_names"),
        unlogged: config.unlogged,
    })
}
