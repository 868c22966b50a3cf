//! Private KairosDB servers: one on H2, or one on each node of a Cassandra.

use iotbench_core::{ConfigFile, Jars, On, Origin, Program, Ready, Recipe, Role, StopBy, Variant};

const JAVA: Program =
    Program { name: "java", folders: &["/usr/lib/jvm/*/bin"], from: Origin::Debian("openjdk-17-jdk-headless") };
const KAIROSDB: Jars = Jars { name: "kairosdb", main: "kairosdb" };
/// With its own configuration file in the class path it would not find its defaults, which have the same name.
const KAIROSDB_JARS: &str = "{kairosdb.jars}/*";

/// Logs of a Java server go to its output.
const LOGBACK: ConfigFile = ConfigFile {
    path: "logback.xml",
    text: r#"<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%date{{ISO8601} %-5level [%thread] %logger{{0} - %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="STDOUT"/></root>
</configuration>"#,
};

/// Who may come in over HTTP: KairosDB has Java's own log-in decide it. An option of the Java machine, which everybody sees,
/// names this file, and this file the one with the password. Neither ends in `.conf` or `.properties`: KairosDB reads what does
/// as its own configuration.
const LOGIN: ConfigFile = ConfigFile {
    path: "login.jaas",
    text: r#"iotbench {{
  org.eclipse.jetty.jaas.spi.PropertyFileLoginModule required file="{run}/users";
};"#,
};
/// A user, his password, and what he is: KairosDB asks no more than that he is known.
const USERS: ConfigFile = ConfigFile { path: "users", text: "iotbench: {password},user" };

/// What both variants start. Java 17 opens these packages no longer by itself.
const START: &[&str] = &[
    "{java}",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
    "-Xmx{memory_bytes}",
    "-Djava.io.tmpdir={run}",
    "-Dlogback.configurationFile={run}/logback.xml",
    "-Djava.security.auth.login.config={run}/login.jaas",
    "-cp",
    KAIROSDB_JARS,
    "org.kairosdb.core.Main",
    "-c",
    "run",
    "-p",
    "{run}/kairosdb.conf",
];

/// The configuration of both variants: its store's lines stand between.
macro_rules! kairosdb_conf {
    ($store:literal) => {
        ConfigFile {
            path: "kairosdb.conf",
            text: concat!(
                // Written to most nodes and read from one of them, as is the default, a value may not be seen.
                "kairosdb.datastore.cassandra.write_cluster.read_consistency_level = \"QUORUM\"\n",
                "{settings}\n",
                "kairosdb.service.telnet = \"org.kairosdb.core.telnet.TelnetServerModule\"\n",
                "kairosdb.telnetserver.port = {telnet}\n",
                "kairosdb.telnetserver.address = \"{host}\"\n",
                "kairosdb.service.http = \"org.kairosdb.core.http.WebServletModule\"\n",
                "kairosdb.jetty.port = {http}\n",
                "kairosdb.jetty.address = \"{host}\"\n",
                "kairosdb.jetty.auth_module_name = \"iotbench\"\n",
                // Its own figures would be a load of their own.
                "kairosdb.service.reporter = \"<disabled>\"\n",
                "kairosdb.query_cache.cache_dir = \"{run}/cache\"\n",
                "kairosdb.queue_processor.queue_path = \"{run}/queue\"\n",
                $store,
            ),
        }
    };
}

const fn kairosdb(name: &'static str, files: &'static [ConfigFile]) -> Role {
    Role {
        name,
        on: On::EveryNode,
        ports: &["http", "telnet"],
        open_ports: &["telnet"],
        files,
        init: &[],
        environment: &[],
        start: START,
        setting: &["kairosdb.{key} = \"{value}\""],
        reserved: &[
            "telnetserver.port",
            "telnetserver.address",
            "jetty.port",
            "jetty.address",
            "jetty.auth_module_name",
            "service.http",
            "service.telnet",
            "service.datastore",
            "datastore.h2.database_path",
            "queue_processor.queue_path",
            "query_cache.cache_dir",
        ],
        // Asked without a password, and answered.
        ready: Ready::Http { port: "http", path: "/api/v1/health/check" },
        ready_within_s: 120,
        stop: StopBy::Terminate,
        url: Some("http://iotbench:{password}@{host}:{http}/?telnet={host}:{telnet}"),
    }
}

