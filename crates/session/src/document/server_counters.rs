//! What the server counted of itself.

use iotbench_engine::{CounterStretch, Outcome};
use iotbench_report::{
    ServerCounter, ServerCounters,
    rounding::{ms, rounded, seconds},
};

pub(super) fn of_run(outcome: &Outcome) -> Option<ServerCounters> {
    let cost = outcome.machine.counters.as_ref()?;
    let stretch = outcome.measured.as_ref().and_then(|measured| measured.counters.as_ref());
    Some(ServerCounters {
        looks: cost.looks,
        failed_looks: cost.failed,
        looks_ms: ms(cost.took),
        from_s: stretch.map(|stretch| seconds(stretch.from_ns)),
        to_s: stretch.map(|stretch| seconds(stretch.to_ns)),
        resets: stretch.map_or(0, |stretch| stretch.resets),
        counters: stretch.map(counters).unwrap_or_default(),
    })
}

fn counters(stretch: &CounterStretch) -> Vec<ServerCounter> {
    let length_s = seconds(stretch.to_ns.saturating_sub(stretch.from_ns));
    let told = stretch.figures.iter().map(|figure| ServerCounter {
        name: figure.counter.name().into(),
        first: figure.first,
        last: figure.last,
        growth: figure.growth,
        per_s: rounded(figure.growth as f64 / length_s),
    });
    told.collect()
}
