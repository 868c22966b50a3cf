//! How sure the interval of a search is.

use super::{
    figure::{NONE, count, or_none, significant},
    table::{list, paragraph},
};
use crate::document::{BoundTrials, Capacity, Document, Search};

pub(super) fn section(document: &Document, columns: u16) -> Option<String> {
    let capacity = document.capacity.as_ref()?;
    let search = capacity.search.as_ref()?;
    let mut rows = vec![["Interval".into(), interval(capacity, search)]];
    if let Some((lower, trials)) = capacity.lower.zip(search.at_lower.as_ref()) {
        rows.push([format!("at {}", count(lower.into())), at_lower(trials)]);
    }
    if let Some((upper, trials)) = capacity.upper.zip(search.at_upper.as_ref()) {
        rows.push([format!("at {}", count(upper.into())), at_upper(trials)]);
    }
    let theory = theory(capacity, search).map(|text| paragraph(&text, columns));
    Some([vec![list(rows, columns)], theory.into_iter().collect()].concat().join("\n"))
}

/// `392 to 400 operations/s offered, 2.00 % apart (goal 2.00 %); 19 trials, of 5 of a load the majority decides`
fn interval(capacity: &Capacity, search: &Search) -> String {
    let bound = |load: Option<u32>| or_none(load, |load| count(load.into()));
    let percent = |share: Option<f64>| or_none(share, |share| format!("{} %", significant(share * 100.0)));
    let width = match search.width {
        Some(width) => format!(", {} apart (goal {})", percent(Some(width)), percent(search.goal_width)),
        None => String::new(),
    };
    let decides = match search.repeats {
        1 => "one decides a load".into(),
        n => format!("of {} of a load the majority decides", count(n.into())),
    };
    let (lower, upper) = (bound(capacity.lower), bound(capacity.upper));
    format!("{lower} to {upper} {}{width}; {} trials, {decides}", capacity.quantity, count(search.trials))
}

/// `3 of 4 trials sustained it, the worst of them 391 operations/s`
fn at_lower(trials: &BoundTrials) -> String {
    let worst = or_none(trials.achieved_per_s, significant);
    format!("{} sustained it, the worst of these at {worst} operations/s", of_all(trials.sustained, trials))
}

/// `3 of 3 trials failed, by backlog and latency`
fn at_upper(trials: &BoundTrials) -> String {
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
    Some(format!(
        "theory: the greatest throughput C of any trial serves C (L + Z) = {} users at the limit L with think time Z; X (R + \
         Z) / N, by Little's law 1, was {least:.3} to {most:.3}",
        significant(users)
    ))
}
