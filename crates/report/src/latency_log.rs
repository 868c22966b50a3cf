//! `latency.hlog`: the distributions of each second, under tags.
//!
//! Those of all kinds of operations together are `response`, `service`, `lag` and `undelayed` (the response without the
//! client's own delay) of the successes, the same of `failed.` and `unknown.`, and `never_started`: how long what was never
//! started had waited. Where a run has several kinds of operations, or operations of several requests, each kind has its own
//! too: those of `KIND.operation.`, `KIND.request.`, `KIND.unknown_operation.` and `KIND.unknown_request.`, `KIND.busy` and
//! `KIND.never_started`, KIND being its place.

use crate::{
    document::{Durations, KindLatency, Latency, LatencySummary},
    journal::Kind,
};
use iotbench_recorder::{
    ByOutcome, ExportError, Latency as Recorded, LatencyHistogram, LoggedInterval, Recording, interval_line,
    read_interval_line,
};
use std::{collections::BTreeMap, time::Duration};

const RESPONSE: &str = "response";
const SERVICE: &str = "service";
const LAG: &str = "lag";
const UNDELAYED: &str = "undelayed";
const OPERATION: &str = "operation";
const REQUEST: &str = "request";
const FAILED: &str = "failed.";
const UNKNOWN: &str = "unknown.";
const NEVER_STARTED: &str = "never_started";

/// The lines of a second: what was recorded in it, and the same of all kinds together.
///
/// # Errors
/// A distribution that cannot be written: a fault of the program.
pub fn lines(
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
        kind.never_started().map_or(Ok(()), |histogram| put(NEVER_STARTED, histogram))?;
    }
    if is_pooled_enough(recording) {
        return Ok(text);
    }
    for (place, (kind, described)) in kinds.iter().zip(recording.kinds().iter()).enumerate() {
        put_outcomes(place, OPERATION, kind.by_operation(), &mut put)?;
        if described.requests != iotbench_recorder::Requests::One {
            put_outcomes(place, REQUEST, kind.by_request(), &mut put)?;
        }
        kind.busy().map_or(Ok(()), |histogram| put(&busy(place), histogram))?;
        kind.never_started().map_or(Ok(()), |histogram| put(&never_started(place), histogram))?;
    }
    Ok(text)
}

/// What succeeded and what had no answer, of the operations or of the requests of a kind.
fn put_outcomes(
    place: usize,
    of: &str,
    by_outcome: &ByOutcome,
    put: &mut dyn FnMut(&str, &LatencyHistogram) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    put_durations(&succeeded(place, of), by_outcome.ok(), put)?;
    by_outcome.unknown().map_or(Ok(()), |latency| put_durations(&unanswered(place, of), latency, put))
}

fn put_durations(
    prefix: &str,
    latency: &Recorded,
    put: &mut dyn FnMut(&str, &LatencyHistogram) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    put(&format!("{prefix}{RESPONSE}"), latency.response())?;
    put(&format!("{prefix}{SERVICE}"), latency.service())?;
    put(&format!("{prefix}{LAG}"), latency.lag())?;
    put(&format!("{prefix}{UNDELAYED}"), latency.undelayed())
}

/// Whether what all kinds have together is what the only one has.
fn is_pooled_enough(recording: &Recording) -> bool {
    matches!(&recording.kinds()[..], [kind] if kind.requests == iotbench_recorder::Requests::One)
}

fn succeeded(place: usize, of: &str) -> String {
    format!("{place}.{of}.")
}

fn unanswered(place: usize, of: &str) -> String {
    format!("{place}.unknown_{of}.")
}

