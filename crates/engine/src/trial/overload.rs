//! Whether an open loop of a fixed load, or its sensors, offered more than was carried. Pure.

use super::backlog::{ACHIEVED_PART, Backlog, EXCLUDED_OPERATIONS, SecondOfQueue, told_achieved};
use crate::units::Share;
use iotbench_recorder::{LoadCounts, PointCounts};

/// Seconds from the beginning whose queue is not judged: operations fill the way through the server.
const SETTLING_S: usize = 1;

/// Of a load that is too short for a trend, so many seconds tell it.
const MIN_SECONDS: usize = 2;

const NS_PER_S: u64 = 1_000_000_000;

/// More than chance makes of so many operations, in standard deviations of a Poisson count.
const BEYOND_CHANCE: f64 = 4.0;

/// Why what was offered was too much; `None`: it was carried, or the load is too short to tell.
///
/// Less than 99 % of it was achieved: so much was never started, or so much more was due than ended while the queue grew.
pub fn of_operations(load: &LoadCounts, seconds: &[SecondOfQueue]) -> Option<String> {
    let never = load.dropped + load.pending;
    if let Some(share) = too_much(never, load.offered) {
        return Some(format!("{never} of {} operations ({share}) were due and never started", load.offered));
    }
    let achieved_ratio = match Backlog::of(seconds, SETTLING_S) {
        Some(backlog) => Some(backlog.achieved_ratio).filter(|_| backlog.fell_behind()),
        None => fell_behind_each_second(seconds),
    };
    achieved_ratio.map(told_achieved)
}

/// The same of a load that changes on purpose, whose queue grows and falls: it is judged at the end of these seconds alone, by all that
/// was offered in them but in the last one, of which operations may still be on their way.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn of_changing(load: &LoadCounts, seconds: &[SecondOfQueue]) -> Option<String> {
    let found = of_operations(load, &[]);
    let ended = seconds.iter().map(|second| second.ended).sum::<u64>() as f64;
    let offered = seconds.iter().rev().skip(1).map(|second| second.offered).sum::<u64>() as f64;
    let fell_behind = ended < ACHIEVED_PART * offered && offered - ended > EXCLUDED_OPERATIONS;
    found.or_else(|| fell_behind.then(|| told_achieved(ended / offered)))
}

/// How many of so many seconds, from this time of the load on, there are until the last period of its shape that is whole; all of
/// them where none is.
pub fn until_whole_period(from_ns: u64, seconds: usize, period_ns: u64) -> usize {
    let end_ns = from_ns.saturating_add((seconds as u64).saturating_mul(NS_PER_S));
    let whole_ns = (end_ns - end_ns % period_ns.max(1)).saturating_sub(from_ns);
    match usize::try_from(whole_ns / NS_PER_S).unwrap_or(seconds) {
        0 => seconds,
        until => until.min(seconds),
    }
}

/// What part of what was offered ended, in seconds that are too few for a trend, where it was less than 99 % in each of them, and
/// by more than chance.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn fell_behind_each_second(seconds: &[SecondOfQueue]) -> Option<f64> {
    let judged = seconds.get(SETTLING_S..).filter(|judged| judged.len() >= MIN_SECONDS)?;
    let sum = |of: fn(&SecondOfQueue) -> u64| judged.iter().map(of).sum::<u64>() as f64;
    let (offered, ended) = (sum(|s| s.offered), sum(|s| s.ended));
    let is_less = |second: &SecondOfQueue| (second.ended as f64) < ACHIEVED_PART * second.offered as f64;
    let is_certain = offered - ended > EXCLUDED_OPERATIONS.max(BEYOND_CHANCE * offered.sqrt());
    (judged.iter().all(is_less) && is_certain).then(|| ended / offered)
}

/// The same of sensors whose queues were full, which may lose so much of their datapoints.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn of_sensors(points: &PointCounts, max_loss: f64) -> Option<String> {
    let PointCounts { dropped, generated, .. } = *points;
    let most = Share(max_loss);
    (dropped as f64 > max_loss * generated as f64).then(|| {
        format!(
            "{dropped} of {generated} datapoints were lost, because the queues of their sensors were full, and {most} may be"
        )
    })
}

