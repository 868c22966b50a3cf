//! Runs in, tables and ranks out.

use crate::{
    criterion::Criterion,
    formula::{Formula, LossError, Weight, ranks, score},
    score_file::{Half, ScoreFile},
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What a run tells about a contender.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its name.
    pub name: String,
    /// Its profile.
    pub profile: String,
    /// `backend:layout`.
    pub target: String,
    /// How reads are put together; none for runs that write.
    pub strategy: Option<String>,
    /// What an acknowledged write survives, in words; equal words are equal promises.
    pub promise: String,
    /// Why it cannot be believed; none of a valid run.
    pub refused: Option<String>,
    /// What it measured; the grades of difficulty are the score file's.
    pub figures: BTreeMap<Criterion, f64>,
}

/// The contenders in their order, with all that leads there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranking {
    /// The score file's name.
    pub score: String,
    /// Which reading of the formula.
    pub formula: Formula,
    /// Who took part.
    pub contenders: Vec<Contender>,
    /// The scores of writing; none without such runs.
    pub write: Option<Table>,
    /// The scores of reading; none without such runs.
    pub read: Option<Table>,
    /// The means of both, of contenders that have both.
    pub total: Vec<Total>,
    /// Runs that took no part.
    pub left_out: Vec<LeftOut>,
}

/// A database with a layout, and where it reads, a strategy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Contender {
    /// `backend:layout`, or `backend:layout:strategy`.
    pub name: String,
    /// What acknowledged writes of its runs survive.
    pub promises: Vec<String>,
    /// Its runs that write, whose mean counts.
    pub write_runs: Vec<String>,
    /// Its runs that read, whose mean counts.
    pub read_runs: Vec<String>,
}

/// One half of the score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// The profile.
    pub profile: String,
    /// The criteria.
    pub columns: Vec<Column>,
    /// The sum of the weights of the criteria that count.
    pub weights: f64,
    /// One a contender, in the order of the ranking's contenders.
    pub rows: Vec<Row>,
}

/// A criterion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// Which.
    pub criterion: Criterion,
    /// Its weight.
    pub weight: f64,
    /// The greatest loss; none when a contender lacks it, so that it counts for nobody.
    pub max: Option<f64>,
    /// Contenders that lack it.
    pub lacking: Vec<String>,
    /// Whether its losses are in the sum of losses; false only in the erratum's variant.
    pub counts: bool,
}

/// A contender's score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its name.
    pub contender: String,
    /// Its losses, a column each.
    pub losses: Vec<Option<f64>>,
    /// Each over the greatest; none where a criterion counts for nobody.
    pub normalised: Vec<Option<f64>>,
    /// Σ(L / max L × weight).
    pub weighted: f64,
    /// In percent.
    pub score_pct: f64,
    /// From 1.
    pub rank: usize,
}

/// A contender's total.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Total {
    /// Its name.
    pub contender: String,
    /// Its score of writing, in percent.
    pub write_pct: f64,
    /// Its score of reading, in percent.
    pub read_pct: f64,
    /// Their mean.
    pub total_pct: f64,
    /// From 1.
    pub rank: usize,
}

/// A run that took no part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub run: String,
    /// Why.
    pub reason: String,
}

/// Why there is no ranking.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RankError {
    /// No run can be ranked.
    #[error("no run can be ranked: {}", reasons(.0))]
    NoRuns(Vec<LeftOut>),
    /// Acknowledged writes survive different things.
    #[error(
        "these contenders promise different things of an acknowledged write, and are not ranked together: {}; score those \
         of one promise, or set across_durability in the score file (--across-durability) to rank them with the promise \
         beside each",
        .0.iter().map(|(name, promise)| format!("{name} ({promise})")).collect::<Vec<_>>().join(", ")
    )]
    Promises(Vec<(String, String)>),
    /// There is nothing that can be compared.
    #[error("{half}: {error}; lacking are: {lacking}")]
    Loss {
        /// Which half of the score.
        half: &'static str,
        /// What is wrong.
        error: LossError,
        /// Which criterion nobody can be scored by, and because of whom.
        lacking: String,
    },
}

fn reasons(left_out: &[LeftOut]) -> String {
    let reason = |run: &LeftOut| format!("{} ({})", run.run, run.reason);
    if left_out.is_empty() {
        "there is none".into()
    } else {
        left_out.iter().map(reason).collect::<Vec<_>>().join("; ")
    }
}

