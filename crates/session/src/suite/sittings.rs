//! The rounds of a suite as sittings, each in its time.

use super::cells::Target;
use crate::{
    error::SessionError,
    event::{Event, SessionObserver},
    sittings::{Clock, Schedule, SittingsWanted, Spread, check_room, check_time, timestamp},
};
use iotbench_engine::StopSignal;
use iotbench_suite::{Entry, Record, Sittings, State};
use std::{path::Path, time::SystemTime};

/// The sittings that are asked for, if any are; there is time and room for all of them.
pub(super) fn wanted(
    wanted: Option<&SittingsWanted>,
    targets: &[Target],
    out: &Path,
) -> Result<Option<Sittings>, SessionError> {
    let Some(wanted) = wanted else { return Ok(None) };
    let mut expected_s = 0.0;
    for target in targets.iter().filter(|target| target.entry().state == State::Waiting) {
        expected_s += target.longest_load_s()?;
    }
    check_time(wanted, expected_s)?;
    check_room(wanted.sessions, targets.len(), out)?;
    let (over_s, began) = (wanted.over.map(|over| over.0.as_secs_f64()), timestamp(SystemTime::now()).to_string());
    Ok(Some(Sittings { over_s, expected_s, began }))
}

/// When the rounds of a suite begin.
pub(super) struct SittingTimes(Option<Schedule>);

impl SittingTimes {
    /// Of a suite that begins or goes on now.
    pub(super) fn of(record: &Record, now: SystemTime) -> Self {
        let next = record.next().and_then(|place| record.entries.get(place)).map_or(1, |entry| entry.run);
        let schedule = record.sittings.as_ref().map(|sittings| {
            let Sittings { over_s, expected_s, ref began } = *sittings;
            Schedule::of(Spread { sessions: record.rounds(), over_s, expected_s, began }, next, now)
        });
        Self(schedule)
    }

    /// Waits for the time of a run's sitting; false: a stop is requested.
    pub(super) fn wait_for(
        &self,
        entry: &Entry,
        clock: &dyn Clock,
        observer: &dyn SessionObserver,
        stop: &StopSignal,
    ) -> bool {
        let (Some(schedule), now) = (self.0, clock.now()) else { return true };
        let begins = schedule.begins(entry.run);
        if begins > now {
            let left_s = begins.duration_since(now).unwrap_or_default().as_secs_f64();
            observer.event(&Event::SittingWaits { session: entry.run, begins, left_s });
            clock.wait_until(begins, stop);
        }
        stop.requested().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        cell::Cell,
        time::{Duration, UNIX_EPOCH},
    };

    struct Virtual(Cell<u64>);

    impl Clock for Virtual {
        fn now(&self) -> SystemTime {
            UNIX_EPOCH + Duration::from_secs(self.0.get())
        }

        fn wait_until(&self, then: SystemTime, _: &StopSignal) {
            self.0.set(then.duration_since(UNIX_EPOCH).unwrap().as_secs());
        }
    }

    fn record(sittings: Option<Sittings>) -> Record {
        let entry = |target: &str| Entry {
            profile: "p".into(),
            target: target.into(),
            form: None,
            run: 0,
            command: Vec::new(),
            state: State::Waiting,
        };
        Record { sittings, ..Record::new("s", false, &["a", "b"].map(entry), 3, 1) }
    }

    /// When the runs of a suite begin, each of which takes 60 s, by sitting.
    fn began(record: &Record, from_s: u64) -> Vec<(u32, u64)> {
        let clock = Virtual(Cell::new(from_s));
        let times = SittingTimes::of(record, clock.now());
        let waiting = record.entries.iter().filter(|entry| entry.state == State::Waiting);
        let begin = |entry: &Entry| {
            assert!(times.wait_for(entry, &clock, &(), &StopSignal::default()));
            let at_s = clock.0.replace(clock.0.get() + 60);
            (entry.run, at_s)
        };
        waiting.map(begin).collect()
    }

    #[test]
    fn each_round_of_a_suite_waits_for_its_time_and_all_its_runs_follow_one_another() {
        let sittings = Sittings { over_s: Some(2_120.0), expected_s: 120.0, began: "1970-01-01T00:16:40Z".into() };
        let mut of_sittings = record(Some(sittings));
        let expected = [(1, 1_000), (1, 1_060), (2, 2_000), (2, 2_060), (3, 3_000), (3, 3_060)];
        assert_eq!(began(&of_sittings, 1_000), expected);
        let at_once = [(1, 1_000), (1, 1_060), (2, 1_120), (2, 1_180), (3, 1_240), (3, 1_300)];
        assert_eq!(began(&record(None), 1_000), at_once);
        // The first was held; what goes on late keeps the distance.
        for entry in of_sittings.entries.iter_mut().filter(|entry| entry.run == 1) {
            entry.state = State::Failed { exit_code: 24, message: String::new() };
        }
        assert_eq!(began(&of_sittings, 9_000), [(2, 9_000), (2, 9_060), (3, 10_000), (3, 10_060)]);
    }

    #[test]
    fn a_stop_ends_the_waiting() {
        let stop = StopSignal::default();
        stop.request(2);
        let sittings = Sittings { over_s: None, expected_s: 1.0, began: "1970-01-01T00:16:40Z".into() };
        let record = record(Some(sittings));
        let clock = Virtual(Cell::new(0));
        assert!(!SittingTimes::of(&record, clock.now()).wait_for(&record.entries[0], &clock, &(), &stop));
    }
}
