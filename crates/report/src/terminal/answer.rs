//! The answer in a sentence.

use super::{
    figure::{count, duration, figure_of, significant},
    table::paragraph,
};
use crate::document::{Capacity, Document, Step};

pub(super) fn answer(document: &Document, columns: u16) -> String {
    paragraph(&sentence(document), columns)
}

/// What the run found out, on one line.
pub(crate) fn sentence(document: &Document) -> String {
    let target = document.target.name();
    match (&document.capacity, &document.throughput) {
        (Some(capacity), _) => of_capacity(&target, capacity),
        (None, Some(_)) => of_load(&target, document),
        (None, None) => {
            format!("Nothing was measured: the run ended in the phase {}.", document.phase.replace('_', " "))
        }
    }
}

fn of_capacity(target: &str, capacity: &Capacity) -> String {
    let quantity = &capacity.quantity;
    let last_of = |load: Option<u32>, passed: bool| {
        let mut latest_first = capacity.steps.iter().rev().filter(|step| step.purpose.decides());
        latest_first.find(|step| Some(step.offered_load) == load && step.passed == passed)
    };
    let failed = last_of(capacity.upper, false).and_then(|step| step.failure.as_deref());
    let why = failed.map(|failure| format!(": {failure}")).unwrap_or_default();
    match (capacity.lower, capacity.upper) {
        (Some(lower), upper) => {
            let confirmed = if capacity.confirmed { "confirmed" } else { "not confirmed" };
            let best = last_of(capacity.lower, true);
            let rates = best.map(rates).unwrap_or_default();
            let lost = match best.map(|step| step.points_dropped) {
                Some(lost) if lost > 0 => format!(" It lost {} datapoints that came too late to be sent.", count(lost)),
                _ => String::new(),
            };
            let is_clients = capacity.search.as_ref().is_some_and(|search| search.client_limited);
            let next = match upper {
                Some(upper) if is_clients => format!(
                    "The database sustains at least that: at {}, the client was the limit{why}.",
                    count(upper.into())
                ),
                Some(upper) => format!("The next load tried, {}, failed{why}.", count(upper.into())),
                None => "No load that was tried failed: the limit lies higher.".into(),
            };
            let lower = count(lower.into());
            let below = format!("Throughput and latency below are those of {lower} {quantity}.");
            format!("{target} sustained {lower} {quantity} ({confirmed}){rates}.{lost} {next} {below}")
        }
        (None, Some(upper)) => {
            format!("{target} did not sustain even the least load tried, {} {quantity}{why}.", count(upper.into()))
        }
        (None, None) => format!("The search on {target} ended before any load was judged."),
    }
}

/// `: 46.7 operations/s, 35,000 values/s, mean response 934 ms`
fn rates(step: &Step) -> String {
    let parts = [
        step.operations_per_s.map(|rate| format!("{} operations/s", significant(rate))),
        step.values_per_s.filter(|&rate| rate > 0.0).map(|rate| format!("{} values/s", significant(rate))),
        step.mean_response_us.map(|us| format!("mean response {}", duration(us))),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
}

fn of_load(target: &str, document: &Document) -> String {
    let load = &document.load;
    if load.ok == 0 {
        return format!("{target} acknowledged none of {} operations.", count(load.offered));
    }
    let mut parts = Vec::new();
    if let Some(throughput) = &document.throughput {
        let rates = [
            (throughput.operations_per_s, "operations/s"),
            (throughput.points_per_s, "datapoints/s"),
            (throughput.values_per_s, "values/s"),
            (throughput.rows_read_per_s, "rows read/s"),
        ];
        // What a load does not do, none of it reads or none of it writes, is not told as a rate of nothing.
        let done = rates.iter().filter(|(rate, _)| rate.is_some_and(|rate| rate > 0.0));
        parts.extend(done.filter_map(|(rate, unit)| Some(format!("{} {unit}", significant((*rate)?)))));
    }
    if let Some(latency) = &document.latency {
        let response = &latency.by_operation.response;
        let is_told =
            |name: &&str| response.known(name).or(response.least(name)).is_some() || response.range(name).is_some();
        let told = ["p50", "p99"].into_iter().filter(is_told);
        parts.extend(told.map(|name| format!("response {name} {}", figure_of(response, name))));
    }
    let missing = load.offered.saturating_sub(load.ok);
    let missing = match missing {
        0 => String::new(),
        _ => format!(" {} of {} operations were not acknowledged.", count(missing), count(load.offered)),
    };
    format!("{target} acknowledged {}.{missing}", parts.join(", "))
}
