//! What goes wrong between a device and a database, for every simulated dataset: gaps, late datapoints, scrambled stretches,
//! datapoints that are sent twice, the same or corrected, signals that are added.

use crate::{
    Dataset, ParameterError, Twice,
    config::typed,
    datasets::{nanoseconds, share},
    sending_order::{Gaps, Late, MAX_WINDOW, Scrambled, SendingOrder},
    tags::TAGS,
};
use iotbench_core::{Batch, Run, Schema, Setting, Settings};
use jiff::SignedDuration;
use serde::Deserialize;
use std::sync::Arc;

/// How far clocks are off.
pub(crate) const CLOCK_OFFSET: Setting =
    Setting { key: "clock_offset", default: "0s", help: "each device's clock is off by up to this, early or late" };

/// The keys of every simulated dataset, beside its own: its clocks, its tags, and what goes wrong on the way.
pub const COMMON_PARAMETERS: &[Setting] = &[
    CLOCK_OFFSET,
    TAGS,
    Setting { key: "gaps", default: "", help: "missing datapoints: { share = 0.01, length = \"10s\" }" },
    Setting {
        key: "late",
        default: "",
        help: "datapoints sent late: { share = 0.01, by = \"30s\" }; one in n is late",
    },
    Setting {
        key: "out_of_order",
        default: "",
        help: "scrambled stretches: { share = 0.05, window = 8 }; a window has 2 to 64 datapoints",
    },
    Setting {
        key: "twice",
        default: "",
        help: "datapoints that a load sends a second time, the same: { share = 0.01, after = \"30s\" }; one in n is",
    },
    Setting {
        key: "corrected",
        default: "",
        help: "datapoints that a load sends with wrong values first, and later right: { share = 0.01, after = \"30s\" }; one in n is",
    },
    Setting {
        key: ADDED,
        default: "",
        help: "signals that devices begin to send under load, the last so many: { signals = 1, after = 1000 }; so many datapoints of each device lack them",
    },
];

/// What the seed of the values that are corrected differs by.
const UNCORRECTED: u64 = 0x636f_7272_6563_7465;

/// Those of them that are about the way.
const DIRTY: &[Setting] = COMMON_PARAMETERS.split_at(2).1;

