//! The agents of a load that several made.

use super::{
    figure::{count, duration, or_none, significant},
    table::{paragraph, table},
};
use crate::document::{Agent, Document};
use comfy_table::CellAlignment::Right;

pub(super) fn section(document: &Document, columns: u16) -> Option<String> {
    if document.agents.is_empty() {
        return None;
    }
    let heads = ["devices", "operations", "p50", "p99", "CPU", "clock ±", "start ±"];
    let rows = document.agents.iter().map(row).collect();
    let mut lines = vec![table("Agents", &heads, rows, Right, columns)];
    if let Some(agent) = document.agents.iter().find(|agent| agent.start_skew_us.is_none()) {
        let limit = duration(agent.clock_limit_us);
        let why = format!("start: not told of agents whose clock is not known within {limit} (--clock-limit)");
        lines.push(paragraph(&why, columns));
    }
    Some(lines.join("\n"))
}

fn row(agent: &Agent) -> Vec<String> {
    let last = agent.first_device + agent.devices.saturating_sub(1);
    let lost = if agent.lost.is_some() { " (lost)" } else { "" };
    vec![
        format!("{}{lost}", agent.name),
        format!("{}–{last}", agent.first_device),
        count(agent.operations.ok),
        or_none(agent.response.p50, duration),
        or_none(agent.response.p99, duration),
        or_none(agent.cores, |cores| format!("{} cores", significant(cores))),
        duration(agent.clock_uncertainty_us),
        or_none(agent.start_skew_us, duration),
    ]
}
