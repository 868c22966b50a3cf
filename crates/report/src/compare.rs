//! Two sides of runs held against each other: what changed, how sure that is, and whether it is a regression. Pure.

mod likeness;
mod markdown;
mod metric;
mod sides;
mod text;

pub(crate) use likeness::unlike;
pub use likeness::{Aspect, Unlike};
pub use markdown::markdown_comparisons;
pub use metric::{METRICS, Metric, find_metric};
pub(crate) use sides::valid;
pub use sides::{Across, CompareError};
pub(crate) use text::{percent, shown};
pub use text::{render_comparisons, render_noise};

use crate::{document::Document, upper_ends::remarks_of_upper_ends};
use iotbench_statistics::{
    Direction, Judged, MAX_RUNS, NoDifference, PUBLISHABLE_REPETITIONS, Test, Verdict, judge_family, noise_floor,
};
use serde::Serialize;
use sides::Sides;

/// How runs are compared.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// A smaller change, as a part of the base, does not matter.
    pub threshold: f64,
    /// What is compared and gated; empty: everything, with the usual gate.
    pub metrics: Vec<&'static Metric>,
    /// What may differ.
    pub across: Across,
    /// The noise floor of the base as well, by random halvings from this seed.
    pub noise_floor: Option<u64>,
}

/// Everything that is alike, with the usual gate, where a change of less than 3 % does not matter.
impl Default for CompareOptions {
    fn default() -> Self {
        Self { threshold: 0.03, metrics: Vec::new(), across: Across::default(), noise_floor: None }
    }
}

/// Two sides compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The profile, with its variant.
    pub profile: String,
    /// What is compared with.
    pub base: SideSummary,
    /// What is judged.
    pub new: SideSummary,
    /// `paired`: the runs lay in time in pairs; `apart`: they did not.
    pub design: &'static str,
    /// How the intervals were made.
    pub method: &'static str,
    /// A smaller change does not matter, in percent.
    pub threshold_pct: f64,
    /// The metrics that both sides have.
    pub metrics: Vec<MetricChange>,
    /// What comparisons of equals find, of the base; empty: not asked for, or fewer than four runs.
    pub noise_floor: Vec<MetricNoise>,
    /// What differs between the sides.
    pub differs: Vec<Unlike>,
    /// Runs that are not valid and therefore in no figure, and why.
    pub left_out: Vec<String>,
    /// What a reader has to know.
    pub remarks: Vec<String>,
    /// Whether a gated metric is worse, after Holm over all gated ones.
    pub is_regression: bool,
}

/// One side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SideSummary {
    /// Database, layout and strategy.
    pub target: String,
    /// The runs, by their start.
    pub runs: Vec<String>,
}

/// One metric of both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricChange {
    /// Its name.
    pub metric: &'static str,
    /// `less` or `more`.
    pub better: &'static str,
    /// Whether a regression of it counts.
    pub is_gated: bool,
    /// The geometric mean of the base; null without an interval.
    pub base: Option<f64>,
    /// That of the new side.
    pub new: Option<f64>,
    /// new / base − 1 in percent.
    pub change_pct: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low_pct: Option<f64>,
    /// Its upper end.
    pub high_pct: Option<f64>,
    /// The p value after Holm over the gated metrics.
    pub p_holm: Option<f64>,
    /// `better`, `worse`, `same` or `undecided`.
    pub verdict: &'static str,
    /// Of what is undecided: about so many runs more a side would decide it.
    pub more_runs: Option<usize>,
    /// Why it is undecided.
    pub why: Option<String>,
    /// Whether it is gated, worse, and believed after Holm.
    pub is_regression: bool,
}

/// How far equals lie apart in a metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricNoise {
    /// The metric's name.
    pub metric: &'static str,
    /// Runs in each half.
    pub runs_a_side: usize,
    /// 95 % of the comparisons of equals find a smaller change, in percent.
    pub floor_pct: f64,
    /// The share of them that find a certain change of at least the threshold, in percent.
    pub alarms_pct: f64,
}

