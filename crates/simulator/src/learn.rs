//! A profile from a recording: data that are generated as they were recorded.
//!
//! The file is read twice, as a stream. What is kept of it is bounded: samples of fixed size and, for each device, its newest time and
//! values.

mod generated;
mod likeness;
mod moves;
mod numbers;
mod profile;
mod reservoir;
mod sketch;
mod texts;
mod timing;

pub use likeness::Likeness;

use crate::{
    Dataset, DatasetConfig, DatasetError, ParameterError,
    config::DEFAULT_ORIGIN_NS,
    counter_hash::CounterHash,
    datasets::ReplayParameters,
    random_text::push_random_text,
    recording::{RecordingError, Row, RowReader, Survey},
};
use likeness::{Rows, likeness};
use profile::Written;
use serde_json::{Map, Value};
use sketch::Sketches;
use std::{path::Path, sync::Arc};
use timing::{Regularity, Times};

/// Progress is told after so many rows.
const ROWS_BETWEEN_LOOKS: u64 = 1 << 14;

/// How a profile is made of a recording.
#[derive(Clone, Debug)]
pub struct LearnOptions<'a> {
    /// The profile's name.
    pub name: &'a str,
    /// Texts, names of devices and quantiles stand in the profile as they were recorded.
    pub keep_values: bool,
    /// Decides samples, and the texts that stand for recorded ones.
    pub seed: u64,
}

/// What a recording taught.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The profile, in TOML.
    pub profile: String,
    /// How alike generated data are.
    pub likeness: Likeness,
    /// What the profile does not tell of the recording.
    pub untold: Vec<String>,
    /// What of the recording was left out and why, where something was. It may quote the recording, and does not stand in the profile.
    pub remark: Option<String>,
}

/// Makes a profile of a recording, which a configuration of the dataset `replay` names. `progress` is told which part of the work is done.
///
/// # Errors
/// As those of opening the dataset, but that its datapoints need not fit into memory.
pub fn learn(
    recording: &DatasetConfig,
    base: &Path,
    options: &LearnOptions<'_>,
    progress: &mut dyn FnMut(f64),
) -> Result<Learned, DatasetError> {
    let dataset = recording.info()?.name;
    let failed = |error: ParameterError| DatasetError::Parameter { dataset, error };
    if dataset != "replay" {
        return Err(failed(ParameterError::key("name", "must be replay: a profile is learned from a recording")));
    }
    let parameters = ReplayParameters::read(recording.parameters()).map_err(failed)?;
    let mut seen =
        Seen::read(&parameters, &parameters.path(base), options, progress).map_err(|e| failed(Box::new(e).into()))?;
    let (parameters, mut untold) = seen.parameters(options);
    let generated = opened(&parameters, options.seed, seen.devices)?;
    let likeness = likeness(&*generated, &seen.sketches, &seen.times, &mut seen.rows);
    untold.extend(likeness.unlike());
    let written = Written {
        name: options.name,
        devices: seen.devices,
        parameters: &parameters,
        batch: seen.batch(),
        rate: seen.operations_per_s(),
        rows: seen.regularity.rows(),
        likeness: &likeness,
        untold: &untold,
        keep_values: options.keep_values,
    };
    let profile = written.to_toml().map_err(|e| failed(ParameterError::key("signals", e)))?;
    Ok(Learned { profile, likeness, untold, remark: seen.remark })
}

fn opened(parameters: &Map<String, Value>, seed: u64, devices: u32) -> Result<Arc<dyn Dataset>, DatasetError> {
    let mut parameters = parameters.clone();
    parameters.insert("name".into(), "custom".into());
    DatasetConfig::try_from(parameters)?.open(seed, DEFAULT_ORIGIN_NS, devices, Path::new("."))
}

/// What two readings of a file told.
struct Seen {
    times: Times,
    regularity: Regularity,
    sketches: Sketches,
    rows: Rows,
    devices: u32,
    /// How often the next datapoint in the file is another device's.
    batches: u64,
    /// The names of the devices: the mean of their lengths, and what all begin with.
    name_bytes: usize,
    name_start: String,
    remark: Option<String>,
}

