//! What a suite runs on this machine.

use super::written::WrittenSuite;
use crate::{
    commands::run::{
        RunArguments,
        agents::{AgentsArguments, check},
        jobs,
    },
    error::CliError,
    job::{Job, Place},
};
use iotbench_engine::Bytes;
use iotbench_suite::{Cell, Entry, State};

/// A run of a suite, without its repetitions.
pub(super) struct Target {
    pub(super) arguments: RunArguments,
    pub(super) job: Job,
    /// What the suite calls this form of the database.
    form: Option<String>,
    /// What is missing here.
    missing: Option<String>,
}

impl Target {
    /// As the suite's record has it.
    pub(super) fn entry(&self) -> Entry {
        Entry {
            profile: self.job.profile.name.clone(),
            target: [Some(self.job.title()), self.form.clone()].into_iter().flatten().collect::<Vec<_>>().join(", "),
            form: self.form.clone(),
            run: 0,
            command: self.arguments.command.clone().unwrap_or_default(),
            state: match &self.missing {
                None => State::Waiting,
                Some(reason) => State::NotAvailable { reason: reason.clone() },
            },
        }
    }

    /// Whether an entry of the record is a run of it.
    pub(super) fn is(&self, entry: &Entry) -> bool {
        let own = self.entry();
        (own.profile, own.target, own.command) == (entry.profile.clone(), entry.target.clone(), entry.command.clone())
    }

    /// The longest that its load takes as planned, in seconds.
    pub(super) fn longest_load_s(&self) -> Result<f64, CliError> {
        let mut sum_s = 0.0;
        for planned in self.job.plans("check", &Place::nowhere()) {
            sum_s += planned?.plan.longest_load_ns() as f64 / 1e9;
        }
        Ok(sum_s)
    }
}

/// All that a suite runs, checked. What `agents` cannot make, because it reads or cannot be divided so far, this process makes.
pub(super) fn targets(
    written: &WrittenSuite,
    full: bool,
    server_memory: Bytes,
    agents: &AgentsArguments,
) -> Result<Vec<Target>, CliError> {
    let mut all = Vec::new();
    for cell in written.file.cells.iter().filter(|cell| full || !cell.full_only) {
        all.extend(of_cell(cell, full, server_memory, agents)?);
    }
    Ok(all)
}

/// Whether the server that a job needs can be started: what an agent has shows when it starts one.
fn programs(job: &Job, agents: &AgentsArguments) -> Result<(), CliError> {
    if agents.server_at_name().is_some() { Ok(()) } else { job.find_programs() }
}

fn of_cell(cell: &Cell, full: bool, server_memory: Bytes, agents: &AgentsArguments) -> Result<Vec<Target>, CliError> {
    let (mut all, mut ready) = (Vec::new(), 0);
    for backend in &cell.backends {
        if cell.most_backends.is_some_and(|most| ready >= most) {
            break;
        }
        let arguments = RunArguments::of_suite(&cell.options(backend, full), server_memory)?;
        let jobs = jobs(&arguments)?;
        let for_agents = arguments.for_agents(agents);
        let is_divisible = check(&jobs, &for_agents).is_ok();
        let arguments = if is_divisible { for_agents } else { arguments.for_agents(&agents.without_load()) };
        let mut targets = Vec::new();
        for job in jobs {
            let missing = programs(&job, agents).and_then(|()| job.reserve_descriptors()).err();
            let missing = missing.map(|error| error.to_string());
            targets.push(Target { arguments: arguments.clone(), job, form: cell.name.clone(), missing });
        }
        let is_ready = targets.iter().all(|target| target.missing.is_none());
        ready += usize::from(is_ready);
        // Of a choice, what is not here is not chosen.
        if is_ready || cell.most_backends.is_none() {
            all.extend(targets);
        }
    }
    Ok(all)
}
