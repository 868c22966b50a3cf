//! `replay`: a recording in a file, at its own pace or faster.
//!
//! The recording is moved so that its earliest time is the origin, and times are divided by the speed; it is played once, each
//! device in the order in which it sent.

use crate::{
    Dataset, ParameterError,
    clock::coarsest_unit_ns,
    config::{DEFAULT_ORIGIN_NS, DatasetInfo, Opening, typed},
    recording::{Broken, RecordedDevice, RecordedTags, RecordedTime, Recording, RecordingForm, RecordingPlan},
};
use iotbench_core::{Batch, Column, Run, Schema, Setting, Settings, Tag, ValueType};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

pub(crate) const INFO: DatasetInfo = DatasetInfo {
    name: "replay",
    summary: "a recording: CSV, line protocol, Parquet, or what TSBS writes",
    parameters: PARAMETERS,
    origin_ns: DEFAULT_ORIGIN_NS,
    tags: Vec::new,
    is_simulated: false,
    open,
};

const PARAMETERS: &[Setting] = &[
    Setting {
        key: "file",
        default: "",
        help: "the file, compressed by gzip or not; its datapoints are held in memory",
    },
    Setting {
        key: "format",
        default: "auto",
        help: "auto, csv (time, perhaps device, then signals), line_protocol, tsbs",
    },
    Setting { key: "speed", default: "1", help: "times are divided by this, 0.001 to 1000000, in steps of 0.001" },
    Setting {
        key: "time_unit",
        default: "auto",
        help: "auto (as stated, or ns; in CSV RFC 3339 or whole ns), rfc3339, ns, us, ms, s",
    },
    Setting { key: "types", default: "{}", help: "types of signals, as in { state = \"text\" }; others are inferred" },
    Setting { key: "signals", default: "[]", help: "the signals that are taken; empty: all" },
    Setting { key: "measurement", default: "", help: "the measurement, of line protocol and TSBS that have several" },
    Setting {
        key: "device_tag",
        default: "",
        help: "the tag or column that names a device; empty: all tags, or device",
    },
    Setting {
        key: "recorded_tags",
        default: "keep",
        help: "keep (those that each device has and that stay the same; others are left out and told), strict (one that changes is refused), or leave_out",
    },
    Setting { key: "broken", default: "stop", help: "stop at broken lines, or skip and count them" },
    Setting { key: "memory_mib", default: "1024", help: "most memory that the datapoints may take, in MiB" },
];

/// What a profile says of a recording.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReplayParameters {
    file: PathBuf,
    format: RecordingForm,
    speed: f64,
    time_unit: RecordedTime,
    types: BTreeMap<String, ValueType>,
    signals: Vec<String>,
    measurement: String,
    device_tag: String,
    recorded_tags: RecordedTags,
    broken: Broken,
    memory_mib: u32,
}

impl Default for ReplayParameters {
    fn default() -> Self {
        Self {
            file: PathBuf::new(),
            format: RecordingForm::Auto,
            speed: 1.0,
            time_unit: RecordedTime::Auto,
            types: BTreeMap::new(),
            signals: Vec::new(),
            measurement: String::new(),
            device_tag: String::new(),
            recorded_tags: RecordedTags::Keep,
            broken: Broken::Stop,
            memory_mib: 1024,
        }
    }
}

impl ReplayParameters {
    /// As written.
    ///
    /// # Errors
    /// An unknown key, a value that does not fit, or no file.
    pub fn read(parameters: &Settings) -> Result<Self, ParameterError> {
        let parameters: Self = typed(parameters, PARAMETERS)?;
        if parameters.file.as_os_str().is_empty() {
            return Err(ParameterError::key("file", "is missing: a replay needs the name of a file"));
        }
        Ok(parameters)
    }

    /// Where the file is.
    pub fn path(&self, base: &Path) -> PathBuf {
        base.join(&self.file)
    }

    /// How the file at this path is read.
    pub fn plan<'a>(&'a self, path: &'a Path) -> RecordingPlan<'a> {
        RecordingPlan {
            path,
            form: self.format,
            time: self.time_unit,
            measurement: &self.measurement,
            device_tag: &self.device_tag,
            signals: &self.signals,
            types: &self.types,
            tags: self.recorded_tags,
            broken: self.broken,
            memory_bytes: u64::from(self.memory_mib) << 20,
        }
    }
}

fn open(parameters: &Settings, opening: Opening<'_>) -> Result<Arc<dyn Dataset>, ParameterError> {
    let parameters = ReplayParameters::read(parameters)?;
    let path = parameters.path(opening.base);
    let mut recording = Recording::read(&parameters.plan(&path)).map_err(Box::new)?;
    if recording.devices.len() < opening.devices as usize {
        let message = format!("holds {} devices, {} are wanted", recording.devices.len(), opening.devices);
        return Err(ParameterError::key("file", format!("{}: {message}", path.display())));
    }
    replan(&mut recording, opening.origin_ns, parameters.speed)?;
    let times = || recording.devices.iter().flat_map(|d| &d.timestamps_ns);
    Ok(Arc::new(Replay {
        origin_ns: opening.origin_ns,
        period_ns: recording.devices.first().map_or(1, mean_period_ns),
        resolution_ns: times().fold(1_000_000_000, |unit, &time| unit.min(coarsest_unit_ns(&[time]))),
        schema: recording.schema,
        devices: recording.devices,
        tags: recording.tags,
        remark: recording.remark,
    }))
}

