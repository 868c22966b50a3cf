//! `iotbench agent-key`.

use crate::console;
use clap::Args;
use iotbench_cluster::{ClusterError, SigningKey};
use iotbench_session::SessionError;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  iotbench agent-key run.key                                    makes a key, and prints its public half
  iotbench agent-key run.key                                    prints it again
  iotbench agent --nats tls://HOST --trust KEY --allow-target db:5432      an agent that takes its orders
  iotbench run … --nats tls://HOST --agent-key run.key --agents 2          and a run that gives them

The file is all that it takes to have such agents act: it stays where runs are started, and only its owner reads it. Make a key for
this alone: not the one with which you enter the broker.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AgentKeyArguments {
    /// The file of the seed. One that is there is read, and never written
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn agent_key(arguments: &AgentKeyArguments) -> Result<(), SessionError> {
    let AgentKeyArguments { file } = arguments;
    let key = if file.symlink_metadata().is_ok() { SigningKey::read(file) } else { SigningKey::create(file) };
    console::print(&format!("{}\n", key.map_err(ClusterError::from)?.public()))
}
