//! Studies beside runs that never were, of which is known what must come out.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::outcomes;
use iotbench_report::{
    Document, HtmlOptions, ReportedRun, Resources, Status, SuiteRun, render_html, render_study, study,
};
use iotbench_session::document_of;
use iotbench_suite::{Entry, Record, State, Study, SuiteFile};

const WEATHER: &str = include_str!("../../../../configs/suites/weather.toml");
const ABB: &str = include_str!("../../../../configs/suites/abb.toml");
const LITEME: &str = include_str!("../../../../configs/suites/liteme.toml");

/// Runs with their contenders, and what else the record holds.
#[derive(Default)]
struct Runs {
    done: Vec<(String, Document)>,
    others: Vec<Entry>,
}

impl Runs {
    fn add(&mut self, contender: &str, document: Document) {
        self.done.push((contender.into(), document));
    }

    fn study(&self, suite: &str) -> Study {
        let suite = SuiteFile::from_toml(suite).unwrap();
        let entry = |(contender, document): &(String, Document)| {
            entry(&document.profile, contender, State::Ended { folders: vec![], exit_code: 0, seconds: 1.0 })
        };
        let entries: Vec<Entry> = self.done.iter().map(entry).chain(self.others.clone()).collect();
        let record = Record::new(&suite.name, false, &entries, 1, 1);
        let runs: Vec<SuiteRun<'_>> =
            self.done.iter().map(|(contender, document)| SuiteRun { contender, document }).collect();
        study(&suite, &record, &runs, None)
    }

    fn page(&self, study: &Study) -> String {
        let runs: Vec<ReportedRun> = self.done.iter().map(|(_, d)| ReportedRun::of_document(d.clone())).collect();
        render_html(&runs, &HtmlOptions { study: Some(study), ..HtmlOptions::default() })
    }
}

fn entry(profile: &str, contender: &str, state: State) -> Entry {
    Entry { profile: profile.into(), target: contender.into(), form: None, run: 0, command: vec![], state }
}

fn document(outcome: &iotbench_engine::Outcome, profile: &str, contender: &str) -> Document {
    let mut document = document_of(outcome, &outcomes::provenance());
    let (backend, layout) = contender.split_once(':').unwrap();
    document.profile = profile.into();
    document.target.backend = backend.into();
    document.target.layout = layout.split(',').next().unwrap().into();
    document
}

/// A transaction of n inserts that takes so long.
fn inserts(contender: &str, n: u64, us: f64) -> Document {
    let mut outcome = outcomes::transactions();
    outcome.plan.sweep = Some(outcomes::swept(n));
    outcome.plan.groups[0].operation.requests = u32::try_from(n).unwrap();
    outcome.empty_transaction_ns = Some(100_000.0);
    let mut document = document(&outcome, "weather_insert", contender);
    document.latency.as_mut().unwrap().kinds[0].busy.as_mut().unwrap().mean = Some(us);
    document
}

/// PostgreSQL takes 100 µs for each insert and MongoDB 200; MySQL is not here.
fn weather() -> Runs {
    let mut runs = Runs::default();
    for n in [2_u32, 4, 6, 8, 10, 50, 100, 200, 500] {
        let (postgres, mongodb) = (f64::from(n) * 100.0, f64::from(n) * 200.0);
        runs.add("postgres:document", inserts("postgres:document", n.into(), postgres));
        runs.add("mongodb:document", inserts("mongodb:document", n.into(), mongodb));
    }
    let reason = "mysqld8 is not installed".to_owned();
    runs.others.push(entry("weather_insert", "mysql:document", State::NotAvailable { reason }));
    runs
}

#[test]
fn a_sweep_stands_beside_the_studys_classes() {
    let found = weather().study(WEATHER);
    let of = |title: &str| found.curves.iter().find(|curve| curve.title.starts_with(title)).unwrap();
    let line =
        |title: &str, name: &str| of(title).lines.iter().find(|line| line.name == name).unwrap().measured.clone();
    // Of 2 to 10 the mean is 6 inserts; the next class is above 10 and up to 100: 50 and 100.
    let times = [Some(0.6), Some(7.5), Some(35.0)];
    let close = |(a, b): (&Option<f64>, &Option<f64>)| (a.unwrap() - b.unwrap()).abs() < 1e-9;
    assert!(line("Table 4: insert transactions, time", "postgres:document").iter().zip(&times).all(close));
    // 0.1 ms of the empty transaction and 0.2 for each insert more.
    let jitter = line("Table 4: insert transactions, query jitter", "mongodb:document");
    assert!(jitter.iter().zip(&[Some(0.3); 3]).all(close), "{jitter:?}");
    assert_eq!(
        of("Table 4: insert transactions, time").verdict(),
        "The order of the contenders is that of the study at 2 of 3 places (10-100, 100-500). It differs at: 2-10 (0 of 1 \
         pairs)."
    );
    assert!(found.missing.contains(&"weather_insert on mysql:document: n/a: mysqld8 is not installed".to_owned()));
    assert!(found.conclusion().contains("Not wholly: Table 4: insert transactions, time (2 of 3)"));
}

#[test]
fn text_and_page_have_both_figures_and_the_same_conclusion() {
    let runs = weather();
    let found = runs.study(WEATHER);
    let text = render_study(&found, 100);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["383 | 35.0", "613 | 70.0", "470 | –", "Figure 6", "n/a: mysqld8 is not installed", &found.conclusion()]
    {
        assert!(words.contains(part), "{part} is missing in {text}");
    }
    let page = runs.page(&found);
    let plot = r#""label":"postgres:document, here""#;
    for part in ["Figure 6: execution time of n inserts", plot, "383 | 35.0", "n/a: mysqld8 is not installed"] {
        assert!(page.contains(part), "{part} is missing");
    }
    assert!(page.contains(&found.conclusion()));
}

