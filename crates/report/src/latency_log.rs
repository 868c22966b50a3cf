//! `latency.hlog`: the distributions of each second, under tags.
//!
//! Those of all kinds of operations together are `response`, `service` and `lag` of the successes, the same of
//! `failed.` and `unknown.`, and `at_least` of what was never answered. Where a run has several kinds of operations, or
//! operations of several requests, each kind has its own too: `KIND.operation.`, `KIND.request.` and `KIND.busy`, KIND being
//! its place.

use crate::{
    document::{Durations, Figures, KindLatency, Latency},
    journal::Kind,
};
use iotbench_recorder::{
    ExportError, Latency as Recorded, LatencyHistogram, LoggedInterval, Recording, interval_line, read_interval_line,
};
use std::{collections::BTreeMap, time::Duration};

const RESPONSE: &str = "response";
const SERVICE: &str = "service";
const LAG: &str = "lag";
const FAILED: &str = "failed.";
const UNKNOWN: &str = "unknown.";
const AT_LEAST: &str = "at_least";

/// The lines of a second: what was recorded in it, and the same of all kinds together.
pub(crate) fn lines(
    start: Duration,
    length: Duration,
    recording: &Recording,
    pooled: &Recorded,
) -> Result<String, ExportError> {
    let mut text = String::new();
    let mut put = |tag: &str, histogram: &LatencyHistogram| -> Result<(), ExportError> {
        if !histogram.is_empty() {
            text += &interval_line(tag, start, length, histogram)?;
        }
        Ok(())
    };
    put_durations("", pooled, &mut put)?;
    let kinds: Vec<_> = (0..recording.kinds().len()).map(|kind| recording.kind(kind)).collect();
    for kind in &kinds {
        // Rare, and mostly of one kind: what several kinds have adds up when it is read.
        let by_operation = kind.by_operation();
        by_operation.fail().map_or(Ok(()), |latency| put_durations(FAILED, latency, &mut put))?;
        by_operation.unknown().map_or(Ok(()), |latency| put_durations(UNKNOWN, latency, &mut put))?;
        kind.censored().map_or(Ok(()), |histogram| put(AT_LEAST, histogram))?;
    }
    if is_pooled_enough(recording) {
        return Ok(text);
    }
    for (place, (kind, described)) in kinds.iter().zip(recording.kinds().iter()).enumerate() {
        put_durations(&of_operation(place), kind.by_operation().ok(), &mut put)?;
        if described.requests != iotbench_recorder::Requests::One {
            put_durations(&of_request(place), kind.by_request().ok(), &mut put)?;
        }
        kind.busy().map_or(Ok(()), |histogram| put(&busy(place), histogram))?;
    }
    Ok(text)
}

fn put_durations(
    prefix: &str,
    latency: &Recorded,
    put: &mut dyn FnMut(&str, &LatencyHistogram) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    put(&format!("{prefix}{RESPONSE}"), latency.response())?;
    put(&format!("{prefix}{SERVICE}"), latency.service())?;
    put(&format!("{prefix}{LAG}"), latency.lag())
}

/// Whether what all kinds have together is what the only one has.
fn is_pooled_enough(recording: &Recording) -> bool {
    matches!(&recording.kinds()[..], [kind] if kind.requests == iotbench_recorder::Requests::One)
}

fn of_operation(place: usize) -> String {
    format!("{place}.operation.")
}

fn of_request(place: usize) -> String {
    format!("{place}.request.")
}

fn busy(place: usize) -> String {
    format!("{place}.busy")
}

/// What a log holds of a stretch of a run, added up by tag.
#[derive(Debug, Default)]
pub(crate) struct LoggedLatency {
    by_tag: BTreeMap<String, LatencyHistogram>,
}

