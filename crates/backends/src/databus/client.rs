//! One connection for questions, and for registering and deleting.

use super::{
    document::rows,
    error::{is_absent, of_status},
    names::CATALOG,
};
use hyper::{HeaderMap, Method, StatusCode, body::Bytes};
use iotbench_backend_kit::http::{
    Connection, Content, Server,
    connection::{given_up, uri},
    limits::MAX_SHORT_BYTES,
};
use iotbench_core::Error;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// What a body is.
pub(crate) const JSON: Content = Content { media_type: Some("application/json"), gzip: false };
/// Where datapoints are posted.
pub(crate) const POST_DATA: &str = "/api/postdataV1";

/// A connection that asks.
pub(crate) struct Client {
    /// `None` once an exchange was left in the middle.
    connection: Option<Connection>,
    base_path: String,
}

/// An answer, whatever it says.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: Vec<u8>,
}

impl Answer {
    fn refused(&self) -> Error {
        of_status(self.status, &self.headers, &self.text)
    }

    /// Whether it says that there is no such table.
    fn is_absent(&self) -> bool {
        matches!(self.status.as_u16(), 400 | 401 | 404) && is_absent(&String::from_utf8_lossy(&self.text))
    }
}

impl Client {
    pub(crate) async fn connect(server: &Server) -> Result<Self, Error> {
        Ok(Self { connection: Some(server.connect().await?), base_path: server.base_path.clone() })
    }

    /// The rows that these modules give, and the bytes of the answer. `modules` stands after `/api/`.
    pub(crate) async fn ask<T: DeserializeOwned>(&mut self, modules: &str) -> Result<(Vec<T>, u64), Error> {
        let answer = self.get(modules).await?;
        match answer.status {
            StatusCode::OK => Ok((rows(&answer.text)?, answer.text.len() as u64)),
            _ => Err(answer.refused()),
        }
    }

    /// The rows of the catalog from one place to another; `None` where there is no catalog.
    pub(crate) async fn catalog<T: DeserializeOwned>(&mut self, from: u64, to: u64) -> Result<Option<Vec<T>>, Error> {
        let answer = self.get(&format!("rawdataV1/{CATALOG}/{from}/{to}")).await?;
        match answer.status {
            StatusCode::OK => rows(&answer.text).map(Some),
            _ if answer.is_absent() => Ok(None),
            _ => Err(answer.refused()),
        }
    }

    /// Registers a table of this kind with a time and these columns, in a database that is made where it is missing.
    ///
    /// # Errors
    /// [`iotbench_core::Cause::NotOurs`] where the name is taken.
    pub(crate) async fn register(
        &mut self,
        kind: &str,
        name: &str,
        database: &str,
        columns: &[(&str, &str)],
    ) -> Result<(), Error> {
        let column = |name: &str, data_type: &str, is_key: bool| json!({ "name": name, "dataType": data_type, "isIndex": is_key, "isPrimaryKey": is_key });
        let others = columns.iter().map(|&(name, data_type)| column(name, data_type, false));
        let columns: Vec<_> = [column("time", "BigInteger", true)].into_iter().chain(others).collect();
        let body = json!({
            "datasetType": kind, "modelName": name, "schema": database, "createschema": "true", "columns": columns,
        });
        self.post("/api/registerV1", &body).await
    }

    /// Writes a few rows.
    pub(crate) async fn write(&mut self, rows: &[Value]) -> Result<(), Error> {
        self.post(POST_DATA, &json!({ "_dataset": rows })).await
    }

    /// Deletes a table of ours, if it is there.
    pub(crate) async fn delete_table(&mut self, name: &str) -> Result<(), Error> {
        let answer = self.get(&format!("deletetableV1/{name}")).await?;
        if answer.status == StatusCode::OK || answer.is_absent() { Ok(()) } else { Err(answer.refused()) }
    }

    /// Deletes a row of the catalog.
    pub(crate) async fn delete_from_catalog(&mut self, place: u64) -> Result<(), Error> {
        let answer = self.get(&format!("deleterangeV1/{CATALOG}/{place}/{place}")).await?;
        if answer.status == StatusCode::OK { Ok(()) } else { Err(answer.refused()) }
    }

    async fn post(&mut self, path: &str, body: &Value) -> Result<(), Error> {
        let answer = self.exchange(Method::POST, path, Some(body)).await?;
        if answer.status == StatusCode::OK { Ok(()) } else { Err(answer.refused()) }
    }

    async fn get(&mut self, modules: &str) -> Result<Answer, Error> {
        self.exchange(Method::GET, &format!("/api/{modules}"), None).await
    }

    async fn exchange(&mut self, method: Method, path: &str, body: Option<&Value>) -> Result<Answer, Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let uri = uri(&format!("{}{path}", self.base_path))?;
        let response = match body {
            None => connection.ask(method, &uri).await?,
            Some(body) => connection.send_body(method, &uri, JSON, Bytes::from(body.to_string())).await?,
        };
        let (head, body) = response.into_parts();
        let text = connection.short_body(body, MAX_SHORT_BYTES).await?;
        self.connection = Some(connection);
        Ok(Answer { status: head.status, headers: head.headers, text })
    }
}
