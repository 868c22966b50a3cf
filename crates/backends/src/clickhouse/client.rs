//! Asks ClickHouse on a connection of its own.

use super::{config::Config, error};
use hyper::{Method, Response, StatusCode, Uri, body::Bytes, body::Incoming};
use iotbench_backend_kit::{
    cell::Cell,
    http::{
        Connection, Content,
        connection::{given_up, uri},
        date::now_s,
        limits::MAX_REFUSAL_BYTES,
        rows::{Rows, RowsOf},
    },
    sql::AskRows,
};
use iotbench_core::Error;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

const ROWS: RowsOf = RowsOf { product: "ClickHouse", key: "\"data\":" };
/// 64-bit integers without quotes, what is no number as null, and statements with a long list of devices.
const SETTINGS: &str = "default_format=JSONCompact&output_format_json_quote_64bit_integers=0&output_format_json_quote_denormals=0\
                        &max_query_size=268435456&max_ast_elements=10000000&max_expanded_ast_elements=10000000";
/// The same for who may only read, by whose address a statement comes.
const READ_ONLY: &str =
    "default_format=JSONCompact&output_format_json_quote_64bit_integers=0&output_format_json_quote_denormals=0";

/// An answer that ClickHouse does not give.
pub(crate) fn improper(message: &dyn std::fmt::Display) -> Error {
    ROWS.improper(message)
}

/// The address that takes a statement, in a database of the server.
///
/// # Errors
/// Client where it is none.
pub(crate) fn address(config: &Config, parameters: &str) -> Result<Uri, Error> {
    let database = utf8_percent_encode(&config.database, NON_ALPHANUMERIC);
    uri(&format!("{}/?database={database}&{parameters}", config.server.base_path))
}

/// A connection for questions and statements.
pub(crate) struct Client {
    /// `None` once an exchange was left in the middle.
    connection: Option<Connection>,
    /// Where questions are posted.
    questions: Uri,
    /// What a question in the address follows.
    read_only: String,
    now_s: Option<u64>,
}

impl Client {
    pub(crate) async fn connect(config: &Config) -> Result<Self, Error> {
        let connection = Some(config.server.connect().await?);
        let read_only = address(config, READ_ONLY)?.to_string();
        Ok(Self { connection, questions: address(config, SETTINGS)?, read_only, now_s: None })
    }

    /// The time that the server told with the last answer, in Unix seconds.
    pub(crate) fn now_s(&self) -> Option<u64> {
        self.now_s
    }

    /// Asks a statement that a user wrote, which may change nothing: the server lets nobody who asks by GET.
    ///
    /// # Errors
    /// The server's, or that of `take`.
    pub(crate) async fn ask_read_only(
        &mut self,
        sql: &str,
        take: impl FnMut(&[Cell<'_>]) -> Result<(), Error> + Send,
    ) -> Result<u64, Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let place = uri(&format!("{}&query={}", self.read_only, utf8_percent_encode(sql, NON_ALPHANUMERIC)))?;
        let response = connection.ask(Method::GET, &place).await?;
        self.rows(connection, response, take).await
    }

    async fn rows(
        &mut self,
        mut connection: Connection,
        response: Response<Incoming>,
        mut take: impl FnMut(&[Cell<'_>]) -> Result<(), Error> + Send,
    ) -> Result<u64, Error> {
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

    /// Carries out a statement that answers with no rows.
    ///
    /// # Errors
    /// The server's.
    pub(crate) async fn run(&mut self, sql: &str) -> Result<(), Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let body = Bytes::copy_from_slice(sql.as_bytes());
        let response = connection.post(&self.questions, Content::default(), body).await?;
        let (head, body) = response.into_parts();
        let text = connection.short_body(body, MAX_REFUSAL_BYTES).await?;
        self.connection = Some(connection);
        if head.status == StatusCode::OK && text.is_empty() {
            Ok(())
        } else {
            Err(error::of_status(head.status, &head.headers, &text))
        }
    }
}

impl AskRows for Client {
    /// A connection whose answer was not read to its end is given up.
    async fn ask(
        &mut self,
        sql: &str,
        take: impl FnMut(&[Cell<'_>]) -> Result<(), Error> + Send,
    ) -> Result<u64, Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let body = Bytes::copy_from_slice(sql.as_bytes());
        let response = connection.post(&self.questions, Content::default(), body).await?;
        self.rows(connection, response, take).await
    }

    fn device(cell: &Cell<'_>) -> Option<u32> {
        if let Cell::Integer(number) = cell { u32::try_from(*number).ok() } else { None }
    }

    fn improper(message: &dyn std::fmt::Display) -> Error {
        improper(message)
    }
}
