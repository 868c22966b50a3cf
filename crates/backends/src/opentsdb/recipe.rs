//! A private server: HBase in one process, with a ZooKeeper of its own, and one TSD.

use iotbench_core::{ConfigFile, Jars, On, Origin, Program, Ready, Recipe, Role, StopBy};

const JAVA: Program =
    Program { name: "java", folders: &["/usr/lib/jvm/*/bin"], from: Origin::Debian("openjdk-17-jdk-headless") };

pub(crate) static RECIPE: Recipe = Recipe {
    programs: &[JAVA],
    jars: &[Jars { name: "opentsdb", main: "opentsdb" }, Jars { name: "hbase", main: "hbase-server" }],
    version: &[],
    user: "nobody",
    tuning: TUNING,
    nodes: &[1],
    roles: &[HBASE, OPENTSDB],
    join: &[],
};

/// Where HBase's clients, and HBase itself, look for it.
const HBASE_CLIENT: &str = "\
<configuration>
  <property><name>hbase.zookeeper.quorum</name><value>{host}</value></property>
  <property><name>hbase.zookeeper.property.clientPort</name><value>{hbase.zookeeper}</value></property>
</configuration>
";

const HBASE: Role = Role {
    name: "hbase",
    on: On::FirstNode,
    ports: &["regions", "master", "zookeeper"],
    open_ports: &[],
    files: &[
        ConfigFile {
            path: "conf/hbase-site.xml",
            text: "\
<configuration>
{settings}
  <property><name>hbase.cluster.distributed</name><value>false</value></property>
  <property><name>hbase.rootdir</name><value>file://{data}/hbase</value></property>
  <property><name>hbase.tmp.dir</name><value>{data}/tmp</value></property>
  <property><name>hbase.zookeeper.property.dataDir</name><value>{data}/zookeeper</value></property>
  <property><name>hbase.zookeeper.property.clientPort</name><value>{zookeeper}</value></property>
  <property><name>hbase.zookeeper.quorum</name><value>{host}</value></property>
  <property><name>hbase.master.hostname</name><value>localhost</value></property>
  <property><name>hbase.master.ipc.address</name><value>{host}</value></property>
  <property><name>hbase.master.port</name><value>{master}</value></property>
  <property><name>hbase.master.info.port</name><value>-1</value></property>
  <property><name>hbase.regionserver.hostname</name><value>localhost</value></property>
  <property><name>hbase.regionserver.ipc.address</name><value>{host}</value></property>
  <property><name>hbase.regionserver.port</name><value>{regions}</value></property>
  <property><name>hbase.regionserver.info.port</name><value>-1</value></property>
  <property><name>hbase.unsafe.stream.capability.enforce</name><value>false</value></property>
  <property><name>hbase.wal.provider</name><value>filesystem</value></property>
  <property><name>hbase.procedure.store.wal.use.hsync</name><value>false</value></property>
</configuration>
",
        },
        LOG4J,
        ConfigFile { path: "jvm.options", text: JVM_OPTIONS },
    ],
    init: &[],
    environment: &[],
    start: &[
        "{java}",
        "@{run}/jvm.options",
        "-Xmx{heap_bytes}",
        "-Djava.io.tmpdir={run}",
        "-cp",
        "{run}/conf:{hbase.jars}/*",
        "org.apache.hadoop.hbase.master.HMaster",
        "start",
    ],
    setting: &["  <property><name>{key}</name><value>{value}</value></property>"],
    reserved: &[
        "hbase.cluster.distributed",
        "hbase.rootdir",
        "hbase.tmp.dir",
        "hbase.zookeeper.property.dataDir",
        "hbase.zookeeper.property.clientPort",
        "hbase.zookeeper.quorum",
        "hbase.master.hostname",
        "hbase.master.ipc.address",
        "hbase.master.port",
        "hbase.master.info.port",
        "hbase.regionserver.hostname",
        "hbase.regionserver.ipc.address",
        "hbase.regionserver.port",
        "hbase.regionserver.info.port",
        "hbase.unsafe.stream.capability.enforce",
        "hbase.wal.provider",
        "hbase.procedure.store.wal.use.hsync",
    ],
    // Its master may not have begun yet: who makes the tables waits for it.
    ready: Ready::Listens,
    ready_within_s: 120,
    stop: StopBy::Terminate,
    url: None,
};

