//! What goes wrong has the right cause.

use crate::postgres::server::{OwnDatabase, batch, open, table, url};
use iotbench_core::{Action, Applied, Batch, Cause, Chunk, Counts, Layout, Query, Run, Value};
use sqlx::Executor;

#[tokio::test]
async fn nobody_listens_at_the_port() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = format!("postgres://me:hunter2@127.0.0.1:{port}/d").parse().unwrap();
    let error = open(&url, "{}", table(Layout::Wide, "r")).ping().await.unwrap_err();
    assert_eq!((error.cause, error.applied.clone()), (Cause::Connect, Applied::No), "{error}");
    assert!(!error.message.contains("hunter2"));
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_not_resolved() {
    let url = "postgres://no-such-host.invalid/d?sslmode=disable".parse().unwrap();
    let error = open(&url, "{}", table(Layout::Wide, "r")).ping().await.unwrap_err();
    assert_eq!(error.cause, Cause::Dns, "{error}");
}

#[tokio::test]
async fn a_server_without_tls_is_not_talked_to_in_plain_text() {
    let Some(mut url) = url() else { return };
    for mode in ["require", "verify-ca", "verify-full"] {
        url.set_query(Some(&format!("sslmode={mode}")));
        let error = open(&url, "{}", table(Layout::Wide, "r")).ping().await.unwrap_err();
        assert_eq!((error.cause, error.action), (Cause::Tls, Action::Stop), "{mode}: {error}");
    }
}

#[tokio::test]
async fn a_role_that_may_not_log_in_stops_the_run() {
    let Some(database) = OwnDatabase::create().await else { return };
    let role = format!("{}_nobody", database.name);
    database.execute(&format!("CREATE ROLE {role} NOLOGIN")).await;
    for user in [role.as_str(), "iotbench_test_no_such_role"] {
        let mut url = database.url();
        url.set_username(user).unwrap();
        let error = open(&url, "{}", table(Layout::Wide, "r")).ping().await.unwrap_err();
        assert_eq!((error.cause, error.action), (Cause::Auth, Action::Stop), "{user}: {error}");
    }
    database.execute(&format!("DROP ROLE {role}")).await;
    database.remove().await;
}

#[tokio::test]
async fn a_password_file_that_cannot_be_read_is_named() {
    let url = "postgres://me@127.0.0.1:1/d".parse().unwrap();
    for setting in ["password_file", "ca"] {
        let settings = format!("{{\"{setting}\": \"/nowhere/of-us\"}}");
        let error = open(&url, &settings, table(Layout::Wide, "r")).ping().await.unwrap_err();
        assert_eq!((error.cause, error.action), (Cause::Client, Action::Stop));
        assert!(error.message.contains(setting) && error.message.contains("/nowhere/of-us"), "{error}");
    }
}

#[tokio::test]
async fn a_table_that_is_dropped_under_the_writer_stops_it() {
    let Some(database) = OwnDatabase::create().await else { return };
    for method in ["insert", "unnest", "copy"] {
        let settings = format!("{{\"method\": \"{method}\"}}");
        let ours = open(&database.url(), &settings, table(Layout::Wide, "r"));
        ours.create().await.unwrap();
        let mut writer = ours.writer().await.unwrap();
        writer.write(&batch(5)).await.unwrap();
        database.execute("DROP TABLE points").await;
        let error = writer.write(&batch(5)).await.unwrap_err();
        let expected = (Cause::Server, Action::Stop, Applied::No);
        assert_eq!((error.cause, error.action, error.applied.clone()), expected, "{method}: {error}");
        // The connection is as good as before.
        ours.create().await.unwrap();
        writer.write(&batch(5)).await.unwrap();
        assert_eq!(ours.count().await, Ok(Counts { points: 5, values: 5 }), "{method}");
    }
    database.remove().await;
}

#[tokio::test]
async fn a_session_that_the_server_ends_leaves_doubt_and_a_writer_to_discard() {
    let Some(database) = OwnDatabase::create().await else { return };
    for method in ["insert", "unnest", "copy"] {
        let settings = format!("{{\"method\": \"{method}\"}}");
        let ours = open(&database.url(), &settings, table(Layout::Wide, "r"));
        ours.create().await.unwrap();
        let mut writer = ours.writer().await.unwrap();
        writer.write(&batch(1)).await.unwrap();
        let end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity \
                   WHERE application_name = 'iotbench' AND datname = current_database()";
        database.execute(end).await;
        let error = writer.write(&batch(1)).await.unwrap_err();
        let expected = (Cause::Connect, Action::DiscardWriter, Applied::Maybe);
        assert_eq!((error.cause, error.action, error.applied.clone()), expected, "{method}: {error}");
        ours.writer().await.unwrap().write(&batch(1)).await.unwrap();
        assert_eq!(ours.count().await, Ok(Counts { points: 2, values: 2 }), "{method}");
    }
    database.remove().await;
}

/// Puts a rule on the table that refuses the value 7.
async fn refuse_seven(database: &OwnDatabase) {
    database.execute("ALTER TABLE points ADD CHECK (a <> 7)").await;
}

