//! The figures of each second, added up: served to Prometheus, pushed to a collector of OpenTelemetry.

mod address;
mod board;
mod exposition;
mod families;
mod otlp;
mod server;
mod tally;

pub use address::MetricsAddress;
pub use otlp::{OtlpCollector, OtlpDelivered, OtlpPush};

use crate::error::SessionError;
use board::{Board, Target};
use iotbench_engine::{Event, Observer, Plan};
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

/// What is served: one for a program, however many runs it has.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Mutex<Board>>);

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
        self.change(|board| board.begin(Target::of(plan)));
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
    use iotbench_engine::{Overrides, Phase};

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
