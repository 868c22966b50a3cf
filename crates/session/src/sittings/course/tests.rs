//! Sittings in virtual time.

use super::*;
use jiff::Timestamp;
use std::{
    cell::Cell,
    time::{Duration, UNIX_EPOCH},
};

/// A clock that moves when somebody waits, or works.
struct Virtual {
    now_s: Cell<u64>,
    /// Waiting beyond this ends by a signal then.
    signal_at_s: u64,
}

impl Virtual {
    fn at(now_s: u64) -> Self {
        Self { now_s: Cell::new(now_s), signal_at_s: u64::MAX }
    }
}

fn at(s: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(s)
}

impl Clock for &Virtual {
    fn now(&self) -> SystemTime {
        at(self.now_s.get())
    }

    fn wait_until(&self, then: SystemTime, stop: &StopSignal) {
        let then_s = then.duration_since(UNIX_EPOCH).unwrap().as_secs();
        if then_s > self.signal_at_s {
            stop.request(2);
        }
        self.now_s.set(then_s.min(self.signal_at_s).max(self.now_s.get()));
    }
}

/// Sittings that take so long, and what was seen of them.
struct Seen<'a> {
    clock: &'a Virtual,
    takes_s: u64,
    /// The sitting that is interrupted.
    interrupted: Option<u32>,
    began_s: Vec<(u32, usize, u64)>,
    told: Vec<(u32, u64)>,
    kept: usize,
}

impl<'a> Seen<'a> {
    fn by(clock: &'a Virtual, takes_s: u64) -> Self {
        Self { clock, takes_s, interrupted: None, began_s: Vec::new(), told: Vec::new(), kept: 0 }
    }
}

impl Sittings for Seen<'_> {
    fn waiting(&mut self, entry: &SessionEntry, begins: SystemTime, now: SystemTime) {
        self.told.push((entry.session, begins.duration_since(now).unwrap().as_secs()));
    }

    fn sit(
        &mut self,
        _: &SessionsRecord<SearchHead>,
        entry: &SessionEntry,
    ) -> Result<Option<SessionEnd>, SessionError> {
        self.began_s.push((entry.session, entry.job, self.clock.now_s.get()));
        self.clock.now_s.set(self.clock.now_s.get() + self.takes_s);
        let folder = format!("folder-{}-{}", entry.session, entry.job);
        let (interrupted, began, ended) = (Vec::new(), String::new(), String::new());
        let end = SessionEnd { folder, interrupted, began, ended, exit_code: 0 };
        Ok(Some(end).filter(|_| self.interrupted != Some(entry.session)))
    }

    fn keep(&mut self, _: &mut SessionsRecord<SearchHead>) -> Result<(), SessionError> {
        self.kept += 1;
        Ok(())
    }
}

/// Sittings of so many jobs that begin at 1,000 s.
fn record(sessions: usize, jobs: usize, over_s: Option<f64>, expected_s: f64) -> SessionsRecord<SearchHead> {
    let order: Vec<usize> = (0..sessions).flat_map(|_| 0..jobs).collect();
    let targets = vec![String::from("sqlite:wide"); jobs];
    let began = Timestamp::from_second(1_000).unwrap();
    SessionsRecord::new(Vec::new(), &targets, &order, over_s, expected_s, began)
}

fn begins(seen: &Seen<'_>) -> Vec<u64> {
    seen.began_s.iter().map(|(_, _, began_s)| *began_s).collect()
}

#[test]
fn sittings_are_spread_so_that_the_last_ends_with_the_time_given() {
    let clock = Virtual::at(1_000);
    let (mut record, mut seen) = (record(5, 1, Some(1_000.0), 200.0), Seen::by(&clock, 150));
    hold_all(&mut record, &mut seen, &&clock, &StopSignal::default()).unwrap();
    assert_eq!(begins(&seen), [1_000, 1_200, 1_400, 1_600, 1_800]);
    assert_eq!(seen.told, [(2, 50), (3, 50), (4, 50), (5, 50)], "the user is told when the next begins");
    assert_eq!((seen.kept, record.next(), record.held()), (5, None, 5));
}

#[test]
fn a_sitting_that_took_longer_is_followed_at_once() {
    let clock = Virtual::at(1_000);
    let (mut record, mut seen) = (record(3, 1, Some(600.0), 200.0), Seen::by(&clock, 250));
    hold_all(&mut record, &mut seen, &&clock, &StopSignal::default()).unwrap();
    assert_eq!((begins(&seen), seen.told), (vec![1_000, 1_250, 1_500], vec![]));
}

#[test]
fn without_a_time_to_spread_over_one_follows_the_other_and_a_sitting_is_a_run_of_each() {
    let clock = Virtual::at(1_000);
    let (mut record, mut seen) = (record(2, 2, None, 20.0), Seen::by(&clock, 10));
    hold_all(&mut record, &mut seen, &&clock, &StopSignal::default()).unwrap();
    assert_eq!(seen.began_s, [(1, 0, 1_000), (1, 1, 1_010), (2, 0, 1_020), (2, 1, 1_030)]);
}

#[test]
fn nobody_waits_within_a_sitting() {
    let clock = Virtual::at(1_000);
    let (mut record, mut seen) = (record(2, 2, Some(100.0), 20.0), Seen::by(&clock, 10));
    hold_all(&mut record, &mut seen, &&clock, &StopSignal::default()).unwrap();
    assert_eq!(seen.began_s, [(1, 0, 1_000), (1, 1, 1_010), (2, 0, 1_080), (2, 1, 1_090)]);
}

#[test]
fn a_signal_ends_the_waiting_and_what_was_held_stays() {
    let clock = Virtual { signal_at_s: 1_170, ..Virtual::at(1_000) };
    let (mut record, mut seen) = (record(5, 1, Some(1_000.0), 200.0), Seen::by(&clock, 150));
    let stop = StopSignal::default();
    hold_all(&mut record, &mut seen, &&clock, &stop).unwrap();
    assert_eq!((begins(&seen), record.held(), clock.now_s.get()), (vec![1_000], 1, 1_170));
}

#[test]
fn what_goes_on_keeps_its_distance_and_repeats_nothing() {
    let clock = Virtual::at(1_000);
    let mut record = record(4, 1, Some(800.0), 200.0);
    let mut seen = Seen { interrupted: Some(2), ..Seen::by(&clock, 100) };
    hold_all(&mut record, &mut seen, &&clock, &StopSignal::default()).unwrap();
    assert_eq!((begins(&seen), record.held()), (vec![1_000, 1_200], 1));
    // A day later: the sitting that was interrupted at once, the others as far apart as they were to be.
    clock.now_s.set(90_000);
    let mut seen = Seen::by(&clock, 100);
    hold_all(&mut record, &mut seen, &&clock, &StopSignal::default()).unwrap();
    assert_eq!((begins(&seen), record.next()), (vec![90_000, 90_200, 90_400], None));
    // Soon enough, in the time that was planned.
    let clock = Virtual::at(1_150);
    record.entries.iter_mut().skip(1).for_each(|entry| entry.end = None);
    let mut seen = Seen::by(&clock, 100);
    hold_all(&mut record, &mut seen, &&clock, &StopSignal::default()).unwrap();
    assert_eq!(begins(&seen), [1_200, 1_400, 1_600]);
}
