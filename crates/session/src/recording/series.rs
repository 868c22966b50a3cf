//! `series.csv`: a row a second.

use crate::document::phase_word;
use iotbench_core::Counter;
use iotbench_engine::Second;
use iotbench_recorder::{Latency, Level, Recording};
use iotbench_report::COUNTER_COLUMN;
use iotbench_sampler::{Observation, OthersSecond, Reading, Sample};
use std::sync::Arc;

const COLUMNS: [&str; 21] = [
    "second",
    "seconds",
    "phase",
    "users",
    "offered",
    "started",
    "ok",
    "fail",
    "unknown",
    "dropped",
    "points_acked",
    "values_acked",
    "response_p50_us",
    "response_p99_us",
    "response_max_us",
    "service_p50_us",
    "service_p99_us",
    "actions",
    "others_cpu_pct",
    "steal_pct",
    "disturbed",
];

/// The columns of each role, after the role's name.
const RESOURCE_COLUMNS: [&str; 7] =
    ["cpu_pct", "rss_bytes", "pss_bytes", "disk_read_bytes", "disk_written_bytes", "net_rx_bytes", "net_tx_bytes"];

/// Turns seconds into rows. The roles of the first second decide the columns; later ones have none.
#[derive(Debug)]
pub(super) struct Series {
    roles: Vec<Role>,
    counters: Vec<Counter>,
    head_due: bool,
}

/// A role whose figures have columns, with its latest sample: counters become differences.
#[derive(Debug)]
struct Role {
    role: Arc<str>,
    node: u32,
    last: Option<Sample>,
}

impl Series {
    pub fn new() -> Self {
        Self { roles: Vec::new(), counters: Vec::new(), head_due: true }
    }

    /// The row of a second in which these actions of a scenario were begun, after the head if it is the first.
    pub fn row(&mut self, second: &Second<'_>, latency: &Latency, actions: &str) -> Result<Vec<u8>, csv::Error> {
        let mut csv = csv::Writer::from_writer(Vec::new());
        if self.head_due {
            self.head_due = false;
            let role = |r: &Reading| Role { role: Arc::clone(&r.role), node: r.node, last: None };
            self.roles = second.readings.iter().map(role).collect();
            self.counters = second.counters.read.to_vec();
            csv.write_record(self.head())?;
        }
        let mut row = counts(second);
        row.extend(durations(latency));
        row.push(actions.into());
        row.extend(others(second.others));
        for role in &mut self.roles {
            let reading = second.readings.iter().find(|r| r.role == role.role && r.node == role.node);
            row.extend(role.cells(reading));
        }
        let growth = |place: usize| second.counters.growth.get(place).copied().flatten();
        let cell = |place| growth(place).map(|growth| growth.to_string()).unwrap_or_default();
        row.extend((0..self.counters.len()).map(cell));
        csv.write_record(row)?;
        csv.into_inner().map_err(|e| e.into_error().into())
    }

    /// `client_cpu_pct`, …; from the second node of a role on, `server_1_cpu_pct`, ….
    fn head(&self) -> Vec<String> {
        let of_role = |role: &Role| {
            let name = if role.node == 0 { role.role.to_string() } else { format!("{}_{}", role.role, role.node) };
            RESOURCE_COLUMNS.map(|column| format!("{name}_{column}"))
        };
        let of_counter = |counter: &Counter| format!("{COUNTER_COLUMN}{}", counter.name());
        let roles = self.roles.iter().flat_map(of_role);
        COLUMNS.iter().map(ToString::to_string).chain(roles).chain(self.counters.iter().map(of_counter)).collect()
    }
}

/// The latencies of the successes of all kinds together, in `pooled`.
pub(super) fn pool(recording: &Recording, pooled: &mut Latency) {
    pooled.clear();
    for kind in 0..recording.kinds().len() {
        pooled.merge(recording.kind(kind).by_operation().ok());
    }
}

fn counts(second: &Second<'_>) -> Vec<String> {
    let window = second.window;
    let counts = window.counts();
    let mut cells = vec![window.first_second().to_string(), window.seconds().to_string(), phase_word(second.phase)];
    let numbers = [
        u64::from(second.users),
        counts.offered,
        counts.started,
        counts.ok,
        counts.fail,
        counts.unknown,
        counts.dropped,
        counts.points.acked,
        counts.values_acked,
    ];
    cells.extend(numbers.map(|n| n.to_string()));
    cells
}

/// Empty where the second has too few operations for the quantile.
fn durations(latency: &Latency) -> [String; 5] {
    let (response, service) = (latency.response(), latency.service());
    [
        response.quantile(Level::P50).ns(),
        response.quantile(Level::P99).ns(),
        response.max_ns(),
        service.quantile(Level::P50).ns(),
        service.quantile(Level::P99).ns(),
    ]
    .map(|ns| ns.map(|ns| (ns as f64 / 1e3).to_string()).unwrap_or_default())
}

/// Empty where it is not known.
fn others(others: Option<OthersSecond>) -> [String; 3] {
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    others.map_or_else(Default::default, |second| {
        [percent(second.cpu), percent(second.steal), u8::from(second.disturbed).to_string()]
    })
}

impl Role {
    /// The figures since the sample before; empty where one is missing.
    fn cells(&mut self, reading: Option<&Reading>) -> [String; 7] {
        let Some(Reading { observation: Observation::Sampled(now), .. }) = reading else { return Default::default() };
        let before = self.last.replace(*now).filter(|before| before.at < now.at);
        let growth = |figure: fn(&Sample) -> Option<u64>| {
            before.and_then(|before| figure(now)?.checked_sub(figure(&before)?)).map(|n| n.to_string())
        };
        let cpu_pct = before.map(|before| {
            let share = (now.cpu_s - before.cpu_s) / (now.at - before.at).as_secs_f64();
            format!("{:.1}", share * 100.0)
        });
        [
            cpu_pct,
            now.rss_bytes.map(|n| n.to_string()),
            now.pss_bytes.map(|n| n.to_string()),
            growth(|s| s.disk.read_bytes),
            growth(|s| s.disk.written_bytes),
            growth(|s| s.network.rx_bytes),
            growth(|s| s.network.tx_bytes),
        ]
        .map(Option::unwrap_or_default)
    }
}
