//! How sure the interval of a search is.

use super::{
    figure::{NONE, count, or_none, significant},
    table::{list, paragraph},
};
use crate::document::{BoundTrials, Capacity, Document, Estimate, EstimateMethod, LoadTrials, Search};

pub(super) fn section(document: &Document, columns: u16) -> Option<String> {
    let capacity = document.capacity.as_ref()?;
    let search = capacity.search.as_ref()?;
    let mut rows = vec![["Interval".into(), interval(capacity, search)]];
    if let Some(estimate) = &capacity.estimate {
        rows.push(["Limit".into(), method(estimate)]);
        rows.extend(grey_zone(estimate).map(|text| ["Grey zone".into(), text]));
        rows.push(["Sentinels".into(), sentinels(estimate)]);
    }
    if let Some(trials) = &search.at_sustained {
        rows.push([format!("at {}", count(trials.load.into())), at_sustained(trials)]);
    }
    if let Some(trials) = &search.at_failed {
        rows.push([format!("at {}", count(trials.load.into())), at_failed(trials)]);
    }
    let theory = theory(capacity, search).map(|text| paragraph(&text, columns));
    Some([vec![list(rows, columns)], theory.into_iter().collect()].concat().join("\n"))
}

/// `392 to 400 operations/s offered, 2.00 % apart (goal 2.00 %); 19 trials, 12 of them near the limit`
fn interval(capacity: &Capacity, search: &Search) -> String {
    let bound = |load: Option<u32>| or_none(load, |load| count(load.into()));
    let percent = |share: Option<f64>| or_none(share, percent);
    let width = match search.width {
        Some(width) => format!(", {} apart (goal {})", percent(Some(width)), percent(search.goal_width)),
        None => String::new(),
    };
    let near = match &capacity.estimate {
        Some(estimate) => format!("{} of them near the limit", count(estimate.trials.into())),
        None => "none of them near the limit".into(),
    };
    let (lower, upper) = (bound(capacity.lower), bound(capacity.upper));
    format!("{lower} to {upper} {}{width}; {} trials, {near}", capacity.quantity, count(search.trials))
}

fn percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0))
}

/// `394 by how far each trial was from it; a trial's own varies by 1.20 %`
fn method(estimate: &Estimate) -> String {
    let how = match estimate.method {
        EstimateMethod::Crossing => "by how far each trial was from it",
        EstimateMethod::Threshold => "by which trials passed and which failed",
    };
    let (load, spread) = (or_none(estimate.load, significant), or_none(estimate.spread, percent));
    format!("{load} {how}; from trial to trial it varies by {spread}")
}

/// `2,900: 1 of 2 sustained; 2,950: 0 of 1`
fn grey_zone(estimate: &Estimate) -> Option<String> {
    let of = |trials: &LoadTrials| {
        format!("{}: {} of {}", count(trials.load.into()), trials.sustained, trials.sustained + trials.failed)
    };
    let loads: Vec<String> = estimate.grey_zone.iter().map(of).collect();
    (!loads.is_empty()).then(|| format!("sustained at {}", loads.join("; ")))
}

fn sentinels(estimate: &Estimate) -> String {
    let all = estimate.sentinels_sustained + estimate.sentinels_failed;
    format!("{} of {} trials of a load well below it were sustained", estimate.sentinels_sustained, all)
}

/// `3 of 4 trials sustained it, the worst of them 391 operations/s`
fn at_sustained(trials: &BoundTrials) -> String {
    let worst = or_none(trials.achieved_per_s, significant);
    format!("{} sustained it, the worst of these at {worst} operations/s", of_all(trials.sustained, trials))
}

/// `3 of 3 trials failed, by backlog and latency`
fn at_failed(trials: &BoundTrials) -> String {
    let limits: Vec<_> = trials.limits.iter().map(|limit| limit.name()).collect();
    let limits = if limits.is_empty() { NONE.into() } else { limits.join(" and ") };
    format!("{} failed, by {limits}", of_all(trials.failed, trials))
}

fn of_all(part: u64, trials: &BoundTrials) -> String {
    match trials.sustained + trials.failed {
        1 => format!("{} of 1 trial", count(part)),
        all => format!("{} of {} trials", count(part), count(all)),
    }
}

/// What Little's law says of the users of a closed loop.
fn theory(capacity: &Capacity, search: &Search) -> Option<String> {
    let users = search.littles_users?;
    let ratios = || capacity.steps.iter().filter_map(|step| step.littles_ratio);
    let (least, most) = (ratios().reduce(f64::min)?, ratios().reduce(f64::max)?);
    let (known, all) = (ratios().count() as u64, capacity.steps.len() as u64);
    Some(format!(
        "theory: the greatest throughput C of any trial serves C (L + Z) = {} users at the limit L with think time Z; X (R + \
         Z) / N, by Little's law 1, was {least:.3} to {most:.3} in the {} of {} steps whose operations were all followed to their \
         end",
        significant(users),
        count(known),
        count(all)
    ))
}
