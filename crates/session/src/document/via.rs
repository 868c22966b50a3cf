//! What a broker between devices and writers carried.

use iotbench_engine::{Carried, Outcome};
use iotbench_report::{
    LatencySummary, Stages, Via,
    rounding::{finite, seconds},
};

pub(super) fn of_run(outcome: &Outcome) -> Option<Via> {
    let carried = outcome.carried.as_ref()?;
    let facts = carried.facts.as_ref()?;
    let stages = &carried.stages;
    let delivered_fraction = finite(carried.delivered as f64 / carried.published as f64);
    Some(Via {
        protocol: facts.name.clone(),
        address: facts.address.clone(),
        version: facts.version.clone(),
        settings: facts.settings.clone(),
        published: carried.published,
        acknowledged: carried.acknowledged,
        delivered: carried.delivered,
        lost: carried.lost(),
        delivered_fraction,
        duplicates: carried.duplicates,
        reordered: carried.reordered,
        too_late: carried.too_late,
        foreign: carried.foreign,
        dropped_by_broker: carried.dropped_by_carrier,
        held_back: carried.held_back,
        held_back_s: seconds(carried.held_back_ns),
        backlogged: carried.backlogged,
        backlogged_s: seconds(carried.backlogged_ns),
        stages: Stages {
            publish: LatencySummary::from(&stages.publish),
            broker: LatencySummary::from(&stages.broker),
            queue: LatencySummary::from(&stages.queue),
            acknowledgement: carried.acknowledged.map(|_| LatencySummary::from(&stages.acknowledgement)),
        },
    })
}

/// What makes two runs comparable, in a few words: `mqtt qos 1 json64`.
pub(super) fn in_words(carried: &Carried) -> Option<String> {
    let facts = carried.facts.as_ref()?;
    let setting = |(key, value): (&String, &String)| match key.as_str() {
        "payload" => value.clone(),
        "qos" => format!("qos {value}"),
        other => format!("{other}={value}"),
    };
    // The order of their names would have the payload first.
    let (qos, others): (Vec<_>, Vec<_>) = facts.settings.iter().partition(|(key, _)| *key == "qos");
    let words = qos.into_iter().chain(others).map(setting);
    Some(std::iter::once(facts.name.clone()).chain(words).collect::<Vec<_>>().join(" "))
}
