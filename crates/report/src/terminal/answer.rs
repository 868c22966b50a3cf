//! The answer in a sentence.

use super::{
    figure::{bytes, count, figure_of, or_none, significant},
    ramp::mean_response,
    table::paragraph,
};
use crate::document::{BoundTrials, Capacity, Document, EarlierSittings, Purpose, Status, Step, StorageProbes};
use iotbench_sampler::{PROCESSOR_DRIFT, STORAGE_DRIFT};

pub(super) fn answer(document: &Document, columns: u16) -> String {
    paragraph(&sentence(document), columns)
}

/// What the run found out, on one line.
#[must_use]
pub fn sentence(document: &Document) -> String {
    let target = document.target.name();
    match (&document.capacity, &document.throughput) {
        (Some(capacity), _) if document.verdict.status == Status::Aborted => {
            format!("{} The search was interrupted: this is what it knew by then.", of_capacity(&target, capacity))
        }
        (Some(capacity), _) => of_capacity(&target, capacity),
        (None, Some(_)) => of_load(&target, document),
        (None, None) => {
            format!("Nothing was measured: the run ended in the phase {}.", document.phase.replace('_', " "))
        }
    }
}

fn of_capacity(target: &str, capacity: &Capacity) -> String {
    let quantity = &capacity.quantity;
    let trials = capacity.search.as_ref().and_then(|search| search.at_failed.as_ref());
    let failed = trials.map(|trials| trials.load).or(capacity.upper);
    let why = last_of(capacity, failed, false).and_then(|step| step.failure.as_deref());
    let why = why.map(|failure| format!(": {failure}")).unwrap_or_default();
    match (capacity.sustained, capacity.upper) {
        (Some(sustained), upper) => {
            let found = found(target, capacity, sustained);
            let best = last_of(capacity, capacity.sustained, true);
            let rates = best.map(rates).unwrap_or_default();
            let lost = lost(best.map_or(0, |step| step.points_dropped));
            let is_clients = capacity.search.as_ref().is_some_and(|search| search.client_limited);
            let next = match upper.and(failed) {
                Some(failed) if is_clients => format!(
                    "The database sustains at least that: at {}, the client was the limit{why}.",
                    count(failed.into())
                ),
                Some(failed) => {
                    format!("{} failed{}{why}.", count(failed.into()), trials.map(how_often).unwrap_or_default())
                }
                None => match capacity.search.as_ref().and_then(|search| search.disk_bound_bytes) {
                    Some(most) => format!(
                        "It sustains at least that: no greater load was tried, because it might have needed more than {} of disk at \
                         once (ramp.most_disk).",
                        bytes(most)
                    ),
                    None if trials.is_some() => {
                        "No load that was tried failed more often than it passed: the limit lies higher.".into()
                    }
                    None => "No load that was tried failed: the limit lies higher.".into(),
                },
            };
            let sustained = count(sustained.into());
            let drifted = drifted(capacity);
            let below = format!("Throughput and latency below are those of {sustained} {quantity}.");
            format!("{found}{rates}.{lost}{drifted} {next} {below}")
        }
        (None, Some(upper)) => {
            let (upper, drifted) = (count(upper.into()), drifted(capacity));
            format!("{target} did not sustain even the least load tried, {upper} {quantity}{why}.{drifted}")
        }
        (None, None) => format!("The search on {target} ended before any load was judged."),
    }
}

/// ` 1 of 3 times`, where some of a load's trials sustained it.
fn how_often(trials: &BoundTrials) -> String {
    let BoundTrials { sustained, failed, .. } = *trials;
    if sustained == 0 { String::new() } else { format!(" {} of {} times", count(failed), count(failed + sustained)) }
}

/// That the storage was not one and the same over the search.
fn drifted(capacity: &Capacity) -> String {
    let drifted = capacity.storage_probes.as_ref().and_then(|probes| probes.drifted.as_ref());
    drifted.map(|drifted| format!(" {drifted}")).unwrap_or_default()
}

fn last_of(capacity: &Capacity, load: Option<u32>, passed: bool) -> Option<&Step> {
    let mut latest_first = capacity.steps.iter().rev().filter(|step| step.purpose.decides());
    latest_first.find(|step| Some(step.offered_load) == load && step.passed == passed)
}

