//! `iotbench agent`.

use crate::{console, nats::NatsArguments, signals};
use clap::{Args, ValueEnum, builder::FalseyValueParser};
use iotbench_cluster::{AgentOptions, Allowed, AllowedTarget, ClusterError, Offer, Stop, Trust};
use iotbench_engine::StopSignal;
use iotbench_session::{SessionError, serve_agent};
use std::{io::Read, net::Ipv4Addr, path::PathBuf};

const EXAMPLES: &str = "\
Examples:
  iotbench agent-key run.key                            where runs are started: prints the KEY of what follows
  iotbench agent --nats tls://HOST --trust KEY --allow-target db:5432           on each machine that is to make load
  iotbench agent --nats tls://HOST --trust KEY --allow-target db:5432 --allow-dir /etc/iotbench --name rack-2
  iotbench agent --nats tls://HOST --trust KEY --name db1 --offer sample     beside a database
  iotbench agent --nats tls://HOST --trust KEY --name db1 --offer sample,serve --listen 10.0.0.5
  IOTBENCH_NATS=tls://user:password@HOST iotbench agent --trust keys.txt --allow-target db:5432
  iotbench run -p machine_write -b postgres --url postgres://db/ --set devices=4 --nats tls://HOST --agent-key run.key --agents 2
                                                                a run with two of them

An agent does what is signed with a key that it trusts, and opens what its own options allow: nothing else.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AgentArguments {
    #[command(flatten)]
    nats: NatsArguments,
    /// What it is called; no two agents at a broker have the same name. Without it the machine's name
    #[arg(long, env = "IOTBENCH_NAME", value_name = "NAME")]
    name: Option<String>,
    /// What it does for runs: make load, sample what runs beside it, start and stop private servers (docs/agents.md)
    #[arg(
        long,
        env = "IOTBENCH_OFFER",
        value_enum,
        value_delimiter = ',',
        default_value = "load,sample",
        value_name = "WHAT"
    )]
    offer: Vec<OfferWord>,
    /// Whose orders it takes: a coordinator's public key, as `iotbench agent-key` prints it, or a file with one in each line;
    /// repeatable
    #[arg(long, env = "IOTBENCH_TRUST", value_delimiter = ',', value_name = "KEY|FILE")]
    trust: Vec<String>,
    /// An address that runs may have it connect to, with the passwords that it has: as runs name it; HOST:* for every port of one;
    /// repeatable
    #[arg(long, env = "IOTBENCH_ALLOW_TARGET", value_delimiter = ',', value_name = "HOST:PORT")]
    allow_target: Vec<AllowedTarget>,
    /// A folder with files that runs may have it read (recordings, certificates, files of passwords, process numbers); repeatable
    #[arg(long, env = "IOTBENCH_ALLOW_DIR", value_delimiter = ',', value_name = "DIR")]
    allow_dir: Vec<PathBuf>,
    /// Take runs with statements that a user wrote (docs/howto/statements.md): they ask the databases of --allow-target for whatever the
    /// accounts that it has may ask
    #[arg(long, env = "IOTBENCH_ALLOW_STATEMENTS", value_parser = FalseyValueParser::new())]
    allow_statements: bool,
    /// Take a NATS server in clear text (nats://) on another machine: whoever sees that network reads passwords and data
    #[arg(long, env = "IOTBENCH_INSECURE", value_parser = FalseyValueParser::new())]
    insecure: bool,
    /// Where other machines reach the servers that it starts (--offer serve): an address of this machine. Those
    /// without a password can be used by everyone who reaches it. Without it only this machine does
    #[arg(long, env = "IOTBENCH_LISTEN", value_name = "ADDRESS")]
    listen: Option<Ipv4Addr>,
    /// End with standard input, and open whatever its run names: set by the run that starts its own agents
    #[arg(long, hide = true)]
    of_a_run: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OfferWord {
    /// It makes load
    Load,
    /// It samples what runs beside it
    Sample,
    /// It starts and stops private servers
    Serve,
}

impl From<OfferWord> for Offer {
    fn from(word: OfferWord) -> Self {
        match word {
            OfferWord::Load => Self::Load,
            OfferWord::Sample => Self::Sample,
            OfferWord::Serve => Self::Serve,
        }
    }
}

pub(super) fn agent(arguments: &AgentArguments) -> Result<(), SessionError> {
    let trust = trust(arguments)?;
    let broker = arguments.nats.broker(arguments.insecure)?;
    let broker =
        broker.ok_or_else(|| SessionError::usage("which NATS server? Give --nats URL, such as nats://host:4222"))?;
    let offers: Vec<Offer> = arguments.offer.iter().copied().map(Offer::from).collect();
    let name = arguments.name.clone().unwrap_or_else(machine_name);
    let options = AgentOptions { name, offers, listen: arguments.listen, trust, allowed: allowed(arguments)? };
    let stop = StopSignal::default();
    let end = if arguments.of_a_run {
        end_with_input(stop.clone())?;
        Stop::CoordinatorGone
    } else {
        signals::stop_in_order(stop.clone(), "\nending: a run that goes on loses this agent")?;
        Stop::Wanted
    };
    let say = |text: &str| {
        if !arguments.of_a_run {
            console::say(text);
        }
    };
    serve_agent(&broker, &options, &stop, end, &say)
}

/// Whoever reaches a broker could have an agent act that trusts nobody in particular: there is none.
fn trust(arguments: &AgentArguments) -> Result<Trust, SessionError> {
    let trust = Trust::of(&arguments.trust).map_err(ClusterError::from)?;
    if trust.is_empty() {
        return Err(SessionError::usage(
            "whose orders is it to take? Make a key where runs are started (iotbench agent-key FILE), give its public half here \
             (--trust KEY), and its file to runs (--agent-key FILE)",
        ));
    }
    Ok(trust)
}

/// Its only coordinator is the run that started it: what that names is what it was started for.
fn allowed(arguments: &AgentArguments) -> Result<Allowed, SessionError> {
    if arguments.of_a_run {
        return Ok(Allowed::everything());
    }
    Ok(Allowed::only(&arguments.allow_dir, arguments.allow_target.clone(), arguments.allow_statements)?)
}

/// The machine's name, with - for what no agent's name may have.
fn machine_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(60).collect()
}

/// Whoever started it holds the other end of its input, and so lets go of it however it ends.
fn end_with_input(stop: StopSignal) -> Result<(), SessionError> {
    let wait = move || {
        let mut byte = [0];
        while std::io::stdin().read(&mut byte).is_ok_and(|read| read > 0) {}
        stop.request(15);
    };
    let thread = std::thread::Builder::new().name("input".into()).spawn(wait);
    thread.map(drop).map_err(|e| SessionError::internal(format!("no thread can be started: {e}")))
}
