//! What runs of the profile `tpcx_iot` come to in the words of TPCx-IoT, and what of its rules they do not keep. Pure.
//!
//! After TPC Express Benchmark IoT: IoTps are the readings of a measured run over its seconds. Of two runs the slower one is the performance run, whose
//! figure counts; the other is the repeatability run. $/kIoTps are 1000 P / IoTps. None of this is a result of the TPC.

use crate::{
    document::{Document, Status},
    price::PriceFile,
    printable::printable,
    terminal::{
        figure::{or_none, significant},
        table::paragraph,
        usable,
    },
};
use serde::Serialize;

/// The profile whose runs have these figures.
const PROFILE: &str = "tpcx_iot";
/// What stands with each of them.
pub(crate) const DISCLAIMER: &str = "not a TPC result";
/// A warm-up and a measured run take at least so long.
const SHORTEST_S: f64 = 1800.0;
/// Each sensor has at least so many readings stored a second in the mean.
const LEAST_RATE_OF_A_SENSOR: f64 = 20.0;
/// So many queries are asked to 10,000 readings.
const QUERIES: f64 = 5.0;
/// What the group of the profile that asks is called, with what parts it from its operations.
const DASHBOARDS: &str = "dashboards/";
/// So many runs are made.
const RUNS: usize = 2;

/// The figures of a database's runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IotPs {
    /// That this is no result of the TPC.
    pub disclaimer: &'static str,
    /// Database and layout.
    pub target: String,
    /// Readings a second of the performance run; null: fewer than two valid runs.
    pub iotps: Option<f64>,
    /// The performance run: the slowest of them.
    pub performance_run: Option<String>,
    /// Each valid run with its readings a second, the slowest first.
    pub runs: Vec<IotRun>,
    /// Money for a thousand of them; null: no price was given, or there are none.
    pub price_per_kiotps: Option<f64>,
    /// Its currency.
    pub currency: Option<String>,
    /// What TPCx-IoT demands of a result, and these runs do not keep.
    pub unmet: Vec<String>,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IotRun {
    /// Which.
    pub run_id: String,
    /// Readings acknowledged a second of the measured part.
    pub readings_per_s: f64,
}

impl IotPs {
    /// Of the runs of the profile among these, by database in their order; none where there are none.
    #[must_use]
    pub fn of(documents: &[Document], prices: &[PriceFile]) -> Vec<Self> {
        let mut targets: Vec<String> = Vec::new();
        for document in documents.iter().filter(|document| document.profile == PROFILE) {
            let target = document.target.title();
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        targets.into_iter().map(|target| Self::of_target(target, documents, prices)).collect()
    }

    fn of_target(target: String, documents: &[Document], prices: &[PriceFile]) -> Self {
        let own = |document: &&Document| document.profile == PROFILE && document.target.title() == target;
        let all: Vec<&Document> = documents.iter().filter(own).collect();
        let mut runs: Vec<(&Document, f64)> = all.iter().filter_map(|run| Some((*run, rate(run)?))).collect();
        runs.sort_by(|a, b| a.1.total_cmp(&b.1));
        let performance = runs.first().filter(|_| runs.len() >= RUNS);
        let iotps = performance.map(|(_, rate)| *rate);
        let name = all.first().map(|run| run.target.name()).unwrap_or_default();
        let price = prices.iter().find(|price| price.is_for(&name));
        Self {
            disclaimer: DISCLAIMER,
            iotps,
            performance_run: performance.map(|(run, _)| run.run_id.clone()),
            price_per_kiotps: price.zip(iotps).map(|(price, iotps)| 1000.0 * price.total() / iotps),
            currency: price.map(|price| price.currency.clone()),
            unmet: unmet(&all, &runs),
            runs: runs.iter().map(|(run, rate)| IotRun { run_id: run.run_id.clone(), readings_per_s: *rate }).collect(),
            target,
        }
    }

    /// The figures in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let each = self.runs.iter().map(|run| significant(run.readings_per_s)).collect::<Vec<_>>();
        let found = match (self.iotps, each.as_slice()) {
            (Some(iotps), [_, others @ ..]) => format!(
                "{} IoTps, of the performance run: the slower of {}. Repeatability run: {}.",
                significant(iotps),
                each.len(),
                others.join(", ")
            ),
            (_, [one]) => format!("{one} readings/s in the only valid run: IoTps are those of the slower of {RUNS}."),
            _ => "no valid run: no IoTps.".into(),
        };
        let price = match (self.price_per_kiotps, &self.currency) {
            (Some(price), Some(currency)) => format!("{} {currency}/kIoTps.", significant(price)),
            (None, Some(_)) => "$/kIoTps: n/a without IoTps.".into(),
            _ => "$/kIoTps: n/a, no price was given (iotbench report --price).".into(),
        };
        format!("{}: {found} {price}", self.target)
    }

