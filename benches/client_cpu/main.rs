//! What the writers cost the client: CPU time of this process for a row, beside a minimal program with the same driver,
//! the same statement and the same readings, which are filled beforehand. Blocks of requests of the two take turns, so that
//! what else the machine does meets both alike.
//!
//! ```text
//! cargo bench --bench client_cpu [-- NAME…]        mariadb, postgres, influxdb, influxdb2, decode; all without a name
//! ```
//!
//! `influxdb2` holds the two clients of that backend side by side, our own and the crate of that name, which is there with
//! `--features influxdb2-crate`; the server is VictoriaMetrics, which takes the same requests.
//!
//! `decode` is about the readers: what a value costs, in an answer of many wide rows, on these servers and on SQLite.
//!
//! The servers are those of the tests: `IOTBENCH_TEST_<NAME>_URL`. One whose address is not set is left out, which is told,
//! and is an error where `IOTBENCH_REQUIRE_SERVERS=1`.

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

mod decode;
mod influxdb;
#[cfg(feature = "influxdb2-crate")]
mod influxdb2;
mod mariadb;
mod pairs;
mod postgres;
mod readings;

use readings::Readings;
use std::io::Write;
use url::Url;

fn main() {
    let mut arguments: Vec<_> = std::env::args().skip(1).collect();
    // `cargo test` runs benches without this flag to see that they start; a run of seconds says nothing more.
    if !arguments.iter().any(|a| a == "--bench") {
        return;
    }
    arguments.retain(|a| !a.starts_with('-'));
    let wanted = |name: &str| arguments.is_empty() || arguments.iter().any(|a| a == name);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        if let Some(url) = wanted("mariadb").then(|| address("mariadb")).flatten() {
            mariadb::compare(&url).await;
        }
        if let Some(url) = wanted("postgres").then(|| address("postgres")).flatten() {
            postgres::compare(&url).await;
        }
        if let Some(url) = wanted("influxdb").then(|| address("influxdb")).flatten() {
            influxdb::compare(&url).await;
        }
        #[cfg(feature = "influxdb2-crate")]
        if let Some(url) = wanted("influxdb2").then(|| address("victoriametrics")).flatten() {
            influxdb2::compare(&url).await;
        }
        #[cfg(not(feature = "influxdb2-crate"))]
        if wanted("influxdb2") {
            say("influxdb2: LEFT OUT, its other client is not built in: --features influxdb2-crate");
        }
        if wanted("decode") {
            decode::measure().await;
        }
    });
}

fn address(backend: &str) -> Option<Url> {
    let variable = format!("IOTBENCH_TEST_{}_URL", backend.to_uppercase());
    if let Ok(url) = std::env::var(&variable) {
        // Behind the address may stand other ports, a line each.
        return url.lines().next().map(|address| address.parse().unwrap());
    }
    let required = std::env::var("IOTBENCH_REQUIRE_SERVERS").is_ok_and(|value| value == "1");
    assert!(!required, "{variable} is not set, and IOTBENCH_REQUIRE_SERVERS=1 demands it");
    say(&format!(
        "{backend}: LEFT OUT, {variable} is not set: iotbench server start {backend}, then {variable}=$(iotbench server address {backend})"
    ));
    None
}

/// A program that writes by hand what a writer writes.
trait Bare {
    /// What it is called beside iotbench.
    const NAME: &'static str = "bare";

    /// Sends the readings as one request and waits until it is acknowledged.
    async fn write(&mut self, readings: &Readings);
}

fn say(line: &str) {
    // A closed pipe ends the output, not the bench.
    let _ = writeln!(std::io::stdout(), "{line}");
}
