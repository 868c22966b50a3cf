//! Statements of a user's own that change the table.

use super::{batch, in_file_as, table};
use iotbench_core::{Action, Chunk, Database, Error, Language, Reply, Statement, StatementCall};
use rusqlite::Connection;
use std::{path::Path, sync::Arc};

async fn changed(database: &Arc<dyn Database>, text: &str) -> Result<Reply, Error> {
    let statement = Statement::parse(text, Language::Sql, true).unwrap();
    let call = StatementCall { statement: &statement, device: 1, signal: 1, from_ns: 2, to_ns: 6, step_ns: None };
    let mut reader = database.changing_reader().await.unwrap();
    reader.statement(&call, &mut |_: &Chunk| Ok(())).await
}

async fn filled(path: &Path) -> Arc<dyn Database> {
    let database = in_file_as(path, table());
    database.create().await.unwrap();
    database.writer().await.unwrap().write(&batch(0, 10)).await.unwrap();
    database
}

#[tokio::test]
async fn what_a_statement_changes_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let database = filled(&folder.path().join("own.db")).await;
    let update = "UPDATE :table SET :signal = :signal + 1 WHERE device = :device AND ts >= :from AND ts < :to";
    let sql = "UPDATE readings SET \"rowid\" = \"rowid\" + 1 WHERE device = ?1 AND ts >= ?2 AND ts < ?3";
    let reply = changed(&database, update).await.unwrap();
    assert_eq!((reply.rows, reply.bytes), (4, sql.len() as u64 + 3 * 8), "the text and three numbers");
    assert_eq!(changed(&database, &format!("{update} RETURNING ts")).await.unwrap().rows, 4);
    assert_eq!(changed(&database, "DELETE FROM :table WHERE ts = 77").await.unwrap().rows, 0);
    assert_eq!(changed(&database, "DELETE FROM :table WHERE ts < :from").await.unwrap().rows, 2);
    assert_eq!(database.count().await.unwrap().points, 8);
    database.drop_created().await.unwrap();
}

/// A trigger stands in no text.
#[tokio::test]
async fn sqlite_refuses_what_touches_another_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.db");
    let database = filled(&path).await;
    let theirs = Connection::open(&path).unwrap();
    theirs
        .execute_batch(
            "CREATE TABLE users (a); INSERT INTO users VALUES (42);
             CREATE TRIGGER t AFTER DELETE ON readings BEGIN UPDATE users SET a = 0; END",
        )
        .unwrap();
    let refused = changed(&database, "DELETE FROM :table WHERE ts < :to").await.unwrap_err();
    assert!(refused.message.contains("touches more than the run's table"), "{refused}");
    assert_eq!(refused.action, Action::Stop);
    assert_eq!(theirs.query_row("SELECT a FROM users", [], |row| row.get::<_, i64>(0)), Ok(42));
    assert_eq!(database.count().await.unwrap().points, 10);
}

/// Whoever sends it over a connection that reads.
#[tokio::test]
async fn a_connection_that_reads_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let database = filled(&folder.path().join("own.db")).await;
    let statement = Statement::parse("DELETE FROM :table", Language::Sql, true).unwrap();
    let call = StatementCall { statement: &statement, device: 1, signal: 1, from_ns: 2, to_ns: 6, step_ns: None };
    let mut reader = database.reader().await.unwrap();
    let refused = reader.statement(&call, &mut |_: &Chunk| Ok(())).await.unwrap_err();
    assert!(refused.message.contains("readonly"), "{refused}");
    assert_eq!(database.count().await.unwrap().points, 10);
}
