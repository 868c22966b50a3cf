//! What processes use, between one sample and the next.

use crate::size::binary_size;
use iotbench_engine::MACHINE_ROLE;
use iotbench_sampler::{Observation, Reading, Sample};
use std::{collections::BTreeMap, sync::Arc};

/// The latest figures of every role and node.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    latest: BTreeMap<(Arc<str>, u32), Latest>,
}

#[derive(Clone, Debug)]
struct Latest {
    sample: Sample,
    /// Since the sample before; `None`: there is none.
    usage: Option<Usage>,
}

/// What was used between two samples, or in all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
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

impl Usage {
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

    fn cpu_pct(&self) -> f64 {
        self.cpu_s / self.elapsed_s * 100.0
    }
}

impl Resources {
    pub(super) fn read(&mut self, readings: &[Reading]) {
        for reading in readings {
            let Observation::Sampled(sample) = reading.observation else { continue };
            if &*reading.role == MACHINE_ROLE {
                continue;
            }
            let key = (Arc::clone(&reading.role), reading.node);
            let before = self.latest.get(&key);
            // The same sample may be read twice.
            let usage = before.and_then(|b| Usage::between(&b.sample, &sample).or(b.usage));
            self.latest.insert(key, Latest { sample, usage });
        }
    }

    /// A row of a table for each role and node: its name, CPU, memory, and what goes to and from disk and network a second.
    pub fn rows(&self) -> impl Iterator<Item = [String; 7]> + '_ {
        self.latest.iter().map(|((role, node), latest)| {
            let usage = latest.usage.unwrap_or_default();
            let per_s = |bytes: Option<u64>| {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_precision_loss,
                    clippy::cast_sign_loss,
                    reason = "three digits are shown"
                )]
                let of_a_second = |bytes: u64| binary_size((bytes as f64 / usage.elapsed_s) as u64);
                bytes.map_or_else(|| "–".into(), of_a_second)
            };
            [
                name(role, *node),
                latest.usage.map_or_else(|| "–".into(), |usage| format!("{:.0} %", usage.cpu_pct())),
                memory(&latest.sample).map_or_else(|| "–".into(), binary_size),
                per_s(usage.disk_read_bytes),
                per_s(usage.disk_written_bytes),
                per_s(usage.net_rx_bytes),
                per_s(usage.net_tx_bytes),
            ]
        })
    }

    /// CPU and memory of each role and node in words.
    pub fn parts(&self) -> impl Iterator<Item = String> + '_ {
        self.latest.iter().map(|((role, node), latest)| {
            let cpu = latest.usage.map(|usage| format!(" CPU {:.0} %", usage.cpu_pct())).unwrap_or_default();
            let memory = memory(&latest.sample).map(|m| format!(" {}", binary_size(m))).unwrap_or_default();
            format!("{}{cpu}{memory}", name(role, *node))
        })
    }
}

fn name(role: &str, node: u32) -> String {
    if node > 0 { format!("{role} {node}") } else { role.into() }
}

/// Shared pages once, where that is known.
fn memory(sample: &Sample) -> Option<u64> {
    sample.pss_bytes.or(sample.rss_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn reading(at_s: u64, cpu_s: f64) -> Reading {
        let sample = Sample {
            at: Duration::from_secs(at_s),
            cpu_s,
            processes: 1,
            rss_bytes: Some(2 << 20),
            pss_bytes: Some(1 << 20),
            ..Sample::default()
        };
        Reading { role: "client".into(), node: 0, observation: Observation::Sampled(sample) }
    }

    #[test]
    fn cpu_is_a_difference_and_stays_until_the_next_sample() {
        let mut resources = Resources::default();
        resources.read(&[reading(1, 1.0)]);
        assert_eq!(resources.parts().collect::<Vec<_>>(), ["client 1.00 MiB"]);
        resources.read(&[reading(3, 2.0)]);
        resources.read(&[reading(3, 2.0)]);
        assert_eq!(resources.parts().collect::<Vec<_>>(), ["client CPU 50 % 1.00 MiB"]);
    }
}
