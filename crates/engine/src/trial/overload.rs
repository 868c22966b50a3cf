//! Whether an open loop of a fixed load, or its sensors, offered more than was carried. Pure.

use super::backlog::{ACHIEVED_PART, Backlog, EXCLUDED_OPERATIONS, SecondOfQueue};
use iotbench_recorder::{LoadCounts, PointCounts};

/// Seconds from the beginning whose queue is not judged: operations fill the way through the server.
const SETTLING_S: usize = 1;

/// Why what was offered was too much; `None`: it was carried, or the load is too short to tell.
///
/// Less than 99 % of it was achieved: so much was never started, or so much more was due than ended while the queue grew.
pub fn of_operations(load: &LoadCounts, seconds: &[SecondOfQueue]) -> Option<String> {
    let never = load.dropped + load.pending;
    if let Some(share) = too_much(never, load.offered) {
        return Some(format!("{never} of {} operations ({share}) were due and never started", load.offered));
    }
    let backlog = Backlog::of(seconds, SETTLING_S).filter(Backlog::fell_behind)?;
    Some(format!("only {:.1} % of the offered rate was achieved", 100.0 * backlog.achieved_ratio))
}

/// The same of sensors whose queues were full.
pub fn of_sensors(points: &PointCounts) -> Option<String> {
    let PointCounts { dropped, generated, .. } = *points;
    let share = too_much(dropped, generated)?;
    Some(format!(
        "{dropped} of {generated} datapoints ({share}) were lost, because the queues of their sensors were full"
    ))
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

    /// A stall at the very end is followed to its answers; an outage that does not end is an overload.
    #[test]
    fn a_stall_at_the_end_is_none_until_it_is_longer_than_a_second() {
        assert_eq!(carried(1_000, |second| if second == 19 { 300 } else { 1_000 }), None);
        assert!(carried(1_000, |second| if second >= 17 { 0 } else { 1_000 }).is_some());
    }

    #[test]
    fn what_was_never_started_is_an_overload_however_short_the_load_is() {
        let load = |dropped, pending| LoadCounts { offered: 1_000, dropped, pending, ..LoadCounts::default() };
        assert_eq!(of_operations(&load(5, 5), &[]), None);
        let why = "20 of 1000 operations (2.0 %) were due and never started";
        assert_eq!(of_operations(&load(15, 5), &[]).as_deref(), Some(why));
    }

    #[test]
    fn sensors_may_lose_one_datapoint_in_a_hundred() {
        let points = |dropped| PointCounts { generated: 2_000, dropped, ..PointCounts::default() };
        assert_eq!(of_sensors(&points(20)), None);
        let of_few = |dropped| of_sensors(&PointCounts { generated: 100, ..points(dropped) }).is_some();
        assert_eq!([of_few(10), of_few(11)], [false, true], "ten are the grain of counting");
        let why = "21 of 2000 datapoints (1.1 %) were lost, because the queues of their sensors were full";
        assert_eq!(of_sensors(&points(21)).as_deref(), Some(why));
    }
}