pub(crate) static ON_H2: Recipe = Recipe {
    programs: &[JAVA],
    jars: &[KAIROSDB],
    version: &[],
    user: "nobody",
    tuning: TUNING,
    nodes: &[1],
    roles: &[kairosdb(
        "server",
        &[
            LOGBACK,
            LOGIN,
            USERS,
            kairosdb_conf!(
                "kairosdb.service.datastore = \"org.kairosdb.datastore.h2.H2Module\"\n\
             kairosdb.datastore.h2.database_path = \"{data}\"\n"
            ),
        ],
    )],
    join: &[],
};

/// Every node has all the data. KairosDB is told of its own node's Cassandra, and finds the others there.
pub(crate) static ON_CASSANDRA: Recipe = Recipe {
    programs: &[JAVA],
    jars: &[KAIROSDB, Jars { name: "cassandra", main: "cassandra-all" }],
    version: &[],
    user: "nobody",
    tuning: TUNING,
    nodes: &[1, 3],
    roles: &[
        CASSANDRA,
        kairosdb(
            "kairosdb",
            &[
                LOGBACK,
                LOGIN,
                USERS,
                kairosdb_conf!(
                    "kairosdb.service.datastore = \"org.kairosdb.datastore.cassandra.CassandraModule\"\n\
                 kairosdb.datastore.cassandra.write_cluster.replication = \"{{'class': 'SimpleStrategy', \
                 'replication_factor': {nodes}}\"\n\
                 kairosdb.datastore.cassandra.write_cluster.cql_host_list = [\"{host}:{cassandra.cql}\"]\n"
                ),
            ],
        ),
    ],
    join: &[],
};

/// What else a private server can be.
pub(crate) static VARIANTS: [Variant; 1] = [Variant { setting: "store = cassandra", recipe: &ON_CASSANDRA }];

/// Every node is a seed: all start at the same time, and one that is not would give up while the others are not there yet.
/// A seed takes over no data from others, and there is none.
const CASSANDRA: Role = Role {
    name: "cassandra",
    on: On::EveryNode,
    ports: &["cql", "storage"],
    open_ports: &["cql", "storage"],
    files: &[
        LOGBACK,
        ConfigFile {
            path: "cassandra.yaml",
            // The thresholds are those that KairosDB's reference configuration asks for: its batches go over many
            // partitions, and each warning would print a whole one.
            text: "\
batch_size_warn_threshold: 50KiB
batch_size_fail_threshold: 70KiB
unlogged_batch_across_partitions_warn_threshold: 1000
{settings}
cluster_name: iotbench
num_tokens: 16
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: \"{cassandra.storage.all}\"
listen_address: {host}
rpc_address: {host}
storage_port: {storage}
native_transport_port: {cql}
data_file_directories:
  - {data}/data
commitlog_directory: {data}/commitlog
saved_caches_directory: {data}/saved_caches
hints_directory: {data}/hints
cdc_raw_directory: {data}/cdc_raw
commitlog_sync: periodic
commitlog_sync_period: 10s
",
        },
        ConfigFile { path: "jvm.options", text: JVM_OPTIONS },
    ],
    init: &[],
    environment: &[],
    start: &[
        "{java}",
        "@{run}/jvm.options",
        "-Xms{memory_bytes}",
        "-Xmx{memory_bytes}",
        "-Djava.io.tmpdir={run}",
        "-javaagent:{cassandra.jars}/jamm-0.4.0.jar",
        "-Dcassandra.config=file://{run}/cassandra.yaml",
        "-Dlogback.configurationFile={run}/logback.xml",
        "-Dcassandra.storagedir={data}",
        "-Dcassandra-foreground=yes",
        "-cp",
        "{cassandra.jars}/*",
        "org.apache.cassandra.service.CassandraDaemon",
    ],
    setting: &["{key}: {value}"],
    reserved: &[
        "cluster_name",
        "num_tokens",
        "partitioner",
        "endpoint_snitch",
        "seed_provider",
        "listen_address",
        "rpc_address",
        "storage_port",
        "native_transport_port",
        "data_file_directories",
        "commitlog_directory",
        "saved_caches_directory",
        "hints_directory",
        "cdc_raw_directory",
        "commitlog_sync",
        "commitlog_sync_period",
    ],
    ready: Ready::Listens,
    ready_within_s: 240,
    stop: StopBy::Terminate,
    url: None,
};