const OPENTSDB: Role = Role {
    name: "opentsdb",
    on: On::FirstNode,
    ports: &["port"],
    open_ports: &[],
    files: &[
        ConfigFile { path: "conf/hbase-site.xml", text: HBASE_CLIENT },
        LOG4J,
        ConfigFile { path: "jvm.options", text: JVM_OPTIONS },
        ConfigFile { path: "CreateTables.java", text: CREATE_TABLES },
        // It wants a folder of pages.
        ConfigFile { path: "static/README", text: "No pages.\n" },
        ConfigFile {
            path: "logback.xml",
            text: r#"<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%date{{ISO8601} %-5level [%thread] %logger{{0} - %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="STDOUT"/></root>
</configuration>"#,
        },
        ConfigFile {
            path: "opentsdb.conf",
            text: "\
tsd.http.request.enable_chunked = true
tsd.http.request.max_chunk = 1048576
tsd.network.worker_threads = 4
tsd.storage.enable_compaction = false
tsd.storage.flush_interval = 100
{settings}
tsd.core.auto_create_metrics = true
tsd.core.auto_create_tagks = true
tsd.core.auto_create_tagvs = true
tsd.http.cachedir = {run}/cache
tsd.http.query.allow_delete = true
tsd.http.show_stack_trace = false
tsd.http.staticroot = {run}/static
tsd.network.bind = {host}
tsd.network.port = {port}
tsd.storage.fix_duplicates = true
tsd.storage.hbase.zk_basedir = /hbase
tsd.storage.hbase.zk_quorum = {hbase.zookeeper.first}
",
        },
    ],
    init: &[&[
        "{java}",
        "@{run}/jvm.options",
        "-Djava.io.tmpdir={run}",
        "-cp",
        "{run}/conf:{hbase.jars}/*",
        "{run}/CreateTables.java",
    ]],
    environment: &[],
    start: &[
        "{java}",
        "-Xmx{heap_bytes}",
        "-Djava.io.tmpdir={run}",
        "-Djava.net.preferIPv4Stack=true",
        "-Dlogback.configurationFile={run}/logback.xml",
        "-cp",
        "{opentsdb.jars}/*",
        "net.opentsdb.tools.TSDMain",
        "--config={run}/opentsdb.conf",
    ],
    setting: &["{key} = {value}"],
    reserved: &[
        "tsd.core.auto_create_metrics",
        "tsd.core.auto_create_tagks",
        "tsd.core.auto_create_tagvs",
        "tsd.http.cachedir",
        "tsd.http.query.allow_delete",
        "tsd.http.show_stack_trace",
        "tsd.http.staticroot",
        "tsd.network.bind",
        "tsd.network.port",
        "tsd.storage.fix_duplicates",
        "tsd.storage.hbase.zk_basedir",
        "tsd.storage.hbase.zk_quorum",
    ],
    ready: Ready::Http { port: "port", path: "/api/version" },
    ready_within_s: 120,
    stop: StopBy::Terminate,
    url: Some("http://{host}:{port}/"),
};

/// Logs go to the output.
const LOG4J: ConfigFile = ConfigFile {
    path: "conf/log4j.properties",
    text: "\
log4j.rootLogger=WARN,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{{ISO8601} %-5p [%t] %c{{2}: %m%n
",
};

/// The tables of OpenTSDB, as its `create_table.sh` makes them. Who asks for a table waits until HBase can make it.
const CREATE_TABLES: &str = "\
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.*;
import org.apache.hadoop.hbase.util.Bytes;

public class CreateTables {{
    static void create(Admin admin, String table, String... families) throws Exception {{
        TableDescriptorBuilder descriptor = TableDescriptorBuilder.newBuilder(TableName.valueOf(table));
        for (String family : families) {{
            descriptor.setColumnFamily(ColumnFamilyDescriptorBuilder.of(Bytes.toBytes(family)));
        }
        admin.createTable(descriptor.build());
    }

    public static void main(String[] arguments) throws Exception {{
        try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
                Admin admin = connection.getAdmin()) {{
            create(admin, \"tsdb\", \"t\");
            create(admin, \"tsdb-uid\", \"id\", \"name\");
            create(admin, \"tsdb-tree\", \"t\");
            create(admin, \"tsdb-meta\", \"name\");
        }
    }
}
";

/// What HBase's libraries need of Java 17.
const JVM_OPTIONS: &str = "\
-Djava.net.preferIPv4Stack=true
-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true
--add-modules jdk.unsupported
--add-opens java.base/java.nio=ALL-UNNAMED
--add-opens java.base/sun.nio.ch=ALL-UNNAMED
--add-opens java.base/java.lang=ALL-UNNAMED
--add-opens java.base/jdk.internal.ref=ALL-UNNAMED
--add-opens java.base/java.lang.reflect=ALL-UNNAMED
--add-opens java.base/java.util=ALL-UNNAMED
--add-opens java.base/java.util.concurrent=ALL-UNNAMED
--add-exports java.base/jdk.internal.misc=ALL-UNNAMED
--add-exports java.security.jgss/sun.security.krb5=ALL-UNNAMED
";

/// What tunes it and does no more.
const TUNING: &[&str] = &[
    "hbase.hregion.memstore.flush.size",
    "hbase.regionserver.global.memstore.size",
    "hbase.regionserver.handler.count",
    "hfile.block.cache.size",
    "tsd.storage.enable_appends",
    "tsd.storage.enable_compaction",
    "tsd.storage.flush_interval",
];
