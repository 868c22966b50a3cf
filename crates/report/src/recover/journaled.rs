//! The journal of a run, added up.

use crate::{
    document::{ErrorsOfCause, Spread, Throughput, Windows},
    folder::{FolderError, JOURNAL_FILE},
    journal::{JournaledSecond, Kind, Line, Span},
    lines::lines,
};
use iotbench_recorder::{LoadCounts, PointCounts, SAMPLES_PER_CAUSE};
use std::{path::Path, time::Duration};

/// Causes are words of the program; a file that has more was not written by it.
const MAX_CAUSES: usize = 64;

/// What a journal says of a run.
#[derive(Debug, Default)]
pub(super) struct Journaled {
    /// The phase it had reached.
    pub phase: Option<String>,
    /// Datapoints that were written before the load.
    pub preloaded: u64,
    /// The kinds of its operations.
    pub kinds: Vec<Kind>,
    /// Whether its load went step by step.
    pub begins_at_steps: bool,
    /// The end of its last second, in nanoseconds since its start.
    pub to_ns: u64,
    /// All operations.
    pub operations: LoadCounts,
    /// The operations of the measured part of a fixed load.
    pub intended: LoadCounts,
    /// All datapoints.
    pub points: PointCounts,
    /// The measured part; `None`: it had not come to it.
    pub measured: Option<MeasuredSeconds>,
}

/// What was done in the measured part, second by second.
#[derive(Debug)]
pub(super) struct MeasuredSeconds {
    pub span: Span,
    /// Operations, datapoints and values that were acknowledged in each.
    acked: [Vec<u64>; 3],
    rows_read: u64,
    bytes: u64,
    errors: Vec<ErrorsOfCause>,
}

impl Journaled {
    /// Adds up a journal. The measured part is the one that it names, or else `answer`. What cannot be understood ends it, and
    /// is noted.
    pub fn read(path: &Path, answer: Option<Span>, notes: &mut Vec<String>) -> Result<Self, FolderError> {
        let mut journaled = Self::default();
        let mut span = None;
        let mut read = lines(path)?;
        while let Some(text) = read.next_line()? {
            let line = serde_json::from_str(&text).map_err(|e| e.to_string());
            let known = line.and_then(|line| match line {
                Line::Begin(begin) if !begin.is_of_this_version() => {
                    Err(format!("it has the format {:?}: use the iotbench that wrote it", begin.schema))
                }
                line => Ok(line),
            });
            match known {
                Ok(Line::Begin(begin)) => {
                    journaled.begins_at_steps = begin.measured.is_none();
                    journaled.kinds = begin.kinds;
                    span = begin.measured.or(answer);
                }
                Ok(Line::Phase { phase }) => journaled.phase = Some(phase),
                Ok(Line::Preloaded { points }) => journaled.preloaded = points,
                Ok(Line::Second(second)) => journaled.add(&second, span),
                Err(why) => {
                    notes.push(format!("{JOURNAL_FILE}, line {}: {why}; what follows was left out", read.number()));
                    break;
                }
            }
        }
        // Before the run begins there is no journal, and nothing to be known.
        if read.number() == 0 && path.exists() {
            notes.push(format!("{JOURNAL_FILE} is empty: the counts since the last phase are not known"));
        }
        Ok(journaled)
    }

    fn add(&mut self, second: &JournaledSecond, span: Option<Span>) {
        self.to_ns = self.to_ns.max(second.end_ns());
        self.operations.merge(&second.operations);
        // What of them is waited for is told with the stretch in which they were intended.
        self.operations.censored = self.operations.censored.saturating_add(second.intended.censored);
        self.points.merge(&second.points);
        let Some(span) = span.filter(|span| second.start_ns() >= span.from_ns) else { return };
        self.intended.merge(&second.intended);
        let measured = self.measured.get_or_insert_with(|| MeasuredSeconds::beginning_at(second.start_ns()));
        if second.start_ns() < span.to_ns {
            measured.add(second, span);
        }
        if second.start_ns() < span.to_ns || !self.begins_at_steps {
            measured.add_errors(&second.errors);
        }
    }
}

impl MeasuredSeconds {
    fn beginning_at(from_ns: u64) -> Self {
        let span = Span { from_ns, to_ns: from_ns };
        Self { span, acked: Default::default(), rows_read: 0, bytes: 0, errors: Vec::new() }
    }

    fn add(&mut self, second: &JournaledSecond, span: Span) {
        self.span.to_ns = second.end_ns().min(span.to_ns);
        let acked = [second.operations.ok, second.points.acked, second.values_acked];
        for (all, now) in self.acked.iter_mut().zip(acked) {
            all.push(now);
        }
        self.rows_read = self.rows_read.saturating_add(second.rows_read);
        self.bytes = self.bytes.saturating_add(second.bytes);
    }

    fn add_errors(&mut self, errors: &[ErrorsOfCause]) {
        for new in errors {
            let has_room = self.errors.len() < MAX_CAUSES;
            match self.errors.iter_mut().find(|known| known.cause == new.cause) {
                Some(known) => {
                    known.count = known.count.saturating_add(new.count);
                    let room = SAMPLES_PER_CAUSE.saturating_sub(known.samples.len());
                    known.samples.extend(new.samples.iter().take(room).cloned());
                }
                None if has_room => self.errors.push(new.clone()),
                None => {}
            }
        }
    }

    /// What was acknowledged a second.
    pub fn throughput(&self) -> Throughput {
        let length_s = Duration::from_nanos(self.span.to_ns.saturating_sub(self.span.from_ns)).as_secs_f64();
        let [operations, points, values] = &self.acked;
        let sum = |counts: &[u64]| counts.iter().fold(0, |sum: u64, &count| sum.saturating_add(count));
        let windows = || {
            Some(Windows {
                count: operations.len() as u64,
                operations_per_s: Spread::of(operations.iter().copied())?,
                points_per_s: Spread::of(points.iter().copied())?,
                values_per_s: Spread::of(values.iter().copied())?,
            })
        };
        let counts = [sum(operations), sum(points), sum(values), self.rows_read, self.bytes];
        Throughput::of(length_s, counts, windows())
    }

    /// The most frequent cause first.
    pub fn errors(&self) -> Vec<ErrorsOfCause> {
        let mut errors = self.errors.clone();
        errors.sort_by_key(|e| std::cmp::Reverse(e.count));
        errors
    }
}
