//! A private MariaDB server, with the engines InnoDB and MyRocks.

use iotbench_core::{ConfigFile, On, Origin, Program, Ready, Recipe, Role, StopBy};

const SBIN: &[&str] = &["/usr/sbin", "/usr/local/sbin", "/usr/local/mysql/bin"];

/// Who may come in: root with the password, from wherever the server is reached. MySQL understands it too.
macro_rules! root_with_password {
    () => {
        "\
CREATE USER IF NOT EXISTS 'root'@'%';
ALTER USER 'root'@'%' IDENTIFIED BY '{password}';
GRANT ALL PRIVILEGES ON *.* TO 'root'@'%' WITH GRANT OPTION;
ALTER USER 'root'@'localhost' IDENTIFIED BY '{password}';
"
    };
}
pub(crate) use root_with_password;

/// And nobody else: a new MariaDB has users without a password.
const ROOT: ConfigFile = ConfigFile {
    path: "root.sql",
    text: concat!(
        root_with_password!(),
        "\
DELETE FROM mysql.global_priv WHERE User = '' OR User = 'root' AND Host NOT IN ('%', 'localhost');
FLUSH PRIVILEGES;
"
    ),
};

/// What the client program that asks whether it is ready comes in with.
const CLIENT: ConfigFile = ConfigFile { path: "client.cnf", text: "[client]\npassword={password}\n" };

/// Both engines get the whole budget: a table is in one of them, and the other's cache stays empty.
pub(crate) static RECIPE: Recipe = Recipe {
    programs: &[
        Program { name: "mariadbd", folders: SBIN, from: Origin::Debian("mariadb-server mariadb-plugin-rocksdb") },
        Program {
            name: "mariadb-install-db",
            folders: &["/usr/local/mysql/scripts"],
            from: Origin::Debian("mariadb-server"),
        },
        Program { name: "mariadb-admin", folders: &["/usr/local/mysql/bin"], from: Origin::Debian("mariadb-client") },
    ],
    jars: &[],
    version: &["{mariadbd}", "--no-defaults", "--version"],
    user: "mysql",
    tuning: TUNING,
    nodes: &[1],
    roles: &[Role {
        name: "server",
        on: On::EveryNode,
        ports: &["port"],
        open_ports: &[],
        files: &[ROOT, CLIENT],
        init: &[&[
            "{mariadb-install-db}",
            "--no-defaults",
            "--datadir={data}",
            // Without it root cannot come in over TCP.
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        ]],
        environment: &[],
        start: &[
            "{mariadbd}",
            "--no-defaults",
            // The package's own file that does this is one of the defaults.
            "--plugin-load-add=ha_rocksdb",
            "--innodb-buffer-pool-size={memory_bytes}",
            "--rocksdb-block-cache-size={memory_bytes}",
            "--character-set-server=utf8mb4",
            "{settings}",
            "--init-file={run}/root.sql",
            "--datadir={data}",
            // Starting, it removes what looks like a server's temporary table there.
            "--tmpdir={run}",
            "--socket={run}/mariadb.sock",
            "--pid-file={run}/mariadb.pid",
            "--port={port}",
            "--bind-address={host}",
        ],
        setting: &["--{key}={value}"],
        reserved: &["datadir", "tmpdir", "socket", "pid-file", "port", "bind-address", "user"],
        ready: Ready::Command(&[
            "{mariadb-admin}",
            "--defaults-file={run}/client.cnf",
            "--protocol=tcp",
            "--host={host}",
            "--port={port}",
            "--user=root",
            "--connect-timeout=1",
            "ping",
        ]),
        ready_within_s: 30,
        stop: StopBy::Terminate,
        url: Some("mysql://root:{password}@{host}:{port}/"),
    }],
    join: &[],
};

/// What tunes it and does no more.
pub(super) const TUNING: &[&str] = &[
    "bulk_insert_buffer_size",
    "innodb_autoinc_lock_mode",
    "innodb_buffer_pool_size",
    "innodb_doublewrite",
    "innodb_file_per_table",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_flush_neighbors",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_log_buffer_size",
    "innodb_log_file_size",
    "innodb_page_size",
    "innodb_read_io_threads",
    "innodb_write_io_threads",
    "join_buffer_size",
    "key_buffer_size",
    "max_allowed_packet",
    "max_connections",
    "query_cache_size",
    "query_cache_type",
    "rocksdb_block_cache_size",
    "rocksdb_flush_log_at_trx_commit",
    "sort_buffer_size",
    "sync_binlog",
    "table_open_cache",
    "thread_cache_size",
    "thread_handling",
    "thread_pool_size",
];
