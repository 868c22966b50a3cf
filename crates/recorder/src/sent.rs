//! Windows and histograms as they travel from one process to another: exactly what was recorded, and nothing that the
//! receiver must trust.
//!
//! A histogram of few durations is a list of them, one of many its buckets in `HdrHistogram`'s V2 format with deflate, in
//! base64, beside the exact figures; an empty one is null. Sums are two numbers of 64 bits, the high one first, because
//! readers of JSON lose digits of longer ones.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};
use std::sync::Arc;
use thiserror::Error;

use crate::buckets::MAX_FEW;
use crate::error_tally::ErrorTally;
use crate::histogram::{Exact, LatencyHistogram};
use crate::recording::{KindRecording, OperationKind, Recording, Requests};
use crate::wide;
use crate::window::{Window, WindowCounts};

/// A [`Window`] without the kinds of its operations, which sender and receiver both know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SentWindow {
    phase: u32,
    first_second: u64,
    seconds: u64,
    counts: WindowCounts,
    kinds: Vec<KindRecording>,
    errors: ErrorTally,
}

/// What was received is no window of these operations.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("a window that was received is not one of [{ours}]: use the same iotbench on both sides")]
pub struct NotOurWindow {
    ours: String,
}

impl From<Window> for SentWindow {
    fn from(window: Window) -> Self {
        let Window { phase, first_second, seconds, counts, recording: Recording { by_kind, errors, .. } } = window;
        Self { phase, first_second, seconds, counts, kinds: by_kind, errors }
    }
}

impl SentWindow {
    /// The window, of operations of these kinds.
    ///
    /// # Errors
    /// [`NotOurWindow`] where it was recorded of others.
    pub fn received(self, kinds: &Arc<[OperationKind]>) -> Result<Window, NotOurWindow> {
        let Self { phase, first_second, seconds, counts, kinds: mut by_kind, errors } = self;
        let fit = by_kind.iter_mut().zip(kinds.iter()).all(|(recorded, kind)| recorded.fit(kind.requests));
        let ends = seconds.checked_sub(1).and_then(|more| first_second.checked_add(more));
        if by_kind.len() != kinds.len() || !fit || ends.is_none() || !errors.is_plausible() {
            let ours = kinds.iter().map(|kind| kind.name.clone()).collect::<Vec<_>>().join(", ");
            return Err(NotOurWindow { ours });
        }
        let recording = Recording { kinds: Arc::clone(kinds), by_kind, errors };
        Ok(Window { phase, first_second, seconds, counts, recording })
    }
}

impl KindRecording {
    /// Makes up for what an empty histogram leaves out. False where it holds what operations of this kind do not record.
    fn fit(&mut self, requests: Requests) -> bool {
        let (records_requests, records_busy) = match requests {
            Requests::One => (false, false),
            Requests::Many => (true, false),
            Requests::Paused => (true, true),
        };
        if records_busy {
            self.busy.get_or_insert_default();
        }
        self.requests.is_some() == records_requests && self.busy.is_some() == records_busy
    }
}

/// A histogram that is not empty.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum SentHistogram {
    Few(Vec<u64>),
    Many {
        hdr: String,
        overflow: u64,
        min_ns: u64,
        max_ns: u64,
        #[serde(with = "wide")]
        sum_ns: u128,
        #[serde(with = "wide")]
        sum_squares: u128,
    },
}

impl LatencyHistogram {
    /// Of so few durations as are sent in a list, none of them overflow; else `None`.
    fn of_few(durations: &[u64]) -> Option<Self> {
        let mut histogram = Self::new();
        durations.iter().take(MAX_FEW + 1).for_each(|&duration_ns| histogram.record(duration_ns));
        (!durations.is_empty() && histogram.buckets().few() == Some(durations)).then_some(histogram)
    }
}

