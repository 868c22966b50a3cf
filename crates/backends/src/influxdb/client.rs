//! Asks InfluxQL on a connection of its own and hands the answer over chunk by chunk.

use super::{
    chunk::{Document, Series},
    error,
};
use hyper::{Method, StatusCode, Uri, body::Bytes, body::Incoming, header::HeaderName};
use iotbench_backend_kit::http::{
    Connection, Content, Server,
    connection::{given_up, uri},
    date::now_s,
    limits::{MAX_PART_BYTES, MAX_REFUSAL_BYTES},
};
use iotbench_core::{Cause, Error, Name};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// The rows that the server puts into one chunk.
const CHUNK_ROWS: usize = iotbench_core::CHUNK_ROWS;
const VERSION: HeaderName = HeaderName::from_static("x-influxdb-version");

/// A connection for questions, and for the few lines that mark what is ours.
pub(crate) struct Client {
    /// `None` once an exchange was left in the middle.
    connection: Option<Connection>,
    query: Uri,
    write: Uri,
    database: Name,
    buffer: Vec<u8>,
    version: Option<String>,
    now_s: Option<u64>,
}

/// The fields of a form.
const FORM: Content = Content { media_type: Some("application/x-www-form-urlencoded"), gzip: false };

/// A new connection that the server answers on: what is beyond its limit it accepts, and closes at once.
///
/// # Errors
/// As [`Server::connect`]; Connect where it is closed.
pub(crate) async fn connect_to_write(server: &Server) -> Result<Connection, Error> {
    let mut connection = server.connect().await?;
    let ping = uri(&format!("{}/ping", server.base_path))?;
    let answered = async {
        let body = connection.ask(Method::GET, &ping).await?.into_body();
        connection.short_body(body, MAX_REFUSAL_BYTES).await
    };
    answered.await.map_err(|e| error::of_first_request(e, &server.host, server.port))?;
    Ok(connection)
}

/// Where lines for a database are written.
pub(crate) fn write_uri(server: &Server, database: &Name) -> Result<Uri, Error> {
    uri(&format!("{}/write?db={database}&precision=ns", server.base_path))
}

impl Client {
    /// A client of this database, which need not exist.
    pub(crate) async fn connect(server: &Server, database: &Name) -> Result<Self, Error> {
        Ok(Self {
            connection: Some(server.connect().await?),
            query: uri(&format!("{}/query", server.base_path))?,
            write: write_uri(server, database)?,
            database: database.clone(),
            buffer: Vec::new(),
            version: None,
            now_s: None,
        })
    }

    /// The version that the server named with its last answer.
    pub(crate) fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The time that the server told with its last answer, in Unix seconds.
    pub(crate) fn now_s(&self) -> Option<u64> {
        self.now_s
    }