/// Moves the recording to the origin and plays it at this speed.
fn replan(recording: &mut Recording, origin_ns: i64, speed: f64) -> Result<(), ParameterError> {
    if !(0.001..=1e6).contains(&speed) {
        return Err(ParameterError::key("speed", "must be from 0.001 to 1000000"));
    }
    #[expect(clippy::cast_possible_truncation, reason = "1 to 1e9, rounded")]
    let thousandths = (speed * 1000.0).round() as i128;
    let first_ns = recording.devices.iter().filter_map(|d| d.timestamps_ns.first()).min().copied().unwrap_or(0);
    for device in &mut recording.devices {
        for time_ns in &mut device.timestamps_ns {
            let played_ns = (i128::from(*time_ns) - i128::from(first_ns)) * 1000 / thousandths;
            *time_ns = i64::try_from(i128::from(origin_ns) + played_ns)
                .map_err(|_| ParameterError::key("speed", "the recording would end after the year 2262"))?;
        }
        if !device.timestamps_ns.is_sorted_by(|a, b| a < b) {
            return Err(ParameterError::key("speed", "is so high that datapoints would fall on the same nanosecond"));
        }
    }
    Ok(())
}

fn mean_period_ns(device: &RecordedDevice) -> i64 {
    let times = &device.timestamps_ns;
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return 1 };
    let steps = i128::try_from(times.len()).unwrap_or(1).max(2) - 1;
    i64::try_from((i128::from(*last) - i128::from(*first)) / steps).unwrap_or(i64::MAX).max(1)
}

#[derive(Debug)]
struct Replay {
    schema: Schema,
    devices: Vec<RecordedDevice>,
    tags: Vec<Tag>,
    remark: Option<String>,
    origin_ns: i64,
    period_ns: i64,
    resolution_ns: i64,
}

impl Replay {
    fn device(&self, device: u32) -> Option<&RecordedDevice> {
        self.devices.get(device as usize)
    }
}

impl Dataset for Replay {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn tags(&self) -> Vec<Tag> {
        self.tags.clone()
    }

    fn origin_ns(&self) -> i64 {
        self.origin_ns
    }

    fn period_ns(&self) -> i64 {
        self.period_ns
    }

    fn resolution_ns(&self) -> i64 {
        self.resolution_ns
    }

    fn timestamp_ns(&self, device: u32, index: u64) -> i64 {
        let time_ns = || self.device(device)?.timestamps_ns.get(usize::try_from(index).ok()?).copied();
        time_ns().unwrap_or(i64::MAX)
    }

    fn index_at(&self, device: u32, timestamp_ns: i64) -> u64 {
        self.device(device).map_or(0, |d| d.timestamps_ns.partition_point(|&time| time < timestamp_ns) as u64)
    }

    fn fill(&self, run: Run, batch: &mut Batch) {
        let Some(device) = self.device(run.device) else { return };
        let recorded = device.timestamps_ns.len();
        let first = usize::try_from(run.first).unwrap_or(recorded).min(recorded);
        let rows = first..recorded.min(first + run.count as usize);
        let Ok(count @ 1..) = u32::try_from(rows.len()) else { return };
        batch.append(Run { count, ..run }, |timestamps_ns, columns| {
            timestamps_ns.extend_from_slice(&device.timestamps_ns[rows.clone()]);
            for (from, to) in device.columns.iter().zip(columns) {
                copy(from, rows.clone(), to);
            }
        });
    }

    fn sending_order(&self, device: u32, first: u64, count: u32, runs: &mut Vec<Run>) {
        let left = self.datapoints(device).unwrap_or(0).saturating_sub(first).min(count.into());
        let Ok(count @ 1..) = u32::try_from(left) else { return };
        let sent = self.device(device).and_then(|d| d.sent.as_ref());
        let (Some(sent), Ok(from)) = (sent, usize::try_from(first)) else {
            return runs.push(Run { device, first, count });
        };
        let indices = sent.get(from..from + count as usize).unwrap_or_default();
        for same in indices.chunk_by(|before, next| before + 1 == *next) {
            if let (Some(&first), Ok(count)) = (same.first(), u32::try_from(same.len())) {
                runs.push(Run { device, first: first.into(), count });
            }
        }
    }

    fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    fn datapoints(&self, device: u32) -> Option<u64> {
        Some(self.device(device).map_or(0, |d| d.timestamps_ns.len() as u64))
    }

    fn device_name(&self, device: u32, out: &mut String) {
        match self.device(device) {
            Some(RecordedDevice { name, .. }) if !name.is_empty() => out.push_str(name),
            _ => {
                out.push_str("device-");
                out.push_str(itoa::Buffer::new().format(device));
            }
        }
    }
}

fn copy(from: &Column, rows: Range<usize>, to: &mut Column) {
    match (from, to) {
        (Column::F32(from), Column::F32(to)) => to.extend_from_slice(&from[rows]),
        (Column::F64(from), Column::F64(to)) => to.extend_from_slice(&from[rows]),
        (Column::I64(from), Column::I64(to)) => to.extend_from_slice(&from[rows]),
        (Column::U16(from), Column::U16(to)) => to.extend_from_slice(&from[rows]),
        (Column::Text(from), Column::Text(to)) => rows.filter_map(|row| from.get(row)).for_each(|text| to.push(text)),
        _ => {}
    }
}
