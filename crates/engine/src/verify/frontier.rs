//! How far each device's datapoints were sent and acknowledged: what an answer may hold, and what it has to.

use crate::read::History;
use iotbench_core::Run;
use std::{
    ops::Range,
    sync::atomic::{AtomicU64, Ordering},
};

/// More devices than this are not followed: an answer about their newest datapoints is not judged.
const MOST_DEVICES: u32 = 1 << 20;

/// For each device, up to which index everything was acknowledged, and up to which index anything was sent.
///
/// What was acknowledged counts only as far as nothing before it is missing: that makes a judgement weaker, never wrong.
#[derive(Debug)]
pub struct Frontier {
    devices: Vec<Device>,
    /// The device of the latest acknowledgement, below how many there have been: one number, so that both belong together.
    latest: AtomicU64,
}

#[derive(Debug)]
struct Device {
    start: u64,
    sent: AtomicU64,
    acked: AtomicU64,
    /// The end of the newest that was acknowledged, whatever is missing before it.
    newest: AtomicU64,
    /// When that was, in nanoseconds since the run's start.
    newest_at_ns: AtomicU64,
}

/// The frontier when a read began, as far as it has to be seen, and when it ended, as far as it may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meanwhile {
    /// For each device, the datapoints of the load that were acknowledged before the read began.
    pub acked: Vec<Range<u64>>,
    /// For each device, the end of what could have been sent before the read ended.
    pub sent: Vec<u64>,
}

impl Frontier {
    /// Nothing was sent but the history; `None` where there are too many devices.
    #[must_use]
    pub fn new(history: &History, devices: u32) -> Option<Self> {
        let device = |number| {
            let start = history.span(number);
            Device {
                start,
                sent: AtomicU64::new(start),
                acked: AtomicU64::new(start),
                newest: AtomicU64::new(start),
                newest_at_ns: AtomicU64::new(0),
            }
        };
        (devices <= MOST_DEVICES)
            .then(|| Self { devices: (0..devices).map(device).collect(), latest: AtomicU64::new(0) })
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
            let end = run.indices().end;
            // Before the end itself: whoever sees the end has this time, or a later one.
            device.newest_at_ns.store(at_ns, Ordering::Release);
            device.newest.fetch_max(end, Ordering::AcqRel);
            // Another loop may have moved it meanwhile; then it stays where it is, which is safe.
            let _ = device.acked.compare_exchange(run.first, end, Ordering::AcqRel, Ordering::Relaxed);
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

    /// What has to be seen by a read that begins now: nothing where an acknowledgement does not promise that.
    #[must_use]
    pub fn begin(&self, acknowledged_is_visible: bool) -> Meanwhile {
        let end = |device: &Device| {
            if acknowledged_is_visible { device.acked.load(Ordering::Acquire) } else { device.start }
        };
        let acked = |device: &Device| device.start..end(device);
        Meanwhile { acked: self.devices.iter().map(acked).collect(), sent: Vec::new() }
    }

    /// What may be seen by a read that ends now.
    pub fn end(&self, meanwhile: &mut Meanwhile) {
        meanwhile.sent = self.devices.iter().map(|device| device.sent.load(Ordering::Acquire)).collect();
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
        let frontier = Frontier::new(&History { dataset, devices: 2, positions: 10 }, 2).unwrap();
        let run = |first, count| Run { device: 1, first, count };
        for run in [run(10, 5), run(15, 5), run(20, 5)] {
            frontier.sends(run);
        }
        frontier.acknowledged(run(10, 5), 7);
        frontier.acknowledged(run(20, 5), 9);
        assert_eq!(frontier.begin(false).acked, [10..10, 10..10], "nothing is promised");
        let mut meanwhile = frontier.begin(true);
        frontier.end(&mut meanwhile);
        assert_eq!(meanwhile.acked, [10..10, 10..15]);
        assert_eq!(meanwhile.sent, [10, 25]);
        assert_eq!((frontier.newest(1), frontier.latest()), ((25, 9), (2, 1)));
    }
}
