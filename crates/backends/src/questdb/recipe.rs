//! A private QuestDB, in a Java virtual machine.

use iotbench_core::{ConfigFile, Jars, On, Origin, Program, Ready, Recipe, Role, StopBy};

/// Set by environment alone: it outweighs the configuration file that the server writes for itself.
pub(crate) static RECIPE: Recipe = Recipe {
    programs: &[Program {
        name: "java",
        folders: &["/usr/lib/jvm/java-17-openjdk-*/bin", "/usr/lib/jvm/default-java/bin"],
        from: Origin::Debian("openjdk-17-jdk-headless"),
    }],
    jars: &[Jars { name: "questdb", main: "questdb" }],
    version: &[],
    user: "questdb",
    tuning: TUNING,
    nodes: &[1],
    roles: &[Role {
        name: "server",
        on: On::EveryNode,
        ports: &["http"],
        open_ports: &[],
        // The server does not make its folder: this file lies in it.
        files: &[ConfigFile { path: "data/conf/server.conf", text: "# Set by the environment.\n" }],
        init: &[],
        environment: &[
            "QDB_TELEMETRY_ENABLED=false",
            "QDB_LINE_TCP_ENABLED=false",
            "QDB_LINE_UDP_ENABLED=false",
            "QDB_PG_ENABLED=false",
            "QDB_HTTP_MIN_ENABLED=false",
            // Else it counts nothing of itself.
            "QDB_METRICS_ENABLED=true",
            // A log of every request would be a load of its own.
            "QDB_LOG_W_STDOUT_LEVEL=ERROR",
            // Questions about a long list of devices come in the address.
            "QDB_HTTP_REQUEST_HEADER_BUFFER_SIZE=1m",
            "QDB_HTTP_USER=iotbench",
            "QDB_HTTP_PASSWORD={password}",
            "{settings}",
            "QDB_HTTP_ENABLED=true",
            "QDB_HTTP_BIND_TO={host}:{http}",
        ],
        start: &[
            "{java}",
            "-Xms128m",
            "-Xmx{memory_bytes}",
            "-XX:+UseParallelGC",
            "-p",
            "{questdb.jars}",
            "-m",
            "io.questdb/io.questdb.ServerMain",
            "-d",
            "{data}",
        ],
        // `cairo.commit.mode` is QDB_CAIRO_COMMIT_MODE.
        setting: &["QDB_{KEY}={value}"],
        reserved: &["http.enabled", "http.bind.to"],
        ready: Ready::Http { port: "http", path: "/ping" },
        ready_within_s: 90,
        stop: StopBy::Terminate,
        url: Some("http://iotbench:{password}@{host}:{http}/"),
    }],
    join: &[],
};

/// What tunes it and does no more.
const TUNING: &[&str] = &[
    "cairo.commit.mode",
    "cairo.max.uncommitted.rows",
    "cairo.wal.enabled.default",
    "http.worker.count",
    "shared.worker.count",
];
