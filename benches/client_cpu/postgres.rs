//! PostgreSQL, layout wide: a prepared INSERT of many rows, an INSERT from arrays, and a binary COPY, by sqlx.

use crate::{
    Bare, pairs,
    readings::{Readings, SIGNALS, TABLE, create, signal_name},
};
use sqlx::{Arguments, Connection, PgConnection, postgres::PgArguments};
use url::Url;

/// The database that the backend makes where the address names none.
const DATABASE: &str = "iotbench";

pub async fn compare(url: &Url) {
    for method in ["insert", "unnest", "copy"] {
        let database = create("postgres", url, &[("indexes", "none"), ("method", method)]).await;
        let mut own = url.clone();
        own.set_path(DATABASE);
        let connection = PgConnection::connect(own.as_str()).await.unwrap();
        let name = format!("postgres {method}");
        match method {
            "insert" => {
                let mut bare = Insert { connection, sql: String::new(), rows: 0 };
                pairs::compare(&name, &*database, &mut bare).await;
            }
            "unnest" => pairs::compare(&name, &*database, &mut Unnest { connection, sql: unnest() }).await,
            _ => pairs::compare(&name, &*database, &mut Copy { connection, sql: copy(), buffer: Vec::new() }).await,
        }
        database.drop_created().await.unwrap();
    }
}

fn columns() -> String {
    let names = (0..SIGNALS).map(|signal| format!(", \"{}\"", signal_name(signal))).collect::<String>();
    format!("\"public\".\"{TABLE}\" (\"ts\"{names})")
}

struct Insert {
    connection: PgConnection,
    /// For as many rows as were written last.
    sql: String,
    rows: usize,
}

impl Bare for Insert {
    async fn write(&mut self, readings: &Readings) {
        let rows = readings.rows.len();
        if self.rows != rows {
            (self.sql, self.rows) = (insert(rows), rows);
        }
        let mut arguments = PgArguments::default();
        arguments.reserve(rows * (SIGNALS + 1), rows * (SIGNALS * 4 + 8));
        for row in &readings.rows {
            arguments.add(row.time_ns).unwrap();
            for value in row.values {
                arguments.add(value).unwrap();
            }
        }
        sqlx::query_with(&self.sql, arguments).execute(&mut self.connection).await.unwrap();
    }
}

fn insert(rows: usize) -> String {
    let places = SIGNALS + 1;
    let row = |row: usize| {
        let numbers = (1..=places).map(|place| format!("${}", row * places + place));
        format!("({})", numbers.collect::<Vec<_>>().join(", "))
    };
    format!("INSERT INTO {} VALUES {}", columns(), (0..rows).map(row).collect::<Vec<_>>().join(", "))
}

struct Unnest {
    connection: PgConnection,
    sql: String,
}

impl Bare for Unnest {
    async fn write(&mut self, readings: &Readings) {
        let mut arguments = PgArguments::default();
        arguments.reserve(SIGNALS + 1, readings.rows.len() * (SIGNALS * 4 + 8));
        arguments.add(&readings.times_ns).unwrap();
        for column in &readings.columns {
            arguments.add(column).unwrap();
        }
        sqlx::query_with(&self.sql, arguments).execute(&mut self.connection).await.unwrap();
    }
}

fn unnest() -> String {
    let arrays = (2..SIGNALS + 2).map(|place| format!(", ${place}::real[]")).collect::<String>();
    format!("INSERT INTO {} SELECT * FROM unnest($1::bigint[]{arrays})", columns())
}

struct Copy {
    connection: PgConnection,
    sql: String,
    buffer: Vec<u8>,
}

impl Bare for Copy {
    async fn write(&mut self, readings: &Readings) {
        let buffer = &mut self.buffer;
        buffer.clear();
        // The signature, no flags, no more header; rows; the end.
        buffer.extend_from_slice(b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0");
        let fields = i16::try_from(SIGNALS + 1).unwrap();
        for row in &readings.rows {
            buffer.extend_from_slice(&fields.to_be_bytes());
            buffer.extend_from_slice(&8_i32.to_be_bytes());
            buffer.extend_from_slice(&row.time_ns.to_be_bytes());
            for value in row.values {
                buffer.extend_from_slice(&4_i32.to_be_bytes());
                buffer.extend_from_slice(&value.to_be_bytes());
            }
        }
        buffer.extend_from_slice(&(-1_i16).to_be_bytes());
        let mut copy = self.connection.copy_in_raw(&self.sql).await.unwrap();
        copy.send(buffer.as_slice()).await.unwrap();
        copy.finish().await.unwrap();
    }
}

fn copy() -> String {
    format!("COPY {} FROM STDIN (FORMAT binary)", columns())
}
