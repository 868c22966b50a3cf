//! Runs as a tidy table: a row for each run and figure. Pure.

mod parquet;

pub use parquet::render_parquet;

use crate::{
    contender::target,
    cost::Cost,
    document::{Document, Durations, Interval, LatencySummary, Resources},
};

/// A row of the tidy table. A `value` that is missing is not known, for the `reason`; `low` and `high` are the ends of its
/// 95 % confidence interval.
struct Row {
    /// In the order of [`TEXTS`].
    texts: [String; 6],
    /// In the order of [`NUMBERS`].
    numbers: [Option<f64>; 3],
    reason: String,
}

const TEXTS: [&str; 6] = ["run_id", "profile", "target", "verdict", "started", "metric"];
const NUMBERS: [&str; 3] = ["value", "low", "high"];
const REASON: &str = "reason";

/// A figure of a run; its name ends with its unit.
struct Figure {
    name: String,
    value: Option<f64>,
    interval: Option<Interval>,
    reason: String,
}

impl Figure {
    fn new(name: impl Into<String>, value: Option<f64>) -> Self {
        Self { name: name.into(), value, interval: None, reason: String::new() }
    }
}

/// The runs as CSV, a row for each run and figure, after a head. `costs` are those of the runs.
///
/// # Errors
/// None that a text in memory can have; the writer reserves the right.
pub fn render_tidy(documents: &[Document], costs: &[Cost]) -> Result<String, csv::Error> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(TEXTS.iter().chain(&NUMBERS).chain([&REASON]))?;
    for Row { texts, numbers, reason } in rows(documents, costs) {
        let numbers = numbers.map(|number| number.map(|number| number.to_string()).unwrap_or_default());
        csv.write_record(texts.iter().chain(&numbers).chain([&reason]))?;
    }
    let bytes = csv.into_inner().map_err(csv::IntoInnerError::into_error)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn rows(documents: &[Document], costs: &[Cost]) -> Vec<Row> {
    let of_run = |(document, cost): (&Document, &Cost)| {
        let document = document.printable().unwrap_or_else(|_| document.clone());
        let row = |figure: Figure| Row {
            texts: [
                document.run_id.clone(),
                document.profile_title(),
                target(&document),
                document.verdict.status.name().to_owned(),
                document.started.clone(),
                figure.name,
            ],
            numbers: [
                figure.value,
                figure.interval.and_then(|interval| interval.low),
                figure.interval.and_then(|interval| interval.high),
            ],
            reason: figure.reason,
        };
        figures(&document, cost).into_iter().map(row).collect::<Vec<_>>()
    };
    documents.iter().zip(costs).flat_map(of_run).collect()
}

fn figures(document: &Document, cost: &Cost) -> Vec<Figure> {
    let mut all = Vec::new();
    if let Some(capacity) = &document.capacity {
        all.push(Figure::new("capacity", capacity.limit()));
        all.push(Figure::new("capacity_lower", capacity.lower.map(f64::from)));
        all.push(Figure::new("capacity_upper", capacity.upper.map(f64::from)));
    }
    if let Some(throughput) = &document.throughput {
        let rates = [
            ("operations_per_s", throughput.operations_per_s),
            ("points_per_s", throughput.points_per_s),
            ("values_per_s", throughput.values_per_s),
            ("rows_read_per_s", throughput.rows_read_per_s),
        ];
        all.extend(rates.map(|(name, rate)| Figure::new(name, rate)));
    }
    if let Some(latency) = &document.latency {
        let Durations { response, service, lag } = &latency.by_operation;
        for (name, figures) in [("response", response), ("service", service), ("lag", lag)] {
            all.extend(durations(name, figures));
        }
    }
    all.extend(document.resources.iter().flat_map(resources));
    let count = |number: u64| Some(number as f64);
    let points = &document.points;
    all.extend([
        Figure::new("operations_offered", count(document.load.counts.offered)),
        Figure::new("operations_ok", count(document.load.counts.ok)),
        Figure::new("operations_failed", count(document.load.counts.fail)),
        Figure::new("operations_unknown", count(document.load.counts.unknown)),
        Figure::new("points_generated", count(points.counts.generated)),
        Figure::new("points_acked", count(points.counts.acked)),
        Figure::new("points_stored", points.stored.and_then(count)),
        Figure::new("points_lost", points.lost().and_then(count)),
        Figure::new("storage_bytes_per_point", document.storage.bytes_per_point),
    ]);
    all.extend(costs(cost));
    all
}

