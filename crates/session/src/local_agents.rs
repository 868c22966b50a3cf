//! Agents that are started for a session on this machine, with a broker of their own.

use crate::error::SessionError;
use iotbench_cluster::{AgentSelector, Broker, RECIPE, SigningKey, TOKEN};
use iotbench_launcher::{Launch, PrivateLog, PrivateServer, ServerSettings, start};
use std::{
    fs::File,
    io::Read,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// Agents of this machine alone, with their broker.
pub(crate) struct LocalAgents {
    agents: Vec<Child>,
    _server: PrivateServer,
}

impl LocalAgents {
    /// Starts them, made of this program, and their broker as `launch` makes one with a log there.
    pub(crate) fn start(
        wanted: &AgentSelector,
        program: &Path,
        launch: &dyn Fn(PathBuf) -> Launch,
    ) -> Result<(Broker, SigningKey, Self), SessionError> {
        let token = token()?;
        let log =
            PrivateLog::new().map_err(|e| SessionError::internal(format!("no folder for the broker's log: {e}")))?;
        let settings =
            ServerSettings::new([(TOKEN.to_owned(), token.clone())], &RECIPE).map_err(SessionError::internal)?;
        let server = start(&launch(log.path()).settings(settings), &|| false);
        let server = match server {
            Ok(server) => server,
            Err(error) => {
                // The error names it.
                log.keep();
                return Err(error.into());
            }
        };
        // Nobody reads it from here on, and a killed run leaves no file.
        drop(log);
        let address = server.endpoints().first().map(|endpoint| endpoint.expose().clone());
        let mut address = address.ok_or_else(|| SessionError::internal("the NATS server has no address"))?;
        // The environment is not seen by other users, and neither is a token in it.
        address
            .set_username(&token)
            .map_err(|()| SessionError::internal("the NATS server's address takes no token"))?;
        // Nobody else ever has it: it ends with this process.
        let key = SigningKey::drawn();
        let mut started = Self { agents: Vec::new(), _server: server };
        for name in names(wanted) {
            started.agents.push(agent(program, &name, address.as_str(), &key.public())?);
        }
        Ok((Broker::new(address.as_str(), None, None)?, key, started))
    }
}

impl Drop for LocalAgents {
    fn drop(&mut self) {
        for agent in &mut self.agents {
            // The end of its input is its end.
            drop(agent.stdin.take());
        }
        for agent in &mut self.agents {
            let _ = agent.wait();
        }
    }
}

fn names(wanted: &AgentSelector) -> Vec<String> {
    match wanted {
        AgentSelector::Count(count) => (1..=*count).map(|number| format!("local-{number}")).collect(),
        AgentSelector::Names(names) => names.clone(),
    }
}

/// An agent process. Ctrl-C in the terminal is for the run, which ends its agents.
fn agent(program: &Path, name: &str, address: &str, trusted: &str) -> Result<Child, SessionError> {
    let mut command = Command::new(program);
    command.args(["agent", "--of-a-run", "--name", name, "--trust", trusted]);
    command.env("IOTBENCH_NATS", address).process_group(0);
    // Those of an agent that somebody runs on this machine are not for it.
    for option in
        ["NATS_CREDENTIALS", "NATS_CA", "NAME", "OFFER", "LISTEN", "ALLOW_DIR", "ALLOW_TARGET", "AGENT_KEY", "INSECURE"]
    {
        command.env_remove(format!("IOTBENCH_{option}"));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().map_err(SessionError::local_io)
}

/// 128 random bits.
fn token() -> Result<String, SessionError> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)).map_err(SessionError::local_io)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
