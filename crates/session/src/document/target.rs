//! The database under load.

use super::via;
use iotbench_core::Acknowledgement;
use iotbench_engine::{GroupPlan, OperationPlan, Outcome, Question};
use iotbench_report::{Durability, Target};

pub(super) fn of_run(outcome: &Outcome, managed: bool) -> Target {
    let facts = outcome.target.facts.as_ref();
    Target {
        backend: outcome.plan.backend.clone(),
        layout: outcome.plan.table.layout.name().into(),
        strategy: strategy(outcome),
        form: None,
        via: outcome.carried.as_ref().and_then(via::in_words),
        method: facts.map(|f| f.method.clone()),
        driver: facts.map(|f| f.driver.clone()),
        product: facts.map(|f| f.product.clone()),
        version: facts.map(|f| f.version.clone()),
        managed,
        embedded: outcome.target.embedded,
        endpoints: outcome.target.endpoints.clone(),
        settings: facts.map(|f| f.settings.clone()).unwrap_or_default(),
        durability: facts.map(|f| Durability::from(&f.promise)),
        acknowledgement: acknowledgement_word(outcome.target.acknowledgement).into(),
    }
}

fn strategy(outcome: &Outcome) -> Option<String> {
    let questions = outcome.plan.groups.iter().flat_map(GroupPlan::operations).filter_map(OperationPlan::question);
    let mut strategies = questions.filter_map(|question| match question {
        Question::Cycle { strategy, .. } => Some(strategy.name().to_string()),
        _ => None,
    });
    strategies.next()
}

fn acknowledgement_word(acknowledgement: Acknowledgement) -> &'static str {
    match acknowledgement {
        Acknowledgement::None => "none",
        Acknowledgement::Queued => "queued",
        Acknowledgement::Applied => "applied",
        Acknowledgement::Durable => "durable",
    }
}
