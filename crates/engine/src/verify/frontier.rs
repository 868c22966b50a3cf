//! How far each device's datapoints were sent and acknowledged: what an answer may hold, and what it has to.

use super::overlap::{Meanwhile, Overlap, Progress};
use crate::read::History;
use iotbench_core::{Devices, Run};
use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

/// More devices than this are not followed: an answer is not judged then.
const MAX_DEVICES: u32 = 1 << 20;
/// Looking at so many devices does not hold up the loop that reads; an answer about more is not judged.
const MAX_AT_ONCE: u32 = 1 << 16;
/// Acknowledgements of a device that may be ahead of one that is missing; more are forgotten.
const MAX_EARLY: usize = 1024;

/// For each device, up to which index everything was acknowledged, and up to which index anything was sent.
///
/// What was acknowledged counts only as far as nothing before it is missing: that makes a judgement weaker, never wrong.
#[derive(Debug)]
pub struct Frontier {
    devices: Vec<Device>,
    /// Those whose datapoints this process sends; of others nothing is known.
    own: Range<u32>,
    /// The device of the latest acknowledgement, below how many there have been: one number, so that both belong together.
    latest: AtomicU64,
}

#[derive(Debug)]
struct Device {
    start: u64,
    sent: AtomicU64,
    acked: AtomicU64,
    /// Acknowledged before something that comes before them, by their first index.
    early: Mutex<BTreeMap<u64, u64>>,
    /// How many these are.
    waiting: AtomicUsize,
    /// The end of the newest that was acknowledged, whatever is missing before it.
    newest: AtomicU64,
    /// When that was, in nanoseconds since the run's start.
    newest_at_ns: AtomicU64,
}

impl Frontier {
    /// Nothing was sent but the history; `None` where there are too many devices. This process sends what those of `own` have.
    #[must_use]
    pub fn new(history: &History, devices: u32, own: Range<u32>) -> Option<Self> {
        let device = |number| {
            let start = history.span(number);
            Device {
                start,
                sent: AtomicU64::new(start),
                acked: AtomicU64::new(start),
                early: Mutex::default(),
                waiting: AtomicUsize::new(0),
                newest: AtomicU64::new(start),
                newest_at_ns: AtomicU64::new(0),
            }
        };
        (devices <= MAX_DEVICES).then(|| Self {
            devices: (0..devices).map(device).collect(),
            own,
            latest: AtomicU64::new(0),
        })
    }

    /// Datapoints are about to be sent.
    pub fn sends(&self, run: Run) {
        if let Some(device) = self.devices.get(run.device as usize) {
            device.sent.fetch_max(run.indices().end, Ordering::AcqRel);
        }
    }

    /// Datapoints were acknowledged.
    pub fn acknowledged(&self, run: Run, at_ns: u64) {
        if let Some(device) = self.devices.get(run.device as usize) {
            device.acknowledge(run);
            let end = run.indices().end;
            // What came late or was sent a second time is not the newest, which had its time before.
            if end <= device.newest.load(Ordering::Acquire) {
                return;
            }
            // Before the end itself: whoever sees the end has this time, or a later one.
            device.newest_at_ns.store(at_ns, Ordering::Release);
            device.newest.fetch_max(end, Ordering::AcqRel);
            let count = self.latest.load(Ordering::Relaxed) >> 32;
            self.latest.store((count + 1) << 32 | u64::from(run.device), Ordering::Release);
        }
    }

    /// The latest acknowledgement: a number that changes with each, and its device.
    #[must_use]
    pub fn latest(&self) -> (u64, u32) {
        let latest = self.latest.load(Ordering::Acquire);
        (latest >> 32, u32::try_from(latest & u64::from(u32::MAX)).unwrap_or(0))
    }

    /// The end of the newest that was acknowledged of a device, and when it was.
    #[must_use]
    pub fn newest(&self, device: u32) -> (u64, u64) {
        let Some(device) = self.devices.get(device as usize) else { return (0, 0) };
        let end = device.newest.load(Ordering::Acquire);
        (end, device.newest_at_ns.load(Ordering::Acquire))
    }

    /// What a read of these devices that begins now has to see: nothing where an acknowledgement does not promise that.
    #[must_use]
    pub fn begin(&self, asked: &Devices, acknowledged_is_visible: bool) -> Overlap {
        let span = |number: u32| {
            let device = self.devices.get(number as usize)?;
            let end = if acknowledged_is_visible { device.acked.load(Ordering::SeqCst) } else { device.start };
            Some(Progress { device: number, acked: device.start..end, sent: end })
        };
        let numbers = 0..u32::try_from(self.devices.len()).unwrap_or(u32::MAX);
        match asked.list() {
            None if numbers.end > MAX_AT_ONCE || self.own != numbers => Overlap::Unknown,
            Some(list) if list.iter().any(|device| !self.own.contains(device)) => Overlap::Unknown,
            None => Overlap::Known(Meanwhile::new(numbers.filter_map(span).collect())),
            Some(list) => Overlap::Known(Meanwhile::new(list.iter().copied().filter_map(span).collect())),
        }
    }

    /// What a read that ends now may have seen.
    pub fn end(&self, overlap: &mut Overlap) {
        let Overlap::Known(meanwhile) = overlap else { return };
        for progress in &mut meanwhile.devices {
            if let Some(device) = self.devices.get(progress.device as usize) {
                progress.sent = device.sent.load(Ordering::Acquire);
            }
        }
    }
}