impl LoggedLatency {
    /// Adds a line of a log if it lies in the stretch.
    ///
    /// # Errors
    /// It is none.
    pub fn add(&mut self, line: &str, kinds: usize, is_in: &dyn Fn(Duration) -> bool) -> Result<(), ExportError> {
        let Some(LoggedInterval { tag, start, histogram, .. }) = read_interval_line(line)? else { return Ok(()) };
        // Tags of others take no memory.
        if is_in(start) && is_known(&tag, kinds) {
            self.by_tag.entry(tag).or_default().merge(&histogram);
        }
        Ok(())
    }

    /// The block of the document.
    pub fn block(&self, kinds: &[Kind]) -> Latency {
        let is_pooled_enough = matches!(kinds, [kind] if kind.is_one_request);
        let kind = |(place, kind): (usize, &Kind)| {
            let by_operation = self.durations(&if is_pooled_enough { String::new() } else { of_operation(place) });
            KindLatency {
                name: kind.name.clone(),
                by_request: if kind.is_one_request { by_operation.clone() } else { self.durations(&of_request(place)) },
                by_operation,
                busy: kind.has_pauses.then(|| self.figures(&busy(place))),
            }
        };
        let at_least = || {
            let mut all = self.histogram(RESPONSE);
            all.merge(self.by_tag.get(AT_LEAST)?);
            Some(Figures::from(&all))
        };
        Latency {
            by_operation: self.durations(""),
            by_request: self.requests(kinds, is_pooled_enough),
            failed: self.has(FAILED).then(|| self.durations(FAILED)),
            unknown: self.has(UNKNOWN).then(|| self.durations(UNKNOWN)),
            response_at_least: at_least(),
            jitter: None,
            kinds: kinds.iter().enumerate().map(kind).collect(),
        }
    }

    /// The requests of all kinds together.
    fn requests(&self, kinds: &[Kind], is_pooled_enough: bool) -> Durations {
        if is_pooled_enough {
            return self.durations("");
        }
        let prefixes = kinds.iter().enumerate();
        let prefixes: Vec<String> = prefixes
            .map(|(place, kind)| if kind.is_one_request { of_operation(place) } else { of_request(place) })
            .collect();
        let sum = |duration: &str| {
            let mut sum = LatencyHistogram::new();
            let of_kinds = prefixes.iter().filter_map(|prefix| self.by_tag.get(&format!("{prefix}{duration}")));
            of_kinds.for_each(|histogram| sum.merge(histogram));
            Figures::from(&sum)
        };
        Durations { response: sum(RESPONSE), service: sum(SERVICE), lag: sum(LAG) }
    }

    fn durations(&self, prefix: &str) -> Durations {
        let of = |duration: &str| self.figures(&format!("{prefix}{duration}"));
        Durations { response: of(RESPONSE), service: of(SERVICE), lag: of(LAG) }
    }

    fn has(&self, prefix: &str) -> bool {
        self.by_tag.contains_key(&format!("{prefix}{RESPONSE}"))
    }

    fn figures(&self, tag: &str) -> Figures {
        Figures::from(&self.histogram(tag))
    }

    fn histogram(&self, tag: &str) -> LatencyHistogram {
        self.by_tag.get(tag).cloned().unwrap_or_default()
    }
}