/// Ranks contenders by their valid runs of the score file's profiles.
///
/// Several runs of a contender count by the mean of each criterion; one that lacks a criterion makes the contender lack
/// it. Contenders that differ in how they read share the runs that write.
///
/// # Errors
/// No run is left; promises differ and the score file does not allow it; no criterion is known of every contender.
pub fn rank(file: &ScoreFile, runs: &[Run]) -> Result<Ranking, RankError> {
    let (taken, left_out) = sorted_out(file, runs);
    if taken.is_empty() {
        return Err(RankError::NoRuns(left_out));
    }
    let contenders = contenders(file, &taken);
    if !file.across_durability {
        refuse_mixture(&contenders)?;
    }
    let write = half_table(file, &contenders, &taken, &WRITE)?;
    let read = half_table(file, &contenders, &taken, &READ)?;
    let total = totals(write.as_ref(), read.as_ref());
    Ok(Ranking { score: file.name.clone(), formula: file.formula, contenders, write, read, total, left_out })
}

/// What differs between the halves of a score.
struct HalfOf {
    name: &'static str,
    half: fn(&ScoreFile) -> Option<&Half>,
    runs: fn(&Contender) -> &[String],
    /// Whether the erratum leaves the difficulty out.
    erratum: bool,
}

const WRITE: HalfOf =
    HalfOf { name: "write", half: |file| file.write.as_ref(), runs: |contender| &contender.write_runs, erratum: false };
const READ: HalfOf =
    HalfOf { name: "read", half: |file| file.read.as_ref(), runs: |contender| &contender.read_runs, erratum: true };

/// The runs that count, and those that do not.
fn sorted_out<'a>(file: &ScoreFile, runs: &'a [Run]) -> (Vec<&'a Run>, Vec<LeftOut>) {
    let profiles: Vec<&str> = [&file.write, &file.read].into_iter().flatten().map(|h| h.profile.as_str()).collect();
    let (mut taken, mut left_out): (Vec<&Run>, Vec<LeftOut>) = (Vec::new(), Vec::new());
    for run in runs {
        let twice = taken.iter().any(|other| other.name == run.name);
        let reason = match &run.refused {
            Some(reason) => reason.clone(),
            None if !profiles.contains(&run.profile.as_str()) => {
                format!("the score {} is about {}, and this is {}", file.name, profiles.join(" and "), run.profile)
            }
            None if twice => "it is named twice".into(),
            None => {
                taken.push(run);
                continue;
            }
        };
        left_out.push(LeftOut { run: run.name.clone(), reason });
    }
    (taken, left_out)
}

/// Contenders in the order in which their targets are first named, strategies by their order within a target.
fn contenders(file: &ScoreFile, runs: &[&Run]) -> Vec<Contender> {
    let mut targets: Vec<&str> = Vec::new();
    for run in runs {
        if !targets.contains(&run.target.as_str()) {
            targets.push(&run.target);
        }
    }
    let of_half = |run: &Run, half: &Option<Half>| half.as_ref().is_some_and(|half| half.profile == run.profile);
    let mut contenders = Vec::new();
    for target in targets {
        let own = || runs.iter().filter(|run| run.target == target);
        let writes: Vec<&&Run> = own().filter(|run| of_half(run, &file.write)).collect();
        let mut strategies: Vec<Option<&str>> = Vec::new();
        for run in own().filter(|run| of_half(run, &file.read)) {
            if !strategies.contains(&run.strategy.as_deref()) {
                strategies.push(run.strategy.as_deref());
            }
        }
        if strategies.is_empty() {
            contenders.push(contender(target.into(), &writes, &[]));
        }
        for strategy in strategies {
            let name = strategy.map_or_else(|| target.into(), |strategy| format!("{target}:{strategy}"));
            let reads = own().filter(|run| of_half(run, &file.read) && run.strategy.as_deref() == strategy);
            contenders.push(contender(name, &writes, &reads.collect::<Vec<_>>()));
        }
    }
    contenders
}

fn contender(name: String, writes: &[&&Run], reads: &[&&Run]) -> Contender {
    let names = |runs: &[&&Run]| runs.iter().map(|run| run.name.clone()).collect();
    let promises: BTreeSet<&str> = writes.iter().chain(reads).map(|run| run.promise.as_str()).collect();
    let promises = promises.into_iter().map(Into::into).collect();
    Contender { name, promises, write_runs: names(writes), read_runs: names(reads) }
}

fn refuse_mixture(contenders: &[Contender]) -> Result<(), RankError> {
    let promises: BTreeSet<&String> = contenders.iter().flat_map(|c| &c.promises).collect();
    if promises.len() < 2 {
        return Ok(());
    }
    Err(RankError::Promises(contenders.iter().map(|c| (c.name.clone(), c.promises.join(", "))).collect()))
}

