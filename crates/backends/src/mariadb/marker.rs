//! Which tables are ours: the comment of a table names the run that created it.

use super::{
    config::{Config, Engine},
    error::{capped, classify},
    layout::{create_sql, index_name, qualified, quoted},
    server::{Server, execute, text_at},
};
use iotbench_core::{Action, Cause, Error, Marker, Name, OwnedObject, TableSpec};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use sqlx::MySqlConnection;

/// What a comment may hold as it is: neither a quote nor a blank.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');
/// Stands in the comment of a database that we created.
const DATABASE_COMMENT: &str = "iotbench";
/// Two runs neither create nor drop at the same time.
const LOCK: &str = "SELECT GET_LOCK('iotbench', 10)";

/// MyRocks copies a table to change its comment, and a transaction may not lock as many rows as a table may have.
const COPY_IN_PARTS: &str = "SET SESSION rocksdb_commit_in_the_middle = 1";

/// The comment of a table of this marker.
pub(crate) fn comment(marker: &Marker) -> String {
    let run_id = utf8_percent_encode(&marker.run_id, ENCODED);
    format!("iotbench run={run_id} fingerprint={}", utf8_percent_encode(&marker.fingerprint, ENCODED))
}

/// The marker of a comment that [`comment`] wrote, and of no other.
pub(crate) fn parse(text: &str) -> Option<Marker> {
    let (run_id, fingerprint) = text.strip_prefix("iotbench run=")?.split_once(" fingerprint=")?;
    let decoded = |part: &str| percent_decode_str(part).decode_utf8().ok().map(std::borrow::Cow::into_owned);
    let marker = Marker { run_id: decoded(run_id)?, fingerprint: decoded(fingerprint)? };
    (comment(&marker) == text).then_some(marker)
}

/// Creates and marks a table, in the place of an earlier one of ours.
///
/// # Errors
/// [`Cause::NotOurs`] where something of its name does not carry our marker.
pub(crate) async fn create(server: &Server, table: &TableSpec) -> Result<(), Error> {
    let mut connection = server.connect().await?;
    lock(&mut connection).await?;
    let address = &server.address;
    if address.is_default_database {
        create_database(&mut connection, &address.database).await?;
    }
    if let Found::Ours(_) = find(&mut connection, &address.database, &table.name).await?.or_refuse(&table.name)? {
        drop_table(&mut connection, &address.database, &table.name).await?;
    }
    create_table(&mut connection, &address.database, table, &server.config).await
}

async fn create_table(
    connection: &mut MySqlConnection,
    database: &str,
    table: &TableSpec,
    config: &Config,
) -> Result<(), Error> {
    execute(connection, &create_sql(database, table, config)).await.map_err(|e| {
        // Somebody else created it in the meantime.
        let is_there = e.message.starts_with("error 1050:");
        if is_there { not_ours(&table.name, "an object of that name") } else { e }
    })
}

/// Makes this run the owner of a table that an earlier run left, if it is there with the same fingerprint; else changes
/// nothing.
///
/// # Errors
/// The server's own; what does not carry our marker is left alone without an error.
pub(crate) async fn adopt(server: &Server, table: &TableSpec) -> Result<bool, Error> {
    let mut connection = server.connect().await?;
    lock(&mut connection).await?;
    let database = &server.address.database;
    let is_same = match find(&mut connection, database, &table.name).await? {
        Found::Ours(marker) => marker.fingerprint == table.marker.fingerprint,
        Found::Nothing | Found::Foreign(_) => false,
    };
    if is_same {
        if server.config.engine == Engine::MyRocks {
            execute(&mut connection, COPY_IN_PARTS).await?;
        }
        let mark = format!("ALTER TABLE {} COMMENT='{}'", qualified(database, table), comment(&table.marker));
        execute(&mut connection, &mark).await?;
    }
    Ok(is_same)
}

/// Drops a table of the run with this marker, if it is there, and our database with the last of ours.
///
/// # Errors
/// The server's own; a table of another owner or of another run is left alone without an error.
pub(crate) async fn drop_of_run(server: &Server, name: &Name, run_id: &str) -> Result<bool, Error> {
    let mut connection = server.connect().await?;
    lock(&mut connection).await?;
    let database = &server.address.database;
    let is_of_run = match find(&mut connection, database, name).await? {
        Found::Ours(marker) => marker.run_id == run_id,
        Found::Nothing | Found::Foreign(_) => false,
    };
    if is_of_run {
        drop_table(&mut connection, database, name).await?;
        if server.address.is_default_database {
            drop_empty_database(&mut connection, database).await?;
        }
    }
    Ok(is_of_run)
}

/// The tables of a database that carry our marker.
pub(crate) async fn owned(server: &Server) -> Result<Vec<OwnedObject>, Error> {
    let mut connection = server.connect().await?;
    let sql = "SELECT table_name, table_comment FROM information_schema.tables \
               WHERE table_schema = ? AND table_type = 'BASE TABLE' ORDER BY table_name";
    let rows = sqlx::query(sql).bind(&server.address.database).fetch_all(&mut connection).await;
    let mut owned = Vec::new();
    for row in rows.map_err(|e| classify(&e))? {
        let name = text_at(&row, 0)?.and_then(|name| Name::new(&name).ok());
        let marker = text_at(&row, 1)?.and_then(|comment| parse(&comment));
        owned.extend(name.zip(marker).map(|(name, marker)| OwnedObject { name, run_id: marker.run_id }));
    }
    Ok(owned)
}

/// What there is under a table's name.
enum Found {
    Nothing,
    Ours(Marker),
    /// The kind of object.
    Foreign(String),
}