impl Seen {
    fn read(
        parameters: &ReplayParameters,
        path: &Path,
        options: &LearnOptions<'_>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Self, RecordingError> {
        let plan = parameters.plan(path);
        let hash = CounterHash::new(options.seed).derive(0x006c_6561_726e);
        let mut first = Times::new(hash.derive(0));
        let mut count = 0_u64;
        let survey = Survey::read(&plan, false, |reader, row| {
            first.take(row.device, row.time_ns);
            told(reader, &mut count, 0.0, progress);
            Ok(())
        })?;
        let mut reader = RowReader::open(&plan, &survey.names)?;
        let mut row = Row::default();
        let (mut times, mut regularity) =
            (Times::new(hash.derive(1)), Regularity::new(first.usual_ns(), hash.derive(2)));
        let mut sketches = Sketches::new(&survey.schema, hash.derive(3));
        let mut rows = Rows::new();
        let (mut batches, mut last) = (0, None);
        while reader.next(&mut row)? {
            if let Err(fault) = row.check(&survey.schema) {
                reader.fault(row.line, fault)?;
                continue;
            }
            let placed = times.take(row.device, row.time_ns);
            let periods = regularity.take(placed);
            sketches.take(&row, placed, periods);
            rows.take(&row, &survey.schema);
            batches += u64::from(last != Some(row.device));
            last = Some(row.device);
            reader.check_memory(sketches.taken_bytes())?;
            told(&reader, &mut count, 0.5, progress);
        }
        if regularity.rows() == 0 {
            return Err(RecordingError::Empty { file: reader.file().into(), skipped: reader.skipped() });
        }
        let names = reader.devices.names();
        let name_bytes = names.iter().map(String::len).sum::<usize>() / names.len().max(1);
        Ok(Self {
            devices: u32::try_from(times.devices()).unwrap_or(u32::MAX),
            times,
            regularity,
            sketches,
            rows,
            batches,
            name_bytes,
            name_start: common_start(names),
            remark: survey.remark(&reader),
        })
    }

    /// The parameters of the dataset `custom`, and what they do not tell.
    fn parameters(&self, options: &LearnOptions<'_>) -> (Map<String, Value>, Vec<String>) {
        let hash = CounterHash::new(options.seed).derive(0x6e61_6d65);
        let (mut parameters, mut untold) = self.regularity.keys(&self.times);
        let digits = self.devices.saturating_sub(1).to_string().len();
        let mut prefix = String::new();
        if options.keep_values {
            prefix.push_str(&self.name_start);
        } else {
            let bytes = u32::try_from(self.name_bytes.saturating_sub(digits)).unwrap_or(u32::MAX);
            push_random_text(hash.derive(0), bytes, &mut prefix);
        }
        parameters.insert("device_prefix".into(), prefix.into());
        let (signals, of_signals) = self.sketches.signals(options.keep_values, hash.derive(1));
        parameters.insert("signals".into(), signals.into());
        untold.extend(of_signals);
        untold.extend(
            self.remark
                .is_some()
                .then(|| "some lines of the recording were left out, or signals that most lack".into()),
        );
        (parameters, untold)
    }

    /// To six digits.
    fn operations_per_s(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a count of datapoints")]
        let rate = self.regularity.rate_per_s(&self.times) / self.batch().unwrap_or(1) as f64;
        numbers::six_digits(rate)
    }

    /// How many datapoints of a device follow each other in the file; none where it cannot tell, as one device alone or a file that is
    /// sorted by device.
    fn batch(&self) -> Option<u64> {
        let is_told = self.batches > u64::from(self.devices);
        is_told.then(|| (self.regularity.rows() + self.batches / 2) / self.batches)
    }
}

fn told(reader: &RowReader, rows: &mut u64, before: f64, progress: &mut dyn FnMut(f64)) {
    *rows += 1;
    if rows.is_multiple_of(ROWS_BETWEEN_LOOKS) {
        progress(before + reader.reached.part() / 2.0);
    }
}

/// What all these names begin with, without the digits at its end.
fn common_start(names: &[String]) -> String {
    let Some(first) = names.first() else { return String::new() };
    let same = |name: &String| first.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    let shared = names.iter().map(same).min().unwrap_or(0);
    let start: String = first.chars().take(shared).collect();
    start.trim_end_matches(|c: char| c.is_ascii_digit()).into()
}
