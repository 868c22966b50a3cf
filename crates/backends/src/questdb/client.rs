//! Asks QuestDB on a connection of its own.

use super::error;
use hyper::{Method, StatusCode};
use iotbench_backend_kit::{
    cell::Cell,
    http::{
        Connection, Server,
        connection::{given_up, uri},
        date::now_s,
        limits::MAX_REFUSAL_BYTES,
        rows::{Rows, RowsOf},
    },
    sql::AskRows,
};
use iotbench_core::Error;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

const ROWS: RowsOf = RowsOf { product: "QuestDB", key: "\"dataset\":" };

/// An answer that QuestDB does not give.
pub(crate) fn improper(message: &dyn std::fmt::Display) -> Error {
    ROWS.improper(message)
}

/// A connection for questions and statements.
pub(crate) struct Client {
    /// `None` once an exchange was left in the middle.
    connection: Option<Connection>,
    base_path: String,
    now_s: Option<u64>,
}

impl Client {
    pub(crate) async fn connect(server: &Server) -> Result<Self, Error> {
        Ok(Self { connection: Some(server.connect().await?), base_path: server.base_path.clone(), now_s: None })
    }

    /// The time that the server told with the last answer to a question, in Unix seconds.
    pub(crate) fn now_s(&self) -> Option<u64> {
        self.now_s
    }

    /// Carries out a statement that answers with no rows.
    pub(crate) async fn run(&mut self, sql: &str) -> Result<(), Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let response = connection.ask(Method::GET, &self.address(sql)?).await?;
        let (head, body) = response.into_parts();
        let text = connection.short_body(body, MAX_REFUSAL_BYTES).await?;
        self.connection = Some(connection);
        if head.status == StatusCode::OK { Ok(()) } else { Err(error::of_status(head.status, &head.headers, &text)) }
    }

    fn address(&self, sql: &str) -> Result<hyper::Uri, Error> {
        uri(&format!("{}/exec?nm=true&query={}", self.base_path, utf8_percent_encode(sql, NON_ALPHANUMERIC)))
    }
}

impl AskRows for Client {
    /// A connection whose answer was not read to its end is given up.
    async fn ask(
        &mut self,
        sql: &str,
        mut take: impl FnMut(&[Cell<'_>]) -> Result<(), Error> + Send,
    ) -> Result<u64, Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let response = connection.ask(Method::GET, &self.address(sql)?).await?;
        let (head, mut body) = response.into_parts();
        self.now_s = now_s(&head.headers);
        if head.status != StatusCode::OK {
            let text = connection.short_body(body, MAX_REFUSAL_BYTES).await?;
            self.connection = Some(connection);
            return Err(error::of_status(head.status, &head.headers, &text));
        }
        let (mut rows, mut bytes) = (Rows::new(ROWS), 0);
        while let Some(piece) = connection.piece(&mut body).await? {
            bytes += piece.len() as u64;
            rows.push(&piece, &mut take)?;
        }
        rows.finish()?;
        self.connection = Some(connection);
        Ok(bytes)
    }

    fn device(cell: &Cell<'_>) -> Option<u32> {
        cell.text()?.parse().ok()
    }

    fn improper(message: &dyn std::fmt::Display) -> Error {
        improper(message)
    }
}
