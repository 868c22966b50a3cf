//! Which runs are compared, and whether they may be.

use super::likeness::{Aspect, Unlike, unlike};
use crate::document::{Document, Status};
use jiff::Timestamp;

/// What may differ although it decides results, because the user says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Across {
    /// Other profiles, seeds or loads.
    pub plans: bool,
    /// Other promises of an acknowledged write.
    pub durability: bool,
    /// Other machines.
    pub machines: bool,
    /// Runs that are not valid are left out, instead of ending the comparison.
    pub invalid: bool,
}

/// Runs that may be compared, each side in the order of its runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sides {
    pub(super) base: Vec<Document>,
    pub(super) new: Vec<Document>,
    /// Whether the runs lay in time in pairs, one of each side.
    pub(super) in_pairs: bool,
    /// What differs between the sides.
    pub(super) differs: Vec<Unlike>,
    pub(super) left_out: Vec<String>,
}

/// Why runs are not compared. All of these are the user's to decide: exit code 2.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// A side without a run.
    #[error("{side} has no valid run{}", named(.left_out))]
    NoRuns {
        /// Which side.
        side: &'static str,
        /// Its runs that are not valid, and why.
        left_out: Vec<String>,
    },
    /// A run on both sides.
    #[error("{0} is on both sides: nothing can be compared with itself")]
    Twice(String),
    /// Runs that are not valid.
    #[error("these runs are not valid, and their figures tell nothing: {}; --leave-out-invalid compares the others", .0.join(", "))]
    Invalid(Vec<String>),
    /// Nothing that both sides have.
    #[error("there is no metric that every run of both sides has: nothing can be compared")]
    NoMetric,
    /// Things that are not alike.
    #[error("{side} not alike, and a difference of theirs would tell nothing: {}{}", differences(.differs), ways(.differs))]
    Unlike {
        /// Whose runs, in words.
        side: &'static str,
        /// What differs.
        differs: Vec<Unlike>,
    },
}

fn named(runs: &[String]) -> String {
    if runs.is_empty() { String::new() } else { format!(": {}", runs.join(", ")) }
}

fn differences(differs: &[Unlike]) -> String {
    let words = differs.iter().map(|d| format!("{} ({} and {})", d.what, d.base, d.new));
    crate::printable(&words.collect::<Vec<_>>().join(", "))
}

/// The options by which the user may say that he wants it all the same.
fn ways(differs: &[Unlike]) -> String {
    let mut options: Vec<&str> = differs
        .iter()
        .map(|differs| match differs.aspect {
            Aspect::Plan => "--across-plans",
            Aspect::Durability => "--across-durability",
            Aspect::Machine => "--across-machines",
            Aspect::Subject => "runs of one thing on each side",
        })
        .collect();
    options.sort_unstable();
    options.dedup();
    format!("; if it is meant: {}", options.join(" "))
}

impl Sides {
    /// The runs of one side alone.
    pub(super) fn one(runs: Vec<Document>, across: Across) -> Result<Vec<Document>, CompareError> {
        let (runs, bad) = valid(runs);
        if !across.invalid && !bad.is_empty() {
            return Err(CompareError::Invalid(bad));
        }
        alike("the runs of BASE are", first("BASE", &runs, &bad)?, &runs, across)?;
        Ok(runs)
    }

    /// The runs of both sides, held against each other.
    pub(super) fn new(base: Vec<Document>, new: Vec<Document>, across: Across) -> Result<Self, CompareError> {
        let (base, mut bad) = valid(base);
        let (new, others) = valid(new);
        bad.extend(others);
        if !across.invalid && !bad.is_empty() {
            return Err(CompareError::Invalid(bad));
        }
        let (first_base, first_new) = (first("BASE", &base, &bad)?, first("NEW", &new, &bad)?);
        if let Some(twice) = base.iter().find(|run| new.iter().any(|other| other.run_id == run.run_id)) {
            return Err(CompareError::Twice(twice.run_id.clone()));
        }
        alike("the runs of BASE are", first_base, &base, across)?;
        alike("the runs of NEW are", first_new, &new, across)?;
        let differs = unlike(first_base, first_new);
        let refused = differs.iter().filter(|d| d.aspect != Aspect::Subject && !across.allows(d.aspect)).cloned();
        match refused.collect::<Vec<_>>() {
            refused if refused.is_empty() => {
                Ok(Self { in_pairs: in_pairs(&base, &new), base, new, differs, left_out: bad })
            }
            differs => Err(CompareError::Unlike { side: "BASE and NEW are", differs }),
        }
    }
}

impl Across {
    fn allows(self, aspect: Aspect) -> bool {
        match aspect {
            Aspect::Plan => self.plans,
            Aspect::Durability => self.durability,
            Aspect::Machine => self.machines,
            Aspect::Subject => false,
        }
    }
}

fn first<'a>(side: &'static str, runs: &'a [Document], bad: &[String]) -> Result<&'a Document, CompareError> {
    runs.first().ok_or_else(|| CompareError::NoRuns { side, left_out: bad.to_vec() })
}

/// Each side is one thing.
fn alike(side: &'static str, first: &Document, runs: &[Document], across: Across) -> Result<(), CompareError> {
    for run in runs {
        let differs: Vec<_> = unlike(first, run).into_iter().filter(|d| !across.allows(d.aspect)).collect();
        if !differs.is_empty() {
            return Err(CompareError::Unlike { side, differs });
        }
    }
    Ok(())
}

/// The valid runs by their start, and the others by name and reason.
pub(crate) fn valid(runs: Vec<Document>) -> (Vec<Document>, Vec<String>) {
    let (mut valid, invalid): (Vec<_>, Vec<_>) = runs.into_iter().partition(|run| run.verdict.status == Status::Valid);
    valid.sort_by_key(|run| (started(run), run.run_id.clone()));
    let reason = |run: &Document| {
        let verdict = std::iter::once(run.verdict.status.name()).chain(run.verdict.reasons.iter().map(String::as_str));
        format!("{} ({})", run.run_id, verdict.collect::<Vec<_>>().join(": "))
    };
    (valid, invalid.iter().map(reason).collect())
}

/// Whether every two runs that followed each other are one of each side.
fn in_pairs(base: &[Document], new: &[Document]) -> bool {
    let mut runs: Vec<(Timestamp, bool)> = base.iter().map(|run| (started(run), true)).collect();
    runs.extend(new.iter().map(|run| (started(run), false)));
    runs.sort_unstable();
    base.len() == new.len() && runs.chunks(2).all(|pair| matches!(pair, [a, b] if a.1 != b.1 && a.0 != b.0))
}

/// When a run began; what is no time is the epoch.
fn started(run: &Document) -> Timestamp {
    run.started.parse().unwrap_or_default()
}
