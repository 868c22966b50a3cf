//! MariaDB, layout wide: a prepared INSERT of many rows, by sqlx.

use crate::{
    Bare, pairs,
    readings::{Readings, SIGNALS, TABLE, create, signal_name},
};
use sqlx::{Arguments, Connection, MySqlConnection, mysql::MySqlArguments};
use url::Url;

/// The database that the backend makes where the address names none.
const DATABASE: &str = "iotbench";

pub async fn compare(url: &Url) {
    let database = create("mariadb", url, &[("indexes", "none")]).await;
    let connection = MySqlConnection::connect(url.as_str()).await.unwrap();
    let mut bare = BareMariaDb { connection, sql: String::new(), rows: 0 };
    pairs::compare("mariadb insert", &*database, &mut bare).await;
    database.drop_created().await.unwrap();
}

struct BareMariaDb {
    connection: MySqlConnection,
    /// For as many rows as were written last.
    sql: String,
    rows: usize,
}

impl Bare for BareMariaDb {
    async fn write(&mut self, readings: &Readings) {
        let rows = readings.rows.len();
        if self.rows != rows {
            (self.sql, self.rows) = (statement(rows), rows);
        }
        let mut arguments = MySqlArguments::default();
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

fn statement(rows: usize) -> String {
    let names = (0..SIGNALS).map(|signal| format!(",`{}`", signal_name(signal))).collect::<String>();
    let row = format!("(?{})", ",?".repeat(SIGNALS));
    format!("INSERT INTO `{DATABASE}`.`{TABLE}` (`ts`{names}) VALUES {}", vec![row; rows].join(","))
}