fn never_started(place: usize) -> String {
    format!("{place}.{NEVER_STARTED}")
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

    /// Operations that were due in the stretch, and of which the log does not tell what became of them, have no end.
    pub fn add_missing(&mut self, offered: u64) {
        let ended = ["", FAILED, UNKNOWN].iter().map(|prefix| self.histogram(&format!("{prefix}{RESPONSE}")).count());
        let told = ended.sum::<u64>() + self.histogram(NEVER_STARTED).count();
        let missing = offered.saturating_sub(told);
        if missing > 0 {
            self.by_tag.entry(NEVER_STARTED.into()).or_default().record_many(0, missing);
        }
    }

    /// The block of the document.
    pub fn block(&self, kinds: &[Kind]) -> Latency {
        let all = self.bounded("", UNKNOWN, NEVER_STARTED);
        if let [kind] = kinds
            && kind.is_one_request
        {
            let kind =
                KindLatency { name: kind.name.clone(), by_operation: all.clone(), by_request: all.clone(), busy: None };
            return self.block_of(all.clone(), all, vec![kind]);
        }
        let of_kind = |(place, kind): (usize, &Kind)| {
            let never_started = never_started(place);
            let of = |of: &str| self.bounded(&succeeded(place, of), &unanswered(place, of), &never_started);
            let by_operation = of(OPERATION);
            KindLatency {
                name: kind.name.clone(),
                by_request: if kind.is_one_request { by_operation.clone() } else { of(REQUEST) },
                by_operation,
                busy: kind.has_pauses.then(|| LatencySummary::from(&self.histogram(&busy(place)))),
            }
        };
        let requests = self.requests(kinds);
        self.block_of(all, requests, kinds.iter().enumerate().map(of_kind).collect())
    }

    fn block_of(&self, by_operation: Durations, by_request: Durations, kinds: Vec<KindLatency>) -> Latency {
        let outcome = |prefix: &str| self.has(prefix).then(|| Durations::from(&self.latency(prefix)));
        Latency { by_operation, by_request, failed: outcome(FAILED), unknown: outcome(UNKNOWN), jitter: None, kinds }
    }

    /// The requests of all kinds together.
    fn requests(&self, kinds: &[Kind]) -> Durations {
        let (mut ok, mut unknown) = (Recorded::default(), Recorded::default());
        for (place, kind) in kinds.iter().enumerate() {
            let of = if kind.is_one_request { OPERATION } else { REQUEST };
            ok.merge(&self.latency(&succeeded(place, of)));
            unknown.merge(&self.latency(&unanswered(place, of)));
        }
        Durations::bounded(&ok, Some(&unknown), self.by_tag.get(NEVER_STARTED))
    }

    /// Of those that succeeded, those without an answer and those that were never started.
    fn bounded(&self, ok: &str, unknown: &str, never_started: &str) -> Durations {
        Durations::bounded(&self.latency(ok), Some(&self.latency(unknown)), self.by_tag.get(never_started))
    }

    fn latency(&self, prefix: &str) -> Recorded {
        let of = |duration: &str| self.histogram(&format!("{prefix}{duration}"));
        Recorded::from_parts(of(LAG), of(SERVICE), of(RESPONSE), of(UNDELAYED))
    }

    fn has(&self, prefix: &str) -> bool {
        self.by_tag.contains_key(&format!("{prefix}{RESPONSE}"))
    }

    fn histogram(&self, tag: &str) -> LatencyHistogram {
        self.by_tag.get(tag).cloned().unwrap_or_default()
    }
}

fn is_of_kind(of: &str) -> bool {
    [OPERATION, REQUEST].contains(&of)
}

fn is_known(tag: &str, kinds: usize) -> bool {
    let (before, name) = tag.split_once('.').unwrap_or(("", tag));
    let is_duration = |name: &str| [RESPONSE, SERVICE, LAG, UNDELAYED].contains(&name);
    match before {
        "" => is_duration(name) || name == NEVER_STARTED,
        "failed" | "unknown" => is_duration(name),
        place => {
            let is_place = place.parse::<usize>().is_ok_and(|number| number < kinds);
            let of_kind = name
                .split_once('.')
                .is_some_and(|(of, name)| is_of_kind(of.strip_prefix("unknown_").unwrap_or(of)) && is_duration(name));
            is_place && (of_kind || name == "busy" || name == NEVER_STARTED)
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

    /// Counts, distributions, and distributions at their least.
    fn counts(latency: &Latency) -> Vec<(u64, Option<String>, Option<String>)> {
        let of = |d: &Durations| [&d.response, &d.service, &d.lag].map(Clone::clone);
        let kinds = latency.kinds.iter().flat_map(|k| [of(&k.by_operation), of(&k.by_request)].concat());
        let busy = latency.kinds.iter().filter_map(|kind| kind.busy.clone());
        let rest =
            [Some(&latency.by_operation), Some(&latency.by_request), latency.failed.as_ref(), latency.unknown.as_ref()];
        let rest = rest.into_iter().flatten().flat_map(of);
        let all = kinds.chain(busy).chain(rest);
        all.map(|figures| (figures.count, figures.hdr, figures.at_least.and_then(|least| least.hdr))).collect()
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
            let least = found.by_operation.response.at_least.unwrap();
            assert!(least.count > found.by_operation.response.count && found.by_operation.response.count > 100);
        }
    }

    #[test]
    fn tags_of_others_are_passed_over() {
        let mut histogram = LatencyHistogram::new();
        histogram.record(7);
        let mut logged = LoggedLatency::default();
        for tag in ["mine", "7.busy", "1.operation.x", "failed.never_started", "0.unknown_busy", "-1.busy"] {
            let line = interval_line(tag, Duration::ZERO, Duration::from_secs(1), &histogram).unwrap();
            logged.add(&line, 7, &|_| true).unwrap();
        }
        assert!(logged.by_tag.is_empty(), "{:?}", logged.by_tag.keys());
        assert!(logged.add("Tag=response,0.0", 1, &|_| true).is_err());
    }
}
