//! Slices as they travel from one process to another.

use super::{ReadCounts, Slice, UserTime};
use crate::ledger::{Fate, Fates, MAX_RANGES, decode, decode_corrected, encode, encode_corrected};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use iotbench_core::Run;
use iotbench_recorder::{LatencyHistogram, NotOurWindow, OperationKind, SentWindow, Window};
use serde::{Deserialize, Serialize};
use std::{ops::Range, sync::Arc};

/// What is handed over in one message: a slice without a trace, or a part of one that has too many datapoints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SentSlice {
    generation: u32,
    windows: Vec<SentWindow>,
    /// The ledger's code of the datapoints, in base64: acknowledged, failed, unknown.
    fates: [String; 3],
    /// The ledger's code of the sends of datapoints that are sent wrong and then right, in base64.
    corrected: String,
    unoffered: u64,
    late: Option<SentWindow>,
    user_time: UserTime,
    pending: u64,
    pacing_error: Option<LatencyHistogram>,
    samples_dropped: u64,
    reads: ReadCounts,
}

/// What was received cannot be what a part of this run sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOurSlice {
    /// Its windows.
    #[error(transparent)]
    Window(#[from] NotOurWindow),
    /// Its datapoints cannot be read.
    #[error("datapoints that were received cannot be read: {0}")]
    Datapoints(String),
    /// Its datapoints are another part's.
    #[error("datapoints of device {device} were received of the part for devices {}..{}", own.start, own.end)]
    Device {
        /// Whose datapoints.
        device: u32,
        /// The part's devices.
        own: Range<u32>,
    },
}

impl Slice {
    /// What is sent of it, in messages of at most 65,536 ranges of datapoints each.
    pub fn into_sent(mut self) -> Vec<SentSlice> {
        let mut messages = vec![SentSlice {
            unoffered: self.unoffered,
            late: self.late.map(SentWindow::from),
            user_time: self.user_time,
            pending: self.pending,
            pacing_error: self.pacing_error.map(|error| *error),
            samples_dropped: self.samples_dropped,
            reads: self.reads,
            ..SentSlice::new(self.generation, self.windows)
        }];
        for (place, fate) in Fate::ALL.into_iter().enumerate() {
            let runs = self.fates.of(fate);
            let mut message = 0;
            while !runs.is_empty() {
                let mut part = runs.split_off(runs.len().saturating_sub(MAX_RANGES));
                let mut bytes = Vec::new();
                encode(&mut part, &mut bytes);
                runs.append(&mut part);
                if messages.len() <= message {
                    messages.push(SentSlice { generation: self.generation, ..SentSlice::default() });
                }
                if let Some(text) = messages.get_mut(message).and_then(|m| m.fates.get_mut(place)) {
                    *text = STANDARD.encode(&bytes);
                }
                message += 1;
            }
        }
        for (message, sends) in self.fates.corrected().chunks(MAX_RANGES).enumerate() {
            let mut bytes = Vec::new();
            encode_corrected(sends, &mut bytes);
            if messages.len() <= message {
                messages.push(SentSlice { generation: self.generation, ..SentSlice::default() });
            }
            if let Some(message) = messages.get_mut(message) {
                message.corrected = STANDARD.encode(&bytes);
            }
        }
        messages
    }
}

impl SentSlice {
    /// What was recorded in these windows of a generation, and nothing else.
    #[must_use]
    pub fn new(generation: u32, windows: Vec<Window>) -> Self {
        Self { generation, windows: windows.into_iter().map(SentWindow::from).collect(), ..Self::default() }
    }

    /// The slice, of a part of a run that is for these devices and records these kinds of operations.
    ///
    /// # Errors
    /// It is none of such a part.
    pub fn received(self, kinds: &Arc<[OperationKind]>, own: &Range<u32>) -> Result<Slice, NotOurSlice> {
        let windows = self.windows.into_iter().map(|window| window.received(kinds)).collect::<Result<_, _>>()?;
        let mut fates = Fates::default();
        for (fate, text) in Fate::ALL.into_iter().zip(&self.fates) {
            let bytes = STANDARD.decode(text).map_err(|e| NotOurSlice::Datapoints(e.to_string()))?;
            let mut wrong = None;
            let told = decode(&bytes, &mut |device, indices| match u32::try_from(indices.end - indices.start) {
                _ if !own.contains(&device) => wrong = Some(NotOurSlice::Device { device, own: own.clone() }),
                Ok(count) => fates.note(fate, [Run { device, first: indices.start, count }]),
                Err(_) => wrong = Some(NotOurSlice::Datapoints("more of them than a second can have".into())),
            });
            told.map_err(|e| NotOurSlice::Datapoints(e.to_string()))?;
            if let Some(wrong) = wrong {
                return Err(wrong);
            }
        }
        let bytes = STANDARD.decode(&self.corrected).map_err(|e| NotOurSlice::Datapoints(e.to_string()))?;
        let mut wrong = None;
        let told = decode_corrected(&bytes, &mut |send| match own.contains(&send.device) {
            true => fates.note_corrected(send),
            false => wrong = Some(NotOurSlice::Device { device: send.device, own: own.clone() }),
        });
        told.map_err(|e| NotOurSlice::Datapoints(e.to_string()))?;
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        Ok(Slice {
            generation: self.generation,
            windows,
            fates,
            operations: Vec::new(),
            unoffered: self.unoffered,
            late: self.late.map(|window| window.received(kinds)).transpose()?,
            user_time: self.user_time,
            pending: self.pending,
            pacing_error: self.pacing_error.map(Box::new),
            samples_dropped: self.samples_dropped,
            reads: self.reads,
        })
    }
}

#[cfg(test)]
mod tests;