/// What goes wrong, as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DirtyData {
    gaps: Option<GapsConfig>,
    late: Option<LateConfig>,
    out_of_order: Option<OutOfOrderConfig>,
    twice: Option<TwiceConfig>,
    corrected: Option<TwiceConfig>,
    added_signals: Option<AddedConfig>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GapsConfig {
    share: f64,
    length: SignedDuration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LateConfig {
    share: f64,
    by: SignedDuration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutOfOrderConfig {
    share: f64,
    window: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TwiceConfig {
    share: f64,
    after: SignedDuration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AddedConfig {
    signals: usize,
    after: u64,
}

impl DirtyData {
    /// Takes their keys out of a dataset's parameters.
    pub(crate) fn take(parameters: &mut Settings) -> Result<Self, ParameterError> {
        let taken = |s: &Setting| Some((s.key.to_owned(), parameters.0.remove(s.key)?));
        let taken = DIRTY.iter().filter_map(taken).collect();
        typed(&Settings(taken), DIRTY)
    }

    /// A dataset that `open` opens with a seed, dirty so; the same where nothing goes wrong.
    pub(crate) fn of(
        self,
        seed: u64,
        open: impl Fn(u64) -> Result<Arc<dyn Dataset>, ParameterError>,
    ) -> Result<Arc<dyn Dataset>, ParameterError> {
        let dataset = open(seed)?;
        let period_ns = dataset.period_ns();
        let gaps = self.gaps.map(|gaps| gaps.meant(period_ns)).transpose()?;
        let late = self.late.map(|late| late.meant(period_ns)).transpose()?;
        let scrambled = self.out_of_order.map(|scrambled| scrambled.meant()).transpose()?;
        if self.twice.is_some() && self.corrected.is_some() {
            return Err(ParameterError::key("corrected", "cannot be given beside twice: leave one of the two out"));
        }
        let uncorrected = self.corrected.as_ref().map(|_| open(seed ^ UNCORRECTED)).transpose()?;
        let twice = self.twice.map(|twice| twice.meant("twice", period_ns, seed)).transpose()?;
        let corrected = self.corrected.map(|corrected| corrected.meant("corrected", period_ns, seed)).transpose()?;
        let twice = twice.or(corrected);
        let added = self.added_signals.map(|added| added.meant(dataset.schema())).transpose()?;
        if added.is_some() && twice.is_some() {
            return Err(ParameterError::key(ADDED, "cannot be given beside twice or corrected: leave one of them out"));
        }
        if gaps.is_none() && late.is_none() && scrambled.is_none() && twice.is_none() && added.is_none() {
            return Ok(dataset);
        }
        let order = SendingOrder::new(seed, gaps, late, scrambled);
        Ok(Arc::new(Dirty { dataset, order, twice, uncorrected, added }))
    }
}

const ADDED: &str = "added_signals";

impl AddedConfig {
    fn meant(&self, schema: &Schema) -> Result<Added, ParameterError> {
        if self.signals == 0 || self.signals >= schema.width() {
            let most = schema.width() - 1;
            let range = if most == 0 {
                "cannot be given: there is one signal".into()
            } else {
                format!("must be from 1 to {most}: the others are there from the beginning")
            };
            return Err(ParameterError::key("added_signals.signals", range));
        }
        if !(1..=MOST_BEFORE).contains(&self.after) {
            return Err(ParameterError::key("added_signals.after", "must be from 1 to 1e12 datapoints"));
        }
        let schema = schema.clone().with_added(self.signals).map_err(|e| ParameterError::key(ADDED, e))?;
        Ok(Added { schema, from: self.after })
    }
}

/// The most datapoints of a device before its signals are added.
const MOST_BEFORE: u64 = 1_000_000_000_000;

/// Signals that are added.
#[derive(Debug)]
struct Added {
    /// Which.
    schema: Schema,
    /// From which position on datapoints have them.
    from: u64,
}

impl GapsConfig {
    fn meant(&self, period_ns: i64) -> Result<Gaps, ParameterError> {
        let length = datapoints("gaps.length", self.length, period_ns)?;
        let block = blocks("gaps.share", self.share, length)?;
        Ok(Gaps { block: block.max(length + 1), length })
    }
}

impl LateConfig {
    fn meant(&self, period_ns: i64) -> Result<Late, ParameterError> {
        let by = datapoints("late.by", self.by, period_ns)?;
        Ok(Late { one_in: blocks("late.share", self.share, 1)?, by })
    }
}

impl OutOfOrderConfig {
    fn meant(&self) -> Result<Scrambled, ParameterError> {
        if !(2..=MAX_WINDOW).contains(&self.window) {
            return Err(ParameterError::key("out_of_order.window", format!("must be from 2 to {MAX_WINDOW}")));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1 of 2^64, cut off there")]
        let share = (share("out_of_order.share", self.share)? * 18_446_744_073_709_551_616.0) as u64;
        Ok(Scrambled { share, window: self.window })
    }
}

impl TwiceConfig {
    fn meant(&self, key: &str, period_ns: i64, seed: u64) -> Result<Twice, ParameterError> {
        let after = datapoints(&format!("{key}.after"), self.after, period_ns)?;
        Ok(Twice::new(seed, blocks(&format!("{key}.share"), self.share, 1)?, after))
    }
}

/// How many datapoints a time spans, at least one.
fn datapoints(key: &str, time: SignedDuration, period_ns: i64) -> Result<u64, ParameterError> {
    let count = nanoseconds(key, time)?.checked_div(period_ns).unwrap_or(0);
    match u64::try_from(count) {
        Ok(count @ 1..=1_000_000_000) => Ok(count),
        _ => Err(ParameterError::key(key, "must be from one to 1e9 intervals")),
    }
}

/// In how many datapoints `length` of them make this share.
fn blocks(key: &str, share: f64, length: u64) -> Result<u64, ParameterError> {
    if !(1e-9..=0.5).contains(&share) {
        return Err(ParameterError::key(key, "must be from 1e-9 to 0.5"));
    }
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "1e9 / 1e-9 is below 2^63, and the nearest will do"
    )]
    let block = (length as f64 / share).round() as u64;
    Ok(block)
}

/// A dataset that is sent in another order, and not all of it.
#[derive(Debug)]
struct Dirty {
    dataset: Arc<dyn Dataset>,
    order: SendingOrder,
    twice: Option<Twice>,
    /// Has the values that the first of two sends carries, where they are wrong; its times are of no account.
    uncorrected: Option<Arc<dyn Dataset>>,
    added: Option<Added>,
}

impl Dataset for Dirty {
    fn schema(&self) -> &Schema {
        self.added.as_ref().map_or_else(|| self.dataset.schema(), |added| &added.schema)
    }

    fn added_from(&self) -> Option<u64> {
        self.added.as_ref().map(|added| added.from)
    }

    fn origin_ns(&self) -> i64 {
        self.dataset.origin_ns()
    }

    fn period_ns(&self) -> i64 {
        self.dataset.period_ns()
    }

    fn resolution_ns(&self) -> i64 {
        self.dataset.resolution_ns()
    }

    fn timestamp_ns(&self, device: u32, index: u64) -> i64 {
        self.dataset.timestamp_ns(device, index)
    }

    fn index_at(&self, device: u32, timestamp_ns: i64) -> u64 {
        self.dataset.index_at(device, timestamp_ns)
    }

    fn fill(&self, run: Run, batch: &mut Batch) {
        self.dataset.fill(run, batch);
    }

    fn sending_order(&self, device: u32, first: u64, count: u32, runs: &mut Vec<Run>) {
        self.order.runs(device, first, count, runs);
    }

    fn positions_before(&self, device: u32, index: u64) -> u64 {
        self.order.positions_before(device, index)
    }

    fn position_of(&self, device: u32, index: u64) -> u64 {
        self.order.position_of(device, index)
    }

    fn twice(&self) -> Option<Twice> {
        self.twice
    }

    fn corrects(&self) -> bool {
        self.uncorrected.is_some()
    }

    fn fill_uncorrected(&self, run: Run, batch: &mut Batch) {
        let Some(uncorrected) = &self.uncorrected else { return self.fill(run, batch) };
        let first = batch.len();
        uncorrected.fill(run, batch);
        batch.set_timestamps_ns(first, run.indices().map(|index| self.timestamp_ns(run.device, index)));
    }

    fn device_name(&self, device: u32, out: &mut String) {
        self.dataset.device_name(device, out);
    }
}
