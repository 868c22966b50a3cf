//! The client's own honesty.

use iotbench_engine::{ClientLoad, Outcome};
use iotbench_recorder::SeenLate;
use iotbench_report::{
    Client, Hiccup, PacingError, WatchLateness,
    rounding::{ms, part, rounded},
};

const EXEMPT: &str = "the database shares the client's process";
const AGENTS: &str = "agents made the load, and each is judged by itself";

pub(super) fn of_run(outcome: &Outcome) -> Client {
    let client = &outcome.client;
    // Of the stretch that the verdict is on.
    let pacing_error = outcome.measured.as_ref().map_or(&client.pacing_error, |measured| &measured.pacing_error);
    let measured = outcome.measured.as_ref().map(|measured| &measured.client);
    let cpu = measured.and_then(|measured| measured.cpu);
    Client {
        pacing_error_us: PacingError::from(pacing_error),
        hiccups: Some(client.hiccups.longest.iter().map(Hiccup::from).collect()),
        hiccup_count: Some(client.hiccups.count),
        stalled_ms: Some(ms(client.hiccups.stalled)),
        lateness: Some(WatchLateness::from(&client.lateness)),
        cpu_pct: client.cpu_pct.and_then(rounded),
        cores: cpu.and_then(|cpu| rounded(cpu.cores)),
        cores_allowed: cpu.and_then(|cpu| rounded(cpu.allowed_cores)),
        busiest_thread_pct: cpu.and_then(|cpu| rounded(cpu.busiest_thread? * 100.0)),
        sampler_cpu_pct: rounded(outcome.machine.sampler_cpu_pct),
        ceiling_per_s: client.ceiling_per_s.and_then(rounded),
        ceiling_ratio: measured.and_then(|measured| part(measured.ceiling_ratio?)),
        exempt: exempt(outcome),
        samples_dropped: Some(client.samples_dropped),
    }
}

fn exempt(outcome: &Outcome) -> Option<String> {
    match (outcome.target.embedded, outcome.agents.is_empty()) {
        (true, _) => Some(EXEMPT.into()),
        (false, false) => Some(AGENTS.into()),
        (false, true) => None,
    }
}

/// By how much whoever made the load may have seen answers late.
pub(super) fn seen_late(outcome: &Outcome) -> SeenLate {
    let of_agents = outcome.agents.iter().filter_map(|agent| agent.client.as_ref());
    let own = outcome.measured.as_ref().map(|measured| &measured.client).filter(|_| outcome.agents.is_empty());
    own.into_iter().chain(of_agents).map(ClientLoad::seen_late).reduce(SeenLate::and).unwrap_or_default()
}