    /// What is not kept, in a sentence.
    pub(crate) fn unmet_in_words(&self) -> String {
        format!("Of what TPCx-IoT demands these runs do not keep: {}.", self.unmet.join("; "))
    }
}

/// Readings a second of a run whose result can be believed.
fn rate(run: &Document) -> Option<f64> {
    let is_valid = run.verdict.status == Status::Valid;
    run.throughput.as_ref().filter(|_| is_valid)?.points_per_s.filter(|rate| *rate > 0.0)
}

/// What is demanded of all runs and not kept by each of them.
fn unmet(all: &[&Document], valid: &[(&Document, f64)]) -> Vec<String> {
    let mut unmet = Vec::new();
    if all.len() < RUNS {
        unmet.push(format!("{RUNS} runs: there is one"));
    }
    if valid.len() < all.len() {
        unmet.push(format!("{} of the runs are not valid", all.len() - valid.len()));
    }
    let shortest = |length: &dyn Fn(&Document) -> Option<f64>| {
        let lengths: Option<Vec<f64>> = all.iter().map(|run| length(run)).collect();
        lengths.and_then(|lengths| lengths.into_iter().reduce(f64::min))
    };
    let lengths = [
        ("a warm-up", shortest(&|run| run.measured.as_ref()?.from_s)),
        ("a measured run", shortest(&|run| run.measured.as_ref()?.length_s)),
    ];
    for (part, length_s) in lengths {
        if length_s.is_none_or(|length_s| length_s < SHORTEST_S) {
            let length = or_none(length_s, |length_s| format!("{} s", significant(length_s)));
            unmet.push(format!("{part} of at least {SHORTEST_S} s: the shortest took {length}"));
        }
    }
    let of_a_sensor = |(run, rate): &(&Document, f64)| Some(rate / f64::from(run.audit.as_ref()?.of_devices));
    let slowest: Option<Vec<f64>> = valid.iter().map(of_a_sensor).collect();
    match slowest.map(|rates| rates.into_iter().reduce(f64::min)) {
        Some(Some(rate)) if rate < LEAST_RATE_OF_A_SENSOR => {
            unmet.push(format!("{LEAST_RATE_OF_A_SENSOR} readings/s of each sensor: {} of each", significant(rate)));
        }
        None => unmet.push(format!("{LEAST_RATE_OF_A_SENSOR} readings/s of each sensor: not known")),
        Some(_) => {}
    }
    let asked: Option<Vec<f64>> = valid.iter().map(|(run, rate)| queries_to_10_000(run, *rate)).collect();
    let least = asked.and_then(|asked| asked.into_iter().reduce(f64::min));
    if let Some(queries) = least.filter(|queries| *queries < QUERIES) {
        unmet.push(format!("{QUERIES} queries to 10,000 readings: {}", significant(queries)));
    }
    unmet.push("two copies of each reading: not looked at".into());
    unmet
}

fn queries_to_10_000(run: &Document, rate: f64) -> Option<f64> {
    let (kinds, length_s) = (&run.latency.as_ref()?.kinds, run.measured.as_ref()?.length_s?);
    let queries = kinds.iter().filter(|kind| kind.name.starts_with(DASHBOARDS));
    let queries: u64 = queries.map(|kind| kind.by_operation.response.count).sum();
    #[expect(clippy::cast_precision_loss, reason = "fewer queries than 2^53")]
    let queries_per_s = queries as f64 / length_s;
    Some(queries_per_s / rate * 10_000.0)
}

/// The figures for a terminal of `columns` columns; `None`: none of the runs has such.
#[must_use]
pub fn render_iotps(documents: &[Document], columns: u16) -> Option<String> {
    let figures = IotPs::of(documents, &[]);
    let columns = usable(columns);
    let paragraphs = figures.iter().flat_map(|figures| [figures.sentence(), figures.unmet_in_words()]);
    let paragraphs: Vec<String> = paragraphs.map(|text| paragraph(&printable(&text), columns)).collect();
    (!paragraphs.is_empty()).then(|| format!("In the words of TPCx-IoT ({DISCLAIMER})\n{}", paragraphs.join("\n")))
}
