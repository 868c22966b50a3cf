//! Pairs of blocks, one of each side, and the ratio of what they cost.

use crate::{Bare, readings::Readings, say};
use iotbench_core::{Database, Writer};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Odd, so that there is a middle one.
const PAIRS: usize = 101;
/// Rows of a request, and requests of a block. Blocks are short, so that both of a pair meet the same machine.
const SIZES: [(u16, u32); 3] = [(1, 100), (50, 30), (1000, 4)];
/// What iotbench may cost, as a multiple of the bare program.
const MOST: f64 = 1.3;

/// CPU time for a row, in microseconds.
struct Pair {
    bare_us: f64,
    ours_us: f64,
}

/// Compares a bare program with a writer of this database, at each size of request.
pub async fn compare<B: Bare>(name: &str, database: &dyn Database, bare: &mut B) {
    let mut writer = database.writer().await.unwrap();
    for (rows, requests) in SIZES {
        let readings = Readings::new(rows);
        // Statements are prepared, and buffers have their size.
        block(bare, &readings, 5).await;
        our_block(&mut *writer, &readings, 5).await;
        let mut pairs = Vec::with_capacity(PAIRS);
        for pair in 0..PAIRS {
            // Each side goes first in every other pair.
            let (bare_cpu, our_cpu) = if pair % 2 == 0 {
                let bare_cpu = block(bare, &readings, requests).await;
                (bare_cpu, our_block(&mut *writer, &readings, requests).await)
            } else {
                let our_cpu = our_block(&mut *writer, &readings, requests).await;
                (block(bare, &readings, requests).await, our_cpu)
            };
            let all_rows = f64::from(rows) * f64::from(requests);
            let of_row = |cpu: Duration| cpu.as_secs_f64() * 1e6 / all_rows;
            pairs.push(Pair { bare_us: of_row(bare_cpu), ours_us: of_row(our_cpu) });
        }
        report(name, B::NAME, rows, &pairs);
    }
}

async fn block(bare: &mut impl Bare, readings: &Readings, requests: u32) -> Duration {
    let before = cpu();
    for _ in 0..requests {
        bare.write(readings).await;
    }
    cpu() - before
}

async fn our_block(writer: &mut dyn Writer, readings: &Readings, requests: u32) -> Duration {
    let before = cpu();
    for _ in 0..requests {
        let acknowledged = writer.write(&readings.batch).await.unwrap();
        assert_eq!(acknowledged.points, readings.batch.len() as u64);
    }
    cpu() - before
}

/// The CPU time of this process, in user and kernel mode.
pub fn cpu() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap()
}

fn report(name: &str, other: &str, rows: u16, pairs: &[Pair]) {
    let sorted = |of: fn(&Pair) -> f64| {
        let mut values: Vec<_> = pairs.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let (bare, ours) = (sorted(|pair| pair.bare_us), sorted(|pair| pair.ours_us));
    let ratios = sorted(|pair| pair.ours_us / pair.bare_us);
    let (quarter, half) = (PAIRS / 4, PAIRS / 2);
    let verdict = if ratios[half] <= MOST { "" } else { "  TOO MUCH" };
    say(&format!(
        "{name:<17} {rows:>5} rows: {other} {:>7.2}, iotbench {:>7.2} µs of CPU a row; ratio {:.2}, half of the pairs {:.2} \
         to {:.2}{verdict}",
        bare[half],
        ours[half],
        ratios[half],
        ratios[quarter],
        ratios[PAIRS - 1 - quarter]
    ));
}
