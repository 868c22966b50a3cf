//! The thread that compares answers with the truth, and what it found.

use super::{
    Frontier, Writes,
    compare::{Finding, compare},
    cycle::compare_cycle,
    exactness::Exactness,
    second_sends::SecondSends,
    truth::Truth,
};
use crate::{
    plan::Planned,
    read::{History, Kept},
    threads::history,
};
use iotbench_core::{Capabilities, Cause, Domain, Error, Layout, Tags, ValueType};
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread::JoinHandle,
};

/// Answers that may wait: each may hold many rows.
const WAITING: usize = 4;
/// So many answers are compared before others are only compared in a sample.
const AT_LEAST: u64 = 100;
/// One of so many is then compared.
const ONE_OF: u64 = 16;
/// Wrong answers that are shown.
const SHOWN: usize = 5;
/// A wrong answer's query is shown up to so many characters.
const QUERY_SHOWN: usize = 300;

/// Which answers are compared with the truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VerifyMode {
    /// None.
    None,
    /// The first 100, and then one of 16.
    #[default]
    Sample,
    /// Each.
    Full,
}

impl VerifyMode {
    /// The word on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Sample => "sample",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for VerifyMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for VerifyMode {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let modes = [Self::None, Self::Sample, Self::Full];
        modes.into_iter().find(|m| m.name() == text).ok_or_else(|| format!("{text:?}: write none, sample or full"))
    }
}

/// What decides how answers are judged, beside the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadTerms {
    /// Which are compared.
    pub mode: VerifyMode,
    /// Whether a later read has to see what was acknowledged, by what the server says of itself.
    pub acknowledged_is_visible: bool,
}

/// What was found of the answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// Which were compared.
    pub mode: VerifyMode,
    /// Answers that are the truth.
    pub right: u64,
    /// Answers that are not.
    pub wrong: u64,
    /// Answers that cannot be judged, because datapoints were written meanwhile.
    pub not_judged: u64,
    /// Answers that were to be compared, and were not because the comparison was behind.
    pub skipped: u64,
    /// Machine cycles that are those that the truth has.
    pub cycles_right: u64,
    /// Machine cycles that are not.
    pub cycles_wrong: u64,
    /// The first wrong ones: what was asked, and how the answer differs.
    pub examples: Vec<String>,
}

/// What a verifier is made from.
pub struct VerifierParts {
    /// What was written before the load.
    pub history: History,
    /// What is known of its devices.
    pub tags: Tags,
    /// How exactly answers come back.
    pub domain: fn(ValueType) -> Domain,
    /// Whether figures are worked out of 32-bit numbers in decimal text.
    pub decimal: bool,
    /// Which answers are compared.
    pub mode: VerifyMode,
    /// The writes beside the reads.
    pub writes: Writes,
    /// Which of them are sent twice.
    pub second_sends: Option<SecondSends>,
}

/// Compares answers on a thread of its own.
#[derive(Debug)]
pub struct Verifier {
    witness: Witness,
    thread: JoinHandle<Answers>,
}

/// What a loop that reads tells the verifier through.
#[derive(Clone, Debug)]
pub struct Witness {
    answers: SyncSender<Box<Kept>>,
    mode: VerifyMode,
    asked: Arc<AtomicU64>,
    skipped: Arc<AtomicU64>,
    writes: Writes,
}

impl Verifier {
    /// Compares what a plan, or a part of it, reads; `None`: nothing is read.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn of(planned: &Planned, capabilities: &Capabilities, terms: ReadTerms) -> Result<Option<Self>, Error> {
        let plan = &planned.plan;
        if !plan.reads() {
            return Ok(None);
        }
        let (history, table) = (history(planned), &plan.table);
        let signals = table.schema.signals();
        let is_text = matches!(table.layout, Layout::Document | Layout::Bulk);
        let decimal = is_text && signals.iter().any(|signal| signal.value_type == ValueType::F32);
        let ReadTerms { mode, acknowledged_is_visible } = terms;
        let writes = if plan.changes() {
            Writes::NotFollowed
        } else if !plan.writes() {
            Writes::None
        } else {
            match Frontier::new(&history, table.devices, plan.devices.clone()).map(Arc::new) {
                Some(frontier) => Writes::Followed { frontier, acknowledged_is_visible },
                None => Writes::NotFollowed,
            }
        };
        let second_sends = SecondSends::of(&history, capabilities.duplicates);
        Self::start(VerifierParts {
            history,
            tags: table.schema.tags().clone(),
            domain: capabilities.domain,
            decimal,
            mode,
            writes,
            second_sends,
        })
        .map(Some)
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn start(parts: VerifierParts) -> Result<Self, Error> {
        let (answers, received) = sync_channel(WAITING);
        let VerifierParts { history, tags, domain, decimal, mode, writes, second_sends } = parts;
        let exactness = Exactness::new(domain, decimal);
        let mut truth = Truth::new(history).with_tags(tags).with_second_sends(second_sends);
        let body = move || compare_all(&received, &mut truth, exactness);
        let thread = std::thread::Builder::new().name("iotbench-verify".into()).spawn(body);
        let thread = thread.map_err(|e| Error::new(Cause::Client, format!("cannot start a thread: {e}")))?;
        let (asked, skipped) = (Arc::default(), Arc::default());
        let witness = Witness { answers, mode, asked, skipped, writes };
        Ok(Self { witness, thread })
    }

