//! Rows of a dataset without a database. The datapoints of many devices come by time, in blocks.

use crate::{error::SessionError, job::now_ns};
use iotbench_core::{Batch, Run};
use iotbench_simulator::{DEFAULT_ORIGIN_NS, Dataset, DatasetConfig, Encoder, Format};
use std::{
    io::{self, Write},
    ops::Range,
    path::Path,
    sync::Arc,
    time::Duration,
};

/// Written at once.
const BLOCK_BYTES: usize = 256 * 1024;
const MAX_DEVICES: u64 = 1_000_000;

/// Datapoints of all devices in a block, about.
const BLOCK: u32 = 1000;

/// Rows that are wanted, as on the command line.
#[derive(Clone, Debug)]
pub struct RowsWanted {
    /// The dataset.
    pub dataset: String,
    /// Its parameters, each as `key=value`.
    pub parameters: Vec<String>,
    /// The time of every device's first datapoint: `default`, `now` or one of RFC 3339.
    pub origin: String,
    /// The time of the first row, likewise; `None`: the origin.
    pub from: Option<String>,
    /// How long, in the time of the data; `None`: without end.
    pub length: Option<Duration>,
    /// How many devices.
    pub devices: u64,
    /// What decides all random numbers.
    pub seed: u64,
    /// In which form.
    pub format: Format,
}

impl RowsWanted {
    /// Checks what is wanted, and gives who writes it.
    ///
    /// # Errors
    /// There is no such dataset, parameter or time.
    pub fn open(&self) -> Result<impl FnOnce(&mut dyn Write) -> io::Result<()> + use<>, SessionError> {
        let origin_ns = time("--origin", &self.origin)?;
        let from_ns = self.from.as_deref().map_or(Ok(origin_ns), |text| time("--from", text))?;
        if from_ns < origin_ns {
            return Err(SessionError::usage("--from lies before the first datapoint: give an earlier --origin too"));
        }
        let devices = u32::try_from(self.devices).ok().filter(|n| (1..=MAX_DEVICES).contains(&u64::from(*n)));
        let devices = devices.ok_or_else(|| SessionError::usage(format!("--devices is from 1 to {MAX_DEVICES}")))?;
        let config = dataset_config(&self.dataset, &self.parameters)?;
        let dataset = config.open(self.seed, origin_ns, devices, Path::new(".")).map_err(SessionError::usage)?;
        let tags = config.schema(&*dataset, self.seed).map_err(SessionError::usage)?.tags().clone();
        let end = |length: Duration| i64::try_from(length.as_nanos()).ok().and_then(|ns| from_ns.checked_add(ns));
        let too_late = || SessionError::usage("--for ends beyond the year 2262");
        let until_ns = self.length.map(|length| end(length).ok_or_else(too_late)).transpose()?;
        let blocks = Blocks::new(Arc::clone(&dataset), devices, from_ns, until_ns);
        let encoder = Encoder::new(self.format, &self.dataset, Arc::clone(&dataset)).with_tags(tags);
        Ok(move |out: &mut dyn Write| write_all(blocks, encoder, &*dataset, out))
    }
}

/// A dataset with parameters, each as `key=value`.
pub(crate) fn dataset_config(dataset: &str, parameters: &[String]) -> Result<DatasetConfig, SessionError> {
    let mut config = DatasetConfig::named(dataset).map_err(SessionError::usage)?;
    for assignment in parameters {
        let Some((key, text)) = assignment.split_once('=') else {
            return Err(SessionError::usage(format!("--set {assignment}: write key=value")));
        };
        config = config.with(key.trim(), literal(text.trim()));
    }
    Ok(config)
}

fn write_all(mut blocks: Blocks, mut encoder: Encoder, dataset: &dyn Dataset, out: &mut dyn Write) -> io::Result<()> {
    let mut batch = Batch::new(dataset.schema());
    let mut buffer = Vec::with_capacity(2 * BLOCK_BYTES);
    encoder.header(&mut buffer);
    loop {
        batch.clear();
        let more = blocks.fill_next(&mut batch);
        encoder.encode(&batch, &mut buffer);
        if buffer.len() >= BLOCK_BYTES || !more {
            out.write_all(&buffer)?;
            buffer.clear();
        }
        if !more {
            return out.flush();
        }
    }
}

/// A TOML literal where the text is one, else a text.
fn literal(text: &str) -> serde_json::Value {
    let table = toml::from_str::<toml::Table>(&format!("v = {text}")).ok();
    let value = table.and_then(|mut t| t.remove("v")).and_then(|v| serde_json::to_value(v).ok());
    value.unwrap_or_else(|| text.into())
}