#[tokio::test]
async fn a_refused_value_undoes_its_batch_and_only_that() {
    let Some(database) = OwnDatabase::create().await else { return };
    // 2000 rows are two statements of method insert, and so an explicit transaction.
    for (method, rows) in [("insert", 10), ("insert", 2000), ("unnest", 10), ("copy", 10)] {
        let settings = format!("{{\"method\": \"{method}\"}}");
        let ours = open(&database.url(), &settings, table(Layout::Wide, "r"));
        ours.create().await.unwrap();
        refuse_seven(&database).await;
        let mut writer = ours.writer().await.unwrap();
        writer.write(&batch(3)).await.unwrap();
        let error = writer.write(&batch(rows)).await.unwrap_err();
        assert_eq!((error.cause, error.applied.clone()), (Cause::Data, Applied::No), "{method}: {error}");
        assert_eq!(ours.count().await, Ok(Counts { points: 3, values: 3 }), "{method}");
        writer.begin().await.unwrap();
        writer.write(&batch(2)).await.unwrap();
        assert_eq!(writer.write(&batch(rows)).await.unwrap_err().cause, Cause::Data);
        assert_eq!(writer.commit().await.unwrap_err().cause, Cause::Client);
        assert_eq!(ours.count().await, Ok(Counts { points: 3, values: 3 }), "{method}");
        writer.write(&batch(2)).await.unwrap();
        assert_eq!(ours.count().await, Ok(Counts { points: 5, values: 5 }), "{method}");
    }
    database.remove().await;
}

#[tokio::test]
async fn a_commit_a_datapoint_keeps_those_before_the_refused_one() {
    let Some(database) = OwnDatabase::create().await else { return };
    for method in ["insert", "unnest", "copy"] {
        let settings = format!("{{\"method\": \"{method}\", \"commit\": \"datapoint\"}}");
        let ours = open(&database.url(), &settings, table(Layout::Wide, "r"));
        ours.create().await.unwrap();
        refuse_seven(&database).await;
        let error = ours.writer().await.unwrap().write(&batch(10)).await.unwrap_err();
        assert_eq!((error.cause, error.applied), (Cause::Data, Applied::Rows((0..7).collect())), "{method}");
        assert_eq!(ours.count().await, Ok(Counts { points: 7, values: 7 }), "{method}");
    }
    database.remove().await;
}

#[tokio::test]
async fn a_text_with_nul_is_refused_before_it_is_sent() {
    let Some(database) = OwnDatabase::create().await else { return };
    let mut table = table(Layout::Document, "r");
    let text =
        iotbench_core::Signal { name: "text".into(), value_type: iotbench_core::ValueType::Text, max_text_bytes: 128 };
    table.schema = iotbench_core::Schema::new(vec![text]).unwrap();
    let ours = open(&database.url(), "{}", table.clone());
    ours.create().await.unwrap();
    let mut bad = Batch::new(&table.schema);
    bad.append(Run { device: 0, first: 0, count: 1 }, |times, columns| {
        times.push(1);
        assert!(columns[0].push(Value::Text("a\0b")));
    });
    let error = ours.writer().await.unwrap().write(&bad).await.unwrap_err();
    assert_eq!((error.cause, error.applied), (Cause::Data, Applied::No));
    database.remove().await;
}

#[tokio::test]
async fn a_value_that_is_lost_shows_in_the_count() {
    let Some(database) = OwnDatabase::create().await else { return };
    let losses = [
        (Layout::Narrow, "DELETE FROM points WHERE ctid = '(0,2)'", Counts { points: 9, values: 9 }),
        (Layout::Document, "UPDATE points SET doc = '{}' WHERE ctid = '(0,2)'", Counts { points: 10, values: 9 }),
        (
            Layout::Bulk,
            "UPDATE points SET measurements = jsonb_set(measurements, '{measurements,3,m}', '[]')",
            Counts { points: 10, values: 9 },
        ),
    ];
    for (layout, loss, expected) in losses {
        let ours = open(&database.url(), "{}", table(layout, "r"));
        ours.create().await.unwrap();
        ours.writer().await.unwrap().write(&batch(10)).await.unwrap();
        assert_eq!(ours.count().await, Ok(Counts { points: 10, values: 10 }));
        database.execute(loss).await;
        assert_eq!(ours.count().await, Ok(expected), "{layout}");
        let mut rows = 0;
        let mut sink = |chunk: &Chunk| {
            rows += chunk.len() as u64;
            Ok(())
        };
        ours.reader().await.unwrap().query(&Query::Scan, &mut sink).await.unwrap();
        assert_eq!(rows, expected.points, "{layout}");
    }
    database.remove().await;
}

#[tokio::test]
async fn a_sink_that_fails_ends_the_query_and_not_the_reader() {
    let Some(database) = OwnDatabase::create().await else { return };
    let ours = open(&database.url(), "{}", table(Layout::Wide, "r"));
    ours.create().await.unwrap();
    ours.writer().await.unwrap().write(&batch(5000)).await.unwrap();
    let mut reader = ours.reader().await.unwrap();
    let mut failing = |_: &Chunk| Err(iotbench_core::Error::new(Cause::Client, "enough"));
    assert_eq!(reader.query(&Query::Scan, &mut failing).await.unwrap_err().message, "enough");
    let mut sink = |_: &Chunk| Ok(());
    assert_eq!(reader.query(&Query::Scan, &mut sink).await.unwrap().rows, 5000);
    database.connect().await.execute("SELECT 1").await.unwrap();
    database.remove().await;
}