impl Device {
    /// Moves the end of what is acknowledged without a gap.
    fn acknowledge(&self, run: Run) {
        let indices = run.indices();
        // A second send, unless its first was not acknowledged.
        if indices.end <= self.acked.load(Ordering::SeqCst) {
            return;
        }
        if !self.moves(indices.clone()) {
            let mut early = self.early.lock().unwrap_or_else(PoisonError::into_inner);
            if early.len() < MAX_EARLY {
                early.insert(indices.start, indices.end);
                self.waiting.store(early.len(), Ordering::SeqCst);
            }
        }
        if self.waiting.load(Ordering::SeqCst) > 0 {
            let mut early = self.early.lock().unwrap_or_else(PoisonError::into_inner);
            while let Some(first) = early.first_entry() {
                let is_behind = *first.get() <= self.acked.load(Ordering::SeqCst);
                if !is_behind && !self.moves(*first.key()..*first.get()) {
                    break;
                }
                first.remove();
            }
            self.waiting.store(early.len(), Ordering::SeqCst);
        }
    }

    /// Whether these come right after what is acknowledged, which they are now too.
    fn moves(&self, indices: Range<u64>) -> bool {
        self.acked.compare_exchange(indices.start, indices.end, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_simulator::DatasetConfig;
    use std::path::Path;

    #[test]
    fn what_is_acknowledged_after_a_gap_need_not_be_seen() {
        let config: DatasetConfig = serde_json::from_value(serde_json::json!({ "name": "pmu" })).unwrap();
        let dataset = config.open(1, 0, 2, Path::new(".")).unwrap();
        let frontier = Frontier::new(&History { dataset, devices: 2, positions: 10 }, 2, 0..2).unwrap();
        let run = |first, count| Run { device: 1, first, count };
        for run in [run(10, 5), run(15, 5), run(20, 5)] {
            frontier.sends(run);
        }
        frontier.acknowledged(run(10, 5), 7);
        frontier.acknowledged(run(20, 5), 9);
        let overlap = |visible| {
            let mut overlap = frontier.begin(&Devices::All, visible);
            frontier.end(&mut overlap);
            let Overlap::Known(meanwhile) = overlap else { panic!("few devices") };
            meanwhile.devices.into_iter().map(|p| (p.acked, p.sent)).collect::<Vec<_>>()
        };
        assert_eq!(overlap(false), [(10..10, 10), (10..10, 25)], "nothing is promised");
        assert_eq!(overlap(true), [(10..10, 10), (10..15, 25)]);
        assert_eq!((frontier.newest(1), frontier.latest()), ((25, 9), (2, 1)));
        frontier.acknowledged(run(15, 5), 11);
        assert_eq!(overlap(true), [(10..10, 10), (10..25, 25)], "the gap is closed");
    }

    #[test]
    fn a_second_send_is_neither_newer_nor_in_the_way() {
        let config: DatasetConfig = serde_json::from_value(serde_json::json!({ "name": "pmu" })).unwrap();
        let dataset = config.open(1, 0, 1, Path::new(".")).unwrap();
        let frontier = Frontier::new(&History { dataset, devices: 1, positions: 0 }, 1, 0..1).unwrap();
        let acked = || {
            let Overlap::Known(meanwhile) = frontier.begin(&Devices::All, true) else { panic!("one device") };
            meanwhile.devices[0].acked.end
        };
        let acknowledged = |first, count, at_ns| frontier.acknowledged(Run { device: 0, first, count }, at_ns);
        acknowledged(0, 5, 1);
        let latest = frontier.latest();
        acknowledged(2, 1, 9);
        assert_eq!((frontier.newest(0), frontier.latest(), acked()), ((5, 1), latest, 5), "the same again is no news");
        // Again before the first send of it is answered, and before what comes in between.
        acknowledged(7, 1, 10);
        acknowledged(6, 3, 11);
        acknowledged(7, 1, 12);
        assert_eq!(acked(), 5);
        acknowledged(5, 1, 13);
        assert_eq!((acked(), frontier.newest(0)), (9, (9, 11)), "what was told twice holds up nothing");
        acknowledged(9, 1, 14);
        assert_eq!(acked(), 10);
    }

    #[test]
    fn many_loops_that_acknowledge_in_any_order_leave_no_gap() {
        let config: DatasetConfig = serde_json::from_value(serde_json::json!({ "name": "pmu" })).unwrap();
        let dataset = config.open(1, 0, 1, Path::new(".")).unwrap();
        let frontier = Frontier::new(&History { dataset, devices: 1, positions: 0 }, 1, 0..1).unwrap();
        std::thread::scope(|scope| {
            for loop_number in 0..4_u64 {
                let frontier = &frontier;
                scope.spawn(move || {
                    for number in 0..250_u64 {
                        // Each loop acknowledges pairs of its own the wrong way round.
                        let first = (number ^ 1) * 4 + loop_number;
                        frontier.acknowledged(Run { device: 0, first, count: 1 }, 0);
                    }
                });
            }
        });
        let Overlap::Known(meanwhile) = frontier.begin(&Devices::Some(vec![0]), true) else { panic!("one device") };
        assert_eq!(meanwhile.devices[0].acked, 0..1000);
    }
}