/// `sqlite sustains 48.6 virtual users (90 % interval 47 to 50; one sitting, the spread between sittings is not known; 3 earlier
/// sittings here: 31.2 to 50.4). At 47`
fn found(target: &str, capacity: &Capacity, sustained: u32) -> String {
    let (quantity, sustained) = (&capacity.quantity, count(sustained.into()));
    let bound = |bound: Option<u32>| or_none(bound, |load| count(load.into()));
    let (lower, upper) = (bound(capacity.lower), bound(capacity.upper));
    let Some(estimate) = &capacity.estimate else { return format!("{target} sustained {sustained} {quantity}") };
    let held_up = match estimate.sentinels_failed {
        0 => String::new(),
        failed => format!(
            " The sentinel load of {} failed {} of {} times: the limit moved, or something held trials up.",
            or_none(sentinel_load(capacity), |load| count(load.into())),
            count(failed),
            count(failed + estimate.sentinels_sustained)
        ),
    };
    let earlier = capacity.earlier.as_ref().map(|sittings| earlier(sittings, capacity.storage_probes.as_ref()));
    let earlier = earlier.unwrap_or_default();
    if let Some(moved) = &estimate.moved {
        let level = |level: Option<f64>| or_none(level, whole);
        return format!(
            "The limit of {target} moved while it was searched for, from about {} to about {} {quantity} at trial {}: between \
             {lower} and {upper} is all that is known{earlier}.{held_up} At {sustained}",
            level(moved.before),
            level(moved.after),
            moved.at_trial
        );
    }
    format!(
        "{target} sustains {} {quantity} (90 % interval {lower} to {upper}; one sitting, the spread between sittings is not \
         known{earlier}).{held_up} At {sustained}",
        or_none(estimate.load, whole),
    )
}

/// The load that is run again and again to see whether the limit stays where it is.
fn sentinel_load(capacity: &Capacity) -> Option<u32> {
    capacity.steps.iter().rev().find(|step| step.purpose == Purpose::Sentinel).map(|step| step.offered_load)
}

/// `; 3 earlier sittings here: 2,304 to 3,584, with processors 1.25 times as fast`
fn earlier(sittings: &EarlierSittings, probes: Option<&StorageProbes>) -> String {
    let range = |low: String, high: String| if low == high { low } else { format!("{low} to {high}") };
    let (plural, found) =
        (if sittings.count == 1 { "" } else { "s" }, range(whole(sittings.least), whole(sittings.greatest)));
    let unlike = |what: &str, now: Option<f64>, least: Option<f64>, most: Option<f64>, limit: f64| {
        let (now, least, most) = (now?, least?, most?);
        let times = |ratio: f64, how: &str| Some(format!("{what} {} times as {how}", significant(ratio)));
        match (now / most > limit, least / now > limit) {
            (true, _) => times(now / most, "fast"),
            (_, true) => times(least / now, "slow"),
            _ => None,
        }
    };
    let work = probes.and_then(|probes| probes.work_us);
    let append = probes.and_then(|probes| probes.p50_us);
    let processors = unlike("processors", work, sittings.work_us_least, sittings.work_us_most, PROCESSOR_DRIFT);
    let storage = unlike("storage", append, sittings.append_us_least, sittings.append_us_most, STORAGE_DRIFT);
    let unlike: Vec<String> = [processors, storage].into_iter().flatten().collect();
    let unlike = if unlike.is_empty() { String::new() } else { format!(", with {}", unlike.join(" and ")) };
    format!("; {} earlier sitting{plural} here: {found}{unlike}", count(sittings.count))
}

/// A load that may be none that was tried.
fn whole(load: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a load, and the cast saturates")]
    let load = load.round() as u64;
    count(load)
}

/// `: 46.7 operations/s, 35,000 values/s, mean response 934 ms`
fn rates(step: &Step) -> String {
    let parts = [
        step.operations_per_s.map(|rate| format!("{} operations/s", significant(rate))),
        step.values_per_s.filter(|&rate| rate > 0.0).map(|rate| format!("{} values/s", significant(rate))),
        mean_response(step).map(|mean| format!("mean response {mean}")),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
}

fn of_load(target: &str, document: &Document) -> String {
    let load = &document.load.counts;
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
    let lost = lost(document.points.counts.dropped);
    format!("{target} acknowledged {}.{missing}{lost}", parts.join(", "))
}

/// Datapoints that their devices could not send in time, where there are any.
fn lost(points: u64) -> String {
    match points {
        0 => String::new(),
        points => format!(" It lost {} datapoints that came too late to be sent.", count(points)),
    }
}
