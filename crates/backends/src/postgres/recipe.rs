//! A private PostgreSQL server.

use iotbench_core::{On, Origin, Program, Ready, Recipe, Role, StopBy};

/// Where distributions keep the programs of each major version.
const BIN: &[&str] = &["/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin"];

pub(crate) static RECIPE: Recipe = Recipe {
    programs: &[
        Program { name: "postgres", folders: BIN, from: Origin::Debian("postgresql-15") },
        Program { name: "initdb", folders: BIN, from: Origin::Debian("postgresql-15") },
        Program { name: "pg_isready", folders: BIN, from: Origin::Debian("postgresql-client-15") },
    ],
    jars: &[],
    version: &["{postgres}", "--version"],
    user: "postgres",
    nodes: &[1],
    roles: &[Role {
        name: "server",
        on: On::EveryNode,
        ports: &["port"],
        files: &[],
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
            "listen_addresses={host}",
            "-c",
            "unix_socket_directories={run}",
        ],
        setting: &["-c", "{key}={value}"],
        reserved: &["data-directory", "port", "listen-addresses", "unix-socket-directories", "logging-collector"],
        ready: Ready::Command(&["{pg_isready}", "--quiet", "--host={host}", "--port={port}"]),
        ready_within_s: 30,
        // Open sessions are ended, and a checkpoint written.
        stop: StopBy::Interrupt,
        url: Some("postgres://postgres@{host}:{port}"),
    }],
    join: &[],
};
