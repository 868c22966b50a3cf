//! What a machine cycle search costs on SQLite through all of iotbench, against a bare rusqlite loop that runs the same
//! statements on the same file, by turns:
//!
//! ```text
//! cargo bench --bench cycle_search
//! ```

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use iotbench::{
    BACKENDS, Layout, Registry,
    core::Target,
    engine::{Overrides, PlanRequest, RunOptions, StopSignal, VerifyMode, parse_profile, plan, run},
    find_profile,
};
use rusqlite::{Connection, ToSql};
use std::{
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(3);
const SECOND_NS: i64 = 1_000_000_000;
/// Thresholds of the search: half and an eighth of the abscissa's height.
const HIGH: f64 = 4095.0 / 2.0;
const LOW: f64 = 4095.0 / 8.0;

fn main() {
    // `cargo test` runs benches without this flag to see that they start; a run of seconds says nothing more.
    if !std::env::args().any(|a| a == "--bench") {
        return;
    }
    let mut out = std::io::stdout();
    for strategy in ["bulk", "individual"] {
        let folder = tempfile::tempdir().unwrap();
        // Leaves the history for all that follow.
        iotbench_rate(folder.path(), strategy);
        let mut rounds: Vec<(f64, f64)> = Vec::new();
        for _ in 0..ROUNDS {
            rounds.push((bare_rate(folder.path(), strategy), iotbench_rate(folder.path(), strategy)));
        }
        rounds.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
        let (bare, iotbench) = rounds[ROUNDS / 2];
        let ratios: Vec<String> = rounds.iter().map(|(bare, iotbench)| format!("{:.2}", iotbench / bare)).collect();
        writeln!(
            out,
            "{strategy}: bare {bare:.0} searches/s, iotbench {iotbench:.0}; ratios of {ROUNDS} rounds: {}",
            ratios.join(", ")
        )
        .unwrap();
    }
}

/// The searches a second of one user without think time.
fn iotbench_rate(folder: &Path, strategy: &str) -> f64 {
    let backend = Registry::new(BACKENDS).find("sqlite").unwrap();
    let profile = parse_profile("machine_read.toml", find_profile("machine_read").unwrap().toml).unwrap();
    let set = [format!("strategy={strategy}"), "model=closed".into(), "warmup=0s".into()].to_vec();
    let duration = Some(ROUND.as_millis().to_string() + "ms").map(|text| text.parse().unwrap());
    let overrides = Overrides { set, duration, layout: Some(Layout::Wide), ..Overrides::default() };
    let request = PlanRequest {
        profile: profile.with(&overrides).unwrap(),
        profile_file: "machine_read.toml".into(),
        base: folder,
        run_id: "bench".into(),
        target: Target { folder: Some(folder.to_owned()), ..Target::default() },
        now_ns: 0,
    };
    let options = RunOptions { keep: true, verify: VerifyMode::None, ..RunOptions::default() };
    let outcome = run(plan(request, backend).unwrap(), backend, options, &mut (), &StopSignal::default());
    assert!(outcome.verdict.reasons.is_empty(), "{:?}", outcome.verdict);
    outcome.load.ok as f64 / ROUND.as_secs_f64()
}

/// The searches a second of a program that does nothing else.
fn bare_rate(folder: &Path, strategy: &str) -> f64 {
    let connection = Connection::open(folder.join("iotbench.sqlite")).unwrap();
    let span: (i64, i64) = connection
        .query_row("SELECT min(ts), max(ts) FROM iotbench_machine_read", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    // As far from the edges as a search looks.
    let (first, length) = (span.0 + 3 * SECOND_NS, span.1 - span.0 - 6 * SECOND_NS);
    let (began, mut searches, mut t, mut sum) = (Instant::now(), 0_u32, 0_i64, 0.0);
    while began.elapsed() < ROUND {
        // Spread evenly over the history.
        t = (t + 7_368_787_069) % length;
        let sums = match strategy {
            "bulk" => bulk(&connection, first + t),
            _ => individual(&connection, first + t),
        };
        sum += sums.iter().sum::<f64>();
        searches += 1;
    }
    assert!(sum > 0.0);
    f64::from(searches) / began.elapsed().as_secs_f64()
}

const COLUMNS: &str = "SELECT ts, abscissa, channel_1, channel_2, channel_3, channel_4 FROM iotbench_machine_read \
                       WHERE ts BETWEEN ? AND ? ORDER BY ts, _rowid_";

/// The two whole seconds around a time, searched in memory.
fn bulk(connection: &Connection, t: i64) -> [f64; 5] {
    let second = t.div_euclid(SECOND_NS) - i64::from(t.rem_euclid(SECOND_NS) < SECOND_NS / 2);
    let (from, to) = (second * SECOND_NS, (second + 2) * SECOND_NS - 1);
    let mut points: Vec<(i64, [f64; 5])> = Vec::new();
    each(connection, from, to, |ts, values| points.push((ts, values)));
    let after = |place: usize, found: fn(f64) -> bool| {
        (place..points.len()).find(|&i| found(points[i].1[0])).unwrap_or(points.len() - 1)
    };
    let before = |place: usize, found: fn(f64) -> bool| (0..place).rev().find(|&i| found(points[i].1[0])).unwrap_or(0);
    let start = points.partition_point(|point| point.0 <= t);
    let t1 = after(start, |x| x > HIGH);
    let t2 = before(t1, |x| x < LOW);
    let t3 = before(t2, |x| x > HIGH);
    let t4 = (t3..=t2).min_by(|&a, &b| points[a].1[0].total_cmp(&points[b].1[0])).unwrap_or(t3);
    let t5 = after(t1, |x| x < LOW);
    let mut sums = [0.0; 5];
    points[t4..t5.max(t4)].iter().for_each(|(_, values)| add(&mut sums, values));
    sums
}

/// Five marks, one by one, and the cycle.
fn individual(connection: &Connection, t: i64) -> [f64; 5] {
    let one = |rest: &str, parameters: &[&dyn ToSql]| -> i64 {
        let sql = format!("SELECT ts, abscissa FROM iotbench_machine_read WHERE ts BETWEEN ? AND ? {rest}");
        let mut statement = connection.prepare_cached(&sql).unwrap();
        let mut rows = statement.query(parameters).unwrap();
        let row = rows.next().unwrap().unwrap();
        assert!(row.get::<_, u16>(1).unwrap() <= 4095);
        row.get(0).unwrap()
    };
    let t1 = one("AND abscissa > ? ORDER BY ts, _rowid_", &[&(t + 1), &i64::MAX, &HIGH]);
    let t2 = one("AND abscissa < ? ORDER BY ts DESC, _rowid_ DESC", &[&i64::MIN, &(t1 - 1), &LOW]);
    let t3 = one("AND abscissa > ? ORDER BY ts DESC, _rowid_ DESC", &[&i64::MIN, &(t2 - 1), &HIGH]);
    let t4 = one("AND abscissa IS NOT NULL ORDER BY abscissa, ts, _rowid_ LIMIT 1", &[&t3, &t2]);
    let t5 = one("AND abscissa < ? ORDER BY ts, _rowid_", &[&(t1 + 1), &i64::MAX, &LOW]);
    let mut sums = [0.0; 5];
    each(connection, t4, t5 - 1, |_, values| add(&mut sums, &values));
    sums
}

fn each(connection: &Connection, from: i64, to: i64, mut take: impl FnMut(i64, [f64; 5])) {
    let mut statement = connection.prepare_cached(COLUMNS).unwrap();
    let mut rows = statement.query([from, to]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let value = |place: usize| f64::from(row.get::<_, u16>(place).unwrap());
        take(row.get(0).unwrap(), [value(1), value(2), value(3), value(4), value(5)]);
    }
}

fn add(sums: &mut [f64; 5], values: &[f64; 5]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}