    /// Where the load is, where it writes what is read.
    #[must_use]
    pub fn frontier(&self) -> Option<Arc<Frontier>> {
        self.witness.writes.frontier().cloned()
    }

    /// For a loop that reads.
    #[must_use]
    pub fn witness(&self) -> Witness {
        self.witness.clone()
    }

    /// Waits for the last comparison.
    ///
    /// # Errors
    /// The thread panicked: a fault of the program.
    pub fn finish(self) -> Result<Answers, String> {
        let Witness { answers, mode, skipped, .. } = self.witness;
        drop(answers);
        let found = self.thread.join().map_err(|_| "the verifier panicked".to_string())?;
        Ok(Answers { mode, skipped: skipped.load(Ordering::Relaxed), ..found })
    }
}

impl Answers {
    /// Answers and machine cycles that were compared.
    #[must_use]
    pub fn compared(&self) -> u64 {
        self.right + self.wrong + self.cycles_right + self.cycles_wrong
    }

    /// Adds what another process found of its own.
    pub(crate) fn merge(&mut self, other: Self) {
        self.mode = other.mode;
        let counts = [
            (&mut self.right, other.right),
            (&mut self.wrong, other.wrong),
            (&mut self.not_judged, other.not_judged),
            (&mut self.skipped, other.skipped),
            (&mut self.cycles_right, other.cycles_right),
            (&mut self.cycles_wrong, other.cycles_wrong),
        ];
        counts.into_iter().for_each(|(own, other)| *own = own.saturating_add(other));
        let room = SHOWN.saturating_sub(self.examples.len());
        self.examples.extend(other.examples.into_iter().take(room));
    }

    fn show(&mut self, asked: &str, how: &str) {
        if self.examples.len() < SHOWN {
            let asked: String = asked.chars().take(QUERY_SHOWN).collect();
            self.examples.push(format!("{asked}: {how}"));
        }
    }
}

fn compare_all(answers: &Receiver<Box<Kept>>, truth: &mut Truth, exactness: Exactness) -> Answers {
    let mut found = Answers::default();
    for kept in answers {
        if let Some(cycle) = &kept.cycle {
            match compare_cycle(truth, cycle) {
                // A datapoint of the history may be stored twice by now.
                _ if truth.may_hold_two() => found.not_judged += 1,
                Ok(()) => found.cycles_right += 1,
                Err(how) => {
                    found.cycles_wrong += 1;
                    found.show(&format!("the {} cycle around {} ns", cycle.spec.strategy, cycle.t_ns), &how);
                }
            }
        }
        for answer in &kept.answers {
            match compare(truth, answer, exactness) {
                Finding::Right => found.right += 1,
                Finding::NotJudged => found.not_judged += 1,
                Finding::Wrong(how) => {
                    found.wrong += 1;
                    let asked = match &answer.statement {
                        Some(statement) => format!("{statement:?} of {:?}", answer.query),
                        None => format!("{:?}", answer.query),
                    };
                    found.show(&asked, &how);
                }
            }
        }
    }
    found
}

impl Witness {
    /// Where the answers of the next operation are kept; `None`: they are not compared.
    #[must_use]
    pub fn next(&self) -> Option<Box<Kept>> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let must_be_compared = match self.mode {
            VerifyMode::None => return None,
            VerifyMode::Full => true,
            VerifyMode::Sample => number < AT_LEAST,
        };
        let is_chosen = must_be_compared || number.is_multiple_of(ONE_OF);
        let kept = || Kept { must_be_compared, writes: self.writes.clone(), ..Kept::default() };
        is_chosen.then(|| Box::new(kept()))
    }

    /// An operation was answered.
    pub fn tell(&self, kept: Box<Kept>) {
        if kept.must_be_compared {
            // Only a comparison that has ended takes none, and it ends after the loops.
            let _ = self.answers.send(kept);
        } else if let Err(TrySendError::Full(_)) = self.answers.try_send(kept) {
            self.skipped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Where the load is, where it writes what is read.
    #[must_use]
    pub fn frontier(&self) -> Option<&Arc<Frontier>> {
        self.writes.frontier()
    }
}
