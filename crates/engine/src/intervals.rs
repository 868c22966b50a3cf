//! Devices that all report within a window of each interval, as smart meters do. Pure.

use crate::schedule::Start;
use std::ops::Range;

/// The pattern of the reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// From one report of a device to its next.
    pub interval_ns: u64,
    /// Within how much of the interval, from its beginning, all reports arrive.
    pub window_ns: u64,
    /// Devices that a request is about.
    pub devices_of_request: u32,
    /// Devices that exist: how requests are numbered does not depend on how many of them report.
    pub most_devices: u32,
}

impl Intervals {
    fn requests(&self, devices: u32) -> u32 {
        devices.div_ceil(self.devices_of_request)
    }
}

/// The intended starts of the requests, ascending and endless: those of an interval are spread evenly over its window,
/// the first at the interval's beginning.
///
/// The k-th request of the i-th interval has the number i × requests of all devices + k. So a number stands for a block of
/// devices and a position in their order of sending, also when more or fewer devices report than before.
#[derive(Clone, Debug)]
pub struct IntervalStarts {
    intervals: Intervals,
    devices: u32,
    /// When interval `first` begins.
    from_ns: u64,
    first: u64,
    /// The next start: intervals after `first`, and requests of that interval before it.
    interval: u64,
    request: u32,
}

impl IntervalStarts {
    /// The reports of so many devices from time 0 on.
    pub fn new(intervals: Intervals, devices: u32) -> Self {
        Self { intervals, devices: devices.max(1), from_ns: 0, first: 0, interval: 0, request: 0 }
    }

    /// The same with another number of devices: an interval begins at `from_ns`, with the first number from `number` on
    /// that begins one.
    pub fn with_devices(&self, devices: u32, number: u64, from_ns: u64) -> Self {
        let first = number.div_ceil(self.stride());
        Self { from_ns, first, ..Self::new(self.intervals, devices) }
    }

    /// How many devices report.
    pub fn devices(&self) -> u32 {
        self.devices
    }

    fn stride(&self) -> u64 {
        self.intervals.requests(self.intervals.most_devices.max(self.devices)).into()
    }

    /// How many requests an interval has.
    pub fn requests(&self) -> u32 {
        self.intervals.requests(self.devices)
    }
}

impl Iterator for IntervalStarts {
    type Item = Start;

    fn next(&mut self) -> Option<Start> {
        let (window_ns, requests) = (u128::from(self.intervals.window_ns), self.requests());
        // Less than the window.
        let into_window_ns = u64::try_from(window_ns * u128::from(self.request) / u128::from(requests)).unwrap_or(0);
        let at_ns = self.from_ns + self.interval * self.intervals.interval_ns + into_window_ns;
        let number = (self.first + self.interval) * self.stride() + u64::from(self.request);
        self.request += 1;
        if self.request == requests {
            (self.request, self.interval) = (0, self.interval + 1);
        }
        Some(Start { number, at_ns })
    }
}

/// Looks, at the end of each window, whether its reports are stored.
#[derive(Clone, Debug)]
pub struct WindowWatch {
    interval_ns: u64,
    /// The end of the present window.
    ends_ns: u64,
    /// Requests of a window that are due in its last tenth.
    due_last: u32,
}

impl WindowWatch {
    /// A watch over the windows from the first of these starts on, for those of a window's requests that are one's own.
    pub fn of(starts: &IntervalStarts, own: &Range<u32>) -> Self {
        let Intervals { interval_ns, window_ns, .. } = starts.intervals;
        let requests = starts.requests();
        let last_tenth = requests - requests / 10;
        let due_last = own.end.min(requests).saturating_sub(own.start.max(last_tenth));
        Self { interval_ns, ends_ns: starts.from_ns + window_ns, due_last }
    }

    /// The end of the present window.
    pub fn ends_ns(&self) -> u64 {
        self.ends_ns
    }

    /// How many requests are late, if the window has ended by now; then its successor is the present one. Late are those
    /// that wait for a connection when the window ends, and those under way, but for as many as were due in its last tenth:
    /// however fast a database is, it cannot have stored what it was sent a moment ago.
    pub fn late(&mut self, now_ns: u64, waiting: u32, under_way: u32) -> Option<u32> {
        if now_ns < self.ends_ns {
            return None;
        }
        self.ends_ns += self.interval_ns;
        Some(waiting + under_way.saturating_sub(self.due_last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    const S: u64 = 1_000_000_000;
    const METERS: Intervals =
        Intervals { interval_ns: 30 * S, window_ns: 4 * S, devices_of_request: 1000, most_devices: 10_000 };

    fn starts(devices: u32) -> IntervalStarts {
        IntervalStarts::new(METERS, devices)
    }

    #[test]
    fn requests_are_spread_over_the_window_and_then_comes_nothing() {
        let first: Vec<_> = starts(3_500).take(6).map(|s| (s.number, s.at_ns / (S / 10))).collect();
        assert_eq!(first, [(0, 0), (1, 10), (2, 20), (3, 30), (10, 300), (11, 310)]);
    }

    #[test]
    fn another_number_of_devices_begins_an_interval_of_its_own() {
        let after = |number| starts(2_000).with_devices(1_500, number, 7 * S).next().unwrap();
        assert_eq!(after(10), Start { number: 10, at_ns: 7 * S });
        assert_eq!(after(11), Start { number: 20, at_ns: 7 * S }, "of interval 1 something was sent");
    }

    #[test]
    fn a_window_is_late_by_what_waits_and_by_what_is_long_under_way() {
        let mut watch = WindowWatch::of(&starts(10_000).with_devices(10_000, 0, 5 * S), &(0..10));
        assert_eq!((watch.ends_ns(), watch.late(9 * S - 1, 7, 7)), (9 * S, None));
        assert_eq!(watch.late(9 * S, 0, 1), Some(0), "one of ten was due in the last tenth");
        assert_eq!((watch.ends_ns(), watch.late(39 * S, 3, 4)), (39 * S, Some(6)));
    }

    proptest! {
        #[test]
        fn starts_ascend_within_windows_and_no_number_comes_twice(
            steps in prop::collection::vec((1_u32..200, 0_usize..30), 1..6), each in 1_u32..20, window in 1_u64..=90,
        ) {
            let intervals = Intervals { interval_ns: 90, window_ns: window, devices_of_request: each, most_devices: 200 };
            let (mut numbers, mut next, mut from_ns) = (HashSet::new(), 0, 0);
            let mut schedule = IntervalStarts::new(intervals, 1);
            for (devices, taken) in steps {
                schedule = schedule.with_devices(devices, next, from_ns);
                let requests = devices.div_ceil(each) as usize;
                let mut last_ns = from_ns;
                for (place, start) in schedule.by_ref().take(taken).enumerate() {
                    prop_assert!(start.at_ns >= last_ns && (start.at_ns - from_ns) % 90 < window);
                    prop_assert_eq!((start.at_ns - from_ns) / 90, (place / requests) as u64);
                    prop_assert!(numbers.insert(start.number) && start.number >= next);
                    last_ns = start.at_ns;
                }
                next = schedule.clone().next().unwrap().number;
                from_ns = last_ns + 1;
            }
        }
    }
}
