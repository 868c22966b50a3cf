//! A subject that is sampled elsewhere: what is told of it, as if it had been read here.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::probe_error::ProbeError;
use crate::sample::{Method, Sample, Source};

/// What was told before so long stands for nothing now.
const FRESH: Duration = Duration::from_secs(3);

/// Where somebody puts down what is seen of a subject elsewhere, and a [`Probe`](crate::Probe) finds it. A clone is the same.
#[derive(Clone, Debug)]
pub struct RemoteProbe(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    latest: Latest,
    method: Method,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one a second and subject, and most are samples")]
enum Latest {
    Nothing,
    Sample(Sample),
    Gone,
    Lost(String),
}

impl Default for RemoteProbe {
    /// Of a subject of which nothing was told yet.
    fn default() -> Self {
        let method = Method { source: Source::ProcessTree, network: None };
        Self(Arc::new(Mutex::new(State { latest: Latest::Nothing, method })))
    }
}

impl PartialEq for RemoteProbe {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for RemoteProbe {}

impl RemoteProbe {
    /// Puts down what was seen; its time is since the epoch of whoever asks, and an earlier one changes nothing.
    pub fn tell(&self, sample: Sample, method: Method) {
        self.change(|state| {
            if !matches!(&state.latest, Latest::Sample(before) if before.at > sample.at) {
                *state = State { latest: Latest::Sample(sample), method };
            }
        });
    }

    /// The subject has ended.
    pub fn tell_gone(&self) {
        self.change(|state| state.latest = Latest::Gone);
    }

    /// Nothing more will be told, for this reason.
    pub fn lose(&self, why: &str) {
        self.change(|state| state.latest = Latest::Lost(why.to_owned()));
    }

    /// What was told last, if that was not too long ago.
    pub(crate) fn sample(&self, at: Duration) -> Result<Sample, ProbeError> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.latest {
            Latest::Sample(sample) if at.saturating_sub(sample.at) <= FRESH => Ok(*sample),
            Latest::Sample(_) | Latest::Nothing => Err(ProbeError::Untold { why: "nothing was told lately".into() }),
            Latest::Gone => Err(ProbeError::Gone),
            Latest::Lost(why) => Err(ProbeError::Untold { why: why.clone() }),
        }
    }

    pub(crate) fn method(&self) -> Method {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).method
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{Probe, Target};
    use crate::sample::NetworkMethod;

    const METHOD: Method = Method { source: Source::CgroupV2, network: Some(NetworkMethod::Interface) };

    fn sample(at_s: u64) -> Sample {
        Sample { at: Duration::from_secs(at_s), ..Sample::default() }
    }

    #[test]
    fn what_was_told_last_is_read_as_long_as_it_is_fresh() {
        let told = RemoteProbe::default();
        let mut probe = Probe::new(&Target::Remote(told.clone())).unwrap();
        let mut read = |at_s| probe.sample(Duration::from_secs(at_s)).map(|sample| sample.at.as_secs());
        assert!(matches!(read(1), Err(ProbeError::Untold { .. })));
        told.tell(sample(2), METHOD);
        told.tell(sample(1), METHOD);
        assert!(matches!((read(2), read(5), read(6)), (Ok(2), Ok(2), Err(ProbeError::Untold { .. }))));
        told.tell(sample(6), METHOD);
        assert!(matches!(read(7), Ok(6)));
        told.lose("the agent was lost");
        assert!(read(7).unwrap_err().to_string().contains("the agent was lost"));
        told.tell_gone();
        assert!(matches!(read(7), Err(ProbeError::Gone)));
        assert_eq!(probe.method(), METHOD);
    }
}