/// The share of what is missing, where it is more than may be.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn too_much(missing: u64, offered: u64) -> Option<String> {
    let (missing, offered) = (missing as f64, offered as f64);
    let most = ((1.0 - ACHIEVED_PART) * offered).max(EXCLUDED_OPERATIONS);
    (missing > most).then(|| format!("{:.1} %", 100.0 * missing / offered))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carried(offered: u64, ended: impl Fn(u64) -> u64) -> Option<String> {
        let seconds: Vec<_> = (0..20).map(|second| SecondOfQueue { offered, ended: ended(second) }).collect();
        of_operations(&LoadCounts { offered: 20 * offered, ..LoadCounts::default() }, &seconds)
    }

    #[test]
    fn a_queue_that_grows_is_an_overload_and_one_that_was_there_is_none() {
        assert_eq!(carried(1_000, |_| 1_000), None);
        assert_eq!(carried(1_000, |_| 995), None, "99.5 % were carried");
        assert_eq!(carried(1_000, |_| 980).as_deref(), Some("only 98.0 % of the offered rate was achieved"));
        assert_eq!(carried(1_000, |second| if second == 0 { 0 } else { 1_000 }), None, "the way through the server");
        assert_eq!(carried(10, |second| 10 - u64::from(second % 3 == 0)), None, "a grain of ten operations");
    }

    /// A database that takes 1,000 a second, offered bursts of 2,500 each third second.
    #[test]
    fn a_changing_load_is_judged_by_what_has_ended_at_its_end() {
        let judged = |rest: u64, end: usize| {
            let (mut waiting, mut seconds) = (0, Vec::new());
            for second in 0..30 {
                let offered = if second % 3 == 0 { 2_500 } else { rest };
                waiting += offered;
                let ended = waiting.min(1_000);
                waiting -= ended;
                seconds.push(SecondOfQueue { offered, ended });
            }
            let load = LoadCounts { offered: 30_000, ..LoadCounts::default() };
            of_changing(&load, &seconds[..end])
        };
        assert_eq!(judged(100, 30), None, "it works off each burst");
        assert!(judged(100, 29).is_some(), "a burst at the very end is not worked off yet: that is cut off");
        assert_eq!(until_whole_period(5 * NS_PER_S, 28, 3 * NS_PER_S), 28, "33 s are eleven periods");
        assert_eq!(until_whole_period(5 * NS_PER_S, 29, 3 * NS_PER_S), 28);
        assert_eq!(until_whole_period(5 * NS_PER_S, 2, 60 * NS_PER_S), 2, "none is whole");
        let overloaded = judged(1_500, 30).unwrap();
        assert!(overloaded.starts_with("only 56"), "{overloaded}");
        let pending = LoadCounts { offered: 1_000, pending: 50, ..LoadCounts::default() };
        assert!(of_changing(&pending, &[]).is_some(), "what was never started tells as elsewhere");
    }

    /// A stall at the very end is followed to its answers; an outage that does not end is an overload.
    #[test]
    fn a_stall_at_the_end_is_none_until_it_is_longer_than_a_second() {
        assert_eq!(carried(1_000, |second| if second == 19 { 300 } else { 1_000 }), None);
        assert!(carried(1_000, |second| if second >= 17 { 0 } else { 1_000 }).is_some());
    }

    /// Too few seconds for a trend: each has to tell it.
    #[test]
    fn a_short_load_is_judged_by_each_of_its_seconds() {
        let carried = |ended: &[u64]| {
            let seconds: Vec<_> = ended.iter().map(|&ended| SecondOfQueue { offered: 1_000, ended }).collect();
            of_operations(&LoadCounts { offered: 4_000, ..LoadCounts::default() }, &seconds)
        };
        assert_eq!(carried(&[500, 500, 500]).as_deref(), Some("only 50.0 % of the offered rate was achieved"));
        assert!(carried(&[600, 850, 850, 850, 850]).is_some());
        assert_eq!(carried(&[500, 500]), None, "one second may be a stall");
        assert_eq!(carried(&[1_000, 300, 1_700, 1_000]), None, "a stall that is made up for");
        assert_eq!(carried(&[1_000, 980, 970]), None, "by chance");
    }

    #[test]
    fn what_was_never_started_is_an_overload_however_short_the_load_is() {
        let load = |dropped, pending| LoadCounts { offered: 1_000, dropped, pending, ..LoadCounts::default() };
        assert_eq!(of_operations(&load(5, 5), &[]), None);
        let why = "20 of 1000 operations (2.0 %) were due and never started";
        assert_eq!(of_operations(&load(15, 5), &[]).as_deref(), Some(why));
    }

    #[test]
    fn sensors_may_lose_what_their_limit_says() {
        let points = |dropped| PointCounts { generated: 2_000, dropped, ..PointCounts::default() };
        assert_eq!([of_sensors(&points(0), 0.0), of_sensors(&points(20), 0.01)], [None, None]);
        let why = "1 of 2000 datapoints were lost, because the queues of their sensors were full, and 0% may be";
        assert_eq!(of_sensors(&points(1), 0.0).as_deref(), Some(why));
        assert!(of_sensors(&points(21), 0.01).is_some_and(|why| why.ends_with("and 1% may be")));
    }
}
