//! The storage under a database, probed between the trials of a search: what a probe found, drift, and what probing may cost.
//! Pure.
//!
//! A probe appends blocks to a file of its own and waits for each until it is on the disk, as a log of a database does. The
//! figures of a search are those of the storage that it had: where that drifts, so does the answer (SNIA Solid State Storage
//! Performance Test Specification 2.0 asks for a steady state for the same reason).
//!
//! Processors that are busy are no drift of the storage. For how long the probing thread waited for one is known, and taken
//! out; for how long the kernel's own threads did, between the parts of a write, is not. Where processors were that busy, the
//! fastest appends, which waited for nobody, have to tell a drift too.
//!
//! Beside the appends a probe times a fixed piece of a processor's work, since a guest is not told that the processors of its host
//! are shared by others or slower than before.

use iotbench_sampler::STORAGE_DRIFT;
use serde::{Deserialize, Serialize};
use std::{cmp::Ordering, time::Duration};

/// A probe has at most so many appends.
pub const PROBE_APPENDS: u32 = 200;
/// Of so many bytes each.
pub const PROBE_BYTES: usize = 8192;
/// So often a step is run again during which the storage drifted.
pub const MAX_DRIFT_REPEATS: u32 = 2;
/// And all steps of a search together, or a search on storage that always drifts takes three times as long.
pub const MAX_DRIFT_REPEATS_OF_A_SEARCH: u32 = 4;

/// A probe has at most so many pieces of work.
pub const PROBE_PIECES: u32 = 20;
/// Fewer of them are no median to go by.
pub const MIN_PIECES: usize = 5;

/// Of a probe whose thread waited for processors for more than this part of its time, the median alone tells no drift.
const BUSY: f64 = 0.1;
/// The fastest appends: this part of them took no longer.
const FASTEST: f64 = 0.05;
/// Of fewer appends the interval of a median has no ends.
pub(crate) const MIN_APPENDS: u32 = 16;
/// Half the width of that interval, in standard deviations of the rank: 99.7 %.
const SIGMAS: f64 = 3.0;
/// A level of the storage is the median over so many probes, one after the other.
const LEVEL_PROBES: usize = 5;
/// What all pieces of work of a probe may take, where it may take at least three times as long.
const WORK_NS: u64 = 6_000_000;
/// Probes take at most this part of a search's time; it is below 1 % by what the last append of each may take longer.
const SHARE: f64 = 0.008;

/// How long an append of a probe took, or a piece of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeTime {
    /// How long it took; of an append until it was on the disk.
    pub took: Duration,
    /// For how long of that the thread was ready to go on and had no processor; zero where the system does not tell.
    pub waited: Duration,
}

/// How long appends to a file took until they were on the disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageProbe {
    /// In nanoseconds, ascending, without what the thread waited for a processor.
    appends_ns: Vec<u64>,
    /// What it waited, of all of them together.
    #[serde(default)]
    waited_ns: u64,
    /// The median piece of work; `None`: there were none, or too few.
    #[serde(default)]
    work_ns: Option<u64>,
}

impl StorageProbe {
    /// A probe whose appends took so long each.
    #[must_use]
    pub fn new(mut appends_ns: Vec<u64>) -> Self {
        appends_ns.sort_unstable();
        Self { appends_ns, waited_ns: 0, work_ns: None }
    }

    /// A probe of these appends.
    #[must_use]
    pub fn of(appends: &[ProbeTime]) -> Self {
        let waited_ns = appends.iter().map(|append| ns(append.waited.min(append.took))).sum();
        Self { waited_ns, ..Self::new(appends.iter().map(without_wait).collect()) }
    }

    /// The same probe with these pieces of work.
    #[must_use]
    pub fn beside(self, pieces: &[ProbeTime]) -> Self {
        let times = Self::new(pieces.iter().map(without_wait).collect());
        Self { work_ns: times.quantile_ns(0.5).filter(|_| pieces.len() >= MIN_PIECES), ..self }
    }

    /// How long the median piece of work took, without what the thread waited for a processor; `None`: there was none.
    #[must_use]
    pub fn work_ns(&self) -> Option<u64> {
        self.work_ns
    }

