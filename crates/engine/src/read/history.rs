//! What was written before the run.

use iotbench_core::Run;
use iotbench_simulator::Dataset;
use std::{ops::Range, sync::Arc};

/// The datapoints that were in the database before the load: of the first `devices` devices the first `positions` of their
/// sending orders.
#[derive(Clone, Debug)]
pub struct History {
    /// Where they come from.
    pub dataset: Arc<dyn Dataset>,
    /// Of how many devices.
    pub devices: u32,
    /// How many of each.
    pub positions: u64,
}

impl History {
    /// The indices of a device's datapoints, ascending and disjoint.
    #[must_use]
    pub fn indices(&self, device: u32) -> Vec<Range<u64>> {
        if device >= self.devices {
            return Vec::new();
        }
        let mut runs: Vec<Run> = Vec::new();
        let mut first = 0;
        while first < self.positions {
            let count = u32::try_from(self.positions - first).unwrap_or(u32::MAX);
            self.dataset.sending_order(device, first, count, &mut runs);
            first += u64::from(count);
        }
        let end = self.dataset.datapoints(device).unwrap_or(u64::MAX);
        let mut ranges: Vec<Range<u64>> = runs.iter().map(|r| r.first..r.indices().end.min(end)).collect();
        ranges.retain(|range| !range.is_empty());
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|next, last| {
            let joins = last.end == next.start;
            if joins {
                last.end = next.end;
            }
            joins
        });
        ranges
    }

    /// In how many runs the datapoints of a device come, about, before those that touch are joined.
    #[must_use]
    pub fn runs_of_a_device(&self) -> u64 {
        const LOOKED_AT: u32 = 1 << 12;
        let mut runs = Vec::new();
        self.dataset.sending_order(0, 0, LOOKED_AT, &mut runs);
        self.positions.div_ceil(LOOKED_AT.into()).saturating_mul(runs.len() as u64)
    }

    /// How many indices a device's history spans, missing ones included.
    #[must_use]
    pub fn span(&self, device: u32) -> u64 {
        if self.positions == 0 {
            return 0;
        }
        let mut runs = Vec::new();
        let last = self.positions.saturating_sub(1);
        self.dataset.sending_order(device, last, 1, &mut runs);
        let end = runs.first().map_or(self.positions, |run| run.indices().end);
        end.min(self.dataset.datapoints(device).unwrap_or(u64::MAX))
    }

    /// From the first to the last datapoint of a device, in nanoseconds since the Unix epoch.
    #[must_use]
    pub fn time_span_ns(&self, device: u32) -> (i64, i64) {
        let last = self.span(device).saturating_sub(1);
        (self.dataset.timestamp_ns(device, 0), self.dataset.timestamp_ns(device, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_simulator::DatasetConfig;
    use std::path::Path;

    #[test]
    fn a_device_has_the_first_positions_and_others_nothing() {
        let config: DatasetConfig = serde_json::from_value(serde_json::json!({ "name": "pmu", "rate": 50.0 })).unwrap();
        let history = History { dataset: config.open(1, 0, 4, Path::new(".")).unwrap(), devices: 2, positions: 100 };
        assert_eq!(history.indices(1).into_iter().flatten().count(), 100);
        assert_eq!(history.indices(2).len(), 0);
        assert_eq!(history.span(1), 100);
        let (first_ns, last_ns) = history.time_span_ns(0);
        assert_eq!(history.dataset.index_at(0, first_ns), 0);
        assert_eq!(history.dataset.index_at(0, last_ns), 99);
    }
}