/// Cassandra's own options for Java 17, and those by which nodes of one machine join in seconds.
const JVM_OPTIONS: &str = "\
-ea
-Xss512k
-XX:+UseG1GC
-Djava.net.preferIPv4Stack=true
-Djdk.attach.allowAttachSelf=true
-Dio.netty.tryReflectionSetAccessible=true
-Dcassandra.superuser_setup_delay_ms=0
--add-exports java.base/jdk.internal.misc=ALL-UNNAMED
--add-exports java.management.rmi/com.sun.jmx.remote.internal.rmi=ALL-UNNAMED
--add-exports java.rmi/sun.rmi.registry=ALL-UNNAMED
--add-exports java.rmi/sun.rmi.server=ALL-UNNAMED
--add-exports java.sql/java.sql=ALL-UNNAMED
--add-exports java.base/java.lang.ref=ALL-UNNAMED
--add-exports jdk.unsupported/sun.misc=ALL-UNNAMED
--add-exports jdk.compiler/com.sun.tools.javac.file=ALL-UNNAMED
--add-exports jdk.attach/sun.tools.attach=ALL-UNNAMED
--add-opens java.base/java.lang.module=ALL-UNNAMED
--add-opens java.base/jdk.internal.loader=ALL-UNNAMED
--add-opens java.base/jdk.internal.ref=ALL-UNNAMED
--add-opens java.base/jdk.internal.reflect=ALL-UNNAMED
--add-opens java.base/jdk.internal.math=ALL-UNNAMED
--add-opens java.base/jdk.internal.module=ALL-UNNAMED
--add-opens java.base/jdk.internal.util.jar=ALL-UNNAMED
--add-opens jdk.management/com.sun.management.internal=ALL-UNNAMED
--add-opens java.base/sun.nio.ch=ALL-UNNAMED
--add-opens java.base/java.io=ALL-UNNAMED
--add-opens java.base/java.lang.reflect=ALL-UNNAMED
--add-opens jdk.compiler/com.sun.tools.javac=ALL-UNNAMED
--add-opens java.base/java.lang=ALL-UNNAMED
--add-opens java.base/java.util=ALL-UNNAMED
-XX:+ExitOnOutOfMemoryError
-XX:MaxDirectMemorySize=128M
-Dcassandra.skip_wait_for_gossip_to_settle=0
-Dcassandra.ring_delay_ms=5000
-Dcassandra.consistent.rangemovement=false
";

/// What tunes it and does no more.
const TUNING: &[&str] = &[
    "commitlog_sync",
    "commitlog_sync_period",
    "commitlog_sync_period_in_ms",
    "compaction_throughput",
    "compaction_throughput_mb_per_sec",
    "concurrent_compactors",
    "concurrent_reads",
    "concurrent_writes",
    "memtable_allocation_type",
    "memtable_flush_writers",
    "memtable_heap_space",
    "memtable_heap_space_in_mb",
    "queue_processor.batch_size",
    "queue_processor.memory_queue_size",
    "queue_processor.min_batch_size",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_of_everybody_and_cassandra_asks_nobody() {
        assert_eq!(ON_H2.open_ports().collect::<Vec<_>>(), ["telnet"]);
        let open: Vec<_> = ON_CASSANDRA.open_ports().collect();
        assert_eq!(open, ["cassandra.cql", "cassandra.storage", "kairosdb.telnet"]);
    }
}
