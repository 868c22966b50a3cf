//! The storage under the database, probed between the trials of a search.

use iotbench_engine::{Outcome, PROBE_BYTES, StepFigures, StorageLevels, StorageProbe, work_levels};
use iotbench_recorder::Level;
use iotbench_report::{
    StorageProbeFigures, StorageProbes,
    rounding::{rounded, us},
};

pub(super) fn of_ramp(outcome: &Outcome, steps: &[StepFigures]) -> StorageProbes {
    let made: Vec<&StorageProbe> = steps.iter().flat_map(|step| &step.conditions.storage_probes).collect();
    let all = StorageProbe::pooled(made.iter().copied());
    let is_enough = all.appends() >= Level::P99.samples_needed();
    let levels = StorageLevels::of(made.iter().copied());
    let work = work_levels(made.iter().copied());
    let work_ns: Vec<u64> = made.iter().filter_map(|probe| probe.work_ns()).collect();
    let probing = &outcome.machine.storage_probing;
    let mut probes = StorageProbes {
        probes: made.len() as u64,
        appends: all.appends(),
        append_bytes: PROBE_BYTES as u64,
        p50_us: all.quantile_ns(0.5).map(us),
        p99_us: all.quantile_ns(0.99).filter(|_| is_enough).map(us),
        appends_per_s: all.per_s().and_then(rounded),
        processor_wait_pct: all.waiting_share().and_then(|share| rounded(100.0 * share)),
        p50_us_least: levels.map(|levels| us(levels.least_ns)),
        p50_us_most: levels.map(|levels| us(levels.most_ns)),
        work_us: StorageProbe::new(work_ns).quantile_ns(0.5).map(us),
        work_us_least: work.map(|[least, _]| us(least)),
        work_us_most: work.map(|[_, most]| us(most)),
        steps_judged: steps.iter().filter(|step| step.conditions.storage_drifted.is_some()).count() as u64,
        steps_repeated: steps.iter().map(|step| u64::from(step.conditions.drifted_before)).sum(),
        steps_drifted: steps.iter().filter(|step| step.conditions.storage_drifted == Some(true)).count() as u64,
        time_pct: (probing.elapsed_ns > 0)
            .then(|| 100.0 * probing.spent_ns as f64 / probing.elapsed_ns as f64)
            .and_then(rounded),
        drifted: None,
        not_probed: probing.not_probed.clone(),
    };
    probes.tell_drift(levels.is_some_and(StorageLevels::have_drifted));
    probes
}

pub(super) fn figures(probe: &StorageProbe) -> StorageProbeFigures {
    StorageProbeFigures {
        appends: probe.appends(),
        p50_us: probe.quantile_ns(0.5).map(us),
        p99_us: probe.quantile_ns(0.99).map(us),
        appends_per_s: probe.per_s().and_then(rounded),
        work_us: probe.work_ns().map(us),
    }
}