/// Runs of the same on both sides.
#[derive(Clone, Debug)]
pub struct Cell {
    /// What is compared with.
    pub base: Vec<Document>,
    /// What is judged.
    pub new: Vec<Document>,
}

/// Compares each cell; the gate is one over the metrics of all of them.
///
/// # Errors
/// Runs that are not valid, or not alike, where that is not allowed; see [`CompareError`].
pub fn compare(cells: Vec<Cell>, options: &CompareOptions) -> Result<Vec<Comparison>, CompareError> {
    let hold = |cell: Cell| {
        let sides = Sides::new(cell.base, cell.new, options.across)?;
        let measures = measures(&sides, options);
        if measures.is_empty() { Err(CompareError::NoMetric) } else { Ok((sides, measures)) }
    };
    let held: Vec<(Sides, Vec<Measure>)> = cells.into_iter().map(hold).collect::<Result<_, _>>()?;
    let tests: Vec<Test> = held.iter().flat_map(|(_, measures)| measures.iter().map(|m| m.test.clone())).collect();
    let mut judged = judge_family(&tests, options.threshold).into_iter();
    let comparison = |(sides, measures): (Sides, Vec<Measure>)| {
        let metrics = measures.iter().zip(judged.by_ref()).map(|(measure, judged)| changed(measure, &judged));
        let metrics = metrics.collect();
        finished(&sides, metrics, options)
    };
    Ok(held.into_iter().map(comparison).collect())
}

/// How far runs of one and the same thing lie apart.
///
/// # Errors
/// Runs that are not valid or not alike, where that is not allowed, or none at all.
pub fn noise_of(runs: Vec<Document>, options: &CompareOptions) -> Result<Vec<MetricNoise>, CompareError> {
    let runs = Sides::one(runs, options.across)?;
    Ok(noise(&runs, options))
}

/// A metric that every run of both sides has.
struct Measure {
    metric: &'static Metric,
    test: Test,
}

fn measures(sides: &Sides, options: &CompareOptions) -> Vec<Measure> {
    let measure = |metric: &'static Metric| {
        let base: Vec<f64> = sides.base.iter().map(|run| metric.of(run)).collect::<Option<_>>()?;
        let new: Vec<f64> = sides.new.iter().map(|run| metric.of(run)).collect::<Option<_>>()?;
        let sides = if sides.in_pairs {
            iotbench_statistics::Sides::Pairs(base.into_iter().zip(new).map(|(base, new)| [base, new]).collect())
        } else {
            iotbench_statistics::Sides::Apart { base, new }
        };
        let is_gated = metric.is_gated || !options.metrics.is_empty();
        Some(Measure { metric, test: Test { sides, direction: metric.direction, is_gated } })
    };
    chosen(options).filter_map(measure).collect()
}

fn chosen(options: &CompareOptions) -> impl Iterator<Item = &'static Metric> {
    let is_chosen = move |metric: &&'static Metric| {
        options.metrics.is_empty() || options.metrics.iter().any(|m| m.name == metric.name)
    };
    METRICS.iter().filter(is_chosen)
}

