//! The options of `iotbench run` that say where datapoints go.

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use iotbench_core::Layout;

#[derive(Clone, Debug, Args)]
pub(super) struct TargetArguments {
    /// The database and its layout (`iotbench backends`); repeatable
    #[arg(
        long,
        short,
        env = "IOTBENCH_BACKEND",
        value_name = "NAME[:LAYOUT]",
        default_value = "sqlite",
        value_delimiter = ','
    )]
    pub(super) backend: Vec<String>,
    /// How datapoints become records, where --backend does not say
    #[arg(long, env = "IOTBENCH_LAYOUT", value_parser = layouts())]
    pub(super) layout: Option<Layout>,
    /// Where the database is, such as sqlite:PATH; without it in the results folder, or on a private server that is
    /// started for the run. Repeatable, or with commas between the hosts, for the servers of one cluster: KairosDB and
    /// OpenTSDB are used in turn, MongoDB's are members or routers of one set; others take one. With a password better
    /// as IOTBENCH_URL (one a line), which other users cannot see
    #[arg(long, env = "IOTBENCH_URL", hide_env_values = true, value_delimiter = '\n')]
    pub(super) url: Vec<String>,
    /// Let devices publish to an MQTT broker, and a subscriber feed the writers: mqtt starts a private Mosquitto for the run,
    /// mqtt://HOST[:PORT] is one that is there (where that is this machine's loopback and nothing listens, a private one
    /// is started at that port). After a ?, with & between them: qos=0|1|2 (by default 1), payload=json64|line (Base64 of
    /// JSON, line protocol), and for a private one server.KEY=VALUE as in mosquitto.conf. For paced and open loads
    /// (docs/mqtt.md). With a password better as IOTBENCH_VIA
    #[arg(long, env = "IOTBENCH_VIA", hide_env_values = true, value_name = "mqtt[://HOST[:PORT]][?KEY=VALUE…]")]
    pub(super) via: Option<String>,
}

fn layouts() -> impl TypedValueParser<Value = Layout> {
    PossibleValuesParser::new(Layout::ALL.map(Layout::name)).try_map(|name| name.parse::<Layout>())
}
