//! What a server is and how it is set, read back from it.

use super::{
    config::Config,
    connector::Connector,
    error::classify,
    promise::{Durability, promise},
};
use iotbench_core::{Acknowledgement, Error, PromiseLevel, ServerFacts};
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
) -> Result<ServerFacts, Error> {
    let sql = "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY($1)";
    let read: Vec<(String, String)> =
        sqlx::query_as(sql).bind(&PARAMETERS[..]).fetch_all(&mut *connection).await.map_err(|e| classify(&e))?;
    let mut settings: BTreeMap<String, String> = read.into_iter().collect();
    let version = settings.remove("server_version").unwrap_or_default();
    let value = |name: &str| settings.get(name).map_or("", String::as_str);
    let promise = promise(Durability {
        fsync: value("fsync") != "off",
        full_page_writes: value("full_page_writes") != "off",
        synchronous_commit: value("synchronous_commit"),
        synchronous_standby_names: value("synchronous_standby_names"),
        unlogged: config.unlogged,
    });
    let is_durable = promise.level == PromiseLevel::OsCrash;
    settings.retain(|_, value| !value.is_empty());
    settings.insert("unlogged".into(), config.unlogged.to_string());
    settings.insert("indexes".into(), format!("{:?}", config.indexes).to_lowercase());
    settings.insert("partitions".into(), config.partitions.to_string());
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
