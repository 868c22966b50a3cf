//! Who has the disk write later gains nothing by it.

use crate::outcomes;
use iotbench_engine::Outcome;
use iotbench_report::scored_run;
use iotbench_sampler::{DiskFigures, Method, Source, Summary, WithWriteBack, Writes};
use iotbench_scoring::Criterion;
use iotbench_session::document_of;

const MIB: u64 = 1 << 20;
const CHARGED: u64 = 30 * MIB;

/// A run that had the disk write 30 MiB, of which it took so much in the measured part, and the rest when all was written
/// back, if that was waited for.
fn run(taken_bytes: u64, waited: bool) -> Outcome {
    let mut outcome = outcomes::fixed(100, 0, 0);
    outcome.machine.resources[0].disk.written_bytes = Some(CHARGED);
    let with_write_back =
        WithWriteBack { written_bytes: Some(CHARGED), dirtied_bytes: Some(CHARGED), dirty_after_bytes: Some(0) };
    let machine = Summary {
        disk: DiskFigures {
            read_bytes: None,
            written_bytes: Some(taken_bytes),
            writes: Writes {
                cancelled_bytes: None,
                dirtied_bytes: Some(CHARGED),
                dirty_before_bytes: Some(0),
                dirty_after_bytes: Some(CHARGED - taken_bytes),
                with_write_back: waited.then_some(with_write_back),
            },
        },
        ..Summary::unknown("machine", Method { source: Source::Host, network: None })
    };
    outcome.machine.resources.push(machine);
    outcome
}

fn io_kb_per_s(outcome: &Outcome) -> Option<f64> {
    let run = scored_run(&document_of(outcome, &outcomes::provenance()));
    run.figures.get(&Criterion::ServerIoKbPerS).copied()
}

#[test]
fn who_defers_writing_gains_nothing_in_the_score() {
    let at_once = io_kb_per_s(&run(CHARGED, true));
    assert!(at_once.is_some_and(|kb| kb > 1_000.0), "{at_once:?}");
    assert_eq!(io_kb_per_s(&run(MIB / 32, true)), at_once);
}

#[test]
fn a_range_counts_for_nothing_in_the_score() {
    assert_eq!(io_kb_per_s(&run(MIB / 32, false)), None);
}
