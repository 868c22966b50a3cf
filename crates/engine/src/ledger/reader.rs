//! Reads a ledger back, in bounded memory.

use super::{
    LedgerError, LedgerHead, LedgerStore,
    block::{Blocks, Kind},
    coding::{decode, take_number},
    corrected::decode_corrected,
    fates::{CorrectedSend, Fate, Sent},
    ranges::PointRanges,
};
use std::{collections::BTreeMap, ops::Range, sync::Arc};

/// A ledger that was written, or is being.
#[derive(Clone, Debug)]
pub struct Ledger {
    store: Arc<dyn LedgerStore>,
}

/// What a ledger says of the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerSummary {
    /// Datapoints by fate, the history not among them: acknowledged, failed, unknown.
    pub points: [u64; 3],
    /// The devices and positions of the history, if it is whole.
    pub history: Option<(u32, u64)>,
    /// Every datapoint that was sent has an index below.
    pub reserved: u64,
    /// Whether the run came to its end, so that every datapoint has its fate. Otherwise whatever was reserved may be stored.
    pub ended: bool,
}

/// The ranges of some devices by fate.
#[derive(Clone, Debug, Default)]
pub struct FateRanges {
    /// Acknowledged, failed, unknown.
    by_fate: [SentRanges; 3],
    /// Acknowledged, and dropped on purpose since.
    dropped: SentRanges,
    /// Those that are sent wrong and then right, by device and index.
    corrected: BTreeMap<(u32, u64), ToldSends>,
}

/// What became of the two sends of a datapoint that is sent wrong and then right; `None`: nothing was told of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TwoSends {
    /// The first, with the wrong values.
    pub first: Option<Sent>,
    /// The second, with the right ones.
    pub second: Option<Sent>,
}

/// The two sends as a ledger tells them.
#[derive(Clone, Copy, Debug, Default)]
struct ToldSends {
    sends: TwoSends,
    /// Those that were acknowledged, and dropped on purpose since.
    dropped: TwoSends,
}

impl TwoSends {
    fn of_mut(&mut self, is_second: bool) -> &mut Option<Sent> {
        if is_second { &mut self.second } else { &mut self.first }
    }

    /// Takes those out that were acknowledged.
    fn take_acked(&mut self) -> Self {
        let is_acked = |sent: &mut Sent| sent.fate == Fate::Acked;
        Self { first: self.first.take_if(is_acked), second: self.second.take_if(is_acked) }
    }

    /// The same, and of a send of which nothing is known here what is known there, as unknown.
    fn or_unknown(self, other: Self) -> Self {
        let unknown = |sent: Option<Sent>| sent.map(|sent| Sent { fate: Fate::Unknown, ..sent });
        Self { first: self.first.or(unknown(other.first)), second: self.second.or(unknown(other.second)) }
    }
}

/// Datapoints, each as often as it was sent, which is twice at most.
#[derive(Clone, Debug, Default)]
struct SentRanges {
    once: PointRanges,
    again: PointRanges,
}

impl SentRanges {
    fn add(&mut self, device: u32, indices: Range<u64>) {
        for common in self.once.among(device, &indices) {
            self.again.add_range(device, common);
        }
        self.once.add_range(device, indices);
    }

    fn append(&mut self, others: &mut Self) {
        let Self { once, again } = std::mem::take(others);
        once.iter().for_each(|(device, indices)| self.add(device, indices));
        again.iter().for_each(|(device, indices)| self.again.add_range(device, indices));
    }

    fn ranges(&self) -> usize {
        self.once.ranges() + self.again.ranges()
    }
}

/// What a ledger tells as it is read.
enum Told {
    Points(Fate, u32, Range<u64>),
    Corrected(CorrectedSend),
    /// All acknowledged so far are about to be dropped, and may be there or not.
    Dropping,
    /// They are dropped.
    Dropped,
}

impl Ledger {
    /// The ledger that lies there.
    pub fn new(store: Arc<dyn LedgerStore>) -> Self {
        Self { store }
    }

    /// What it begins with.
    ///
    /// # Errors
    /// It is none, or damaged.
    pub fn head(&self) -> Result<LedgerHead, LedgerError> {
        let mut blocks = Blocks::new(self.store.read()?)?;
        match blocks.next_block()? {
            Some((Kind::Head, json)) => {
                serde_json::from_slice(json).map_err(|e| LedgerError::Damaged(format!("its head: {e}")))
            }
            _ => Err(LedgerError::Damaged("it has no head".into())),
        }
    }

    /// What it says of the whole run, and that it holds together.
    ///
    /// # Errors
    /// It is damaged.
    pub fn summary(&self) -> Result<LedgerSummary, LedgerError> {
        self.read(&mut |_| {})
    }

    /// The datapoints of some devices; `None`: they are more than `most` ranges.
    ///
    /// # Errors
    /// It is damaged.
    pub fn ranges(&self, devices: &dyn Fn(u32) -> bool, most: usize) -> Result<Option<FateRanges>, LedgerError> {
        let mut ranges = FateRanges::default();
        let (mut added, mut is_too_much, mut is_dropping) = (0, false, false);
        self.read(&mut |told| match told {
            Told::Points(fate, device, indices) if devices(device) && !is_too_much => {
                ranges.of_mut(fate).add(device, indices);
                added += 1;
                // Ranges that were joined do not count.
                if added > most {
                    added = ranges.held();
                    is_too_much = added > most / 2;
                }
            }
            Told::Corrected(send) if devices(send.device) && !is_too_much => {
                let told = ranges.corrected.entry((send.device, send.index)).or_default();
                *told.sends.of_mut(send.is_second) = Some(send.sent);
                added += 1;
                if added > most {
                    added = ranges.held();
                    is_too_much = added > most / 2;
                }
            }
            Told::Points(..) | Told::Corrected(_) => {}
            Told::Dropping => is_dropping = true,
            Told::Dropped => {
                is_dropping = false;
                ranges.dropped.append(&mut ranges.by_fate[0]);
                ranges.corrected.values_mut().for_each(|told| {
                    let TwoSends { first, second } = told.sends.take_acked();
                    told.dropped =
                        TwoSends { first: first.or(told.dropped.first), second: second.or(told.dropped.second) };
                });
            }
        })?;
        if is_dropping {
            let [acked, _, unknown] = &mut ranges.by_fate;
            unknown.append(acked);
            ranges.corrected.values_mut().for_each(|told| {
                let acked = told.sends.take_acked();
                told.sends = told.sends.or_unknown(acked);
            });
        }
        Ok((!is_too_much).then_some(ranges))
    }

