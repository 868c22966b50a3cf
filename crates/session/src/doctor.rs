//! What this machine can run, and how well: servers, their ports, and whether what is measured here would be worth anything. Facts are
//! gathered here; what is to be said of them is the engine's, and of servers pure.

mod machine;
mod ports;
mod servers;

pub use ports::PortFacts;
pub use servers::{Install, ServerFacts, ServerKind};

use crate::job::Job;
use iotbench_engine::{Finding, Fitness, FitnessTerms, MachineFacts, Phases, judge_machine};
use iotbench_launcher::DEFAULT_MEMORY_BYTES;
use iotbench_sampler::OthersLook;
use serde::Serialize;
use std::{path::Path, time::Duration};

/// The form of a diagnosis in JSON.
const SCHEMA: &str = "iotbench-doctor/1.0";
/// The exit code of a machine on which measurements would be spoiled, or that can run nothing but what is built in.
const UNFIT: u8 = 10;
/// A look at others before a run takes no longer: thirty ticks of each processor.
const FIRST_LOOK: Duration = Duration::from_millis(300);

/// What was found of this machine.
#[derive(Debug, Serialize)]
pub struct Diagnosis {
    /// The form of this document.
    pub schema: &'static str,
    /// Whether a server can be started, and nothing would spoil what is measured.
    pub fit: bool,
    /// Whether a server can be started.
    pub can_start: bool,
    /// What can be run, and what is missing.
    pub servers: Vec<ServerFacts>,
    /// The commands that bring what is missing.
    pub install: Vec<Install>,
    /// The machine, its folders and the ports of servers.
    pub findings: Vec<Finding>,
    /// What that is judged by.
    pub machine: MachineFacts,
    /// The default ports of servers.
    pub ports: Vec<PortFacts>,
}

impl Diagnosis {
    /// Looks at this machine for some five seconds. `results`: the folder that results would be made in. Small files are written there
    /// and where private servers would lie, and removed.
    #[must_use]
    pub fn of_this_machine(results: &Path) -> Self {
        let servers = servers::all();
        let as_root = iotbench_launcher::is_root();
        Self::of(servers, machine::facts(results), ports::default_ports(), as_root)
    }

    /// What follows from facts.
    #[must_use]
    pub fn of(servers: Vec<ServerFacts>, machine: MachineFacts, ports: Vec<PortFacts>, as_root: bool) -> Self {
        let mut findings = judge_machine(&machine, terms(Phases::default().others_cpu.0));
        findings.extend(ports::findings(&ports));
        let can_start =
            servers.iter().any(ServerFacts::is_startable) && servers.iter().all(ServerFacts::blocks_nothing);
        let fit = can_start && findings.iter().all(|finding| finding.fitness != Fitness::Warning);
        let install = servers::install(&servers, as_root);
        Self { schema: SCHEMA, fit, can_start, servers, install, findings, machine, ports }
    }

    /// How many findings would spoil what is measured.
    #[must_use]
    pub fn warnings(&self) -> usize {
        self.findings.iter().filter(|finding| finding.fitness == Fitness::Warning).count()
    }

    /// The exit code.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        if self.fit { 0 } else { UNFIT }
    }
}

fn terms(others_cpu: f64) -> FitnessTerms {
    // A server's caches, and the heap and the rest of those that have one.
    FitnessTerms { others_cpu, memory_bytes: 4 * DEFAULT_MEMORY_BYTES }
}

/// The look at this machine before a run, which has begun: what costs neither the disk nor time is looked at.
#[derive(Debug)]
pub struct FirstLook(Option<OthersLook>);

impl FirstLook {
    /// Begins. Nothing waits until [`warnings`](Self::warnings).
    #[must_use]
    pub fn begin() -> Self {
        Self(OthersLook::begin().ok())
    }

    /// What would spoil these jobs, each in a few words. Waits until it has looked for 0.3 s.
    #[must_use]
    pub fn warnings(self, jobs: &[Job<'_>]) -> Vec<String> {
        let others_cpu = jobs.iter().map(|job| job.profile.phases.others_cpu.0).fold(0.0, f64::max);
        let others = self.0.and_then(|look| {
            std::thread::sleep(FIRST_LOOK.saturating_sub(look.began().elapsed()));
            look.end().ok()
        });
        warnings(&MachineFacts { others, ..machine::facts_at_once() }, others_cpu)
    }
}

fn warnings(facts: &MachineFacts, others_cpu: f64) -> Vec<String> {
    let findings = judge_machine(facts, terms(others_cpu)).into_iter();
    let warnings = findings.filter(|finding| finding.fitness == Fitness::Warning);
    warnings.map(|finding| format!("{} {}", finding.about, finding.found)).collect()
}

#[cfg(test)]
mod tests;
