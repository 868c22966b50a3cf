//! A run watched while it goes on: the dashboard in a pseudo-terminal, and the figures that Prometheus reads.

use crate::end_to_end::{
    interruption::wait_for,
    program::{document, iotbench, only_folder, said},
    pseudo_terminal::PseudoTerminal,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::Command,
};

const ENDLESS: &[&str] = &["run", "--output-format", "json", "-p", "pmu_write", "--vus", "20", "-d", "1h"];

/// An endless run on SQLite whose dashboard shows figures.
fn shown(out: &Path) -> PseudoTerminal {
    let terminal = PseudoTerminal::start(&iotbench(out, &[ENDLESS, &["--ui"]].concat()), 30, 110);
    terminal.wait_for("figures", |text| text.contains("Response p50") && text.contains("CPU") && text.contains(" % "));
    terminal
}

#[test]
fn the_dashboard_shows_a_run_and_q_ends_it_in_order() {
    let out = tempfile::tempdir().unwrap();
    let mut terminal = shown(out.path());
    let text = terminal.text();
    let expected =
        ["pmu_write on sqlite:wide", "measure", "20 users", "ops/s", "values/s", "client+database", "no errors"];
    for word in expected {
        assert!(text.contains(word), "{word} is missing:\n{text}");
    }
    assert!(terminal.screen().alternate_screen() && !terminal.takes_lines());
    terminal.press("q");
    let mut document = String::new();
    terminal.child.stdout.take().unwrap().read_to_string(&mut document).unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(terminal.child.wait().unwrap().code(), Some(130));
    assert_eq!(document["verdict"]["status"], "aborted");
    assert_eq!(document["points"]["acked"], document["points"]["stored"]);
    terminal.assert_given_back();
    assert!(only_folder(out.path()).join("manifest.json").exists());
}

#[test]
fn the_terminal_is_given_back_whichever_way_the_program_ends() {
    let out = tempfile::tempdir().unwrap();
    let mut terminal = shown(out.path());
    terminal.press("\u{3}\u{3}");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(130), "Ctrl-C twice, as keys");
    terminal.assert_given_back();

    for (signal, code) in [(Signal::QUIT, None), (Signal::HUP, Some(129))] {
        let out = tempfile::tempdir().unwrap();
        let mut terminal = shown(out.path());
        kill_process(Pid::from_child(&terminal.child), signal).unwrap();
        let ended = terminal.child.wait().unwrap();
        assert_eq!((ended.code(), ended.signal()), (code, code.is_none().then_some(signal.as_raw())));
        terminal.assert_given_back();
    }
}

/// On a closed terminal nothing is drawn and no key is read: the run ends in order all the same.
#[test]
fn a_terminal_that_is_closed_ends_the_run_and_its_results_are_saved() {
    let out = tempfile::tempdir().unwrap();
    let ended = shown(out.path()).close().wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(129), "{}", said(&ended));
    let document = document(&ended);
    assert_eq!(document["verdict"]["status"], "aborted");
    assert_eq!(document["points"]["acked"], document["points"]["stored"]);
    assert!(only_folder(out.path()).join("manifest.json").exists());
}