fn durations(name: &str, figures: &LatencySummary) -> Vec<Figure> {
    let range = |which: &str| {
        let (low, high) = figures.range(which)?;
        Some(format!("from {low} to {high} by the client's own delay"))
    };
    let quantiles = [
        ("p50", figures.p50),
        ("p90", figures.p90),
        ("p95", figures.p95),
        ("p99", figures.p99),
        ("p999", figures.p999),
    ];
    let quantile = |(level, value): (&str, Option<f64>)| Figure {
        interval: figures.ci95.get(level).copied(),
        reason: figures.unsupported.get(level).cloned().or_else(|| range(level)).unwrap_or_default(),
        ..Figure::new(format!("{name}_{level}_us"), value)
    };
    let exact = [("min", figures.min), ("mean", figures.mean), ("max", figures.max)];
    let exact = exact.map(|(which, value)| Figure {
        reason: range(which).unwrap_or_default(),
        ..Figure::new(format!("{name}_{which}_us"), value)
    });
    exact.into_iter().chain(quantiles.map(quantile)).collect()
}

fn resources(resources: &Resources) -> Vec<Figure> {
    let role =
        if resources.node == 0 { resources.role.clone() } else { format!("{}_{}", resources.role, resources.node) };
    let bytes = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64);
    let figures = [
        ("cpu_pct_mean", resources.cpu_pct_mean),
        ("cpu_s", resources.cpu_s),
        ("rss_bytes_mean", bytes(resources.rss_bytes_mean)),
        ("rss_bytes_max", bytes(resources.rss_bytes_max)),
        ("disk_read_bytes", bytes(resources.disk_read_bytes)),
        ("disk_written_bytes", bytes(resources.disk_written_bytes)),
        ("disk_written_least_bytes", bytes(resources.disk_written_least_bytes)),
        ("disk_written_most_bytes", bytes(resources.disk_written_most_bytes)),
        ("net_rx_bytes", bytes(resources.net_rx_bytes)),
        ("net_tx_bytes", bytes(resources.net_tx_bytes)),
        ("net_rx_least_bytes", bytes(resources.net_rx_least_bytes)),
        ("net_tx_least_bytes", bytes(resources.net_tx_least_bytes)),
    ];
    figures.into_iter().map(|(name, value)| Figure::new(format!("{role}_{name}"), value)).collect()
}

fn costs(cost: &Cost) -> Vec<Figure> {
    let money = cost.price.as_ref();
    let figures = [
        ("cpu_s_per_million", cost.cpu_s_per_million),
        ("bytes_written_per_million", cost.bytes_written_per_million),
        ("bytes_stored_per_million", cost.bytes_stored_per_million),
        ("energy_j_per_million", cost.energy_j_per_million),
        ("price", money.map(|price| price.per_million_datapoints)),
    ];
    let figure = |(key, value): (&str, Option<f64>)| {
        let name = match money.filter(|_| key == "price") {
            Some(price) => format!("price_per_million_{}", crate::printable(&price.system.currency)),
            None if key == "price" => "price_per_million".into(),
            None => format!("cost_{key}"),
        };
        let reason = cost.unknown.get(key).copied().unwrap_or_default().to_owned();
        Figure { reason, ..Figure::new(name, value) }
    };
    figures.into_iter().map(figure).collect()
}
