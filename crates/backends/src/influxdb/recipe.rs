//! A private InfluxDB 1.x server, reached over HTTP and UDP.

use iotbench_core::{On, Origin, Program, Ready, Recipe, Role, StopBy};

/// Set by environment alone: it outweighs every configuration file, and the one given is empty.
pub(crate) static RECIPE: Recipe = Recipe {
    programs: &[Program {
        name: "influxd",
        folders: &["/usr/local/bin", "/opt/influxdb"],
        from: Origin::Debian("influxdb"),
    }],
    jars: &[],
    version: &["{influxd}", "version"],
    user: "influxdb",
    tuning: TUNING,
    nodes: &[1],
    roles: &[Role {
        name: "server",
        on: On::EveryNode,
        ports: &["http", "udp", "rpc"],
        // Backups are asked for at the last one.
        open_ports: &["udp", "rpc"],
        files: &[],
        init: &[],
        environment: &[
            "INFLUXDB_DATA_CACHE_MAX_MEMORY_SIZE={memory_bytes}",
            "INFLUXDB_DATA_INDEX_VERSION=inmem",
            // The defaults refuse the 100,001st device.
            "INFLUXDB_DATA_MAX_VALUES_PER_TAG=0",
            "INFLUXDB_DATA_MAX_SERIES_PER_DATABASE=0",
            // A log of every request would be a load of its own.
            "INFLUXDB_DATA_QUERY_LOG_ENABLED=false",
            "INFLUXDB_HTTP_LOG_ENABLED=false",
            // Its user is made when it is ready: `Backend::join`.
            "INFLUXDB_HTTP_AUTH_ENABLED=true",
            "INFLUXDB_LOGGING_LEVEL=warn",
            "INFLUXDB_MONITOR_STORE_ENABLED=false",
            "INFLUXDB_SUBSCRIBER_ENABLED=false",
            "INFLUXDB_CONTINUOUS_QUERIES_ENABLED=false",
            "INFLUXDB_UDP_0_DATABASE=iotbench",
            "INFLUXDB_UDP_0_BATCH_SIZE=5000",
            "INFLUXDB_UDP_0_BATCH_PENDING=10",
            "INFLUXDB_UDP_0_BATCH_TIMEOUT=100ms",
            "INFLUXDB_UDP_0_READ_BUFFER=8388608",
            "{settings}",
            "INFLUXDB_REPORTING_DISABLED=true",
            "INFLUXDB_BIND_ADDRESS={host}:{rpc}",
            "INFLUXDB_META_DIR={data}/meta",
            "INFLUXDB_DATA_DIR={data}/data",
            "INFLUXDB_DATA_WAL_DIR={data}/wal",
            "INFLUXDB_HTTP_BIND_ADDRESS={host}:{http}",
            "INFLUXDB_UDP_0_ENABLED=true",
            "INFLUXDB_UDP_0_BIND_ADDRESS={host}:{udp}",
        ],
        start: &["{influxd}", "-config", "/dev/null"],
        // `data.cache-snapshot-memory-size` is INFLUXDB_DATA_CACHE_SNAPSHOT_MEMORY_SIZE.
        setting: &["INFLUXDB_{KEY}={value}"],
        reserved: &[
            "reporting-disabled",
            "bind-address",
            "meta.dir",
            "data.dir",
            "data.wal-dir",
            "http.bind-address",
            "udp.0.enabled",
            "udp.0.bind-address",
        ],
        ready: Ready::Http { port: "http", path: "/ping" },
        ready_within_s: 30,
        stop: StopBy::Terminate,
        url: Some("http://iotbench:{password}@{host}:{http}/?udp={host}:{udp}"),
    }],
    join: &[],
};

/// What tunes it and does no more.
const TUNING: &[&str] = &[
    "coordinator.max-concurrent-queries",
    "coordinator.write-timeout",
    "data.cache-max-memory-size",
    "data.cache-snapshot-memory-size",
    "data.cache-snapshot-write-cold-duration",
    "data.compact-full-write-cold-duration",
    "data.compact-throughput",
    "data.compact-throughput-burst",
    "data.index-version",
    "data.max-concurrent-compactions",
    "data.max-series-per-database",
    "data.max-values-per-tag",
    "data.wal-fsync-delay",
    "http.max-body-size",
    "udp.0.batch-pending",
    "udp.0.batch-size",
    "udp.0.batch-timeout",
    "udp.0.read-buffer",
];