fn time(option: &str, text: &str) -> Result<i64, SessionError> {
    match text {
        "default" => Ok(DEFAULT_ORIGIN_NS),
        "now" => Ok(now_ns() / 1_000_000_000 * 1_000_000_000),
        _ => {
            let wrong = |why: String| SessionError::usage(format!("{option} {text:?}: {why}"));
            let time: jiff::Timestamp =
                text.parse().map_err(|e| wrong(format!("write default, now or 2026-01-01T00:00:00Z ({e})")))?;
            i64::try_from(time.as_nanosecond()).map_err(|_| wrong("lies beyond 64-bit nanoseconds".into()))
        }
    }
}

/// Blocks of a stretch of time one after the other, in each the devices in turn, each in its own sending order.
struct Blocks {
    dataset: Arc<dyn Dataset>,
    /// What is left of each device's sending order.
    left: Vec<Range<u64>>,
    device: usize,
    devices_left: usize,
    by_device: u32,
    runs: Vec<Run>,
}

impl Blocks {
    /// The datapoints from a time on, up to another one or without end.
    fn new(dataset: Arc<dyn Dataset>, devices: u32, from_ns: i64, until_ns: Option<i64>) -> Self {
        let position = |device: u32, ns: i64| dataset.positions_before(device, dataset.index_at(device, ns));
        let end = |device: u32| match (until_ns, dataset.datapoints(device)) {
            (Some(ns), None) => position(device, ns),
            (None, Some(n)) => dataset.positions_before(device, n),
            (Some(ns), Some(n)) => position(device, ns).min(dataset.positions_before(device, n)),
            (None, None) => u64::MAX,
        };
        let left: Vec<_> = (0..devices).map(|d| position(d, from_ns)..end(d)).collect();
        let devices_left = left.iter().filter(|range| !range.is_empty()).count();
        Self { left, device: 0, devices_left, by_device: (BLOCK / devices).max(1), runs: Vec::new(), dataset }
    }

    /// Appends the next block of about a thousand datapoints; false when it was the last.
    fn fill_next(&mut self, batch: &mut Batch) -> bool {
        while batch.len() < BLOCK as usize && self.devices_left > 0 {
            self.fill_device(batch);
            self.device = if self.device + 1 < self.left.len() { self.device + 1 } else { 0 };
        }
        self.devices_left > 0
    }

    fn fill_device(&mut self, batch: &mut Batch) {
        let Some(left) = self.left.get_mut(self.device).filter(|left| !left.is_empty()) else { return };
        let count = u32::try_from(left.end - left.start).unwrap_or(u32::MAX).min(self.by_device);
        let device = u32::try_from(self.device).unwrap_or(u32::MAX);
        self.runs.clear();
        self.dataset.sending_order(device, left.start, count, &mut self.runs);
        for &run in &self.runs {
            self.dataset.fill(run, batch);
        }
        left.start += u64::from(count);
        self.devices_left -= usize::from(left.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(devices: u32, from_ns: i64, length_ns: i64) -> (Vec<(u32, u64)>, usize) {
        let dataset = DatasetConfig::named("pmu").unwrap().open(1, DEFAULT_ORIGIN_NS, devices, Path::new(".")).unwrap();
        let from_ns = DEFAULT_ORIGIN_NS + from_ns;
        let mut blocks = Blocks::new(Arc::clone(&dataset), devices, from_ns, Some(from_ns + length_ns));
        let (mut seen, mut largest) = (Vec::new(), 0);
        loop {
            let mut batch = Batch::new(dataset.schema());
            let more = blocks.fill_next(&mut batch);
            largest = largest.max(batch.len());
            seen.extend(batch.runs().iter().flat_map(|r| r.indices().map(|i| (r.device, i))));
            if !more {
                return (seen, largest);
            }
        }
    }

    #[test]
    fn every_datapoint_of_the_stretch_comes_once() {
        for (devices, from_s, length_s) in [(1, 0, 1), (1, 7, 61), (7, 3, 30), (3000, 0, 1)] {
            let (seen, largest) = all(devices, from_s * 1_000_000_000, length_s * 1_000_000_000);
            let indices = u64::try_from(from_s * 50).unwrap()..u64::try_from((from_s + length_s) * 50).unwrap();
            let expected: Vec<_> = (0..devices).flat_map(|d| indices.clone().map(move |i| (d, i))).collect();
            let mut sorted = seen.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, expected);
            assert!(largest <= 2 * BLOCK as usize);
        }
    }

    #[test]
    fn devices_advance_together() {
        let (seen, _) = all(10, 0, 60_000_000_000);
        let mut latest = [0_u64; 10];
        for (device, index) in seen {
            latest[device as usize] = index;
            let (least, most) = (latest.iter().min().unwrap(), latest.iter().max().unwrap());
            assert!(most - least <= 2 * u64::from(BLOCK) / 10);
        }
    }

    #[test]
    fn an_empty_stretch_has_no_datapoint() {
        assert!(all(2, 0, 0).0.is_empty());
    }
}
