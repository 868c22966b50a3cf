//! What each agent did of a load that several made.

use iotbench_engine::{AgentFigures, Outcome};
use iotbench_report::{
    Agent, LatencySummary,
    rounding::{rounded, us},
};

pub(super) fn of_run(outcome: &Outcome) -> Vec<Agent> {
    outcome.agents.iter().map(agent).collect()
}

fn agent(agent: &AgentFigures) -> Agent {
    let client = agent.client.as_ref();
    let cpu = client.and_then(|client| client.cpu);
    let clock = &agent.clock;
    Agent {
        name: agent.name.clone(),
        first_device: agent.devices.start,
        devices: agent.devices.end.saturating_sub(agent.devices.start),
        lost: agent.lost.clone(),
        operations: agent.load,
        points_acked: agent.points.acked,
        response: LatencySummary::from(&agent.response),
        cores: cpu.and_then(|cpu| rounded(cpu.cores)),
        cores_allowed: cpu.and_then(|cpu| rounded(cpu.allowed_cores)),
        busiest_thread_pct: cpu.and_then(|cpu| rounded(cpu.busiest_thread? * 100.0)),
        hiccup_count: client.map(|client| client.hiccups.count),
        stalled_ms: client.and_then(|client| rounded(client.hiccups.stalled.as_secs_f64() * 1e3)),
        clock_uncertainty_us: us(clock.uncertainty_ns),
        clock_drift_us: us(clock.drift_ns),
        start_skew_us: clock.start_skew_ns().map(us),
        clock_limit_us: us(clock.limit_ns),
    }
}
