//! What processes use, between one sample and the next.

use iotbench_engine::MACHINE_ROLE;
use iotbench_report::binary_size;
use iotbench_sampler::{Observation, Reading, Sample, UsageBetween};
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
    usage: Option<UsageBetween>,
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
            let usage = before.and_then(|b| UsageBetween::between(&b.sample, &sample).or(b.usage));
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
