//! CPU and memory between the last two samples.

use indicatif::BinaryBytes;
use iotbench_engine::MACHINE_ROLE;
use iotbench_sampler::{Observation, Reading, Sample};
use std::{collections::BTreeMap, sync::Arc};

/// The latest figures of every role and node.
#[derive(Debug, Default)]
pub(super) struct Resources {
    latest: BTreeMap<(Arc<str>, u32), Latest>,
}

#[derive(Debug)]
struct Latest {
    sample: Sample,
    cpu_pct: Option<f64>,
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
            let cpu_pct = before.and_then(|b| cpu_pct(&b.sample, &sample).or(b.cpu_pct));
            self.latest.insert(key, Latest { sample, cpu_pct });
        }
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = String> + '_ {
        self.latest.iter().map(|((role, node), latest)| {
            let node = if *node > 0 { format!(" {node}") } else { String::new() };
            let cpu = latest.cpu_pct.map(|pct| format!(" CPU {pct:.0} %")).unwrap_or_default();
            let memory = latest.sample.pss_bytes.or(latest.sample.rss_bytes);
            let memory = memory.map(|m| format!(" {}", BinaryBytes(m))).unwrap_or_default();
            format!("{role}{node}{cpu}{memory}")
        })
    }
}

fn cpu_pct(before: &Sample, now: &Sample) -> Option<f64> {
    let elapsed = now.at.checked_sub(before.at).filter(|e| !e.is_zero())?;
    Some((now.cpu_s - before.cpu_s) / elapsed.as_secs_f64() * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn reading(at_s: u64, cpu_s: f64) -> Reading {
        let sample = Sample {
            at: Duration::from_secs(at_s),
            cpu_s,
            user_s: 0.0,
            system_s: 0.0,
            processes: 1,
            rss_bytes: Some(2 << 20),
            pss_bytes: Some(1 << 20),
            memory: None,
            disk_read_bytes: None,
            disk_written_bytes: None,
            disk_cancelled_bytes: None,
            net_rx_bytes: None,
            net_tx_bytes: None,
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
