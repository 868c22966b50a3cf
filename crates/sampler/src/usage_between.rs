//! What was used between two samples.

use crate::sample::Sample;

/// What was used between two samples, or in all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UsageBetween {
    /// How long it was.
    pub elapsed_s: f64,
    /// CPU time in seconds of one core.
    pub cpu_s: f64,
    /// Fetched from storage devices; like the others `None` where it cannot be told.
    pub disk_read_bytes: Option<u64>,
    /// Sent to storage devices.
    pub disk_written_bytes: Option<u64>,
    /// Received.
    pub net_rx_bytes: Option<u64>,
    /// Sent.
    pub net_tx_bytes: Option<u64>,
}

impl UsageBetween {
    /// Between two samples; `None`: no time lies between them.
    #[must_use]
    pub fn between(before: &Sample, now: &Sample) -> Option<Self> {
        let elapsed = now.at.checked_sub(before.at).filter(|e| !e.is_zero())?;
        let grown = |of: fn(&Sample) -> Option<u64>| Some(of(now)?.saturating_sub(of(before)?));
        Some(Self {
            elapsed_s: elapsed.as_secs_f64(),
            cpu_s: (now.cpu_s - before.cpu_s).max(0.0),
            disk_read_bytes: grown(|sample| sample.disk.read_bytes),
            disk_written_bytes: grown(|sample| sample.disk.written_bytes),
            net_rx_bytes: grown(|sample| sample.network.rx_bytes),
            net_tx_bytes: grown(|sample| sample.network.tx_bytes),
        })
    }

    /// Adds what was used afterwards. What is known of a part only is told of that part.
    pub fn add(&mut self, later: &Self) {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (None, None) => None,
            _ => Some(one.unwrap_or(0) + other.unwrap_or(0)),
        };
        *self = Self {
            elapsed_s: self.elapsed_s + later.elapsed_s,
            cpu_s: self.cpu_s + later.cpu_s,
            disk_read_bytes: sum(self.disk_read_bytes, later.disk_read_bytes),
            disk_written_bytes: sum(self.disk_written_bytes, later.disk_written_bytes),
            net_rx_bytes: sum(self.net_rx_bytes, later.net_rx_bytes),
            net_tx_bytes: sum(self.net_tx_bytes, later.net_tx_bytes),
        };
    }

    /// CPU time in % of one core.
    #[must_use]
    pub fn cpu_pct(&self) -> f64 {
        self.cpu_s / self.elapsed_s * 100.0
    }
}
