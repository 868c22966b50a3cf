//! Writes a ledger while the run goes on.

use super::{
    block::{self, Kind},
    coding::{MAX_RANGES, encode, put_number},
    corrected::encode_corrected,
    fates::{Fate, Fates},
    reservation::Reservation,
    store::LedgerStore,
};
use crate::plan::Plan;
use iotbench_core::Run;
use serde::{Deserialize, Serialize};
use std::{io, path::PathBuf, sync::Arc};

/// What a ledger begins with: all that is needed to make the data again, and to find where it was written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LedgerHead {
    /// The workload as meant.
    pub plan: Plan,
    /// Where relative paths of the dataset start.
    pub base: PathBuf,
    /// Where the database is, without secrets.
    pub endpoints: Vec<String>,
    /// Whether what was written was left in the database.
    pub kept: bool,
}

/// Writes a ledger. Its memory is that of one block, however long the run is.
#[derive(Debug)]
pub struct Journal {
    store: Arc<dyn LedgerStore>,
    waiting: Fates,
    reservation: Reservation,
    points: [u64; 3],
    bytes: Vec<u8>,
}

impl Journal {
    /// Begins a ledger with its [`LedgerHead`].
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(store: Arc<dyn LedgerStore>, head: &impl Serialize) -> io::Result<Self> {
        let mut bytes = block::begin();
        let json = serde_json::to_vec(head)?;
        block::put(Kind::Head, &mut bytes, |out| out.extend_from_slice(&json));
        store.append(&bytes)?;
        bytes.clear();
        Ok(Self { store, waiting: Fates::default(), reservation: Reservation::default(), points: [0; 3], bytes })
    }

    /// The load has come so far: tells ahead what is sent next.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn follow(&mut self, reached: u64) -> io::Result<()> {
        if let Some(reserved) = self.reservation.follow(reached) {
            self.write(Kind::Reserved, |out| put_number(reserved, out))?;
        }
        Ok(())
    }

    /// Datapoints are about to be sent by the caller itself.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn sends(&mut self, runs: &[Run]) -> io::Result<()> {
        self.follow(runs.iter().map(|run| run.indices().end).max().unwrap_or(0))
    }

    /// The history of so many devices is whole: the first so many positions of each one's sending order.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn history(&mut self, devices: u32, positions: u64) -> io::Result<()> {
        self.write(Kind::History, |out| {
            put_number(devices.into(), out);
            put_number(positions, out);
        })
    }

    /// Takes what became of datapoints.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note(&mut self, fates: &mut Fates) -> io::Result<()> {
        self.waiting.append(fates);
        if self.waiting.runs() >= MAX_RANGES / 2 { self.flush() } else { Ok(()) }
    }

    /// Writes what waits.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        for (fate, points) in Fate::ALL.into_iter().zip(&mut self.points) {
            let kind = match fate {
                Fate::Acked => Kind::Acked,
                Fate::Failed => Kind::Failed,
                Fate::Unknown => Kind::Unknown,
            };
            let runs = self.waiting.of(fate);
            while !runs.is_empty() {
                let mut part = if runs.len() > MAX_RANGES {
                    runs.split_off(runs.len() - MAX_RANGES)
                } else {
                    std::mem::take(runs)
                };
                block::put(kind, &mut self.bytes, |out| *points += encode(&mut part, out));
                // What was sent twice, for a block of its own.
                runs.append(&mut part);
                if runs.is_empty() {
                    // Its memory is used again.
                    *runs = part;
                }
            }
        }
        for sends in self.waiting.corrected().chunks(MAX_RANGES) {
            block::put(Kind::Corrected, &mut self.bytes, |out| encode_corrected(sends, out));
        }
        self.waiting.corrected().clear();
        if !self.bytes.is_empty() {
            self.store.append(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }

    /// All that was written is about to be dropped on purpose; every datapoint that was sent has its fate.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn dropping(&mut self) -> io::Result<()> {
        self.flush()?;
        self.write(Kind::Dropping, |_| ())
    }

    /// It is dropped.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn dropped(&mut self) -> io::Result<()> {
        self.write(Kind::Dropped, |_| ())
    }

    /// The run has ended, and every datapoint is accounted for.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn end(&mut self) -> io::Result<()> {
        self.flush()?;
        let points = self.points;
        self.write(Kind::End, |out| points.into_iter().for_each(|n| put_number(n, out)))
    }

    fn write(&mut self, kind: Kind, write: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.bytes);
        let waiting = bytes.len();
        block::put(kind, &mut bytes, write);
        let written = self.store.append(bytes.get(waiting..).unwrap_or_default());
        bytes.truncate(waiting);
        self.bytes = bytes;
        written
    }
}

#[cfg(test)]
impl Journal {
    /// The memory of what waits to be written.
    pub(super) fn held_bytes(&mut self) -> usize {
        let runs: usize = Fate::ALL.map(|fate| self.waiting.of(fate).capacity()).iter().sum();
        runs * size_of::<Run>() + self.bytes.capacity()
    }
}
