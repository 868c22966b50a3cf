//! Opens connections.

use super::{
    address::{Address, OWN_DATABASE, Tls},
    config::Config,
    error::{classify_connecting, is_no_database},
};
use iotbench_core::{Action, Cause, Error};
use sqlx::{ConnectOptions, PgConnection, postgres::PgConnectOptions};
use std::path::{Path, PathBuf};

/// Statements kept prepared on a connection: more than either a writer or a reader uses.
const PREPARED_STATEMENTS: usize = 64;

/// All that is needed to connect. It has no `Debug`: it knows the password.
pub(crate) struct Connector {
    options: PgConnectOptions,
    database: Option<String>,
    tls: Tls,
    password_file: PathBuf,
    ca: PathBuf,
}

impl Connector {
    pub(crate) fn new(address: Address, config: &Config) -> Self {
        let mut options = PgConnectOptions::new_without_pgpass()
            .port(address.port)
            .ssl_mode(address.tls.mode())
            .application_name("iotbench")
            .extra_float_digits(None)
            .statement_cache_capacity(PREPARED_STATEMENTS)
            .disable_statement_logging();
        options =
            if address.host.starts_with('/') { options.socket(&address.host) } else { options.host(&address.host) };
        if let Some(user) = &address.user {
            options = options.username(user);
        }
        if let Some(password) = &address.password {
            options = options.password(password.expose());
        }
        if let Some(value) = config.synchronous_commit.parameter() {
            options = options.options([("synchronous_commit", value)]);
        }
        let has_password = address.password.is_some();
        let password_file = if has_password { PathBuf::new() } else { config.password_file.clone() };
        Self { options, database: address.database, tls: address.tls, password_file, ca: config.ca.clone() }
    }

    /// The database that holds the table.
    pub(crate) fn database(&self) -> &str {
        self.database.as_deref().unwrap_or(OWN_DATABASE)
    }

    /// Whether the user named no database, so that it is ours to create.
    pub(crate) fn is_database_ours(&self) -> bool {
        self.database.is_none()
    }

    pub(crate) fn tls(&self) -> Tls {
        self.tls
    }

    /// A connection to the database that holds the table.
    pub(crate) async fn connect(&self) -> Result<PgConnection, Error> {
        self.connect_to(self.database()).await
    }

    /// A connection to the database that holds the table; `None` where there is no such database yet.
    pub(crate) async fn connect_if_exists(&self) -> Result<Option<PgConnection>, Error> {
        match self.options_for(self.database())?.connect().await {
            Ok(connection) => Ok(Some(connection)),
            Err(e) if self.is_database_ours() && is_no_database(&e) => Ok(None),
            Err(e) => Err(self.failed(&e)),
        }
    }

    /// A connection to a database of this name.
    pub(crate) async fn connect_to(&self, database: &str) -> Result<PgConnection, Error> {
        self.options_for(database)?.connect().await.map_err(|e| self.failed(&e))
    }

    /// The resolver's own words do not say which name has no address.
    fn failed(&self, error: &sqlx::Error) -> Error {
        let error = classify_connecting(error);
        match error.cause {
            Cause::Dns => Error { message: format!("{}: {}", self.options.get_host(), error.message), ..error },
            _ => error,
        }
    }

    fn options_for(&self, database: &str) -> Result<PgConnectOptions, Error> {
        let mut options = self.options.clone().database(database);
        if !self.password_file.as_os_str().is_empty() {
            let setting = "password_file";
            let text = String::from_utf8(read(&self.password_file, setting)?);
            let text = text.map_err(|_| unreadable(&self.password_file, setting, "it is not UTF-8"))?;
            options = options.password(text.lines().next().unwrap_or_default());
        }
        if !self.ca.as_os_str().is_empty() {
            options = options.ssl_root_cert_from_pem(read(&self.ca, "ca")?);
        }
        Ok(options)
    }
}

fn read(file: &Path, setting: &str) -> Result<Vec<u8>, Error> {
    std::fs::read(file).map_err(|e| unreadable(file, setting, &e.to_string()))
}

fn unreadable(file: &Path, setting: &str, reason: &str) -> Error {
    let message = format!("the setting {setting} names {}, which cannot be read: {reason}", file.display());
    Error::new(Cause::Client, message).action(Action::Stop)
}
