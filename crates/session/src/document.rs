//! The document of a run: what the engine found out, in the words of `run.json`, block by block.
//!
//! The blocks are filled by hand, so that no change inside the engine changes a file, and the report knows the document and no run.

mod agents;
mod audit;
mod capacity;
mod client;
mod estimate;
mod load;
mod machine;
mod points;
mod reading;
mod scenario;
mod schema_change;
mod search;
mod server_counters;
mod steady;
mod storage_probes;
mod target;
pub(crate) mod throughput;
mod usl;
mod verdict;
mod via;
mod writes_alone;

pub use audit::audit_of;

use iotbench_engine::{Outcome, Phase};
use iotbench_report::{
    Document, Latency, Provenance, SCHEMA, errors_by_cause, fingerprint_of_profile, remark_of_seen_late,
    rounding::{mean_us, time, timestamp},
};
use throughput::{measured_part, throughput, visibility};

/// The document of a run as it stands. A run that has ended with counts that do not balance is not valid, whatever its outcome
/// says.
#[must_use]
pub fn document_of(outcome: &Outcome, provenance: &Provenance) -> Document {
    let plan = &outcome.plan;
    let measured = outcome.measured.as_ref();
    let seen_late = client::seen_late(outcome);
    let latency = measured.map(|m| Latency::of(&m.recording, &seen_late));
    let others = machine::others(outcome);
    let (steady, of_steadiness) = steady::of_run(outcome).unzip();
    let mut remarks = plan.remarks.clone();
    remarks.extend(of_steadiness.into_iter().flatten());
    remarks.extend(remark_of_seen_late(latency.as_ref(), &seen_late));
    others.remarks(&mut remarks);
    let document = Document {
        schema: SCHEMA.into(),
        tool: provenance.tool.clone(),
        command: provenance.command.clone(),
        run_id: plan.run_id.clone(),
        profile: plan.profile.name.clone(),
        variant: Some(plan.profile.variant.clone()).filter(|variant| !variant.is_empty()),
        profile_sha256: fingerprint_of_profile(&plan.profile),
        fingerprint: String::new(),
        seed: plan.seed,
        origin: timestamp(plan.origin_ns),
        started: time(outcome.started),
        phase: phase_word(outcome.phase),
        verdict: verdict::of(&outcome.verdict),
        target: target::of_run(outcome, provenance.managed),
        load: load::of_run(outcome),
        points: points::of_run(outcome),
        answers: reading::answers(outcome),
        audit: audit::of_run(outcome),
        freshness: reading::freshness(outcome),
        visibility: measured.and_then(|m| m.visibility.as_ref()).map(visibility),
        via: via::of_run(outcome),
        scenario: scenario::of_run(outcome),
        schema_change: schema_change::of_run(outcome),
        measured: measured.map(measured_part),
        throughput: measured.map(throughput),
        latency,
        resources: machine::resources(outcome),
        others: Some(others),
        server_counters: server_counters::of_run(outcome),
        storage: points::storage(outcome),
        client: client::of_run(outcome),
        agents: agents::of_run(outcome),
        steady,
        capacity: capacity::of_run(outcome),
        writes_alone: writes_alone::of_run(outcome),
        sweep: load::swept(outcome),
        empty_transaction_us: outcome.empty_transaction_ns.and_then(mean_us),
        errors: measured.map(|m| errors_by_cause(m.recording.errors())).unwrap_or_default(),
        environment: provenance.environment.clone(),
        remarks,
    };
    document.complete()
}

/// A phase as one word, in `run.json` and in `series.csv`.
pub(crate) fn phase_word(phase: Phase) -> String {
    phase.name().replace(' ', "_")
}
