//! What the sittings of a job tell together: the sitting is the replicate. Pure.

use super::{SessionEnd, SessionsRecord};
use crate::{
    document::{Capacity, Document, Status},
    repetitions::{in_words, left_out, shared_figures, valid_by_target},
    suite::title_of_run,
    terminal::figure::{TIE, count, duration},
    upper_ends::remarks_of_upper_ends,
};
use iotbench_statistics::sittings_interval;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

const METHOD: &str = "Student's t over the logarithms of the sittings' figures, 90 %";
pub(super) const CAPACITY: &str = "capacity";
/// The exit code of a search in which not even the least load was sustained.
const NO_SUSTAINED_LOAD: u8 = 10;
/// Figures that may stand for a range.
const UPPER_ENDS: [&str; 2] = ["response_mean_us", "response_p99_us"];

/// What the sittings tell together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionsSummary {
    /// How the intervals were made.
    pub method: String,
    /// From the beginning of the first to the end of the last that was held, in seconds; null: none was.
    pub within_s: Option<f64>,
    /// The answer in a sentence for each target.
    pub answers: Vec<String>,
    /// Each figure of each target.
    pub figures: Vec<SessionsFigure>,
    /// Runs that are in no figure because they are not valid, and why.
    pub left_out: Vec<String>,
    /// What a reader has to know.
    pub remarks: Vec<String>,
}

/// A figure over sittings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionsFigure {
    /// Database, layout, strategy and variant.
    pub target: String,
    /// The figure's name, which ends with its unit.
    pub figure: String,
    /// How many valid sittings have it.
    pub sittings: usize,
    /// Their geometric mean.
    pub mean: f64,
    /// The lower end of its 90 % interval; null: one sitting.
    pub low: Option<f64>,
    /// The upper end; null also where a sitting found no upper bound.
    pub high: Option<f64>,
    /// The least of them.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
    /// Whether it is only known to be at least that: in some sitting no load failed but by the client.
    pub is_at_least: bool,
}

impl SessionsSummary {
    /// Of the documents of the runs that have ended, in the order of the record. A figure that not every valid sitting of a
    /// target has is left out, and so is a capacity where a sitting found none: the others would be the luckier ones.
    #[must_use]
    pub fn of<J>(record: &SessionsRecord<J>, documents: &[Document]) -> Self {
        Self::over(documents, within_s(record))
    }

    /// The same of runs that were made within so long.
    pub(super) fn over(documents: &[Document], within_s: Option<f64>) -> Self {
        let mut summary = Self {
            method: METHOD.into(),
            within_s,
            left_out: left_out(documents),
            remarks: remarks_of_upper_ends(&documents.iter(), UPPER_ENDS.into_iter()),
            ..Self::default()
        };
        for (target, runs) in valid_by_target(documents) {
            let own = documents.iter().filter(|document| title_of_run(document) == target);
            let unsustained = own.filter(|document| has_sustained_none(document)).count();
            let shared = shared_figures(&runs).into_iter().filter(|(name, _)| *name != CAPACITY || unsustained == 0);
            let figures: Vec<_> =
                shared.map(|(name, values)| SessionsFigure::of(&target, name, &values, &runs)).collect();
            summary.answers.push(answer(&target, &runs, &figures, within_s));
            if unsustained > 0 {
                summary.remarks.push(format!(
                    "{target}: {unsustained} of {} sittings sustained not even the least load, so that there is no interval of \
                     what it sustains",
                    runs.len() + unsustained
                ));
            }
            summary.remarks.extend(moved(&target, &runs));
            summary.figures.extend(figures);
        }
        summary
    }
}

impl SessionsFigure {
    fn of(target: &str, figure: &str, values: &[f64], runs: &[&Document]) -> Self {
        let interval = sittings_interval(values);
        let is_at_least = figure == CAPACITY && runs.iter().any(|run| run.capacity.as_ref().is_some_and(is_at_least));
        // One alone, or what has no logarithm, is in no interval.
        let mean = interval.map_or_else(|| values.iter().sum::<f64>() / values.len() as f64, |interval| interval.mean);
        Self {
            target: target.into(),
            figure: figure.into(),
            sittings: values.len(),
            mean,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high).filter(|_| !is_at_least),
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            greatest: values.iter().copied().fold(0.0, f64::max),
            is_at_least,
        }
    }

    /// `(90 % interval 2,304 to 3,584 over 5 sittings within 1.90 h)`
    fn interval_in_words(&self, show: fn(f64) -> String, within_s: Option<f64>) -> String {
        let within = within_s.map(|s| format!(" within {}", duration(s * 1e6))).unwrap_or_default();
        let sittings = count(self.sittings as u64);
        match (self.low, self.high) {
            (Some(low), Some(high)) => {
                format!("90 % interval {} to {} over {sittings} sittings{within}", show(low), show(high))
            }
            (Some(low), None) => format!("90 % interval from {} on, over {sittings} sittings{within}", show(low)),
            (None, _) => "one sitting, the spread between sittings is not known".into(),
        }
    }
}

/// The answer of a target in a sentence.
fn answer(target: &str, runs: &[&Document], figures: &[SessionsFigure], within_s: Option<f64>) -> String {
    let figure = |name: &str| figures.iter().find(|figure| figure.figure == name);
    let text = match (figure(CAPACITY), figure("operations_per_s")) {
        (Some(capacity), _) => {
            let quantity = runs.iter().find_map(|run| Some(run.capacity.as_ref()?.quantity.as_str())).unwrap_or("load");
            let least = if capacity.is_at_least { "at least " } else { "" };
            let interval = capacity.interval_in_words(whole, within_s);
            format!("{target} sustains {least}{} {quantity} ({interval}).", whole(capacity.mean))
        }
        (None, Some(rate)) => {
            let (_, show) = in_words("operations_per_s");
            let interval = rate.interval_in_words(show, within_s);
            format!("{target} acknowledged {} operations/s ({interval}).", show(rate.mean))
        }
        (None, None) => format!("{target}: no sitting has a figure that all of them have."),
    };
    text.replace(TIE, " ")
}

/// A load that may be none that was tried.
pub(super) fn whole(load: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a load, and the cast saturates")]
    let load = load.round() as u64;
    count(load)
}

/// Whether a search found no load that the database fails.
fn is_at_least(capacity: &Capacity) -> bool {
    capacity.upper.is_none() || capacity.search.as_ref().is_some_and(|search| search.client_limited)
}

fn has_sustained_none(document: &Document) -> bool {
    let is_without = document.capacity.as_ref().is_some_and(|capacity| capacity.limit().is_none());
    document.verdict.status == Status::Invalid && document.verdict.exit_code == NO_SUSTAINED_LOAD && is_without
}

/// In how many sittings the limit moved while it was searched for.
fn moved(target: &str, runs: &[&Document]) -> Option<String> {
    let moved = |run: &&&Document| {
        run.capacity.as_ref().and_then(|capacity| capacity.estimate.as_ref()).is_some_and(|e| e.moved.is_some())
    };
    let moved = runs.iter().filter(moved).count();
    (moved > 0)
        .then(|| format!("{target}: in {moved} of {} sittings the limit moved while it was searched for", runs.len()))
}

fn within_s<J>(record: &SessionsRecord<J>) -> Option<f64> {
    let time = |text: &String| text.parse::<Timestamp>().ok();
    let began = record.ended().filter_map(|end: &SessionEnd| time(&end.began)).min()?;
    let ended = record.ended().filter_map(|end: &SessionEnd| time(&end.ended)).max()?;
    Some(ended.duration_since(began).as_secs_f64().max(0.0))
}