    /// The appends of several probes as one sample.
    #[must_use]
    pub fn pooled<'a>(probes: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        for probe in probes {
            all.appends_ns.extend(&probe.appends_ns);
            all.waited_ns += probe.waited_ns;
        }
        all.appends_ns.sort_unstable();
        all
    }

    /// How many appends it had.
    #[must_use]
    pub fn appends(&self) -> u64 {
        self.appends_ns.len() as u64
    }

    /// How long they took together, without what the thread waited for a processor.
    #[must_use]
    pub fn took_ns(&self) -> u64 {
        self.appends_ns.iter().sum()
    }

    /// For what part of its time the thread waited for a processor; `None`: it had no appends.
    #[must_use]
    pub fn waiting_share(&self) -> Option<f64> {
        let in_all_ns = self.took_ns() + self.waited_ns;
        (in_all_ns > 0).then(|| self.waited_ns as f64 / in_all_ns as f64)
    }

    fn is_of_busy_processors(&self) -> bool {
        self.waiting_share().is_some_and(|share| share > BUSY)
    }

    /// The least time that this share of its appends, above 0 and at most 1, did not exceed: of the sample, not an estimate.
    #[must_use]
    pub fn quantile_ns(&self, share: f64) -> Option<u64> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank of some thousands")]
        let rank = (share * self.appends_ns.len() as f64).ceil() as usize;
        self.appends_ns.get(rank.max(1) - 1).copied()
    }

    /// Appends a second, one after the other.
    #[must_use]
    pub fn per_s(&self) -> Option<f64> {
        let took_s = Duration::from_nanos(self.took_ns()).as_secs_f64();
        (took_s > 0.0).then(|| self.appends_ns.len() as f64 / took_s)
    }

    /// Its median, if there were enough appends to judge by it.
    #[must_use]
    pub fn median_ns(&self) -> Option<u64> {
        self.judged_ns(0.5)
    }

    fn judged_ns(&self, share: f64) -> Option<u64> {
        (self.appends() >= u64::from(MIN_APPENDS)).then(|| self.quantile_ns(share)).flatten()
    }

    /// Whether the storage is another one after a trial, of which this is the probe before. One median is more than 1.25
    /// times the other, and the intervals of both, by order statistics, do not overlap: few appends convict of a great
    /// change only. Where processors were busy, the same has to hold of the fastest appends. `None`: there were too few to
    /// judge.
    #[must_use]
    pub fn has_drifted_to(&self, after: &Self) -> Option<bool> {
        let change = |share: f64| self.change_to(after, share);
        let by_median = change(0.5)?;
        let is_busy = self.is_of_busy_processors() || after.is_of_busy_processors();
        Some(by_median != Ordering::Equal && (!is_busy || change(FASTEST)? == by_median))
    }

    /// How the time changed that this share of the appends did not exceed: `Equal` where it did not, as far as one can tell.
    fn change_to(&self, after: &Self, share: f64) -> Option<Ordering> {
        let ([low, high], [low_after, high_after]) = (self.interval(share)?, after.interval(share)?);
        let (before_ns, after_ns) = (self.judged_ns(share)?, after.judged_ns(share)?);
        let is_apart = high < low_after || high_after < low;
        let is_change = is_apart && ratio(before_ns, after_ns) > STORAGE_DRIFT;
        Some(if is_change { before_ns.cmp(&after_ns) } else { Ordering::Equal })
    }

    /// Between which this quantile of all such appends lies with 99.7 %, by the ranks that a binomial count has.
    fn interval(&self, share: f64) -> Option<[u64; 2]> {
        let appends = self.appends_ns.len();
        if appends < MIN_APPENDS as usize {
            return None;
        }
        let (middle, reach) = (share * appends as f64, SIGMAS * (share * (1.0 - share) * appends as f64).sqrt());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the appends")]
        let (middle, reach) = (middle as usize, reach.ceil() as usize);
        let [low, high] = [middle.saturating_sub(reach), (middle + reach).min(appends - 1)];
        Some([*self.appends_ns.get(low)?, *self.appends_ns.get(high)?])
    }
}

fn without_wait(part: &ProbeTime) -> u64 {
    ns(part.took.saturating_sub(part.waited))
}

fn ratio(one_ns: u64, other_ns: u64) -> f64 {
    one_ns.max(other_ns) as f64 / one_ns.min(other_ns).max(1) as f64
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// How the storage was over a search. A level is the median of the medians of five probes, one after the other, at its ends of
/// three: what a single probe finds is no drift, and a slow one is seen that no two probes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageLevels {
    /// The median append at its fastest, in nanoseconds.
    pub least_ns: u64,
    /// And at its slowest.
    pub most_ns: u64,
    /// The same of the fastest appends, where processors were busy during some probe.
    fastest_ns: Option<[u64; 2]>,
}

impl StorageLevels {
    /// Over these probes, in their order; `None`: none had enough appends.
    #[must_use]
    pub fn of<'a>(probes: impl IntoIterator<Item = &'a StorageProbe>) -> Option<Self> {
        let probes: Vec<&StorageProbe> = probes.into_iter().collect();
        let [least_ns, most_ns] = levels(&probes, 0.5)?;
        let is_busy = probes.iter().any(|probe| probe.is_of_busy_processors());
        Some(Self { least_ns, most_ns, fastest_ns: levels(&probes, FASTEST).filter(|_| is_busy) })
    }

    /// How many times as long an append took at its slowest.
    #[must_use]
    pub fn ratio(self) -> f64 {
        ratio(self.least_ns, self.most_ns)
    }

    /// Whether it drifted over the search.
    #[must_use]
    pub fn have_drifted(self) -> bool {
        self.ratio() > STORAGE_DRIFT && self.fastest_ns.is_none_or(|[least, most]| ratio(least, most) > STORAGE_DRIFT)
    }
}