impl Serialize for LatencyHistogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_empty() {
            return serializer.serialize_none();
        }
        let Exact { overflow, min_ns, max_ns, sum_ns, sum_squares } = self.exact();
        if let (Some(few), 0) = (self.buckets().few(), overflow) {
            return few.serialize(serializer);
        }
        let hdr = STANDARD.encode(self.to_v2_deflate().map_err(S::Error::custom)?);
        SentHistogram::Many { hdr, overflow, min_ns, max_ns, sum_ns, sum_squares }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LatencyHistogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Some(sent) = Option::<SentHistogram>::deserialize(deserializer)? else { return Ok(Self::new()) };
        let (hdr, exact) = match sent {
            SentHistogram::Few(few) => {
                return Self::of_few(&few).ok_or_else(|| D::Error::custom("durations that are not few"));
            }
            SentHistogram::Many { hdr, overflow, min_ns, max_ns, sum_ns, sum_squares } => {
                (hdr, Exact { overflow, min_ns, max_ns, sum_ns, sum_squares })
            }
        };
        let bytes = STANDARD.decode(hdr).map_err(D::Error::custom)?;
        let buckets = Self::from_v2_deflate(&bytes).map_err(D::Error::custom)?;
        buckets.with_exact(exact).ok_or_else(|| D::Error::custom("a histogram whose exact figures cannot be its own"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outcome, Payload, Recorder, Timing};
    use proptest::prelude::*;

    fn kinds() -> Arc<[OperationKind]> {
        let kind = |name: &str, requests| OperationKind { name: name.into(), requests };
        [kind("write", Requests::One), kind("search", Requests::Many), kind("paused", Requests::Paused)].into()
    }

    fn recorded(events: &[(usize, Outcome, u64, u64, u64)]) -> Vec<Window> {
        let mut recorder = Recorder::new(kinds());
        for &(kind, outcome, at_ns, lag_ns, service_ns) in events {
            let timing = Timing::new(at_ns, at_ns + lag_ns, at_ns + lag_ns + service_ns).unwrap();
            recorder.offer(kind, at_ns, 1);
            recorder.start(kind, at_ns, timing.sent_ns(), 3);
            recorder.complete_request(kind, at_ns, outcome, &timing);
            recorder.complete(kind, outcome, &timing, &Payload::undivided(outcome, 3, 45, 100));
            if outcome == Outcome::Fail {
                recorder.error(timing.replied_ns(), "server", "refused:\n\u{1b}[2J");
            }
        }
        recorder.finish()
    }

    fn travelled(window: &Window) -> Window {
        let text = serde_json::to_string(&SentWindow::from(window.clone())).unwrap();
        serde_json::from_str::<SentWindow>(&text).unwrap().received(&kinds()).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]

        #[test]
        fn what_is_received_is_what_was_recorded(
            events in prop::collection::vec(
                (
                    0..3_usize,
                    prop_oneof![6 => Just(Outcome::Ok), 1 => Just(Outcome::Fail), 1 => Just(Outcome::Expired), 1 => Just(Outcome::Unknown)],
                    0..3_000_000_000_u64,
                    0..5_000_000_u64,
                    // Some overflow.
                    prop_oneof![9 => 0..2_000_000_000_u64, 1 => 80_000_000_000_000..200_000_000_000_000_u64],
                ),
                0..3_000,
            ),
        ) {
            for window in recorded(&events) {
                prop_assert!(travelled(&window) == window);
            }
        }
    }

    #[test]
    fn of_other_operations_nothing_is_received() {
        let window = recorded(&[(1, Outcome::Ok, 5, 5, 5)]).remove(0);
        let mut others = kinds().to_vec();
        others.swap(0, 1);
        assert!(SentWindow::from(window.clone()).received(&others.into()).is_err());
        assert!(SentWindow::from(window).received(&kinds()[..2].to_vec().into()).is_err());
    }

    /// What a faulty or hostile sender writes is refused, and no figure of it can end the program later.
    #[test]
    fn figures_that_cannot_be_are_refused() {
        let mut events = vec![(0, Outcome::Ok, 0, 1_000, 2_000); MAX_FEW + 1];
        events.push((0, Outcome::Fail, 0, 1_000, 9_000));
        let window = recorded(&events).remove(0);
        let honest = serde_json::to_value(SentWindow::from(window)).unwrap();
        let received = |value: serde_json::Value| {
            serde_json::from_value::<SentWindow>(value).ok().and_then(|sent| sent.received(&kinds()).ok())
        };
        assert!(received(honest.clone()).is_some());
        let lag = "/kinds/0/operations/ok/lag";
        for (place, wrong) in [
            (format!("{lag}/min_ns"), serde_json::json!(1_500)),
            (format!("{lag}/max_ns"), serde_json::json!(1)),
            (format!("{lag}/sum_ns"), serde_json::json!([1, 0])),
            (format!("{lag}/overflow"), serde_json::json!(1)),
            (format!("{lag}/overflow"), serde_json::json!(u64::MAX)),
            (format!("{lag}/hdr"), serde_json::json!("AAAA")),
            (lag.to_owned(), serde_json::json!(vec![7; MAX_FEW + 1])),
            (lag.to_owned(), serde_json::json!([7, u64::MAX])),
            (lag.to_owned(), serde_json::json!([])),
            ("/seconds".into(), serde_json::json!(0)),
            ("/first_second".into(), serde_json::json!(u64::MAX)),
            ("/errors/by_cause/server/samples".into(), serde_json::json!(["a", "b", "c", "d", "e", "f"])),
            ("/errors/by_cause/server/samples".into(), serde_json::json!(["\u{1b}[2J"])),
        ] {
            let mut value = honest.clone();
            *value.pointer_mut(&place).unwrap() = wrong;
            if place == "/first_second" {
                *value.pointer_mut("/seconds").unwrap() = serde_json::json!(2);
            }
            assert!(received(value).is_none(), "{place}");
        }
    }

    #[test]
    fn as_many_as_are_few_travel_as_a_list_and_one_more_does_not() {
        for count in [MAX_FEW, MAX_FEW + 1] {
            let mut histogram = LatencyHistogram::new();
            (0..count as u64).for_each(|ns| histogram.record(ns));
            let text = serde_json::to_string(&histogram).unwrap();
            assert_eq!(text.starts_with('['), count == MAX_FEW);
            assert!(serde_json::from_str::<LatencyHistogram>(&text).unwrap() == histogram, "{count}");
        }
        let more = serde_json::to_string(&vec![7; MAX_FEW + 1]).unwrap();
        assert!(serde_json::from_str::<LatencyHistogram>(&more).is_err());
    }
}