    /// All acknowledged datapoints of the load that were not dropped on purpose, for tests and small runs.
    ///
    /// # Errors
    /// It is damaged.
    pub fn acked(&self) -> Result<PointRanges, LedgerError> {
        let ranges = self.ranges(&|_| true, usize::MAX)?;
        Ok(ranges.map(|ranges| ranges.of(Fate::Acked).clone()).unwrap_or_default())
    }

    fn read(&self, tell: &mut dyn FnMut(Told)) -> Result<LedgerSummary, LedgerError> {
        let mut blocks = Blocks::new(self.store.read()?)?;
        let mut summary = LedgerSummary::default();
        let mut is_first = true;
        while let Some((kind, mut content)) = blocks.next_block()? {
            if summary.ended || is_first != (kind == Kind::Head) {
                return Err(LedgerError::Damaged("a block in the wrong place".into()));
            }
            is_first = false;
            let mut number =
                || take_number(&mut content).ok_or_else(|| LedgerError::Damaged("a number is missing".into()));
            let fate = match kind {
                Kind::Head => continue,
                Kind::Acked => Fate::Acked,
                Kind::Failed => Fate::Failed,
                Kind::Unknown => Fate::Unknown,
                Kind::Reserved => {
                    summary.reserved = number()?;
                    continue;
                }
                Kind::History => {
                    let devices = u32::try_from(number()?);
                    let devices = devices.map_err(|_| LedgerError::Damaged("a history of too many devices".into()))?;
                    summary.history = Some((devices, number()?));
                    continue;
                }
                Kind::End => {
                    let sums = [number()?, number()?, number()?];
                    if sums != summary.points {
                        let (points, sums) = (summary.points, sums);
                        return Err(LedgerError::Damaged(format!("it holds {points:?} datapoints and names {sums:?}")));
                    }
                    summary.ended = true;
                    continue;
                }
                Kind::Dropping => {
                    // What comes after it may have a history anew.
                    summary.history = None;
                    tell(Told::Dropping);
                    continue;
                }
                Kind::Dropped => {
                    tell(Told::Dropped);
                    continue;
                }
                Kind::Corrected => {
                    decode_corrected(content, &mut |send| tell(Told::Corrected(send)))?;
                    continue;
                }
            };
            let place = Fate::ALL.iter().position(|&f| f == fate).unwrap_or(0);
            decode(content, &mut |device, indices| {
                if let Some(points) = summary.points.get_mut(place) {
                    *points = points.saturating_add(indices.end - indices.start);
                }
                tell(Told::Points(fate, device, indices));
            })?;
        }
        if is_first {
            return Err(LedgerError::Damaged("it has no head".into()));
        }
        Ok(summary)
    }
}

impl FateRanges {
    /// The datapoints of a fate.
    #[must_use]
    pub fn of(&self, fate: Fate) -> &PointRanges {
        &self.sent(fate).once
    }

    /// Those of a fate that were sent twice, and both times came to it.
    #[must_use]
    pub fn again(&self, fate: Fate) -> &PointRanges {
        &self.sent(fate).again
    }

    /// What was acknowledged, and dropped on purpose since: it may come only from a queue that nobody waited for.
    #[must_use]
    pub fn dropped(&self) -> &PointRanges {
        &self.dropped.once
    }

    /// Those of them that were sent twice.
    #[must_use]
    pub fn dropped_again(&self) -> &PointRanges {
        &self.dropped.again
    }

    /// Those of a device that are sent wrong and then right, ascending by index, with what became of both sends.
    /// `may_come_late`: what was dropped on purpose may be there.
    pub fn corrected(&self, device: u32, may_come_late: bool) -> impl Iterator<Item = (u64, TwoSends)> + '_ {
        let of_device = self.corrected.range((device, 0)..=(device, u64::MAX));
        of_device.map(move |(&(_, index), told)| {
            let late = if may_come_late { told.dropped } else { TwoSends::default() };
            (index, told.sends.or_unknown(late))
        })
    }

    /// How many ranges are held.
    fn held(&self) -> usize {
        self.by_fate.iter().chain([&self.dropped]).map(SentRanges::ranges).sum::<usize>() + self.corrected.len()
    }

    fn sent(&self, fate: Fate) -> &SentRanges {
        let [acked, failed, unknown] = &self.by_fate;
        match fate {
            Fate::Acked => acked,
            Fate::Failed => failed,
            Fate::Unknown => unknown,
        }
    }

    fn of_mut(&mut self, fate: Fate) -> &mut SentRanges {
        let [acked, failed, unknown] = &mut self.by_fate;
        match fate {
            Fate::Acked => acked,
            Fate::Failed => failed,
            Fate::Unknown => unknown,
        }
    }
}

#[cfg(test)]
mod tests;
