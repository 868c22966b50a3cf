//! The storage under the database, probed between the trials of a search.

use crate::terminal::figure::{TIE, count, duration, significant};
use iotbench_sampler::PROCESSOR_DRIFT;
use serde::{Deserialize, Serialize};

/// That appends waited for a processor for less than this is not said.
const TOLD_PCT: f64 = 10.0;

/// What the probes of the database's storage found over a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StorageProbes {
    /// How many there were.
    pub probes: u64,
    /// Appends of all of them, each with fdatasync.
    pub appends: u64,
    /// Bytes of an append.
    pub append_bytes: u64,
    /// The median time of an append; null: there was none.
    pub p50_us: Option<f64>,
    /// The 99th percentile; null: there were less than 1,000.
    pub p99_us: Option<f64>,
    /// Appends a second, one after the other.
    pub appends_per_s: Option<f64>,
    /// For what part of their time the appends waited for a processor, in percent: it is in none of their times; null: there was
    /// none, or an older iotbench did not tell.
    #[serde(default)]
    pub processor_wait_pct: Option<f64>,
    /// The median where the storage was at its fastest, over five probes; null: no probe had enough appends.
    pub p50_us_least: Option<f64>,
    /// And at its slowest.
    pub p50_us_most: Option<f64>,
    /// How long the same piece of a processor's work took, without waiting for one; null: there was none, or an older iotbench had
    /// none.
    #[serde(default)]
    pub work_us: Option<f64>,
    /// The same where the processors were at their fastest, over five probes.
    #[serde(default)]
    pub work_us_least: Option<f64>,
    /// And at their slowest.
    #[serde(default)]
    pub work_us_most: Option<f64>,
    /// Steps of which it is known whether the storage drifted meanwhile.
    pub steps_judged: u64,
    /// Steps that were run again because it did: they count for nothing.
    pub steps_repeated: u64,
    /// Steps during which it drifted as often as they may be run again, and that count.
    pub steps_drifted: u64,
    /// What part of the search's time the probes took, in percent.
    pub time_pct: Option<f64>,
    /// What is said of it with the answer; null: it did not drift as far as is known.
    pub drifted: Option<String>,
    /// Why it was not probed, or not to the end; null: it was.
    pub not_probed: Option<String>,
}

/// A probe: appends to a file of its own in the database's file system, each with fdatasync.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StorageProbeFigures {
    /// How many; fewer than 16 are not judged.
    pub appends: u64,
    /// The time that half of them did not exceed.
    pub p50_us: Option<f64>,
    /// The time that 99 % of them did not exceed: of 200 the third greatest.
    pub p99_us: Option<f64>,
    /// Appends a second, one after the other.
    pub appends_per_s: Option<f64>,
    /// How long the median of up to twenty equal pieces of a processor's work took, without waiting for one.
    #[serde(default)]
    pub work_us: Option<f64>,
}

impl StorageProbes {
    /// Says what drifted, if anything did: the storage from its fastest to its slowest, or during a step that counts, or the processors.
    pub fn tell_drift(&mut self, has_drifted: bool) {
        let levels = self.p50_us_least.zip(self.p50_us_most);
        let over_all = levels.filter(|_| has_drifted).map(|(least, most)| {
            let [least, most] = [least, most].map(|us| duration(us).replace(TIE, " "));
            format!("an append of 8 KiB took {least} at its fastest and {most} at its slowest (p50)")
        });
        let in_steps = (self.steps_drifted > 0)
            .then(|| format!("it changed during {} of the trials that count", count(self.steps_drifted)));
        let parts: Vec<String> = over_all.into_iter().chain(in_steps).collect();
        let storage =
            (!parts.is_empty()).then(|| format!("The storage under it drifted meanwhile: {}.", parts.join("; ")));
        let sentences: Vec<String> = storage.into_iter().chain(self.processors_drifted()).collect();
        self.drifted = (!sentences.is_empty()).then(|| sentences.join(" "));
    }

    /// That the processors were not as fast all the time, in a sentence.
    fn processors_drifted(&self) -> Option<String> {
        let (least, most) = self.work_us_least.zip(self.work_us_most)?;
        let [told_least, told_most] = [least, most].map(|us| duration(us).replace(TIE, " "));
        let drifted = || {
            format!(
                "Its processors drifted: the same work took {told_least} at their fastest and {told_most} at their slowest."
            )
        };
        (most > PROCESSOR_DRIFT * least).then(drifted)
    }

    /// What it was, in sentences; `None`: there is nothing to tell.
    #[must_use]
    pub(crate) fn said(&self) -> Option<String> {
        let not_probed = |why: &String| format!("The storage under it was not probed: {why}.");
        if self.appends == 0 {
            return self.not_probed.as_ref().map(not_probed);
        }
        let figure = |name: &str, us: Option<f64>| us.map(|us| format!("{name} {}", duration(us)));
        let per_s = self.appends_per_s.map(|rate| format!("{} appends/s", significant(rate)));
        let figures = [figure("p50", self.p50_us), figure("p99", self.p99_us), per_s];
        let figures: Vec<String> = figures.into_iter().flatten().collect();
        let mut text = format!(
            "Storage under it: {} ({} probes of the database's file system, {} appends of 8 KiB, each with fdatasync)",
            figures.join(", "),
            count(self.probes),
            count(self.appends)
        );
        if let (Some(least), Some(most)) = (self.p50_us_least, self.p50_us_most) {
            text += &format!("; p50 from {} to {} over the search", duration(least), duration(most));
        }
        if let Some(share) = self.processor_wait_pct.filter(|&share| share >= TOLD_PCT) {
            text +=
                &format!("; {} % of the time they waited for a busy processor, which is left out", significant(share));
        }
        if let Some((least, most)) = self.work_us_least.zip(self.work_us_most) {
            let [least, most] = [duration(least), duration(most)];
            let took = if least == most { least } else { format!("{least} to {most}") };
            text += &format!("; the same work of a processor took {took}");
        }
        if self.steps_repeated > 0 {
            text += &format!("; {} trials were run again, because it drifted meanwhile", count(self.steps_repeated));
        }
        let ended = self.not_probed.iter().map(|why| format!(" It was not probed to the end: {why}."));
        Some(text + "." + &ended.collect::<String>())
    }
}
