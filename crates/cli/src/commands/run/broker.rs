//! The broker of `--via`: reached, or started before a run and stopped after it.

use super::{
    managed,
    options::{OutputFormat, RunArguments},
};
use crate::{
    console,
    error::CliError,
    job::{Job, Place},
};
use iotbench_broker::{Mqtt, RECIPE, Via};
use iotbench_engine::{self as engine, Outcome, Reason, StopSignal, Verdict, can_be_carried};
use iotbench_launcher::{Launch, PrivateServer, Programs, ServerSettings, start};
use std::{
    net::{TcpStream, ToSocketAddrs},
    path::Path,
    sync::Arc,
    time::Duration,
};

/// What a private one is called in messages.
const NAME: &str = "mosquitto";
/// The log of a private one, in the results folder.
const LOG: &str = "broker.log";
/// On this machine nobody takes longer to answer.
const ON_LOOPBACK: Duration = Duration::from_secs(1);

/// The broker of a run.
pub(super) struct Broker {
    via: engine::Via,
    /// The private one.
    server: Option<PrivateServer>,
}

impl Broker {
    /// What datapoints travel through.
    pub(super) fn via(&self) -> engine::Via {
        self.via.clone()
    }

    /// If the private one has died, the verdict says so.
    pub(super) fn note_death(&self, outcome: &mut Outcome) {
        let Some(server) = self.server.as_ref().filter(|server| !server.is_alive()) else { return };
        let how = server.ended().unwrap_or_else(|| "is gone".into());
        let reasons = std::mem::take(&mut outcome.verdict.reasons);
        let died = Reason::ServerDied(format!("the broker {how}"));
        outcome.verdict = Verdict::of(reasons.into_iter().chain([died]).collect());
    }

    /// Stops the private one.
    pub(super) fn stop(self) {
        if let Some(Err(error)) = self.server.map(PrivateServer::stop) {
            console::say(&format!("warning: {error}"));
        }
    }
}

/// What `--via` says, checked with everything that is to be run, so that what is wrong shows before anything is created.
pub(super) fn check(arguments: &RunArguments, jobs: &[Job]) -> Result<(), CliError> {
    let Some(via) = arguments.via()? else { return Ok(()) };
    settings(&via)?;
    if let Some(at) = in_clear_text(&via).filter(|_| !arguments.insecure) {
        return Err(CliError::usage(format!(
            "--via: the broker at {at} is in clear text on another machine: passwords and data can be read on the way. Reach it by a \
             tunnel, or take that with --insecure"
        )));
    }
    let nowhere = Place::nowhere();
    for planned in jobs.iter().flat_map(|job| job.plans("check", &nowhere)) {
        can_be_carried(&planned?.plan).map_err(|e| CliError::usage(format!("--via: {e}")))?;
    }
    let is_argument = || std::env::args().any(|a| a == "--via" || a.starts_with("--via="));
    if via.has_password() && is_argument() {
        console::say("warning: other users of this machine can see the password in --via: set IOTBENCH_VIA instead");
    }
    Ok(())
}

/// The broker that another machine's network is between, which nothing encrypts.
fn in_clear_text(via: &Via) -> Option<String> {
    via.place().filter(|(_, _, is_loopback)| !is_loopback).map(|(host, port, _)| format!("mqtt://{host}:{port}"))
}

/// What a result has to say of it.
pub(super) fn remark(via: &Via) -> Option<String> {
    let at = in_clear_text(via)?;
    Some(format!("the broker at {at} is in clear text on another machine: what it carried could be read and changed"))
}

/// Checks that the program of a private broker is on this machine, if one will be needed.
pub(super) fn find_program(arguments: &RunArguments) -> Result<(), CliError> {
    let Some(via) = arguments.via()? else { return Ok(()) };
    let is_needed = via.place().is_none();
    is_needed.then(|| Programs::find(&RECIPE)).transpose().map(drop).map_err(CliError::usage)
}

fn settings(via: &Via) -> Result<ServerSettings, CliError> {
    ServerSettings::new(via.server.iter().cloned(), &RECIPE).map_err(|e| CliError::usage(format!("--via: {e}")))
}

/// The broker of a run: the one that is there, or a private one. `None`: none is asked for.
pub(super) fn open(arguments: &RunArguments, results: &Path, stop: &StopSignal) -> Result<Option<Broker>, CliError> {
    let Some(via) = arguments.via()? else { return Ok(None) };
    let port = match via.place() {
        None => None,
        Some((host, port, is_loopback)) => {
            if !is_loopback || listens(host, port) {
                if !via.server.is_empty() {
                    let why = "server.KEY is for a broker that iotbench starts, and --via names one that is there";
                    return Err(CliError::usage(format!("{why}: leave one out")));
                }
                return Ok(Some(Broker { via: carried_by(via, Vec::new()), server: None }));
            }
            Some(port)
        }
    };
    if arguments.output_format != OutputFormat::Quiet {
        let place = port.map(|port| format!(" at port {port}, where nothing listens")).unwrap_or_default();
        console::say(&format!("starting {NAME}{place} …"));
    }
    let launch = Launch::new(NAME, &RECIPE, results.join(LOG)).settings(settings(&via)?);
    let launch = launch.wanted_ports(port.as_slice());
    let server = start(&launch, &|| stop.ends()).map_err(|error| managed::not_started(error, stop))?;
    let endpoint = server.endpoints().first().ok_or_else(|| CliError::internal("the broker was started nowhere"))?;
    let at = via.at(endpoint.expose()).map_err(CliError::internal)?;
    let carrier = carried_by(at, server.nodes());
    Ok(Some(Broker { via: carrier, server: Some(server) }))
}

fn carried_by(via: Via, nodes: Vec<iotbench_core::Node>) -> engine::Via {
    engine::Via { carrier: Arc::new(Mqtt::new(via)), nodes }
}

/// Whether somebody listens at a port of this machine.
fn listens(host: &str, port: u16) -> bool {
    let addresses = (host, port).to_socket_addrs().into_iter().flatten();
    addresses.into_iter().any(|address| TcpStream::connect_timeout(&address, ON_LOOPBACK).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_says_that_a_broker_elsewhere_is_in_clear_text() {
        let remark = |via: &str| remark(&via.parse().unwrap());
        let said = remark("mqtt://me:s3cret@h").unwrap();
        assert!(said.contains("mqtt://h:1883 is in clear text") && !said.contains("s3cret"), "{said}");
        assert_eq!([remark("mqtt"), remark("mqtt://127.0.0.1:7"), remark("mqtt://[::1]")], [None, None, None]);
    }
}