/// The table of one half; none when the file or the runs do not have it.
fn half_table(
    file: &ScoreFile,
    contenders: &[Contender],
    runs: &[&Run],
    of: &HalfOf,
) -> Result<Option<Table>, RankError> {
    let Some(half) = (of.half)(file) else { return Ok(None) };
    let contenders: Vec<&Contender> = contenders.iter().filter(|c| !(of.runs)(c).is_empty()).collect();
    if contenders.is_empty() {
        return Ok(None);
    }
    let left_out = |criterion| of.erratum && file.formula == Formula::Erratum && criterion == Criterion::Difficulty;
    let weights: Vec<Weight> =
        half.weights.iter().map(|(&c, &weight)| Weight { weight, counts: !left_out(c) }).collect();
    let loss = |contender: &Contender, criterion: Criterion| match criterion {
        Criterion::Difficulty => grade(half, &contender.name),
        other => mean(runs.iter().filter(|run| (of.runs)(contender).contains(&run.name)), other),
    };
    let losses: Vec<Vec<Option<f64>>> =
        contenders.iter().map(|contender| half.weights.keys().map(|&c| loss(contender, c)).collect()).collect();
    let lacking: Vec<Vec<String>> = (0..weights.len()).map(|place| lacking(&contenders, &losses, place)).collect();
    let scored = score(&weights, &losses).map_err(|error| {
        let criteria = half.weights.keys().zip(&lacking);
        let words = criteria.map(|(criterion, names)| format!("{} of {}", criterion.name(), names.join(", ")));
        RankError::Loss { half: of.name, error, lacking: words.collect::<Vec<_>>().join("; ") }
    })?;
    let columns = half.weights.keys().zip(&weights).zip(&scored.max).zip(lacking);
    let columns = columns.map(|(((&criterion, weight), &max), lacking)| Column {
        criterion,
        weight: weight.weight,
        max,
        lacking,
        counts: weight.counts,
    });
    let rows = contenders.iter().zip(&losses).zip(scored.rows).map(|((contender, losses), row)| Row {
        contender: contender.name.clone(),
        losses: losses.clone(),
        normalised: row.normalised,
        weighted: row.weighted,
        score_pct: row.score_pct,
        rank: row.rank,
    });
    let (columns, rows) = (columns.collect(), rows.collect());
    Ok(Some(Table { profile: half.profile.clone(), columns, weights: scored.weights, rows }))
}

/// The contenders without a loss in this column.
fn lacking(contenders: &[&Contender], losses: &[Vec<Option<f64>>], place: usize) -> Vec<String> {
    let lacks = contenders.iter().zip(losses).filter(|(_, row)| row.get(place).is_none_or(Option::is_none));
    lacks.map(|(contender, _)| contender.name.clone()).collect()
}

/// The grade of a contender: its own, or that of all its strategies.
fn grade(half: &Half, contender: &str) -> Option<f64> {
    let target: Vec<&str> = contender.split(':').take(2).collect();
    let grades = &half.grades.0;
    grades.get(contender).or_else(|| grades.get(&target.join(":"))).copied()
}

/// The mean of a criterion over runs that all have it.
#[expect(clippy::cast_precision_loss, reason = "nobody has 2^53 runs")]
fn mean<'a>(runs: impl Iterator<Item = &'a &'a Run>, criterion: Criterion) -> Option<f64> {
    let figures: Option<Vec<f64>> = runs.map(|run| run.figures.get(&criterion).copied()).collect();
    let figures = figures.filter(|figures| !figures.is_empty())?;
    Some(figures.iter().sum::<f64>() / figures.len() as f64)
}

/// The means of both scores, of contenders that have both.
fn totals(write: Option<&Table>, read: Option<&Table>) -> Vec<Total> {
    let (Some(write), Some(read)) = (write, read) else { return Vec::new() };
    let both = read.rows.iter().filter_map(|read| {
        let write_pct = write.rows.iter().find(|row| row.contender == read.contender)?.score_pct;
        let total_pct = f64::midpoint(write_pct, read.score_pct);
        Some(Total { contender: read.contender.clone(), write_pct, read_pct: read.score_pct, total_pct, rank: 0 })
    });
    let mut totals: Vec<Total> = both.collect();
    let places = ranks(&totals.iter().map(|total| total.total_pct).collect::<Vec<_>>());
    totals.iter_mut().zip(places).for_each(|(total, rank)| total.rank = rank);
    totals
}
