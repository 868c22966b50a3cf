//! Citus: a table whose shards lie on other servers, and how servers become such a cluster.

use super::{address::Address, config::Config, connector::Connector, error::classify, layout::Table, quoting::literal};
use iotbench_core::{Action, Cause, Error, Settings, Target};
use sqlx::{Executor, PgConnection};
use std::collections::BTreeMap;

/// The bytes of all shards with their indexes; the argument is the table's qualified name.
pub(crate) const STORAGE_SQL: &str = "SELECT citus_total_relation_size($1::text::regclass)";

/// Shards are dropped and made one after the other, as one transaction must that does both.
pub(crate) const ONE_BY_ONE: &str = "SET LOCAL citus.multi_shard_modify_mode = 'sequential'";

/// A checkpoint on every worker.
pub(crate) const CHECKPOINT: &str = "SELECT run_command_on_workers('CHECKPOINT')";

/// The statement that divides a new table over the workers.
pub(crate) fn distribute_sql(table: &Table) -> String {
    format!("SELECT create_distributed_table({}, '{}')", literal(&table.qualified), table.hashed())
}

/// A cluster as its coordinator tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cluster {
    /// The version of the extension.
    pub(crate) version: String,
    /// The servers beside the coordinator.
    pub(crate) workers: u32,
    /// The shards of a table that is distributed now.
    pub(crate) shards: String,
}

impl Cluster {
    /// The cluster whose coordinator this connection leads to.
    ///
    /// # Errors
    /// The database has no such extension, or the cluster has another number of workers than was asked for.
    pub(crate) async fn of(connection: &mut PgConnection, config: &Config) -> Result<Self, Error> {
        let version = "SELECT extversion FROM pg_extension WHERE extname = 'citus'";
        let version: Option<String> =
            sqlx::query_scalar(version).fetch_optional(&mut *connection).await.map_err(|e| classify(&e))?;
        let Some(version) = version else { return Err(stop(NO_EXTENSION.into())) };
        let sql = "SELECT (SELECT count(*) FROM pg_dist_node \
                           WHERE isactive AND noderole = 'primary' AND groupid <> 0), current_setting('citus.shard_count')";
        let (workers, shards): (i64, String) =
            sqlx::query_as(sql).fetch_one(connection).await.map_err(|e| classify(&e))?;
        let cluster = Self { version, workers: u32::try_from(workers).unwrap_or_default(), shards };
        cluster.refuse_other_size(config.citus_workers)?;
        Ok(cluster)
    }

    fn refuse_other_size(&self, wanted: u8) -> Result<(), Error> {
        if wanted == 0 || self.workers == u32::from(wanted) {
            return Ok(());
        }
        let workers = self.workers;
        let message = format!(
            "the cluster has {workers} active workers, and citus_workers asks for {wanted}: add them by \
             citus_add_node, or write distributed = true for whatever there is"
        );
        Err(stop(message))
    }

    /// What stands after the server's version.
    pub(crate) fn shown(&self) -> String {
        let plural = if self.workers == 1 { "" } else { "s" };
        format!("with Citus {}, {} worker{plural}", self.version, self.workers)
    }
}

const NO_EXTENSION: &str = "the table is to be distributed, and this database has no extension citus: name the \
    coordinator's database that has it (shared_preload_libraries = 'citus' and CREATE EXTENSION citus on every server, \
    then citus_add_node for each worker), or leave distributed and citus_workers out";

fn stop(message: String) -> Error {
    Error::new(Cause::Server, message).action(Action::Stop)
}

/// These parameters on each worker, as a session of the coordinator's there sees them.
///
/// # Errors
/// A worker that cannot be reached.
pub(crate) async fn parameters_of_workers(
    connection: &mut PgConnection,
    parameters: &[&str],
) -> Result<Vec<BTreeMap<String, String>>, Error> {
    let names = parameters.iter().map(|name| literal(name)).collect::<Vec<_>>().join(", ");
    let asked = format!("SELECT json_object_agg(name, current_setting(name)) FROM pg_settings WHERE name IN ({names})");
    let sql = "SELECT success, result FROM run_command_on_workers($1)";
    let answers: Vec<(bool, Option<String>)> =
        sqlx::query_as(sql).bind(&asked).fetch_all(connection).await.map_err(|e| classify(&e))?;
    let read = |(success, answer): (bool, Option<String>)| {
        let answer = answer.unwrap_or_default();
        if !success {
            let message: String = answer.chars().filter(|c| !c.is_control()).take(300).collect();
            return Err(Error::new(Cause::Connect, format!("a worker of the cluster does not answer: {message}")));
        }
        serde_json::from_str(&answer).map_err(|e| Error::new(Cause::Protocol, e))
    };
    answers.into_iter().map(read).collect()
}

/// Makes a cluster of private servers that were just started: the first is the coordinator, the others are its workers. They
/// find it made when they start again on a folder that was kept. One server alone stays as it is.
pub(crate) async fn join(target: &Target) -> Result<(), Error> {
    let addresses = addresses(target)?;
    let [coordinator, workers @ ..] = addresses.as_slice() else { return Ok(()) };
    if workers.is_empty() {
        return Ok(());
    }
    for address in &addresses {
        let mut connection = connect(address).await?;
        connection.execute("CREATE EXTENSION IF NOT EXISTS citus").await.map_err(|e| classify(&e))?;
    }
    let mut connection = connect(coordinator).await?;
    let calls = [("citus_set_coordinator_host", coordinator)].into_iter();
    for (function, address) in calls.chain(workers.iter().map(|worker| ("citus_add_node", worker))) {
        let sql = format!("SELECT {function}($1, $2)");
        let call = sqlx::query(&sql).bind(&address.host).bind(i32::from(address.port));
        call.execute(&mut connection).await.map_err(|e| classify(&e))?;
    }
    Ok(())
}

/// The address of each server.
fn addresses(target: &Target) -> Result<Vec<Address>, Error> {
    let of = |endpoint: &iotbench_core::Endpoint| {
        let one = Target { endpoints: vec![endpoint.clone()], ..target.clone() };
        Address::of(&one, &|_| None).map_err(|e| Error::new(Cause::Client, e).action(Action::Stop))
    };
    target.endpoints.iter().map(of).collect()
}

async fn connect(address: &Address) -> Result<PgConnection, Error> {
    let config = Config::new(&Settings::default(), iotbench_core::Layout::Wide);
    let config = config.map_err(|e| Error::new(Cause::Client, e).action(Action::Stop))?;
    Connector::new(address.clone(), &config).connect().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_of_another_size_is_refused() {
        let cluster = |workers| Cluster { version: "13.2-1".into(), workers, shards: "32".into() };
        assert_eq!(cluster(3).refuse_other_size(0), Ok(()));
        assert_eq!(cluster(3).refuse_other_size(3), Ok(()));
        let error = cluster(3).refuse_other_size(4).unwrap_err();
        assert!(error.message.contains("3 active workers") && error.message.contains("asks for 4"), "{error}");
        assert_eq!(error.action, Action::Stop);
        assert_eq!(cluster(1).shown(), "with Citus 13.2-1, 1 worker");
        assert_eq!(cluster(4).shown(), "with Citus 13.2-1, 4 workers");
    }
}
