//! Private PostgreSQL servers: one, one with TimescaleDB, or a coordinator of Citus with its workers.

use iotbench_core::{ConfigFile, On, Origin, Program, Ready, Recipe, Role, StopBy, Variant};

/// Where distributions keep the programs of each major version.
const BIN: &[&str] = &["/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin"];
const POSTGRES: Program = Program { name: "postgres", folders: BIN, from: Origin::Debian("postgresql-15") };
const INITDB: Program = Program { name: "initdb", folders: BIN, from: Origin::Debian("postgresql-15") };
const PG_ISREADY: Program = Program { name: "pg_isready", folders: BIN, from: Origin::Debian("postgresql-client-15") };
const PG_CONFIG: Program = Program { name: "pg_config", folders: BIN, from: Origin::Debian("postgresql-client-15") };

/// The file by which this PostgreSQL knows an extension.
const fn extension(control: &'static str) -> Program {
    Program { name: control, folders: &["extension"], from: Origin::Extension(&["{pg_config}", "--sharedir"]) }
}

const CITUS: Program = extension("citus.control");
const TIMESCALEDB: Program = extension("timescaledb.control");

const RESERVED: &[&str] =
    &["data-directory", "port", "listen-addresses", "unix-socket-directories", "logging-collector"];
const RESERVED_WITH_LIBRARIES: &[&str] = &[
    "data-directory",
    "port",
    "listen-addresses",
    "unix-socket-directories",
    "logging-collector",
    "shared-preload-libraries",
];

/// What a server is started with, after parameters of its own.
macro_rules! start {
    ($($own:literal),*) => {
        &[
            "{postgres}",
            "-c",
            "shared_buffers={memory_bytes}B",
            $("-c", $own,)*
            "{open}--hba_file={run}/open.conf",
            "{settings}",
            "-D",
            "{data}",
            "-c",
            "port={port}",
            "-c",
            "listen_addresses={host}",
            "-c",
            "unix_socket_directories={run}",
        ]
    };
}

/// Who may come in where other machines reach the server: who knows the password, as on its own machine.
const OPEN: ConfigFile = ConfigFile {
    path: "open.conf",
    text: "\
local all all scram-sha-256
host all all 0.0.0.0/0 scram-sha-256
",
};

const PASSWORD: ConfigFile = ConfigFile { path: "password", text: "{password}" };

const SERVER: Role = Role {
    name: "server",
    on: On::EveryNode,
    ports: &["port"],
    open_ports: &[],
    files: &[OPEN, PASSWORD],
    init: &[&[
        "{initdb}",
        "--pgdata={data}",
        "--username=postgres",
        "--auth=scram-sha-256",
        "--pwfile={run}/password",
        "--encoding=UTF8",
        "--locale=C",
        "--no-sync",
    ]],
    environment: &[],
    start: start!(),
    setting: &["-c", "{key}={value}"],
    reserved: RESERVED,
    ready: Ready::Command(&["{pg_isready}", "--quiet", "--host={host}", "--port={port}"]),
    ready_within_s: 30,
    // Open sessions are ended, and a checkpoint written.
    stop: StopBy::Interrupt,
    url: Some("postgres://postgres:{password}@{host}:{port}"),
};

const ONE: Recipe = Recipe {
    programs: &[POSTGRES, INITDB, PG_ISREADY],
    jars: &[],
    version: &["{postgres}", "--version"],
    user: "postgres",
    tuning: TUNING,
    nodes: &[1],
    roles: &[SERVER],
    join: &[],
};

pub(crate) static RECIPE: Recipe = ONE;

pub(crate) static WITH_TIMESCALEDB: Recipe = Recipe {
    programs: &[POSTGRES, INITDB, PG_ISREADY, PG_CONFIG, TIMESCALEDB],
    roles: &[Role {
        start: start!("shared_preload_libraries=timescaledb", "timescaledb.telemetry_level=off"),
        reserved: RESERVED_WITH_LIBRARIES,
        ..SERVER
    }],
    ..ONE
};

/// A server of a Citus cluster, whose nodes come in to each other without a password, and so does every user of the machine.
/// The extension belongs to a database: to the one that is always there.
const COORDINATOR: Role = Role {
    name: "coordinator",
    on: On::FirstNode,
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
    // Traffic between nodes is plain as that to the client is; the default encrypts it with a certificate of its own.
    start: start!(
        "shared_preload_libraries=citus",
        "citus.node_conninfo=sslmode=disable",
        "citus.enable_statistics_collection=off"
    ),
    reserved: RESERVED_WITH_LIBRARIES,
    url: Some("postgres://postgres@{host}:{port}/postgres"),
    ..SERVER
};

const WORKER: Role = Role { name: "worker", on: On::OtherNodes, ..COORDINATOR };

/// A coordinator on the first node and a worker on each other; the driver joins them: `Backend::join`.
const fn with_citus(nodes: &'static [u32]) -> Recipe {
    Recipe { programs: &[POSTGRES, INITDB, PG_ISREADY, PG_CONFIG, CITUS], nodes, roles: &[COORDINATOR, WORKER], ..ONE }
}

/// With 1 worker, with 2, and so on.
static WITH_CITUS: [Recipe; 8] = [
    with_citus(&[2]),
    with_citus(&[3]),
    with_citus(&[4]),
    with_citus(&[5]),
    with_citus(&[6]),
    with_citus(&[7]),
    with_citus(&[8]),
    with_citus(&[9]),
];

/// The recipe with so many workers; `None` for a number that is refused elsewhere.
pub(crate) fn with_workers(workers: u64) -> Option<&'static Recipe> {
    let place = usize::try_from(workers).ok()?.checked_sub(1)?;
    WITH_CITUS.get(place)
}

/// What else a private server can be.
pub(crate) static VARIANTS: [Variant; 2] = [
    Variant { setting: "citus_workers = 2", recipe: &WITH_CITUS[1] },
    Variant { setting: "hypertable = true", recipe: &WITH_TIMESCALEDB },
];

/// What tunes it and does no more.
const TUNING: &[&str] = &[
    "autovacuum",
    "autovacuum_max_workers",
    "autovacuum_naptime",
    "bgwriter_delay",
    "bgwriter_lru_maxpages",
    "checkpoint_completion_target",
    "checkpoint_timeout",
    "commit_delay",
    "commit_siblings",
    "effective_cache_size",
    "effective_io_concurrency",
    "fsync",
    "full_page_writes",
    "huge_pages",
    "jit",
    "maintenance_work_mem",
    "max_connections",
    "max_parallel_workers",
    "max_parallel_workers_per_gather",
    "max_wal_size",
    "max_worker_processes",
    "min_wal_size",
    "random_page_cost",
    "shared_buffers",
    "synchronous_commit",
    "temp_buffers",
    "wal_buffers",
    "wal_compression",
    "wal_level",
    "wal_sync_method",
    "wal_writer_delay",
    "wal_writer_flush_after",
    "work_mem",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_has_as_many_workers_as_are_asked_for() {
        for workers in 1..=8_u32 {
            let recipe = with_workers(workers.into()).unwrap();
            let nodes = recipe.nodes[0];
            let on = |role: usize| recipe.roles[role].on.of(nodes).count();
            assert_eq!((recipe.nodes.len(), on(0), on(1)), (1, 1, workers as usize));
        }
        assert!(with_workers(0).is_none() && with_workers(9).is_none());
    }
}
