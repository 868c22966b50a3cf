//! The broker between coordinator and agents, as on the command line.

use crate::passwords;
use clap::Args;
use iotbench_cluster::Broker;
use iotbench_session::SessionError;
use std::path::PathBuf;

/// How the broker is reached.
#[derive(Clone, Debug, Args)]
pub(crate) struct NatsArguments {
    /// The NATS server, such as nats://host:4222, or tls://host:4222 for an encrypted connection; with commas between those of
    /// one cluster. With a password or token better as IOTBENCH_NATS, which other users cannot see
    #[arg(long, env = "IOTBENCH_NATS", hide_env_values = true, value_name = "URL")]
    nats: Option<String>,
    /// A file of NATS credentials (.creds), or of a single line: USER:PASSWORD or a token
    #[arg(long, env = "IOTBENCH_NATS_CREDENTIALS", value_name = "FILE")]
    nats_credentials: Option<PathBuf>,
    /// The certificates (PEM) that vouch for the NATS server, where the system's do not
    #[arg(long, env = "IOTBENCH_NATS_CA", value_name = "FILE")]
    nats_ca: Option<PathBuf>,
}

impl NatsArguments {
    /// The broker that is named, if one is. `insecure`: also where it is in clear text on another machine.
    pub(crate) fn broker(&self, insecure: bool) -> Result<Option<Broker>, SessionError> {
        let Some(address) = self.nats.as_deref().filter(|address| !address.trim().is_empty()) else { return Ok(None) };
        if address.contains('@') {
            passwords::warn_of("--nats", "IOTBENCH_NATS");
        }
        let broker = Broker::new(address, self.nats_credentials.clone(), self.nats_ca.clone())?;
        broker.check_clear_text(insecure)?;
        Ok(Some(broker))
    }
}
