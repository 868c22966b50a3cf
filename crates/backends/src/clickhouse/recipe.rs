//! A private ClickHouse server.

use iotbench_core::{ConfigFile, On, Origin, Program, Ready, Recipe, Role, StopBy};

/// Later versions call the root element otherwise, and take this one too.
const CONFIG: ConfigFile = ConfigFile {
    path: "config.xml",
    text: "\
<yandex>
<logger><level>warning</level><console>1</console></logger>
<http_port>{http}</http_port>
<listen_host>{host}</listen_host>
<max_connections>16384</max_connections>
<keep_alive_timeout>600</keep_alive_timeout>
<path>{data}/</path>
<tmp_path>{data}/tmp/</tmp_path>
<user_files_path>{data}/user_files/</user_files_path>
<format_schema_path>{data}/format_schemas/</format_schema_path>
<users_config>{run}/users.xml</users_config>
<default_profile>default</default_profile>
<default_database>default</default_database>
<mark_cache_size>{memory_bytes}</mark_cache_size>
</yandex>
",
};

/// One user, whom everybody else's absence leaves alone.
const USERS: ConfigFile = ConfigFile {
    path: "users.xml",
    text: "\
<yandex>
<profiles><default></default></profiles>
<users><iotbench>
<password>{password}</password>
<networks><ip>::/0</ip></networks>
<profile>default</profile>
<quota>default</quota>
</iotbench></users>
<quotas><default></default></quotas>
</yandex>
",
};

pub(crate) static RECIPE: Recipe = Recipe {
    programs: &[
        Program {
            name: "clickhouse-server",
            folders: &["/usr/sbin", "/usr/local/bin"],
            from: Origin::Debian("clickhouse-server"),
        },
        Program { name: "clickhouse-client", folders: &["/usr/local/bin"], from: Origin::Debian("clickhouse-client") },
    ],
    jars: &[],
    // The server of 18.16 does not tell its own.
    version: &["{clickhouse-client}", "--version"],
    user: "clickhouse",
    tuning: TUNING,
    nodes: &[1],
    roles: &[Role {
        name: "server",
        on: On::EveryNode,
        ports: &["http"],
        open_ports: &[],
        files: &[CONFIG, USERS],
        init: &[],
        environment: &[],
        start: &["{clickhouse-server}", "--config-file={run}/config.xml", "--", "{settings}"],
        setting: &["--{key}={value}"],
        reserved: &[
            "http_port",
            "listen_host",
            "path",
            "tmp_path",
            "user_files_path",
            "format_schema_path",
            "users_config",
            "default_profile",
            "default_database",
        ],
        ready: Ready::Http { port: "http", path: "/ping" },
        ready_within_s: 60,
        stop: StopBy::Terminate,
        url: Some("http://iotbench:{password}@{host}:{http}/"),
    }],
    join: &[],
};

/// What tunes it and does no more.
const TUNING: &[&str] = &[
    "mark_cache_size",
    "max_concurrent_queries",
    "merge_tree.fsync_after_insert",
    "merge_tree.fsync_part_directory",
    "merge_tree.index_granularity",
    "merge_tree.parts_to_delay_insert",
    "merge_tree.parts_to_throw_insert",
    "uncompressed_cache_size",
];
