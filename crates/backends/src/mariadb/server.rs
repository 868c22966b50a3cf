//! Connections to a server, each set up alike.

use super::{
    address::{Address, Encryption, Secret},
    config::Config,
    error::{classify, classify_connect},
    greeting::refuse_bare_password,
};
use iotbench_core::{Action, Cause, Error};
use sqlx::{Connection, Executor, MySqlConnection, Row, mysql::MySqlRow};
use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering},
};

/// Errors instead of warnings for what a column cannot hold, and for an engine that is not there.
const SET_UP: &str = "SET NAMES utf8mb4 COLLATE utf8mb4_bin, SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1";
const BULK_LOAD: &str = "SET SESSION rocksdb_bulk_load_allow_sk = 1, SESSION rocksdb_bulk_load = 1";
/// A transaction sees one state of the database.
const REPEATABLE_READ: &str = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ";

/// A server that is connected to anew for each writer, each reader and each call of the control plane.
pub(crate) struct Server {
    pub(crate) address: Address,
    pub(crate) config: Config,
    password: Option<Secret>,
    may_send_password: AtomicBool,
}

impl Server {
    /// A server with the password that the environment holds, for a URL without one.
    pub(crate) fn new(address: Address, config: Config, environment: Option<Secret>) -> Self {
        let from_file = config.password_file.is_some();
        let password = address.password.clone().or_else(|| environment.filter(|_| !from_file));
        Self { address, config, password, may_send_password: AtomicBool::new(false) }
    }

    /// A connection for the control plane.
    pub(crate) async fn connect(&self) -> Result<MySqlConnection, Error> {
        let mut connection = self.open().await.map_err(|e| self.at_this_address(e))?;
        execute(&mut connection, SET_UP).await?;
        Ok(connection)
    }

    /// A connection that writes.
    pub(crate) async fn connect_to_write(&self) -> Result<MySqlConnection, Error> {
        let mut connection = self.connect().await?;
        if self.config.bulk_load {
            execute(&mut connection, BULK_LOAD).await?;
        }
        Ok(connection)
    }

    /// A connection that reads.
    pub(crate) async fn connect_to_read(&self) -> Result<MySqlConnection, Error> {
        let mut connection = self.connect().await?;
        execute(&mut connection, REPEATABLE_READ).await?;
        Ok(connection)
    }

    async fn open(&self) -> Result<MySqlConnection, Error> {
        let file_error = |what: &str, e: &std::io::Error| {
            Error::new(Cause::Client, format!("the {what} cannot be read: {e}")).action(Action::Stop)
        };
        let password = match (&self.password, &self.config.password_file) {
            (None, Some(file)) => {
                let text = fs::read_to_string(file).map_err(|e| file_error(&format!("file {}", file.display()), &e))?;
                Some(Secret(text.trim_end_matches(['\r', '\n']).to_owned()))
            }
            (password, _) => password.clone(),
        };
        let read_ca = |file| fs::read(file).map_err(|e| file_error("certificate authority (setting ca)", &e));
        let ca = self.config.ca.as_ref().map(read_ca).transpose()?;
        let is_bare = self.address.encryption == Encryption::None && self.address.socket.is_none();
        if is_bare && password.is_some() && !self.may_send_password.load(Ordering::Relaxed) {
            refuse_bare_password(&self.address.host, self.address.port).await?;
            self.may_send_password.store(true, Ordering::Relaxed);
        }
        let options = self.address.options(password.as_ref(), ca);
        MySqlConnection::connect_with(&options).await.map_err(|e| classify_connect(&e))
    }

    fn at_this_address(&self, error: Error) -> Error {
        Error { message: format!("{}: {}", self.address.shown(), error.message), ..error }
    }
}

/// Runs a statement without parameters, by the text protocol.
pub(crate) async fn execute(connection: &mut MySqlConnection, sql: &str) -> Result<(), Error> {
    connection.execute(sql).await.map(|_| ()).map_err(|e| classify(&e))
}

/// The text in a column of a row of the server's own tables, whatever its type; `None` for NULL.
pub(crate) fn text_at(row: &MySqlRow, place: usize) -> Result<Option<String>, Error> {
    let bytes: Option<&[u8]> = row.try_get_unchecked(place).map_err(|e| classify(&e))?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
}
