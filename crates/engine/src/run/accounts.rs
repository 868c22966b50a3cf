//! What a load came to, once it has ended: every thread's account becomes part of the outcome.

use super::{Session, load::Running, scenario_actions::ScenarioActions};
use crate::{counters::CounterSeries, outcome::Outcome, scenario::Scenario, verdict::Reason, verify::Verifier};
use iotbench_recorder::WINDOW_NS;
use iotbench_sampler::SamplerReport;

impl Session<'_> {
    pub(super) fn settle_accounts(&mut self, mut running: Running, reasons: &mut Vec<Reason>) -> Result<(), Reason> {
        if let Some(altering) = running.altering.take() {
            self.end_schema_change(&running, altering);
        }
        let failure = running.control.failure();
        if running.ending.overran {
            let after_ns = self.planned.plan.phases.run_deadline_ns.unwrap_or(0);
            reasons.push(Reason::RunDeadline { after_s: after_ns / WINDOW_NS });
        }
        reasons.extend(running.ending.free_bytes_at_end.map(|free_bytes| Reason::NoRoom { free_bytes }));
        let joined = running.loading.join().map(|agents| self.outcome.agents = agents).map_err(Reason::Internal);
        // The last operations may have come since it was looked at last.
        self.note_schema_change(&running.control);
        self.outcome.scenario = running.acting.map(ScenarioActions::finish).map(|marks| {
            let measured = self.outcome.measured.as_ref();
            Scenario::of(marks, measured.map_or(&[], |m| &m.seconds), measured.map_or(0, |m| m.from_ns))
        });
        self.settle_counters(running.counters);
        if let Some(probe) = running.probe {
            // A probe that cannot read says nothing of the load: its result is missing, with the reason.
            match probe.finish() {
                Ok(freshness) => self.outcome.reading.freshness = Some(freshness),
                Err(error) => self.outcome.plan.remarks.push(format!("freshness was not measured: {}", error.message)),
            }
        }
        let client = &mut self.outcome.client;
        client.hiccups = match (&self.outcome.measured, &self.planned.plan.ramp) {
            (Some(measured), None) => measured.client.hiccups.clone(),
            _ => running.client.hiccups(0, u64::MAX),
        };
        client.ceiling_per_s = running.client.ceiling_per_s();
        client.lateness = running.client.finish();
        fill_resources(&mut self.outcome, running.sampling.sampler.stop());
        if let Some(elsewhere) = running.sampling.elsewhere {
            self.outcome.plan.remarks.extend(elsewhere.end());
        }
        let verified = running.verifier.map(Verifier::finish).transpose().map_err(Reason::Internal);
        let totals = running.totals;
        self.outcome.reading.counts = totals.reads;
        self.outcome.load = match (&self.outcome.measured, &self.planned.plan.ramp) {
            (Some(measured), None) => measured.recording.load(),
            _ => {
                let mut load = totals.load();
                self.options.resumed.iter().for_each(|step| load.merge(&step.load));
                load
            }
        };
        self.outcome.points = totals.counts.points;
        self.outcome.stored.values_acked = totals.counts.values_acked;
        if self.planned.plan.table.schema.added() > 0 && self.outcome.stored.schema_change.is_none() {
            let remark =
                "the signals that are to be added were not: no device came so far (dataset.added_signals.after)";
            self.outcome.plan.remarks.push(remark.into());
        }
        for agent in &self.outcome.agents {
            let lost = |why: &String| Reason::AgentLost { agent: agent.name.clone(), why: why.clone() };
            reasons.extend(agent.lost.as_ref().map(lost));
        }
        if self.outcome.lost_an_agent() {
            self.outcome.load.give_up();
            self.outcome.points.give_up();
        }
        if let Some(account) = &running.account {
            self.settle_carried(account, reasons);
        }
        self.outcome.client.pacing_error = totals.pacing_error;
        self.outcome.client.samples_dropped = totals.samples_dropped;
        if let Ok(answers) = &verified {
            self.outcome.reading.answers.clone_from(answers);
        }
        if self.planned.plan.reads() && self.outcome.lost_an_agent() {
            let remark =
                "what an agent read that was lost was compared by nobody else: its answers are not among those told";
            self.outcome.plan.remarks.push(remark.into());
        }
        for answers in self.outcome.agents.iter().filter_map(|agent| agent.answers.clone()) {
            self.outcome.reading.answers.get_or_insert_default().merge(answers);
        }
        super::finish::judge_measurement(&self.outcome, reasons);
        let remarks = super::finish::remarks_of_client(&self.outcome);
        self.outcome.plan.remarks.extend(remarks);
        self.checkpoint()?;
        joined?;
        verified?;
        match failure {
            Some((cause, message)) if reasons.iter().all(|r| !matches!(r, Reason::Target { .. })) => {
                Err(Reason::Target { cause, message })
            }
            _ => Ok(()),
        }
    }
}

impl Session<'_> {
    /// What the server counted of itself, and once what there is to say of looks that failed: a run is as good without them.
    fn settle_counters(&mut self, series: Option<CounterSeries>) {
        let Some((cost, stretch)) = series.map(CounterSeries::finish) else { return };
        // Of a ramp, each step has its own.
        if let Some(measured) = self.outcome.measured.as_mut().filter(|_| self.planned.plan.ramp.is_none()) {
            measured.counters = stretch;
        }
        if let Some(failure) = &cost.failure {
            let how_many = if cost.failed == cost.looks {
                "none".into()
            } else {
                format!("{} of {}", cost.looks - cost.failed, cost.looks)
            };
            self.outcome.plan.remarks.push(format!(
                "of the looks at what the server counts of itself {how_many} succeeded: {}; phases.server_counters = false leaves them out",
                failure.message
            ));
        }
        self.outcome.machine.counters = Some(cost);
    }
}

fn fill_resources(outcome: &mut Outcome, report: SamplerReport) {
    outcome.machine.sampler_cpu_pct = report.own_cpu_pct;
    // Of a search those of the step that is its answer.
    let of_step = outcome.measured.as_ref().map(|measured| measured.resources.clone());
    outcome.machine.resources = of_step.filter(|resources| !resources.is_empty()).unwrap_or(report.subjects);
    outcome.client.cpu_pct = outcome.machine.resources.first().and_then(|s| s.cpu.pct_mean);
}
