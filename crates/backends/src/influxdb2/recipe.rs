//! A private InfluxDB 2.x server.

use iotbench_core::{On, Origin, Program, Ready, Recipe, Role, StopBy};

/// The program of version 1 has the same name, so that of version 2 is looked for under another: `influxd2`, or the
/// file that `IOTBENCH_INFLUXD2_BIN` names.
pub(crate) static RECIPE: Recipe = Recipe {
    programs: &[Program {
        name: "influxd2",
        folders: &["{servers}/influxdb2", "/opt/influxdb2"],
        from: Origin::Elsewhere("InfluxData's package influxdb2, whose program is called influxd"),
    }],
    jars: &[],
    version: &["{influxd2}", "version"],
    user: "influxdb",
    tuning: TUNING,
    nodes: &[1],
    roles: &[Role {
        name: "server",
        on: On::EveryNode,
        ports: &["http"],
        open_ports: &[],
        files: &[],
        init: &[],
        environment: &[
            "INFLUXD_STORAGE_CACHE_MAX_MEMORY_SIZE={memory_bytes}",
            "INFLUXD_LOG_LEVEL=warn",
            "{settings}",
            "INFLUXD_REPORTING_DISABLED=true",
            "INFLUXD_HTTP_BIND_ADDRESS={host}:{http}",
            "INFLUXD_BOLT_PATH={data}/influxd.bolt",
            "INFLUXD_SQLITE_PATH={data}/influxd.sqlite",
            "INFLUXD_ENGINE_PATH={data}/engine",
        ],
        start: &["{influxd2}", "run"],
        // `storage-wal-fsync-delay` is INFLUXD_STORAGE_WAL_FSYNC_DELAY.
        setting: &["INFLUXD_{KEY}={value}"],
        reserved: &["reporting-disabled", "http-bind-address", "bolt-path", "sqlite-path", "engine-path"],
        ready: Ready::Http { port: "http", path: "/health" },
        ready_within_s: 60,
        stop: StopBy::Terminate,
        // Organisation, user and token are made at the first look.
        url: Some("http://{host}:{http}/?setup=private"),
    }],
    join: &[],
};

/// What tunes it and does no more.
const TUNING: &[&str] = &[
    "query-concurrency",
    "query-memory-bytes",
    "storage-cache-max-memory-size",
    "storage-cache-snapshot-memory-size",
    "storage-cache-snapshot-write-cold-duration",
    "storage-compact-throughput-burst",
    "storage-max-concurrent-compactions",
    "storage-wal-fsync-delay",
    "storage-wal-max-concurrent-writes",
];
