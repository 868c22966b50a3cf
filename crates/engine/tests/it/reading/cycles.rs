//! The search for a machine cycle, by every strategy.

use super::{
    CLOSED, assert_believed, backend, profile, run_on,
    tampered::{Spoil, Tampered},
};
use iotbench_core::Backend;
use iotbench_engine::Reason;

const MACHINE: &str = "name = \"machine\"\ncycles = 3\ncycle_jitter = 0.1\nnoise = 0.005\njitter = \"100us\"";
const SEARCH: &str = r#"{ kind = "cycle_search" }"#;

#[test]
fn every_strategy_finds_the_cycles_that_the_truth_has() {
    let text = profile(MACHINE, 1, 8_000, CLOSED, SEARCH);
    for (backend, layouts) in [("memory", &["wide"][..]), ("sqlite", &["narrow", "wide", "document", "bulk"])] {
        for layout in layouts {
            for (strategy, least, most) in [("individual", 6, 6), ("bulk", 1, 3), ("bulk1", 2, 4)] {
                let what = format!("{backend}:{layout} {strategy}");
                let (strategy, layout) = (format!("strategy={strategy}"), format!("layout={layout}"));
                let set = [strategy.as_str(), layout.as_str(), "operations=20"];
                let outcome = run_on(self::backend(backend), &text, &set);
                let (answers, reads) = (outcome.reading.answers.as_ref().unwrap(), outcome.reading.counts);
                assert_believed(&outcome, &what);
                assert_eq!((reads.cycles, reads.no_cycles), (20, 0), "{what}");
                assert!(reads.with_rows > 0 && reads.with_rows <= reads.requests, "{what}: {reads:?}");
                assert!(reads.first_rows_ns > 0, "{what}: {reads:?}");
                assert_eq!((answers.cycles_right, answers.cycles_wrong), (20, 0), "{what}: {:?}", answers.examples);
                assert_eq!((answers.wrong, answers.right), (0, reads.requests), "{what}: {:?}", answers.examples);
                assert!((20 * least..=20 * most).contains(&reads.requests), "{what}: {} requests", reads.requests);
                let pooled = outcome.measured.as_ref().unwrap().recording.pooled();
                assert_eq!(pooled.by_operation().ok().response().count(), 20);
                assert_eq!(pooled.by_request().ok().service().count(), reads.requests, "{what}");
            }
        }
    }
}

#[test]
fn a_search_reads_as_the_layout_suggests() {
    let text = profile(MACHINE, 1, 8_000, CLOSED, SEARCH);
    for (layout, requests) in [("bulk", 1), ("narrow", 6)] {
        let chosen = format!("layout={layout}");
        let set = [chosen.as_str(), "operations=5"];
        let outcome = run_on(backend("sqlite"), &text, &set);
        assert!(
            outcome.reading.counts.requests >= 5 * requests && outcome.reading.counts.requests < 5 * (requests + 2),
            "{layout}"
        );
    }
}

/// What the abscissa alone shows needs fewer bytes.
#[test]
fn a_search_by_the_abscissa_first_reads_less() {
    let text = profile(MACHINE, 1, 8_000, CLOSED, SEARCH);
    let bytes = |strategy: &str| {
        let strategy = format!("strategy={strategy}");
        let outcome = run_on(backend("sqlite"), &text, &[&strategy, "operations=20", "users=1"]);
        outcome.measured.unwrap().counts.bytes
    };
    let (bulk, bulk1) = (bytes("bulk"), bytes("bulk1"));
    assert!(bulk1 * 3 < bulk * 2, "{bulk1} bytes and {bulk}");
}

#[test]
fn a_cycle_of_other_data_is_found_out() {
    static LIES: [&dyn Backend; 2] = [&Tampered(Spoil::Time), &Tampered(Spoil::Value)];
    let text = profile(MACHINE, 1, 8_000, CLOSED, SEARCH);
    for backend in LIES {
        let outcome = run_on(backend, &text, &["strategy=bulk", "operations=10"]);
        assert_eq!(outcome.verdict.exit_code(), 12);
        assert!(outcome.verdict.reasons.iter().any(|r| matches!(r, Reason::WrongAnswers { .. })));
        assert!(outcome.reading.answers.unwrap().wrong >= 10);
    }
}
