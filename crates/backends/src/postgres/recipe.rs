//! A private PostgreSQL server.

use iotbench_core::{Program, Ready, Recipe, StopBy};

/// Where distributions keep the programs of each major version.
const BIN: &[&str] = &["/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin"];

pub(crate) static RECIPE: Recipe = Recipe {
    role: "server",
    programs: &[
        Program { name: "postgres", folders: BIN, package: "postgresql-15" },
        Program { name: "initdb", folders: BIN, package: "postgresql-15" },
        Program { name: "pg_isready", folders: BIN, package: "postgresql-client-15" },
    ],
    version: &["{postgres}", "--version"],
    user: "postgres",
    ports: &["port"],
    init: &[&[
        "{initdb}",
        "--pgdata={data}",
        "--username=postgres",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
        "--no-sync",
    ]],
    environment: &[],
    start: &[
        "{postgres}",
        "-c",
        "shared_buffers={memory_bytes}B",
        "{settings}",
        "-D",
        "{data}",
        "-c",
        "port={port}",
        "-c",
        "listen_addresses=127.0.0.1",
        "-c",
        "unix_socket_directories={run}",
    ],
    setting: &["-c", "{key}={value}"],
    reserved: &["data-directory", "port", "listen-addresses", "unix-socket-directories", "logging-collector"],
    ready: Ready::Command(&["{pg_isready}", "--quiet", "--host=127.0.0.1", "--port={port}"]),
    // Open sessions are ended, and a checkpoint written.
    stop: StopBy::Interrupt,
    url: "postgres://postgres@127.0.0.1:{port}",
};
