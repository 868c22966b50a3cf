//! How many units does PostgreSQL sustain? The search of `iotbench capacity`, from asynchronous code, with its progress as a stream.
//!
//! ```text
//! IOTBENCH_BIN=target/release/iotbench cargo run --release --example capacity -- postgres
//! ```
//!
//! A private server is started for the search, and removed at its end. Without an argument it is of SQLite, and only brackets its
//! limit.

use iotbench::{Benchmark, Progress};
use std::{
    error,
    io::{self, Write},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn error::Error>> {
    let backend = std::env::args().nth(1);
    let search = Benchmark::builtin("pmu_write")?.criterion("p99<200ms");
    let search = match &backend {
        Some(backend) => search.backend(backend).trial("10s"),
        None => search.set("warmup=0s").trial("1s").trials(0).most(16),
    };
    let (search, progress) = search.progress();
    let said = async {
        while let Ok(progress) = progress.recv().await {
            match progress {
                Progress::Starting { server } => writeln!(io::stderr(), "starting {server}")?,
                Progress::Step(step) => writeln!(io::stderr(), "{} users", step.load)?,
                _ => {}
            }
        }
        Ok::<_, io::Error>(())
    };
    let (outcome, said) = tokio::join!(search.run_async(), said);
    said?;
    let outcome = outcome?;
    let bounds = outcome.capacity.as_ref().map(|capacity| capacity.bounds);
    let (lower, upper) = bounds.map_or((None, None), |bounds| (bounds.lower, bounds.upper));
    writeln!(io::stdout(), "{:?}: between {lower:?} and {upper:?} units", outcome.verdict.status)?;
    Ok(())
}