#[test]
fn a_run_that_is_not_valid_has_no_figure_and_a_reason() {
    let mut runs = weather();
    for (_, document) in &mut runs.done {
        document.verdict.status = Status::Invalid;
        document.verdict.reasons = vec!["the client was the limit".into()];
    }
    let found = runs.study(WEATHER);
    assert!(found.conclusion().starts_with("Nothing of the study can be compared"));
    let why = "weather_insert on postgres:document: invalid: the client was the limit";
    assert!(found.missing.iter().any(|missing| missing == why), "{:?}", found.missing);
}

/// A ramp on a cluster of so many nodes; on machines of their own, or all on this one.
fn cluster(profile: &str, contender: &str, nodes: u32, capacity: u32, managed: bool) -> Document {
    let mut document = document(&outcomes::ramp(), profile, contender);
    let template = document.resources[0].clone();
    let node = |node| Resources { role: "cassandra".into(), node, ..template.clone() };
    document.resources = (0..nodes).map(node).collect();
    document.target.managed = managed;
    document.target.endpoints = (0..nodes).map(|node| format!("http://db-{node}:8080/")).collect();
    let found = document.capacity.as_mut().unwrap();
    (found.lower, found.estimate) = (Some(capacity), None);
    document
}

const KAIROSDB: &str = "kairosdb:wide, Cassandra";

fn answer(found: &Study, name: &str) -> String {
    found.hypotheses.iter().find(|hypothesis| hypothesis.name == name).unwrap().here.join(" ")
}

#[test]
fn nodes_of_one_machine_are_not_fitted() {
    let mut runs = Runs::default();
    runs.add(KAIROSDB, cluster("pmu_write", KAIROSDB, 1, 60, true));
    runs.add(&format!("{KAIROSDB}, 3 nodes"), cluster("pmu_write", KAIROSDB, 3, 40, true));
    let found = runs.study(ABB);
    assert_eq!(
        found.curves[0].lines.iter().find(|line| line.name == KAIROSDB).unwrap().measured[..2],
        [Some(60.0), Some(40.0)]
    );
    assert_eq!(
        answer(&found, "Linear scalability"),
        format!(
            "{KAIROSDB}: n/a: 2 cluster sizes were measured, and a fit needs 3; the nodes of the cluster of 3 share a machine."
        )
    );
    assert!(
        answer(&found, "Industrial workloads").contains("60 measurement units on 1 node, smart meters not measured")
    );
    assert!(answer(&found, "Resiliency").contains("n/a: no node was killed"));
}

#[test]
fn three_sizes_on_machines_of_their_own_are_fitted() {
    let mut runs = Runs::default();
    for (nodes, capacity) in [(3, 50), (6, 100), (12, 200)] {
        let contender = format!("{KAIROSDB}, {nodes} nodes");
        runs.add(&contender, cluster("pmu_write", KAIROSDB, nodes, capacity, false));
    }
    let mut failed = cluster("pmu_write", KAIROSDB, 3, 0, false);
    failed.capacity = None;
    failed.throughput.as_mut().unwrap().values_per_s = Some(1.0);
    failed.scenario = document(&outcomes::disturbed(), "pmu_write", KAIROSDB).scenario;
    let mut unnoticed = failed.clone();
    unnoticed.scenario.as_mut().unwrap().during.seconds = 0;
    runs.add(&format!("{KAIROSDB}, 3 nodes"), failed);
    runs.add(&format!("{KAIROSDB}, 3 nodes"), unnoticed);
    let mut mixed = document(&outcomes::mixed(), "pmu_wrs", KAIROSDB);
    mixed.resources.clear();
    runs.add(KAIROSDB, mixed);
    let found = runs.study(ABB);
    assert_eq!(
        answer(&found, "Linear scalability"),
        format!("{KAIROSDB}: near linear: from 3 to 12 nodes, capacity grows with nodes^1.00.")
    );
    let undisturbed = runs.done[0].1.throughput.as_ref().unwrap().values_per_s;
    assert_eq!(found.curves[1].lines[0].measured[1], undisturbed, "what was killed sustains nothing");
    let resiliency = answer(&found, "Resiliency");
    assert!(resiliency.contains("restart server 0 of 3 nodes: 1024.0 operations/s before, 211.5 meanwhile, 17 errors"));
    assert!(resiliency.contains("1024.0 operations/s before, no whole second below 90 % of that"), "{resiliency}");
    assert!(answer(&found, "Read/write independence").contains("pmu_wrs: reads slow writes down"));
    let text = render_study(&found, 100);
    assert!(text.contains("Hypotheses") && text.contains("study: near linear"), "{text}");
    assert!(runs.page(&found).contains("Figure 4: scalability, measurement units"));
}

#[test]
fn quartiles_are_boxes_on_the_page() {
    let mut runs = Runs::default();
    let mut one = document(&outcomes::fixed(450, 0, 0), "liteme", "influxdb:wide");
    let windows = one.throughput.as_mut().unwrap().windows.as_mut().unwrap();
    let spread = &mut windows.operations_per_s;
    (spread.min, spread.q1, spread.median, spread.q3, spread.max) =
        (Some(10.0), Some(20.0), Some(30.0), Some(40.0), Some(50.0));
    runs.add("influxdb:wide", one);
    let found = runs.study(LITEME);
    let page = runs.page(&found);
    assert!(page.contains("Figures 2 to 5") && page.contains(r#"aria-label="10.0, 20.0, 30.0, 40.0, 50.0""#));
    assert!(page.contains("printed, 0 to 20,000") && page.contains("here, 0 to 50.0"));
}
