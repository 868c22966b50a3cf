//! MySQL, which is talked to as MariaDB is: what is another's in it is its name, its address and its private server.

use super::{CAPABILITIES, open};
use crate::mariadb::config::SETTINGS;
use iotbench_core::{
    Backend, Capabilities, Database, On, OpenRequest, Origin, Program, Ready, Recipe, Role, Setting, SettingError,
    StopBy,
};
use std::sync::Arc;

/// MySQL 8.
pub struct MySql;

impl Backend for MySql {
    fn name(&self) -> &'static str {
        "mysql"
    }

    fn summary(&self) -> &'static str {
        "MySQL 8.0.21 or newer with InnoDB: the statements and settings of mariadb"
    }

    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    fn settings(&self) -> &'static [Setting] {
        SETTINGS
    }

    fn recipe(&self) -> Option<&'static Recipe> {
        Some(&RECIPE)
    }

    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        open(request)
    }
}

/// Its program is not looked for as `mysqld`: in Debian that is another name of MariaDB's.
static RECIPE: Recipe = Recipe {
    programs: &[Program { name: "mysqld8", folders: &["{servers}/mysql/bin"], from: Origin::ServersScript }],
    jars: &[],
    version: &["{mysqld8}", "--no-defaults", "--version"],
    user: "mysql",
    nodes: &[1],
    roles: &[Role {
        name: "server",
        on: On::EveryNode,
        ports: &["port"],
        files: &[],
        // Its root has no password.
        init: &[&["{mysqld8}", "--no-defaults", "--initialize-insecure", "--datadir={data}"]],
        environment: &[],
        start: &[
            "{mysqld8}",
            "--no-defaults",
            "--innodb-buffer-pool-size={memory_bytes}",
            "{settings}",
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
        url: Some("mysql://root@{host}:{port}/"),
    }],
    join: &[],
};
