//! The figures of each second, added up, for Prometheus.

mod address;
mod exposition;
mod server;
mod tally;

pub use address::MetricsAddress;

use crate::{error::SessionError, watch::ProgressFigures};
use iotbench_engine::{Event, Observer, Phase, Plan, Step};
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};
use tally::Tally;

/// What is served: one for a program, however many runs it has.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Mutex<Board>>);

/// What was loaded so far, and what is going on.
#[derive(Clone, Debug, Default)]
struct Board {
    /// A target's counts go on when it is run again, so that none ever falls.
    targets: Vec<(Target, Tally)>,
    present: Option<Present>,
}

/// The labels of a target. All are words of the program or names that need no quoting, as planning checks.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    profile: String,
    backend: String,
    layout: &'static str,
}

/// The run that is under way.
#[derive(Clone, Debug)]
struct Present {
    /// Its target's place.
    target: usize,
    phase: Phase,
    step: Option<Step>,
    /// The last second.
    figures: ProgressFigures,
}

impl Metrics {
    /// Begins to serve `/metrics`, and gives where: a port of 0 is any that is free. It ends with the program.
    ///
    /// # Errors
    /// The address cannot be listened at. It is taken now, so that one that is in use is told before anything is run.
    pub fn serve(address: MetricsAddress) -> Result<(Self, SocketAddr), SessionError> {
        let metrics = Self::default();
        let address = server::start(address, metrics.clone())?;
        Ok((metrics, address))
    }

    /// Who takes the figures of a run.
    pub fn observer(&self, plan: &Plan) -> impl Observer + use<> {
        let target = Target {
            profile: plan.profile.name.clone(),
            backend: plan.backend.clone(),
            layout: plan.table.layout.name(),
        };
        self.change(|board| board.begin(target));
        RunMetrics(self.clone())
    }

    fn change(&self, change: impl FnOnce(&mut Board)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// All figures as they are now. Copied, so that a run never waits for a reader.
    fn now(&self) -> Board {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Board {
    fn begin(&mut self, target: Target) {
        let known = self.targets.iter().position(|(other, _)| *other == target);
        let target = known.unwrap_or_else(|| {
            self.targets.push((target, Tally::default()));
            self.targets.len() - 1
        });
        if let Some((_, tally)) = self.targets.get_mut(target) {
            tally.begin_run();
        }
        self.present = Some(Present { target, phase: Phase::Create, step: None, figures: ProgressFigures::default() });
    }

    fn event(&mut self, event: &Event<'_>) {
        let Some(present) = &mut self.present else { return };
        match event {
            Event::Phase { phase, .. } => present.phase = *phase,
            Event::Step(step) => present.step = Some(*step),
            Event::Second(second) => {
                present.figures = ProgressFigures::of(second);
                if let Some((_, tally)) = self.targets.get_mut(present.target) {
                    tally.second(second.window, second.readings);
                }
            }
            _ => {}
        }
    }
}

/// Takes the figures of one run.
struct RunMetrics(Metrics);

impl Observer for RunMetrics {
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        self.0.change(|board| board.event(event));
        Ok(())
    }
}

impl Drop for RunMetrics {
    fn drop(&mut self) {
        self.0.change(|board| board.present = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BackendWord, Job, Place, find_written_profile};
    use iotbench_engine::Overrides;

    /// A built-in profile as planned on a database.
    fn planned(profile: &str, database: &str) -> Plan {
        let (written, word) = (find_written_profile(profile).unwrap(), BackendWord::read(database).unwrap());
        let job = Job::new(&written, word, &Overrides::default(), &[], false).unwrap();
        job.plans("test", &Place::nowhere()).next().unwrap().unwrap().plan
    }

    #[test]
    fn a_target_that_is_run_again_goes_on_and_another_has_its_own() {
        let metrics = Metrics::default();
        for (profile, database) in [("pmu_write", "sqlite"), ("pmu_write", "sqlite:bulk"), ("pmu_write", "sqlite")] {
            let mut observer = metrics.observer(&planned(profile, database));
            observer.event(&Event::Phase { phase: Phase::WarmUp, length_ns: None }).unwrap();
            let text = exposition::text(&metrics.now()).unwrap();
            assert!(text.contains("phase=\"warm up\"} 1\n") && text.contains("phase=\"measure\"} 0\n"), "{text}");
        }
        let text = exposition::text(&metrics.now()).unwrap();
        let ok =
            |layout| format!("{{profile=\"pmu_write\",backend=\"sqlite\",layout=\"{layout}\",outcome=\"ok\"}} 0\n");
        assert_eq!(text.matches("outcome=\"ok\"").count(), 2, "{text}");
        assert!(text.contains(&ok("wide")) && text.contains(&ok("bulk")), "{text}");
        assert!(!text.contains("phase=\""), "no run is under way: {text}");
        assert!(text.ends_with("# EOF\n"), "{text}");
    }
}
