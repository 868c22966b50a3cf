//! What the tool itself costs, on a backend that does nothing:
//!
//! - the closed loop's ceiling in operations a second, and the client's CPU time for one;
//! - an open loop at 100,000 operations a second: what was dropped or left;
//! - the pacing error at 1,000 and 5,000 operations a second.
//!
//! ```text
//! cargo bench --bench ceiling
//! ```

use iotbench::{Benchmark, BenchmarkError, Level, Outcome};
use std::io::Write;

const SECONDS: u32 = 5;

fn main() -> Result<(), BenchmarkError> {
    // `cargo test` runs benches with this flag to see that they start; a run of seconds says nothing more.
    if !std::env::args().any(|a| a == "--bench") {
        return Ok(());
    }
    let closed = run("closed", "load.users=50")?;
    let ok = f64::from(u32::try_from(closed.load.ok).unwrap_or(u32::MAX));
    let cpu_s = closed.machine.resources.first().and_then(|r| r.cpu.total_s).unwrap_or(f64::NAN);
    say(&format!("closed loop: {:.0} operations/s, {:.2} µs of CPU each", ok / f64::from(SECONDS), cpu_s / ok * 1e6));
    let open = run("open", "load.rate=100000")?;
    let load = open.load;
    say(&format!(
        "open loop at 100,000/s: offered {}, dropped {}, pending {}",
        load.offered, load.dropped, load.pending
    ));
    for rate in [1_000, 5_000] {
        let paced = run("open", &format!("load.rate={rate}"))?;
        let quantile = |level| paced.client.pacing_error.value_at(level).unwrap_or(0) / 1000;
        let (p50, p99) = (quantile(Level::P50), quantile(Level::P99));
        say(&format!("pacing error at {rate}/s: p50 {p50} µs, p99 {p99} µs"));
    }
    Ok(())
}

fn run(model: &str, setting: &str) -> Result<Outcome, BenchmarkError> {
    Benchmark::builtin("machine_write")?
        .backend("blackhole")
        .set(&format!("model={model}"))
        .set(setting)
        .set("warmup=1s")
        .duration(&format!("{SECONDS}s"))
        .run()
}

fn say(line: &str) {
    // A closed pipe ends the output, not the bench.
    let _ = writeln!(std::io::stdout(), "{line}");
}