impl Found {
    fn or_refuse(self, name: &Name) -> Result<Self, Error> {
        match self {
            Self::Foreign(kind) => Err(not_ours(name, &kind)),
            found => Ok(found),
        }
    }
}

async fn find(connection: &mut MySqlConnection, database: &str, name: &Name) -> Result<Found, Error> {
    let sql = "SELECT table_type, table_comment FROM information_schema.tables \
               WHERE table_schema = ? AND table_name = ?";
    let row = sqlx::query(sql).bind(database).bind(name.as_str()).fetch_optional(connection).await;
    let Some(row) = row.map_err(|e| classify(&e))? else { return Ok(Found::Nothing) };
    let kind = text_at(&row, 0)?.unwrap_or_default();
    let marker = text_at(&row, 1)?.and_then(|comment| parse(&comment));
    Ok(match marker.filter(|_| kind == "BASE TABLE") {
        Some(marker) => Found::Ours(marker),
        None => Found::Foreign(kind.to_lowercase()),
    })
}

fn not_ours(name: &Name, kind: &str) -> Error {
    let kind = capped(kind);
    let message = format!("{name} exists ({kind}) and does not carry our marker: choose another table or database");
    Error::new(Cause::NotOurs, message)
}

async fn drop_table(connection: &mut MySqlConnection, database: &str, name: &Name) -> Result<(), Error> {
    execute(connection, &format!("DROP TABLE {}.{}", quoted(database), quoted(name.as_str()))).await
}

/// Creates the default database, marked where the server can: MariaDB has comments on databases, MySQL has none.
async fn create_database(connection: &mut MySqlConnection, database: &str) -> Result<(), Error> {
    if exists(connection, database).await? {
        return Ok(());
    }
    let comment = if is_mariadb(connection).await? { format!(" COMMENT '{DATABASE_COMMENT}'") } else { String::new() };
    let name = quoted(database);
    execute(connection, &format!("CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb4{comment}")).await
}

/// Whether a database is there.
pub(crate) async fn exists(connection: &mut MySqlConnection, database: &str) -> Result<bool, Error> {
    let sql = "SELECT schema_name FROM information_schema.schemata WHERE schema_name = ?";
    let row = sqlx::query(sql).bind(database).fetch_optional(connection).await;
    row.map(|row| row.is_some()).map_err(|e| classify(&e))
}

/// Whether our index is on a table.
pub(crate) async fn has_index(
    connection: &mut MySqlConnection,
    database: &str,
    table: &TableSpec,
) -> Result<bool, Error> {
    let sql = "SELECT index_name FROM information_schema.statistics \
               WHERE table_schema = ? AND table_name = ? AND index_name = ? LIMIT 1";
    let query = sqlx::query(sql).bind(database).bind(table.name.as_str()).bind(index_name(table));
    query.fetch_optional(connection).await.map(|row| row.is_some()).map_err(|e| classify(&e))
}

/// Drops our database if it carries our comment and nothing is left in it.
async fn drop_empty_database(connection: &mut MySqlConnection, database: &str) -> Result<(), Error> {
    if !is_mariadb(connection).await? {
        return Ok(());
    }
    let sql = "SELECT schema_name FROM information_schema.schemata s \
               WHERE schema_name = ? AND schema_comment = ? \
                 AND NOT EXISTS (SELECT * FROM information_schema.tables WHERE table_schema = s.schema_name) \
                 AND NOT EXISTS (SELECT * FROM information_schema.routines WHERE routine_schema = s.schema_name) \
                 AND NOT EXISTS (SELECT * FROM information_schema.events WHERE event_schema = s.schema_name)";
    let row = sqlx::query(sql).bind(database).bind(DATABASE_COMMENT).fetch_optional(&mut *connection).await;
    if row.map_err(|e| classify(&e))?.is_some() {
        execute(connection, &format!("DROP DATABASE {}", quoted(database))).await?;
    }
    Ok(())
}

/// Whether this is MariaDB and not MySQL.
pub(crate) async fn is_mariadb(connection: &mut MySqlConnection) -> Result<bool, Error> {
    let row = sqlx::query("SELECT VERSION()").fetch_one(connection).await.map_err(|e| classify(&e))?;
    Ok(text_at(&row, 0)?.is_some_and(|version| version.contains("MariaDB")))
}

/// Takes the lock that the end of the connection gives back.
async fn lock(connection: &mut MySqlConnection) -> Result<(), Error> {
    let row = sqlx::query(LOCK).fetch_one(connection).await.map_err(|e| classify(&e))?;
    let taken: Option<i64> = sqlx::Row::try_get_unchecked(&row, 0).map_err(|e| classify(&e))?;
    if taken == Some(1) {
        return Ok(());
    }
    Err(Error::new(Cause::Server, "another run holds the lock 'iotbench' of this server").action(Action::Stop))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_marker_comes_back_from_a_comment_that_needs_no_quoting(run_id in any::<String>(), print in any::<String>()) {
            let marker = Marker { run_id, fingerprint: print };
            let text = comment(&marker);
            prop_assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b" =%-_.".contains(&b)), "{}", text);
            prop_assert_eq!(parse(&text), Some(marker));
        }
    }

    #[test]
    fn what_we_did_not_write_is_no_marker() {
        for text in [
            "",
            "iotbench",
            "iotbench run=a",
            "iotbench run=a fingerprint=b ",
            "iotbench run=a b fingerprint=c",
            "Iotbench run=a fingerprint=b",
            "iotbench run=%61 fingerprint=b",
            "iotbench run=a fingerprint=b c",
            "a table for iotbench run=a fingerprint=b",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert!(parse("iotbench run=a fingerprint=b").is_some());
    }
}
