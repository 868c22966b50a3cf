//! The broker of `--via`: reached, or started before a run and stopped after it.

use crate::{
    error::SessionError,
    event::{Event, StartingAt},
    job::{Job, Place},
    options::SessionOptions,
    private_server,
};
use iotbench_broker::{Mqtt, RECIPE, Via};
use iotbench_engine::{self as engine, Outcome, Reason, StopSignal, Verdict, can_be_carried};
use iotbench_launcher::{PrivateServer, Programs, ServerSettings, start};
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
pub(crate) struct Broker {
    via: engine::Via,
    /// The private one.
    server: Option<PrivateServer>,
}

impl Broker {
    /// What datapoints travel through.
    pub(crate) fn via(&self) -> engine::Via {
        self.via.clone()
    }

    /// If the private one has died, the verdict says so.
    pub(crate) fn note_death(&self, outcome: &mut Outcome) {
        let Some(server) = self.server.as_ref().filter(|server| !server.is_alive()) else { return };
        let how = server.ended().unwrap_or_else(|| "is gone".into());
        let reasons = std::mem::take(&mut outcome.verdict.reasons);
        let died = Reason::ServerDied(format!("the broker {how}"));
        outcome.verdict = Verdict::of(reasons.into_iter().chain([died]).collect());
    }

    /// Stops the private one.
    pub(crate) fn stop(self, options: &SessionOptions) {
        if let Some(Err(error)) = self.server.map(PrivateServer::stop) {
            options.warn(error);
        }
    }
}

/// What `--via` says, checked with everything that is to be run, so that what is wrong shows before anything is created.
///
/// # Errors
/// The first that is wrong.
pub fn check_via(options: &SessionOptions, jobs: &[Job<'_>]) -> Result<(), SessionError> {
    let Some(via) = &options.via else { return Ok(()) };
    settings(via)?;
    if let Some(at) = in_clear_text(via).filter(|_| !options.insecure) {
        return Err(SessionError::usage(format!(
            "--via: the broker at {at} is in clear text on another machine: passwords and data can be read on the way. Reach it by a \
             tunnel, or take that with --insecure"
        )));
    }
    let nowhere = Place::nowhere();
    for planned in jobs.iter().flat_map(|job| job.plans("check", &nowhere)) {
        can_be_carried(&planned?)?;
    }
    Ok(())
}

/// The broker that another machine's network is between, which nothing encrypts.
fn in_clear_text(via: &Via) -> Option<String> {
    via.place().filter(|(_, _, is_loopback)| !is_loopback).map(|(host, port, _)| format!("mqtt://{host}:{port}"))
}

/// What a result has to say of it.
pub(crate) fn remark(via: &Via) -> Option<String> {
    let at = in_clear_text(via)?;
    Some(format!("the broker at {at} is in clear text on another machine: what it carried could be read and changed"))
}

/// Checks that the program of a private broker is on this machine, if one will be needed.
pub(crate) fn find_broker_program(options: &SessionOptions) -> Result<(), SessionError> {
    let is_needed = options.via.as_ref().is_some_and(|via| via.place().is_none());
    is_needed.then(|| Programs::find(&RECIPE)).transpose()?;
    Ok(())
}

fn settings(via: &Via) -> Result<ServerSettings, SessionError> {
    ServerSettings::new(via.server.iter().cloned(), &RECIPE)
        .map_err(|source| SessionError::WrongSetting { of: "--via: ".into(), source })
}

/// The broker of a run: the one that is there, or a private one. `None`: none is asked for.
pub(crate) fn open(
    options: &SessionOptions,
    results: &Path,
    stop: &StopSignal,
) -> Result<Option<Broker>, SessionError> {
    let Some(via) = options.via.clone() else { return Ok(None) };
    let port = match via.place() {
        None => None,
        Some((host, port, is_loopback)) => {
            if !is_loopback || listens(host, port) {
                if !via.server.is_empty() {
                    let why = "server.KEY is for a broker that iotbench starts, and --via names one that is there";
                    return Err(SessionError::usage(format!("{why}: leave one out")));
                }
                return Ok(Some(Broker { via: carried_by(via, Vec::new()), server: None }));
            }
            Some(port)
        }
    };
    options.tell(&Event::Starting { server: NAME, at: port.map_or(StartingAt::Fresh, StartingAt::Port) });
    let launch = options.launch(NAME, &RECIPE, results.join(LOG)).settings(settings(&via)?);
    let launch = launch.wanted_ports(port.as_slice());
    let server = start(&launch, &|| stop.ends()).map_err(|error| private_server::not_started(error, stop))?;
    let endpoint =
        server.endpoints().first().ok_or_else(|| SessionError::internal("the broker was started nowhere"))?;
    let at = via.at(endpoint.expose()).map_err(SessionError::internal)?;
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
