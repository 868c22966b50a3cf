//! A private VictoriaMetrics, single node.

use iotbench_core::{On, Origin, Program, Ready, Recipe, Role, StopBy};

/// Set by its command line alone. The default retention of a month would drop what a study's clock dates earlier,
/// silently.
pub(crate) static RECIPE: Recipe = Recipe {
    programs: &[Program {
        name: "victoria-metrics",
        folders: &["/usr/local/bin", "/opt/victoria-metrics"],
        from: Origin::Debian("victoria-metrics"),
    }],
    jars: &[],
    version: &["{victoria-metrics}", "-version"],
    user: "_victoria-metrics",
    tuning: TUNING,
    nodes: &[1],
    roles: &[Role {
        name: "server",
        on: On::EveryNode,
        ports: &["http"],
        open_ports: &[],
        files: &[],
        init: &[],
        // Arguments outweigh them, and every user of the machine sees those.
        environment: &["httpAuth_username=iotbench", "httpAuth_password={password}"],
        start: &[
            "{victoria-metrics}",
            "-envflag.enable",
            "-memory.allowedBytes={memory_bytes}",
            "-retentionPeriod=100y",
            "-loggerLevel=WARN",
            // By default each connection is closed after two minutes, and one that is idle after one.
            "-http.connTimeout=8760h",
            "-http.idleConnTimeout=8760h",
            // Questions about the whole of a long run.
            "-search.maxUniqueTimeseries=30000000",
            "-search.maxSamplesPerSeries=1000000000",
            "-search.maxSamplesPerQuery=100000000000",
            "-search.maxQueryDuration=10m",
            "-search.latencyOffset=0s",
            "{settings}",
            "-storageDataPath={data}",
            "-httpListenAddr={host}:{http}",
        ],
        setting: &["-{key}={value}"],
        reserved: &[
            "storagedatapath",
            "httplistenaddr",
            "influxmeasurementfieldseparator",
            "influxskipmeasurement",
            "influxskipsinglefield",
            "influxdblabel",
            "influxtrimtimestamp",
            "dedup.minscrapeinterval",
            "precisionbits",
        ],
        // Set to encrypted connections it would close any other without an answer.
        ready: Ready::Listens,
        ready_within_s: 30,
        stop: StopBy::Terminate,
        url: Some("http://iotbench:{password}@{host}:{http}/"),
    }],
    join: &[],
};

/// What tunes it and does no more.
const TUNING: &[&str] = &[
    "inmemoryDataFlushInterval",
    "insert.maxQueueDuration",
    "maxConcurrentInserts",
    "memory.allowedBytes",
    "memory.allowedPercent",
    "search.maxConcurrentRequests",
];