#[test]
fn prometheus_reads_figures_that_only_grow_and_every_panel_has_its_own() {
    let out = tempfile::tempdir().unwrap();
    let mut child = iotbench(out.path(), &[ENDLESS, &["--metrics", ":0"]].concat()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let address =
        lines.find_map(|line| Some(line.strip_prefix("metrics: http://")?.strip_suffix("/metrics")?.to_owned()));
    let address = address.unwrap();
    let drained = std::thread::spawn(move || lines.for_each(drop));
    let read = || Exposition::read(&get(&address, "/metrics"));
    let ok = r#"iotbench_operations_total{profile="pmu_write",backend="sqlite",layout="wide",outcome="ok"}"#;
    let count = |exposition: &Exposition| exposition.samples.get(ok).copied().unwrap_or_default();
    wait_for("operations", || count(&read()) > 0.0);
    let first = read();
    // What a process used is known to a hundredth of a second.
    let cpu = |exposition: &Exposition| -> f64 {
        let of_cpu = exposition.samples.iter().filter(|(name, _)| name.starts_with("iotbench_cpu_seconds_total"));
        of_cpu.map(|(_, seconds)| seconds).sum()
    };
    wait_for("more operations and CPU time", || {
        let now = read();
        count(&now) > count(&first) && cpu(&now) > 0.0
    });
    let second = read();
    assert_only_growth(&first, &second);
    assert_eq!(second.samples[r#"iotbench_users{profile="pmu_write",backend="sqlite",layout="wide"}"#], 20.0);
    assert_panels_are_served(&second);
    assert!(get(&address, "/").starts_with("HTTP/1.1 404"));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    drained.join().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    // The seconds before the count began are served too, and the last ones are not read any more.
    assert!(document["load"]["ok"].as_f64().unwrap() > 0.0 && output.status.code() == Some(130));
}

/// Every counter, and every bucket, is at least what it was.
fn assert_only_growth(first: &Exposition, second: &Exposition) {
    let counts = |name: &str| ["_total{", "_bucket{", "_count{", "_sum{"].iter().any(|part| name.contains(part));
    let counters: Vec<_> = first.samples.iter().filter(|(name, _)| counts(name)).collect();
    assert!(counters.len() > 40, "{counters:?}");
    for (name, value) in counters {
        assert!(second.samples[name] >= *value, "{name} fell from {value} to {}", second.samples[name]);
    }
    let of = |part: &'static str| second.samples.iter().filter(move |(name, _)| name.starts_with(part));
    let mut buckets: Vec<(f64, f64)> = of("iotbench_response_seconds_bucket").map(bucket).collect();
    buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
    assert!(buckets.len() == 37 && buckets.is_sorted_by_key(|(_, count)| *count), "{buckets:?}");
    let all = of("iotbench_response_seconds_count").map(|(_, &count)| count).next().unwrap();
    assert_eq!(buckets.last(), Some(&(f64::INFINITY, all)));
}

/// The upper bound of a bucket, as Prometheus writes infinity, and how many are below it.
fn bucket((name, count): (&String, &f64)) -> (f64, f64) {
    let bound = name.split("le=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    assert!(bound.len() < 10, "{name}");
    (bound.parse().unwrap(), *count)
}

/// What the dashboard for Grafana asks for is served.
fn assert_panels_are_served(exposition: &Exposition) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/grafana/iotbench.json");
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let queries: Vec<&str> = targets.map(|target| target["expr"].as_str().unwrap()).collect();
    let variables = dashboard["templating"]["list"].as_array().unwrap().iter();
    let queries = queries.into_iter().chain(variables.filter_map(|variable| variable["query"]["query"].as_str()));
    let words = queries.flat_map(|query| query.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')));
    let asked: BTreeSet<&str> = words.filter(|word| word.starts_with("iotbench_")).collect();
    let missing: Vec<_> = asked.iter().filter(|name| !exposition.names.contains(**name)).collect();
    assert!(missing.is_empty(), "{missing:?} are not among {:?}", exposition.names);
    let shown: BTreeSet<_> =
        exposition.families.iter().filter(|family| asked.iter().any(|name| name.starts_with(*family))).collect();
    assert_eq!(shown.len(), exposition.families.len(), "every figure has a panel: {:?}", exposition.families);
}

/// An answer in OpenMetrics, as strictly as a reader takes it.
struct Exposition {
    families: BTreeSet<String>,
    /// The names that samples of these families have.
    names: BTreeSet<String>,
    samples: BTreeMap<String, f64>,
}

impl Exposition {
    fn read(answer: &str) -> Self {
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(head.contains("application/openmetrics-text; version=1.0.0"), "{head}");
        let body = body.strip_suffix("# EOF\n").unwrap_or_else(|| panic!("cut off: {body}"));
        let mut exposition = Self { families: BTreeSet::new(), names: BTreeSet::new(), samples: BTreeMap::new() };
        for line in body.lines() {
            if let Some(family) = line.strip_prefix("# TYPE ") {
                let (name, kind) = family.split_once(' ').unwrap();
                assert!(exposition.families.insert(name.into()), "{name} comes twice");
                let suffixes: &[&str] = match kind {
                    "counter" => &["_total"],
                    "gauge" => &[""],
                    "histogram" => &["_bucket", "_sum", "_count"],
                    _ => panic!("{line}"),
                };
                exposition.names.extend(suffixes.iter().map(|suffix| format!("{name}{suffix}")));
            } else if !line.starts_with("# HELP ") {
                let (name, value) = line.rsplit_once(' ').unwrap();
                assert!(exposition.names.contains(name.split('{').next().unwrap()), "{line} belongs to no family");
                assert!(exposition.samples.insert(name.into(), value.parse().unwrap()).is_none(), "{name} comes twice");
            }
        }
        exposition
    }
}

fn get(address: &str, path: &str) -> String {
    let mut connection = TcpStream::connect(address).unwrap();
    write!(connection, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}

/// The picture in README, by `scripts/screenshots`: a search whose dashboard is written as a page.
#[test]
#[ignore = "makes a picture, of the program IOTBENCH as the page IOTBENCH_PAGE"]
fn picture() {
    let (program, page) = (std::env::var("IOTBENCH").unwrap(), std::env::var("IOTBENCH_PAGE").unwrap());
    let out = tempfile::tempdir().unwrap();
    let mut command = Command::new(program);
    command.args(["run", "-p", "pmu_write", "--set", "ramp.first=1024", "--ui", "--out"]).arg(out.path());
    let mut terminal = PseudoTerminal::start(&command, 34, 120);
    terminal.wait_for("steps", |text| text.matches("users: ").count() >= 4 || text.contains("narrowing"));
    fs::write(page, html(&terminal.screen())).unwrap();
    terminal.press("q");
    terminal.child.wait().unwrap();
}

/// A screen as a page of this size.
fn html(screen: &vt100::Screen) -> String {
    let (rows, columns) = screen.size();
    let mut text = String::new();
    for row in 0..rows {
        for column in 0..columns {
            let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation()) else { continue };
            let character = match cell.contents() {
                "" => " ".into(),
                other => other.replace('&', "&amp;").replace('<', "&lt;"),
            };
            let color = match (cell.fgcolor(), cell.dim()) {
                (vt100::Color::Idx(1), _) => "#f66",
                (vt100::Color::Idx(2), _) => "#6d6",
                (vt100::Color::Idx(3), _) => "#fc5",
                (vt100::Color::Idx(6), _) => "#5cf",
                (_, true) => "#999",
                _ => "#eee",
            };
            let weight = if cell.bold() { "font-weight:bold;" } else { "" };
            let (front, back) = if cell.inverse() { ("#222", color) } else { (color, "#111") };
            text.push_str(&format!("<b style='{weight}color:{front};background:{back}'>{character}</b>"));
        }
        text.push('\n');
    }
    format!(
        "<!doctype html><meta charset=utf-8><style>body{{margin:0;background:#111}}\
         pre{{margin:12px;font:14px/17px 'DejaVu Sans Mono',monospace}}b{{font-weight:normal;display:inline-block;\
         width:8.43px;height:17px;overflow:hidden;vertical-align:top}}</style><pre>{text}</pre>"
    )
}