    /// Asks one or more statements and gives every piece of a series, in order, to `take`. Returns the bytes of the
    /// answer.
    ///
    /// # Errors
    /// The server's, or that of `take`, after which the connection is given up.
    pub(crate) async fn ask(
        &mut self,
        statement: &str,
        mut take: impl FnMut(&Series<'_>) -> Result<(), Error> + Send,
    ) -> Result<u64, Error> {
        let mut connection = self.take_connection()?;
        let form = format!(
            "db={}&epoch=ns&chunked=true&chunk_size={CHUNK_ROWS}&q={}",
            self.database,
            utf8_percent_encode(statement, NON_ALPHANUMERIC)
        );
        let response = connection.post(&self.query, FORM, Bytes::from(form)).await?;
        let (head, body) = response.into_parts();
        self.now_s = now_s(&head.headers);
        self.version = head.headers.get(VERSION).and_then(|v| v.to_str().ok()).map(Into::into);
        if head.status != StatusCode::OK {
            let text = connection.short_body(body, MAX_REFUSAL_BYTES).await?;
            self.connection = Some(connection);
            return Err(error::of_query(head.status, &head.headers, &text));
        }
        let (bytes, failed) = self.read_documents(&mut connection, body, &mut take).await?;
        self.connection = Some(connection);
        failed.map_or(Ok(bytes), Err)
    }

    /// Reads the whole answer: one document a line. The error of a statement comes at the end of its answer.
    async fn read_documents(
        &mut self,
        connection: &mut Connection,
        mut body: Incoming,
        take: &mut (impl FnMut(&Series<'_>) -> Result<(), Error> + Send),
    ) -> Result<(u64, Option<Error>), Error> {
        self.buffer.clear();
        let (mut bytes, mut failed) = (0, None);
        while let Some(piece) = connection.piece(&mut body).await? {
            bytes += piece.len() as u64;
            let mut rest = &piece[..];
            while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
                let (line, behind) = (&rest[..end], &rest[end + 1..]);
                // A document that lies in one piece is read where it lies.
                let read = if self.buffer.is_empty() {
                    read_document(line, take)?
                } else {
                    self.hold(line)?;
                    let read = read_document(&self.buffer, take)?;
                    self.buffer.clear();
                    read
                };
                failed = failed.or(read);
                rest = behind;
            }
            self.hold(rest)?;
        }
        if !self.buffer.is_empty() {
            failed = failed.or(read_document(&self.buffer, take)?);
        }
        Ok((bytes, failed))
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.buffer.len() + bytes.len() > MAX_PART_BYTES {
            let message = format!("one chunk of an answer has more than {MAX_PART_BYTES} bytes");
            return Err(Error::new(Cause::Protocol, message));
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes a few lines.
    pub(crate) async fn write(&mut self, lines: String) -> Result<(), Error> {
        let mut connection = self.take_connection()?;
        let count = lines.lines().count();
        let response = connection.post(&self.write, Content::default(), Bytes::from(lines)).await?;
        let (head, body) = response.into_parts();
        let text = connection.short_body(body, MAX_REFUSAL_BYTES).await?;
        self.connection = Some(connection);
        if head.status == StatusCode::NO_CONTENT {
            return Ok(());
        }
        Err(error::of_write(head.status, &head.headers, &text, count))
    }

    fn take_connection(&mut self) -> Result<Connection, Error> {
        self.connection.take().ok_or_else(given_up)
    }
}

/// Gives the series of a document to `take`; returns the error that the document tells of.
fn read_document(text: &[u8], take: &mut impl FnMut(&Series<'_>) -> Result<(), Error>) -> Result<Option<Error>, Error> {
    if text.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let improper = |message: &dyn std::fmt::Display| {
        Error::new(Cause::Protocol, format!("this is no answer of an InfluxDB 1.x: {message}"))
    };
    let document: Document<'_> = serde_json::from_slice(text).map_err(|e| improper(&e))?;
    let mut failed = document.error.as_deref().map(error::of_statement);
    if document.results.is_none() && failed.is_none() {
        return Err(improper(&"neither results nor an error"));
    }
    for result in document.results.into_iter().flatten() {
        for series in &result.series {
            if !series.is_regular() {
                return Err(improper(&"a row has not one cell a column"));
            }
            take(series)?;
        }
        failed = failed.or_else(|| result.error.as_deref().map(error::of_statement));
    }
    Ok(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_statement_is_told_after_its_rows() {
        let text = br#"{"results":[{"series":[{"columns":["time"],"values":[[1]]}]},{"error":"query interrupted"}]}"#;
        let mut series = 0;
        let mut take = |_: &Series<'_>| {
            series += 1;
            Ok(())
        };
        let failed = read_document(text, &mut take).unwrap().unwrap();
        assert_eq!((failed.cause, series), (Cause::Server, 1));
        assert_eq!(read_document(b"\n", &mut |_| Ok(())), Ok(None));
        for bad in
            [&b"not json"[..], b"{}", b"{\"results\":7}", br#"{"results":[{"series":[{"columns":[],"values":[]}]}]}"#]
        {
            assert_eq!(read_document(bad, &mut |_| Ok(())).unwrap_err().cause, Cause::Protocol);
        }
    }
}
