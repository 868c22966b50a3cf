//! MySQL, which is talked to as MariaDB is: what is another's in it is its name, its address and its private server.

use super::{
    open,
    recipe::{TUNING, root_with_password},
};
use iotbench_core::{
    Backend, BackendInfo, Capabilities, ConfigFile, Database, Domain, On, OpenRequest, Origin, Program, Ready, Recipe,
    Role, SettingError, StopBy, ValueType,
};
use std::sync::Arc;

/// MySQL reads the numbers of a JSON text with an error of up to 3 units in the last of their 53 places, because it does so in
/// the quicker of RapidJSON's ways. 32-bit floats bear that, and columns have no such error.
/// Source: <https://rapidjson.org/md_doc_dom.html>, `kParseFullPrecisionFlag`; seen on 8.0.31.
const JSON_ERROR: f64 = 3.0 * f64::EPSILON;

fn domain(value_type: ValueType) -> Domain {
    match value_type {
        ValueType::F64 => Domain::Rounded { relative: JSON_ERROR },
        other => super::domain(other),
    }
}

/// MySQL 8.
pub struct MySql;

static INFO: BackendInfo = BackendInfo {
    name: "mysql",
    summary: "MySQL 8.0.21 or newer with InnoDB: the statements and settings of mariadb",
    capabilities: Capabilities { domain, ..super::CAPABILITIES },
    recipe: Some(&RECIPE),
    met: &["8.0.31"],
    ..super::INFO
};

impl Backend for MySql {
    fn info(&self) -> &BackendInfo {
        &INFO
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        open(request)
    }
}

const ROOT: ConfigFile = ConfigFile { path: "root.sql", text: root_with_password!() };

/// By the other way a password needs encryption, and what is written would be encrypted too. Newer versions have no such option.
const NATIVE_PASSWORDS: &str = "--loose-default-authentication-plugin=mysql_native_password";

/// Its program is not looked for as `mysqld`: in Debian that is another name of MariaDB's.
static RECIPE: Recipe = Recipe {
    programs: &[Program { name: "mysqld8", folders: &["{servers}/mysql/bin"], from: Origin::ServersScript }],
    jars: &[],
    version: &["{mysqld8}", "--no-defaults", "--version"],
    user: "mysql",
    tuning: TUNING,
    nodes: &[1],
    roles: &[Role {
        name: "server",
        on: On::EveryNode,
        ports: &["port"],
        open_ports: &[],
        files: &[ROOT],
        // Its root has no password before the first start.
        init: &[&["{mysqld8}", "--no-defaults", NATIVE_PASSWORDS, "--initialize-insecure", "--datadir={data}"]],
        environment: &[],
        start: &[
            "{mysqld8}",
            "--no-defaults",
            "--innodb-buffer-pool-size={memory_bytes}",
            NATIVE_PASSWORDS,
            "{settings}",
            "--init-file={run}/root.sql",
            "--datadir={data}",
            "--tmpdir={run}",
            "--secure-file-priv=NULL",
            "--socket={run}/mysql.sock",
            "--mysqlx=OFF",
            "--pid-file={run}/mysql.pid",
            "--port={port}",
            "--bind-address={host}",
        ],
        setting: &["--{key}={value}"],
        reserved: &["datadir", "tmpdir", "socket", "pid-file", "port", "bind-address", "user", "mysqlx"],
        // It listens when its engine has recovered.
        ready: Ready::Listens,
        ready_within_s: 60,
        stop: StopBy::Terminate,
        url: Some("mysql://root:{password}@{host}:{port}/"),
    }],
    join: &[],
};
