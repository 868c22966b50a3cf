//! Agents found or started, and what they cannot do.

use crate::{
    agents::{Agents, Way},
    error::SessionError,
    event::Event,
    job::{Job, Place},
    local_agents::LocalAgents,
    options::SessionOptions,
};
use iotbench_cluster::{Fleet, Observers, RECIPE};
use std::{sync::Arc, time::Duration};

/// How long agents at a broker have to say that they are there.
const PRESENT: Duration = Duration::from_secs(3);
/// And those that were just started.
const STARTED: Duration = Duration::from_secs(20);

/// Finds or starts the agents that are wanted, once what they are to do is known to be possible. `way`: where they are; `None`: they
/// are started on this machine.
///
/// # Errors
/// They are not reached, or not enough of them are free.
pub fn gather(options: &SessionOptions, way: Option<Way>) -> Result<Option<Agents>, SessionError> {
    let wanted = &options.agents;
    if !wanted.is_any() {
        return Ok(None);
    }
    let observers = match (&way, wanted.sample.as_slice()) {
        (_, []) => None,
        (None, _) => {
            return Err(SessionError::usage("--sample needs agents at a NATS server: name it with --nats URL"));
        }
        (Some(Way { broker, key }), wishes) => {
            let observers = Observers::new(broker.clone(), key.clone(), wishes.to_vec());
            observers.check()?.iter().for_each(|found| options.tell(&Event::Sampling { found }));
            Some(Arc::new(observers))
        }
    };
    let Some(load) = &wanted.load else {
        return Ok(Some(Agents { fleet: None, observers, way, _started: None }));
    };
    let (way, started) = match way {
        Some(way) => (way, None),
        None => {
            options.tell(&Event::StartingAgents { count: load.count() });
            let program = wanted.program.as_deref();
            let program =
                program.ok_or_else(|| SessionError::usage("agents here are made of the program iotbench: name it"))?;
            let launch = |log| options.launch("nats", &RECIPE, log);
            let (broker, key, started) = LocalAgents::start(load, program, &launch)?;
            (Way { broker, key }, Some(started))
        }
    };
    let within = if started.is_some() { STARTED } else { PRESENT };
    let fleet = Fleet::new(way.broker.clone(), way.key.clone(), load.clone(), within);
    let fleet = Arc::new(fleet.on_loss(wanted.on_loss).clock_limit(wanted.clock_limit).keep(options.keep));
    let agents = Agents { fleet: Some(Arc::clone(&fleet)), observers, way: Some(way), _started: started };
    options.tell(&Event::Agents { names: &fleet.find()? });
    Ok(Some(agents))
}

/// Refuses what agents cannot do, before anything is started.
///
/// # Errors
/// The first of it.
pub fn check_agents(jobs: &[Job<'_>], options: &SessionOptions) -> Result<(), SessionError> {
    if let Some(agent) = &options.agents.server_at
        && jobs.iter().any(|job| !job.profile.scenario.is_empty())
    {
        return Err(SessionError::usage(format!(
            "--server-at {agent}: a scenario acts on processes of this machine: leave one out"
        )));
    }
    let Some(wanted) = &options.agents.load else { return Ok(()) };
    if options.trace {
        return Err(SessionError::usage(
            "--trace keeps every operation of this process, and agents make the load: leave one out",
        ));
    }
    if options.via.is_some() {
        return Err(SessionError::usage(
            "--via puts a broker between the devices and writers of one process, and agents are several: leave one out",
        ));
    }
    let parts = u32::try_from(wanted.count()).unwrap_or(u32::MAX);
    for job in jobs {
        if job.backend.info().capabilities.embedded {
            let name = job.backend.info().name;
            return Err(SessionError::usage(format!(
                "{name} lives in one process, and agents are several: leave --agents out, or name another backend"
            )));
        }
        for planned in job.plans("check", &Place::nowhere()) {
            planned?.plan.parts(parts)?;
        }
    }
    Ok(())
}