/// How long a piece of work took at its fastest and at its slowest over these probes, in their order, in nanoseconds: levels as
/// [`StorageLevels`] has them. `None`: there was none.
#[must_use]
pub fn work_levels<'a>(probes: impl IntoIterator<Item = &'a StorageProbe>) -> Option<[u64; 2]> {
    levels_of(&probes.into_iter().filter_map(StorageProbe::work_ns).collect::<Vec<_>>())
}

/// The least and the greatest level of the time that this share of the appends did not exceed.
fn levels(probes: &[&StorageProbe], share: f64) -> Option<[u64; 2]> {
    levels_of(&probes.iter().filter_map(|probe| probe.judged_ns(share)).collect::<Vec<_>>())
}

fn levels_of(times: &[u64]) -> Option<[u64; 2]> {
    let reach = LEVEL_PROBES / 2;
    let level = |place: usize| {
        let near = times.get(place.saturating_sub(reach)..(place + reach + 1).min(times.len()))?;
        StorageProbe::new(near.to_vec()).quantile_ns(0.5)
    };
    let levels = || (0..times.len()).filter_map(level);
    Some([levels().min()?, levels().max()?])
}

/// What the probes of a search may cost: less than 1 % of its time, spread over all of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProbeBudget {
    spent_ns: u64,
    /// When the last probe ended, since the first one began.
    last_ns: u64,
    /// What the appends of the last probe took in the mean, with what was waited.
    append_ns: Option<u64>,
}

/// How long a probe may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeLimit {
    /// After this it ends, if it has enough appends to be judged.
    share_ns: u64,
    /// After this it ends however many it has.
    most_ns: u64,
}

impl ProbeBudget {
    /// What a probe may take that begins so long after the first one, with so many trials of this length still to come;
    /// `None`: nothing, or too little to judge by.
    #[must_use]
    pub fn limit(&self, elapsed_ns: u64, coming: u32, trial_ns: u64) -> Option<ProbeLimit> {
        let time_ns = elapsed_ns as f64 + f64::from(coming) * trial_ns as f64;
        let left_ns = SHARE * time_ns - self.spent_ns as f64;
        // Storage that is slow is probed after every few trials only: what has come together since the last probe must do.
        let since_ns = SHARE * elapsed_ns.saturating_sub(self.last_ns) as f64;
        let needed_ns = self.append_ns.map_or(0, |ns| ns.saturating_mul(MIN_APPENDS.into())) as f64;
        if left_ns < 1.0 || (coming > 0 && needed_ns > since_ns) {
            return None;
        }
        // The last one may have the rest, and one before it not what all after it need.
        let most_ns = if coming == 0 { left_ns } else { left_ns / 2.0 };
        Some(ProbeLimit { share_ns: whole(left_ns / (f64::from(coming) + 1.0)), most_ns: whole(most_ns) })
    }

    /// A probe was made that ended so long after the first one began, and took this long in all.
    pub fn note(&mut self, probe: &StorageProbe, took_ns: u64, ended_ns: u64) {
        self.spent_ns = self.spent_ns.saturating_add(took_ns);
        self.last_ns = ended_ns;
        self.append_ns = (probe.took_ns() + probe.waited_ns).checked_div(probe.appends()).or(self.append_ns);
    }

    /// How long all probes took.
    #[must_use]
    pub fn spent_ns(&self) -> u64 {
        self.spent_ns
    }
}

impl ProbeLimit {
    /// The limit of the appends, and the time for work; zero where there is too little for both.
    #[must_use]
    pub fn divided(self) -> (Self, Duration) {
        let work_ns = if self.share_ns >= 3 * WORK_NS { WORK_NS } else { 0 };
        let appends = Self { share_ns: self.share_ns - work_ns, most_ns: self.most_ns.saturating_sub(work_ns) };
        (appends, Duration::from_nanos(work_ns))
    }

    /// What appends have taken beyond their limit.
    #[must_use]
    pub fn exceeded_by(&self, took_ns: u64) -> Duration {
        Duration::from_nanos(took_ns.saturating_sub(self.share_ns))
    }

    /// Whether a probe goes on that has made so many appends in this time.
    #[must_use]
    pub fn goes_on(&self, appends: u32, took_ns: u64) -> bool {
        let end_ns = if appends < MIN_APPENDS { self.most_ns } else { self.share_ns };
        appends < PROBE_APPENDS && took_ns < end_ns
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and the cast saturates")]
fn whole(ns: f64) -> u64 {
    ns as u64
}

#[cfg(test)]
mod tests;