fn changed(measure: &Measure, judged: &Judged) -> MetricChange {
    let found = judged.difference.ok();
    let percent = |part: f64| part * 100.0;
    let runs = match &measure.test.sides {
        iotbench_statistics::Sides::Pairs(pairs) => pairs.len(),
        iotbench_statistics::Sides::Apart { base, new } => base.len().min(new.len()),
    };
    let needed = match judged.difference {
        Err(NoDifference::TooFewRuns) => Some(PUBLISHABLE_REPETITIONS),
        Err(NoDifference::NotPositive) => None,
        Ok(_) => judged.runs_needed,
    };
    let more_runs = needed.map(|needed| needed.saturating_sub(runs).max(1));
    MetricChange {
        metric: measure.metric.name,
        better: match measure.metric.direction {
            Direction::LessIsBetter => "less",
            Direction::MoreIsBetter => "more",
        },
        is_gated: measure.test.is_gated,
        base: found.map(|d| d.base),
        new: found.map(|d| d.new),
        change_pct: found.map(|d| percent(d.change)),
        low_pct: found.map(|d| percent(d.low)),
        high_pct: found.map(|d| percent(d.high)).filter(|high| high.is_finite()),
        p_holm: judged.p_holm,
        verdict: match judged.verdict {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Same => "same",
            Verdict::Undecided => "undecided",
        },
        more_runs,
        why: match (judged.difference, judged.verdict, more_runs) {
            (Err(error), _, None) => Some(error.to_string()),
            (Err(error), _, Some(more)) => Some(format!("{error}; {more} more would tell")),
            (Ok(_), Verdict::Undecided, Some(more)) => {
                Some(format!("about {} a side would decide it", runs_in_words(more)))
            }
            (Ok(_), Verdict::Undecided, None) => Some(format!("more than {MAX_RUNS} runs a side would be needed")),
            _ => None,
        },
        is_regression: judged.is_regression,
    }
}

fn runs_in_words(more: usize) -> String {
    if more == 1 { "1 more run".into() } else { format!("{more} more runs") }
}

fn finished(sides: &Sides, metrics: Vec<MetricChange>, options: &CompareOptions) -> Comparison {
    let summary = |runs: &[Document]| SideSummary {
        target: runs.first().map(|run| run.target.title()).unwrap_or_default(),
        runs: runs.iter().map(|run| run.run_id.clone()).collect(),
    };
    let least = sides.base.len().min(sides.new.len());
    let lacking = chosen(options).filter(|metric| {
        let runs = || sides.base.iter().chain(&sides.new);
        let lacks = runs().filter(|run| metric.of(run).is_none()).count();
        lacks > 0 && (lacks < runs().count() || !options.metrics.is_empty())
    });
    let remarks = [
        (!sides.in_pairs && least > 1).then(|| {
            "the runs were not interleaved in pairs: how far the machine drifted between their sittings is unknown, and may be all of \
             a difference; make both sides by turns (docs/compare.md) before you act on one"
                .into()
        }),
        (least < PUBLISHABLE_REPETITIONS)
            .then(|| format!("fewer than {PUBLISHABLE_REPETITIONS} runs a side: not for publication")),
    ];
    let compared: Vec<&'static str> = metrics.iter().map(|metric| metric.metric).collect();
    let is_regression = metrics.iter().any(|metric| metric.is_regression);
    Comparison {
        profile: sides.new.first().map(Document::profile_title).unwrap_or_default(),
        base: summary(&sides.base),
        new: summary(&sides.new),
        design: if sides.in_pairs { "paired" } else { "apart" },
        method: if sides.in_pairs { "Student's t of the log-ratios of pairs" } else { "Welch's t of the logarithms" },
        threshold_pct: options.threshold * 100.0,
        metrics,
        noise_floor: if options.noise_floor.is_some() { noise(&sides.base, options) } else { Vec::new() },
        differs: sides.differs.clone(),
        left_out: sides.left_out.clone(),
        remarks: lacking
            .map(|metric| format!("{} is not compared: not every run has it", metric.name))
            .chain(remarks_of_upper_ends(&sides.base.iter().chain(&sides.new), compared.iter().copied()))
            .chain(remarks.into_iter().flatten())
            .collect(),
        is_regression,
    }
}

fn noise(runs: &[Document], options: &CompareOptions) -> Vec<MetricNoise> {
    let of_metric = |metric: &'static Metric| {
        let figures: Vec<f64> = runs.iter().map(|run| metric.of(run)).collect::<Option<_>>()?;
        let found = noise_floor(&figures, options.threshold, options.noise_floor.unwrap_or_default())?;
        Some(MetricNoise {
            metric: metric.name,
            runs_a_side: found.runs_a_side,
            floor_pct: found.floor * 100.0,
            alarms_pct: found.alarms * 100.0,
        })
    };
    chosen(options).filter_map(of_metric).collect()
}
