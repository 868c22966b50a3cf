//! Waiting until a server is ready: stage after stage, then joined.

use crate::{
    launch::{Launch, StartError},
    log::{complaint, tail},
    order::Report,
    plan::{Planned, ServerPlan},
    process::ProcessId,
    ready::listens,
    server::ServerProcess,
    supervisor::Supervisor,
};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// Until an empty folder is filled, or processes are joined: programs on a cold disk take their time.
const FILLED_WITHIN: Duration = Duration::from_secs(120);
/// From a look at the supervisor to the next look at the processes.
const LOOK: Duration = Duration::from_millis(20);

/// Waits until every process of a stage, and no stranger on its port, answers; then for the next stage; then until they are
/// joined.
pub(crate) fn wait_until_ready(
    supervisor: &mut Supervisor,
    plan: &ServerPlan,
    launch: &Launch,
    cancelled: &dyn Fn() -> bool,
) -> Result<Vec<ServerProcess>, StartError> {
    let planned: Vec<_> = plan.stages.concat();
    let mut starting = Starting { launch, planned: &planned, started: Vec::new(), joined: false, cancelled };
    let mut first = 0;
    for stage in &plan.stages {
        let mut waiting: Vec<_> = (first..first + stage.len()).collect();
        first += stage.len();
        let since = Instant::now();
        while !waiting.is_empty() {
            starting.look(supervisor)?;
            waiting.retain(|&process| !starting.is_ready(process));
            waiting.first().map_or(Ok(()), |&process| starting.check_time(process, since))?;
        }
        // A supervisor that is gone says so by its last report.
        let _ = supervisor.say_ready();
    }
    let since = Instant::now();
    while !starting.joined {
        starting.look(supervisor)?;
        if since.elapsed() >= FILLED_WITHIN {
            return Err(not_ready(launch, " (joining the nodes)", FILLED_WITHIN, &launch.log));
        }
    }
    Ok(starting.processes())
}

/// A server on its way.
struct Starting<'a> {
    launch: &'a Launch,
    planned: &'a [Planned],
    /// Each process that runs, and since when.
    started: Vec<(ProcessId, Instant)>,
    joined: bool,
    cancelled: &'a dyn Fn() -> bool,
}

impl Starting<'_> {
    /// Takes note of one report, if there is one.
    fn look(&mut self, supervisor: &Supervisor) -> Result<(), StartError> {
        match supervisor.report(LOOK) {
            Ok(Some(Report::Started { id, .. })) => self.started.push((id, Instant::now())),
            Ok(Some(Report::Joined)) => self.joined = true,
            Ok(Some(Report::Failed { process, how })) => return Err(self.died(process, how)),
            Ok(Some(Report::Exited { process, how })) => return Err(self.died(Some(process), how)),
            Ok(Some(_)) | Err(()) => return Err(self.died(None, "its supervisor ended".into())),
            Ok(None) => {}
        }
        if (self.cancelled)() { Err(StartError::Cancelled) } else { Ok(()) }
    }

    fn is_ready(&self, process: usize) -> bool {
        let Some(&(id, _)) = self.started.get(process) else { return false };
        let planned = &self.planned[process];
        let listens = |port| listens(id, planned.member.host(), port);
        (!planned.is_awaited || planned.port.is_none_or(listens)) && planned.probe.succeeds()
    }

    fn check_time(&self, process: usize, stage_since: Instant) -> Result<(), StartError> {
        let planned = &self.planned[process];
        let (since, within) = match self.started.get(process) {
            Some(&(_, since)) => (since, Duration::from_secs(planned.member.role.ready_within_s.into())),
            None => (stage_since, FILLED_WITHIN),
        };
        if since.elapsed() < within {
            return Ok(());
        }
        Err(not_ready(self.launch, &planned.member.to_string(), within, &planned.log))
    }

    fn died(&self, process: Option<usize>, how: String) -> StartError {
        let planned = process.and_then(|process| self.planned.get(process));
        let log = planned.map_or(&self.launch.log, |planned| &planned.log);
        let refused = |key: &str| {
            let said = complaint(log, key)?;
            let (backend, key, log) = (self.launch.backend.clone(), key.into(), log.clone());
            Some(StartError::Refused { backend, key, said, log })
        };
        if let Some(refused) = self.launch.settings.names().find_map(refused) {
            return refused;
        }
        StartError::Died { backend: self.launch.backend.clone(), how, tail: tail(log), log: log.into() }
    }

    fn processes(&self) -> Vec<ServerProcess> {
        let process = |(planned, &(id, _)): (&Planned, &(ProcessId, Instant))| ServerProcess {
            role: planned.member.role.name.into(),
            node: planned.member.node,
            id,
            log: planned.log.clone(),
            address: planned.port.map(|port| (planned.member.host(), port).into()),
        };
        self.planned.iter().zip(&self.started).map(process).collect()
    }
}

fn not_ready(launch: &Launch, of: &str, within: Duration, log: &Path) -> StartError {
    let backend = format!("{}{of}", launch.backend);
    StartError::NotReady { backend, within_s: within.as_secs(), tail: tail(log), log: log.into() }
}
