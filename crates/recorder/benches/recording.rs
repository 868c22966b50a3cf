//! What recording an operation costs, and how much of it is one of its histograms, such as that of the response times without
//! the client's own delay.
//!
//! ```text
//! cargo bench -p iotbench-recorder
//! ```

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use iotbench_recorder::{LatencyHistogram, OperationKind, Outcome, Payload, Recorder, Requests, Timing, WINDOW_NS};
use std::{hint::black_box, io::Write, time::Instant};

const OPERATIONS: u64 = 1_000_000;
const ROUNDS: usize = 21;

fn main() {
    // `cargo test` runs benches without this flag to see that they start; their figures say nothing then.
    if !std::env::args().any(|a| a == "--bench") {
        return;
    }
    let (mut operation, mut histogram) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        operation.push(of_operation());
        histogram.push(of_histogram());
    }
    say("an operation recorded", operation);
    say("one value in one histogram", histogram);
}

/// A response time of 50 µs to 13 ms, so that many buckets are met.
fn response_ns(number: u64) -> u64 {
    (50_000 << (number % 8)) + number.wrapping_mul(2_654_435_761) % 50_000
}

fn of_operation() -> f64 {
    let kinds = [OperationKind { name: "write".into(), requests: Requests::One }];
    let mut recorder = Recorder::new(kinds.into());
    let payload = Payload::undivided(Outcome::Ok, 1, 1, 1);
    nanoseconds(|number| {
        let due_ns = number * (WINDOW_NS / OPERATIONS);
        let timing = Timing::new(due_ns, due_ns + 20_000, due_ns + 20_000 + response_ns(number)).unwrap();
        recorder.complete(0, Outcome::Ok, &timing.with_own_delay(10_000), &payload);
    })
}

fn of_histogram() -> f64 {
    let mut histogram = LatencyHistogram::new();
    nanoseconds(|number| histogram.record(black_box(response_ns(number))))
}

/// Of each of so many.
#[expect(clippy::cast_precision_loss, reason = "counts and times far below 2^53")]
fn nanoseconds(mut each: impl FnMut(u64)) -> f64 {
    let start = Instant::now();
    (0..OPERATIONS).for_each(&mut each);
    start.elapsed().as_nanos() as f64 / OPERATIONS as f64
}

fn say(what: &str, mut ns: Vec<f64>) {
    ns.sort_by(f64::total_cmp);
    let [low, middle, high] =
        [ROUNDS / 4, ROUNDS / 2, ROUNDS * 3 / 4].map(|place| ns.get(place).copied().unwrap_or_default());
    // A closed pipe ends the output, not the bench.
    let _ = writeln!(std::io::stdout(), "{what}: {middle:.1} ns, half of the rounds {low:.1} to {high:.1} ns");
}
