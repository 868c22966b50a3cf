//! What a server says of itself.

use super::{
    config::{Config, Engine},
    error::{capped, classify},
    marker,
    promise::{Durability, promise},
    server::{Server, text_at},
};
use iotbench_core::{Acknowledgement, Action, Cause, Error, ServerFacts};
use sqlx::MySqlConnection;
use std::collections::BTreeMap;

const DRIVER: &str = "sqlx 0.8.6";

/// The variables that matter for a result: durability, then caches and limits.
const VARIABLES: [&str; 14] = [
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_log_at_timeout",
    "innodb_flush_method",
    "innodb_doublewrite",
    "rocksdb_flush_log_at_trx_commit",
    "rocksdb_write_disable_wal",
    "log_bin",
    "sync_binlog",
    "innodb_buffer_pool_size",
    "innodb_log_file_size",
    "rocksdb_block_cache_size",
    "max_allowed_packet",
    "max_connections",
    "max_prepared_stmt_count",
];

/// Reads the version and the settings that are in effect.
///
/// # Errors
/// A database or a storage engine that is not there; the server's own.
pub(crate) async fn facts(server: &Server) -> Result<ServerFacts, Error> {
    let mut connection = server.connect().await?;
    let address = &server.address;
    let config = &server.config;
    if !address.is_default_database && !marker::exists(&mut connection, &address.database).await? {
        let message = format!("the server has no database {}: create it, or leave it out of the URL", address.database);
        return Err(Error::new(Cause::Server, message).action(Action::Stop));
    }
    refuse_missing_engine(&mut connection, config.engine).await?;
    let row = sqlx::query("SELECT VERSION()").fetch_one(&mut connection).await.map_err(|e| classify(&e))?;
    let version = capped(&text_at(&row, 0)?.unwrap_or_default());
    let product = if version.contains("MariaDB") { "MariaDB" } else { "MySQL" };
    let variables = variables(&mut connection).await?;
    let promise = promise(config.engine, config.bulk_load, &durability(&variables));
    let mut settings = variables;
    settings.extend(own_settings(config));
    settings.insert("tls".into(), address.encryption.name().into());
    Ok(ServerFacts {
        product: product.into(),
        version,
        driver: DRIVER.into(),
        method: method(config).into(),
        settings,
        acknowledgement: if config.bulk_load { Acknowledgement::Queued } else { Acknowledgement::Durable },
        promise,
    })
}

fn method(config: &Config) -> &'static str {
    use super::config::Commit;
    match (config.bulk_load, config.commit) {
        (true, _) => "prepared insert of many rows, rocksdb_bulk_load=1",
        (false, Commit::Batch) => "prepared insert of many rows, one commit a batch",
        (false, Commit::Datapoint) => "prepared insert, one commit a datapoint",
    }
}

fn own_settings(config: &Config) -> BTreeMap<String, String> {
    let indexes = match config.indexes {
        super::config::Indexes::Time => "time",
        super::config::Indexes::None => "none",
    };
    BTreeMap::from([
        ("engine".into(), config.engine.to_string()),
        ("bulk_load".into(), config.bulk_load.to_string()),
        ("commit".into(), config.commit.to_string()),
        ("indexes".into(), indexes.into()),
        ("partitions".into(), config.partitions.to_string()),
        ("statement_rows".into(), config.statement_rows.to_string()),
    ])
}

fn durability(variables: &BTreeMap<String, String>) -> Durability {
    let of = |name: &str| variables.get(name).cloned();
    Durability {
        innodb_flush_log_at_trx_commit: of("innodb_flush_log_at_trx_commit"),
        innodb_flush_log_at_timeout: of("innodb_flush_log_at_timeout"),
        innodb_flush_method: of("innodb_flush_method"),
        innodb_doublewrite: of("innodb_doublewrite"),
        rocksdb_flush_log_at_trx_commit: of("rocksdb_flush_log_at_trx_commit"),
        rocksdb_write_disable_wal: of("rocksdb_write_disable_wal"),
        log_bin: of("log_bin"),
        sync_binlog: of("sync_binlog"),
    }
}

async fn variables(connection: &mut MySqlConnection) -> Result<BTreeMap<String, String>, Error> {
    let sql = format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('{}')", VARIABLES.join("', '"));
    let rows = sqlx::query(&sql).fetch_all(connection).await.map_err(|e| classify(&e))?;
    let pairs = rows.iter().map(|row| {
        let (name, value) = (text_at(row, 0)?.unwrap_or_default(), text_at(row, 1)?.unwrap_or_default());
        Ok((name.to_lowercase(), capped(&value)))
    });
    pairs.collect()
}

async fn refuse_missing_engine(connection: &mut MySqlConnection, engine: Engine) -> Result<(), Error> {
    let sql = "SELECT support FROM information_schema.engines WHERE engine = ?";
    let row = sqlx::query(sql).bind(engine.sql()).fetch_optional(connection).await.map_err(|e| classify(&e))?;
    let support = row.as_ref().map(|row| text_at(row, 0)).transpose()?.flatten().unwrap_or_default();
    if support == "YES" || support == "DEFAULT" {
        return Ok(());
    }
    let hint = match engine {
        Engine::InnoDb => "",
        Engine::MyRocks => ": it is a plugin of MariaDB (package mariadb-plugin-rocksdb, plugin-load-add=ha_rocksdb)",
    };
    let message = format!("the server has no storage engine {engine}{hint}");
    Err(Error::new(Cause::Server, message).action(Action::Stop))
}