fn is_known(tag: &str, kinds: usize) -> bool {
    let (before, name) = tag.split_once('.').unwrap_or(("", tag));
    let is_duration = |name: &str| [RESPONSE, SERVICE, LAG].contains(&name);
    match before {
        "" => is_duration(name) || name == AT_LEAST,
        "failed" | "unknown" => is_duration(name),
        place => {
            let is_place = place.parse::<usize>().is_ok_and(|number| number < kinds);
            let of_kind = name
                .split_once('.')
                .is_some_and(|(of, name)| ["operation", "request"].contains(&of) && is_duration(name));
            is_place && (of_kind || name == "busy")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_recorder::{OperationKind, Outcome, Payload, Recorder, Requests, Timing, WINDOW_NS};
    use std::sync::Arc;

    const NAMES: [(&str, Requests); 3] =
        [("one", Requests::One), ("many", Requests::Many), ("paused", Requests::Paused)];

    /// Operations of every kind and outcome over three seconds, and one that was never answered.
    fn recorded(names: &[(&str, Requests)]) -> (Recording, Vec<String>) {
        let kind = |&(name, requests): &(&str, Requests)| OperationKind { name: name.into(), requests };
        let kinds: Arc<[OperationKind]> = names.iter().map(kind).collect();
        let mut recorder = Recorder::new(Arc::clone(&kinds));
        for number in 0..600_u64 {
            let kind = usize::try_from(number).unwrap() % names.len();
            let due_ns = number * 5_000_000;
            let timing = Timing::new(due_ns, due_ns + 7_000, due_ns + 7_000 + number * 1_000 + 1).unwrap();
            let outcome = [Outcome::Ok, Outcome::Ok, Outcome::Fail, Outcome::Ok, Outcome::Unknown]
                [kind + usize::from(number % 50 == 0) * 2];
            recorder.complete(kind, outcome, &timing, &Payload::undivided(outcome, 1, 1, 1));
            recorder.complete_request(kind, due_ns, outcome, &timing);
            recorder.record_busy(kind, due_ns, timing.replied_ns(), 500 + number);
        }
        recorder.leave_pending(0, 1_000_000_000, 2_900_000_000);
        let (mut all, mut text) = (Recording::new(kinds), Vec::new());
        for window in recorder.finish() {
            all.merge(window.recording()).unwrap();
            let mut pooled = Recorded::default();
            (0..names.len()).for_each(|kind| pooled.merge(window.recording().kind(kind).by_operation().ok()));
            let start = Duration::from_nanos(window.first_second() * WINDOW_NS);
            let lines = lines(start, Duration::from_secs(1), window.recording(), &pooled).unwrap();
            text.extend(lines.split_inclusive('\n').map(str::to_owned));
        }
        (all, text)
    }

    fn counts(latency: &Latency) -> Vec<(u64, Option<String>)> {
        let of = |d: &Durations| [&d.response, &d.service, &d.lag].map(Clone::clone);
        let kinds = latency.kinds.iter().flat_map(|k| [of(&k.by_operation), of(&k.by_request)].concat());
        let busy = latency.kinds.iter().filter_map(|kind| kind.busy.clone());
        let rest =
            [Some(&latency.by_operation), Some(&latency.by_request), latency.failed.as_ref(), latency.unknown.as_ref()];
        let rest = rest.into_iter().flatten().flat_map(of);
        let all = kinds.chain(busy).chain(rest).chain(latency.response_at_least.clone());
        all.map(|figures| (figures.count, figures.hdr)).collect()
    }

    #[test]
    fn what_is_logged_by_the_second_is_the_block_of_the_whole() {
        for names in [&NAMES[..1], &NAMES[..2], &NAMES, &NAMES[2..]] {
            let (recording, text) = recorded(names);
            let kinds: Vec<_> = names
                .iter()
                .map(|&(name, requests)| Kind {
                    name: name.into(),
                    is_one_request: requests == Requests::One,
                    has_pauses: requests == Requests::Paused,
                })
                .collect();
            let mut logged = LoggedLatency::default();
            text.iter().for_each(|line| logged.add(line, kinds.len(), &|_| true).unwrap());
            let (found, expected) = (logged.block(&kinds), Latency::from(&recording));
            assert_eq!(counts(&found), counts(&expected), "{names:?}");
            assert!(found.response_at_least.is_some() && found.by_operation.response.count > 100);
        }
    }

    #[test]
    fn tags_of_others_are_passed_over() {
        let mut histogram = LatencyHistogram::new();
        histogram.record(7);
        let mut logged = LoggedLatency::default();
        for tag in ["mine", "7.busy", "1.operation.x", "failed.at_least", "-1.busy"] {
            let line = interval_line(tag, Duration::ZERO, Duration::from_secs(1), &histogram).unwrap();
            logged.add(&line, 7, &|_| true).unwrap();
        }
        assert!(logged.by_tag.is_empty(), "{:?}", logged.by_tag.keys());
        assert!(logged.add("Tag=response,0.0", 1, &|_| true).is_err());
    }
}
