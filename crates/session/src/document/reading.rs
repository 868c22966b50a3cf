//! What was read: whether it is the truth, and how long it took to be seen.

use iotbench_engine::Outcome;
use iotbench_recorder::Bounded;
use iotbench_report::{Answers, Cycles, Freshness, LatencySummary};

pub(super) fn answers(outcome: &Outcome) -> Option<Answers> {
    let answers = outcome.reading.answers.as_ref()?;
    let (reads, right, wrong) = (outcome.reading.counts, answers.cycles_right, answers.cycles_wrong);
    let cycles = Cycles { found: reads.cycles, not_found: reads.no_cycles, right, wrong };
    Some(Answers {
        cycles: (reads.cycles + reads.no_cycles > 0).then_some(cycles),
        requests: outcome.reading.counts.requests,
        computed_by_client: outcome.reading.counts.by_client,
        first_rows_us: (reads.with_rows > 0).then(|| reads.first_rows_ns as f64 / 1e3 / reads.with_rows as f64),
        changes: reads.changes,
        rows_changed: reads.rows_changed,
        mode: answers.mode.name().into(),
        right: answers.right,
        wrong: answers.wrong,
        not_judged: answers.not_judged,
        skipped: answers.skipped,
        examples: answers.examples.clone(),
    })
}

pub(super) fn freshness(outcome: &Outcome) -> Option<Freshness> {
    let freshness = outcome.reading.freshness.as_ref()?;
    let lag = Bounded::new(&freshness.lag, Some(&freshness.unseen), None);
    Some(Freshness { lag: LatencySummary::from(&lag), unseen: freshness.unseen.count() })
}
