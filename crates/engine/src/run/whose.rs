//! Whose the processes of this machine are: servers that the user names by their addresses are no strangers.

use super::Session;
use iotbench_core::Endpoint;
use iotbench_sampler::{Listener, listener};
use std::{collections::BTreeSet, net::ToSocketAddrs};

/// The servers at the addresses that the user gave, as far as they run here.
#[derive(Debug, Default)]
pub(super) struct ServersFound {
    /// The processes that listen there.
    pub(super) pids: BTreeSet<i32>,
    /// Which these are, for people: whoever listens may only pass on.
    pub(super) names: Vec<String>,
    /// One that runs here and was not found.
    pub(super) hidden: Option<String>,
}

impl Session<'_> {
    /// Looks for the servers that this process has not started.
    pub(super) fn servers_by_address(&self) -> ServersFound {
        let target = &self.planned.open.target;
        // Whom an agent samples is not sampled twice.
        let is_sampled = self.options.remote_samplers.is_some() || target.nodes.iter().any(|node| node.pid.is_some());
        if self.outcome.target.embedded || is_sampled {
            return ServersFound::default();
        }
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let mut found = ServersFound::default();
        for endpoint in &target.endpoints {
            match whose(endpoint) {
                Some(Listener::Process(pid)) if pid != own => {
                    if found.pids.insert(pid) {
                        found.names.push(format!("process {pid} ({}), which listens at {endpoint}", name_of(pid)));
                    }
                }
                Some(Listener::Process(_) | Listener::Elsewhere) => {}
                Some(Listener::Hidden) | None => found.hidden = Some(endpoint.to_string()),
            }
        }
        found
    }

    /// Why what others do to this machine is not judged.
    pub(super) fn others_not_judged(&self, servers: &ServersFound) -> Option<String> {
        if self.planned.plan.phases.others_cpu >= 1.0 {
            return Some("phases.others_cpu allows all".into());
        }
        if self.options.loaders.is_some() {
            return Some("agents make the load".into());
        }
        if self.options.via.as_ref().is_some_and(|via| via.nodes.is_empty()) {
            return Some("the broker may run on this machine, and its processes are not known".into());
        }
        if self.options.remote_samplers.is_some() {
            return Some("agents sample the servers, which may run on this machine".into());
        }
        let hidden = servers.hidden.as_ref()?;
        Some(format!("the server at {hidden} may run on this machine, and its processes are not to be seen"))
    }
}

fn name_of(pid: i32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim_end().to_owned()
}

/// Who listens at an endpoint; `None`: it names no address.
fn whose(endpoint: &Endpoint) -> Option<Listener> {
    let url = endpoint.expose();
    let host = url.host_str()?.trim_start_matches('[').trim_end_matches(']').to_owned();
    // Nobody is found at a port that is not written; whether the address is one of this machine is.
    let addresses = (host, endpoint.port().unwrap_or(0)).to_socket_addrs().ok()?;
    let all: Vec<Listener> = addresses.map(listener).collect();
    let is_process = |listener: &&Listener| matches!(listener, Listener::Process(_));
    all.iter().find(is_process).or_else(|| all.iter().find(|l| **l == Listener::Hidden)).or(all.first()).copied()
}
