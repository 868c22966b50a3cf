//! A ramp in words: when a load is too much, and what the steps beyond the search say of the database.

use crate::{
    outcome::StepFigures,
    plan::StopPlan,
    ramp::{Purpose, Quantity},
    trial::span,
    units::Share,
};

/// What a step beyond the search says of the database.
pub(super) fn beyond_remark(figures: &StepFigures) -> Option<String> {
    let why = || figures.judgement.failure.clone().unwrap_or_default();
    match (figures.step.purpose, figures.judgement.passed) {
        (Purpose::WritesAlone, false) => {
            Some(format!("without its reads the greatest load was not sustained: {}", why()))
        }
        (Purpose::Soak, false) => Some(format!("the greatest load was not sustained for long: {}", why())),
        (Purpose::After, true) => Some("after an overload it carried its greatest load again".into()),
        (Purpose::After, false) => {
            Some(format!("after an overload it did NOT carry its greatest load again: {}", why()))
        }
        _ => None,
    }
}

/// When a load is too much.
pub(super) fn criterion(stop: &StopPlan, quantity: Quantity) -> String {
    let mut parts = Vec::new();
    if let Some(ns) = stop.mean_response_ns {
        parts.push(format!("mean response ≤ {}", span(ns)));
    }
    if let Some((q, ns)) = stop.quantile_response {
        parts.push(format!("p{} of the response ≤ {}", q * 100.0, span(ns)));
    }
    parts.push(format!("failed ≤ {}, timed out ≤ {}", Share(stop.errors), Share(stop.timeouts)));
    parts.extend(stop.max_loss.map(|most| format!("lost datapoints ≤ {}", Share(most))));
    match quantity {
        Quantity::Users => {}
        Quantity::OperationsPerSecond => parts.push("achieved ≥ 99 % of offered, backlog not growing".into()),
        Quantity::Devices => parts.push("all stored when their window ends".into()),
    }
    parts.join(", ")
}
