//! What a suite runs on this machine.

use super::written::WrittenSuite;
use crate::{
    agents::AgentsWanted,
    broker::check_via,
    error::SessionError,
    gather::check_agents,
    job::{Job, Place},
    options::SessionOptions,
    workload::Workload,
};
use iotbench_suite::{Cell, Entry, State};

/// Reads the options of one of a suite's runs, as `iotbench run` has them: what is to be run, and how.
pub type ReadOptions<'r> = dyn Fn(&[String]) -> Result<(Workload<'static>, SessionOptions), SessionError> + 'r;

/// A run of a suite, without its repetitions.
pub struct Target {
    /// How it is run.
    pub(super) options: SessionOptions,
    /// What is run.
    pub(super) job: Job<'static>,
    /// The command that does the same.
    command: Vec<String>,
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
            command: self.command.clone(),
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
    pub(super) fn longest_load_s(&self) -> Result<f64, SessionError> {
        let mut sum_s = 0.0;
        for planned in self.job.plans("check", &Place::nowhere()) {
            sum_s += planned?.plan.longest_load_ns() as f64 / 1e9;
        }
        Ok(sum_s)
    }
}

/// All that a suite runs, checked. What agents cannot make, because it reads or cannot be divided so far, this process makes.
pub(super) fn targets(
    written: &WrittenSuite,
    full: bool,
    read: &ReadOptions<'_>,
    agents: &AgentsWanted,
) -> Result<Vec<Target>, SessionError> {
    let mut all = Vec::new();
    for cell in written.file.cells.iter().filter(|cell| full || !cell.full_only) {
        all.extend(of_cell(cell, full, read, agents)?);
    }
    Ok(all)
}

/// Whether the server that a job needs can be started: what an agent has shows when it starts one.
fn programs(job: &Job<'_>, agents: &AgentsWanted) -> Result<(), SessionError> {
    if agents.server_at.is_some() { Ok(()) } else { job.find_programs() }
}

fn of_cell(
    cell: &Cell,
    full: bool,
    read: &ReadOptions<'_>,
    agents: &AgentsWanted,
) -> Result<Vec<Target>, SessionError> {
    let (mut all, mut ready) = (Vec::new(), 0);
    for backend in &cell.backends {
        if cell.most_backends.is_some_and(|most| ready >= most) {
            break;
        }
        let words = cell.options(backend, full);
        let (workload, options) = read(&words)?;
        let jobs = workload.jobs()?;
        check_via(&options, &jobs)?;
        let for_agents = SessionOptions { agents: agents.clone(), ..options };
        let is_divisible = check_agents(&jobs, &for_agents).is_ok();
        let agents_of_cell = if is_divisible { agents.clone() } else { agents.without_load() };
        let command = ["iotbench", "run"].into_iter().map(String::from).chain(words).chain(agents_of_cell.words());
        let command: Vec<String> = command.collect();
        let mut options = SessionOptions { agents: agents_of_cell, ..for_agents };
        options.command.extend(options.agents.words());
        let mut targets = Vec::new();
        for job in jobs {
            let missing = programs(&job, agents).and_then(|()| job.reserve_descriptors()).err();
            let missing = missing.map(|error| error.to_string());
            let (options, command) = (options.clone(), command.clone());
            targets.push(Target { options, job, command, form: cell.name.clone(), missing });
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
