//! How much disk the steps of a ramp may need: an estimate, from what a datapoint commonly takes.

use super::Plan;
use crate::{profile::RampState, ramp::Course};
use iotbench_core::{Layout, ValueType};
use iotbench_simulator::Dataset;

/// With less than this free where the database lies, a ramp is neither begun nor gone on with.
pub const LEAST_FREE_BYTES: u64 = 256 << 20;

/// What a datapoint takes beside its values: its time, its device, an index over both, what surrounds a row.
const POINT_BYTES: u64 = 64;
/// Of a step, the load goes on until it ends at a whole second, and before it begins.
const AROUND_NS: u64 = 2_000_000_000;

/// What the steps of a ramp may store, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RampRoom {
    /// What is on the disk at once of those steps that are run whatever they find: of a search the first one.
    pub certain: u64,
    /// The same of all; `None`: how many there are is for the answer to say.
    pub at_once: Option<u64>,
}

/// About twice what SQLite takes for a value, by what is a row of it.
fn value_bytes(layout: Layout) -> u64 {
    match layout {
        Layout::Wide | Layout::Bulk => 24,
        Layout::Document => 40,
        Layout::Narrow => 100,
    }
}

impl Plan {
    /// What the steps of its ramp may store; `None`: it has none, or its users take no time to think, and the database
    /// decides. `dataset` is the one that it was planned with.
    #[must_use]
    pub fn ramp_room(&self, dataset: &dyn Dataset) -> Option<RampRoom> {
        let ramp = self.ramp.as_ref()?;
        let at_most_per_s = self.forecast(dataset).points_per_s?;
        let per_s_and_load = at_most_per_s * self.stored_point_bytes(dataset) as f64 / f64::from(ramp.most().max(1));
        let of_step = |load: u32, ns: u64| {
            let seconds = ns.saturating_add(AROUND_NS) as f64 / 1e9;
            whole(per_s_and_load * f64::from(load) * seconds)
        };
        let longest_ns = ramp.afterwards.soak_ns.max(ramp.afterwards.overload_ns).max(ramp.step_ns);
        let greatest = of_step(ramp.most(), longest_ns);
        let room = match (&ramp.course, self.state) {
            (Course::Search(_), RampState::Fresh | RampState::Preloaded) => {
                RampRoom { certain: of_step(ramp.first(), ramp.step_ns), at_once: Some(greatest) }
            }
            (Course::Search(_), RampState::Keep) => {
                RampRoom { certain: of_step(ramp.first(), ramp.step_ns), at_once: None }
            }
            (Course::Steps(_), RampState::Fresh | RampState::Preloaded) => {
                RampRoom { certain: of_step(ramp.most(), ramp.step_ns), at_once: Some(greatest) }
            }
            (Course::Steps(loads), RampState::Keep) => {
                let certain = loads.iter().map(|&load| of_step(load, ramp.step_ns)).fold(0, u64::saturating_add);
                let afterwards = ramp.afterwards.steps(ramp.most(), ramp.most(), ramp.step_ns).into_iter();
                let all = afterwards.map(|(step, ns)| of_step(step.load, ns)).fold(certain, u64::saturating_add);
                RampRoom { certain, at_once: Some(all) }
            }
        };
        let history = self.history_bytes(dataset);
        Some(RampRoom {
            certain: room.certain.saturating_add(history),
            at_once: room.at_once.map(|bytes| bytes.saturating_add(history)),
        })
    }

    fn history_bytes(&self, dataset: &dyn Dataset) -> u64 {
        let points = self.phases.preload.saturating_mul(self.phases.preload_devices.into());
        points.saturating_mul(self.stored_point_bytes(dataset))
    }

    /// What a datapoint is taken to need on disk.
    fn stored_point_bytes(&self, dataset: &dyn Dataset) -> u64 {
        let signals = dataset.schema().signals();
        let texts = signals.iter().filter(|signal| signal.value_type == ValueType::Text);
        let text_bytes: u64 = texts.map(|signal| u64::from(signal.max_text_bytes)).sum();
        POINT_BYTES + text_bytes + value_bytes(self.table.layout) * signals.len() as u64
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and cut off at the most")]
fn whole(bytes: f64) -> u64 {
    bytes.ceil() as u64
}
