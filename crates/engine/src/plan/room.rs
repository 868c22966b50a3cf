//! How much disk the steps of a ramp may need: an estimate, from what a datapoint commonly takes; and what a search may take.

use super::{Plan, check::STEP_OF_A_STUDY};
use crate::{
    profile::RampState,
    ramp::{Course, RampPlan},
    units::Auto,
};
use iotbench_core::{Backend, Layout, ValueType};
use iotbench_simulator::Dataset;
use serde::{Deserialize, Serialize};

/// With less than this free where the database lies, a ramp is neither begun nor gone on with.
pub const MIN_FREE_BYTES: u64 = 256 << 20;

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

/// What a search in short steps, whose database lies beside its results, may take of the disk at once, unless the profile says
/// otherwise. Whoever asks for the steps of a study asks for what they take.
const MAX_DISK_BYTES: u64 = 2 << 30;

/// What bounds the greatest load of a search before its profile does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskBound {
    /// So much disk it may take at once.
    pub bytes: u64,
    /// The greatest load that it would try without.
    pub most: u32,
}

/// Bounds the greatest load of a search by the disk that it may take at once.
///
/// # Errors
/// What it takes is not known, or not even the least load has room: the key, and why.
pub(super) fn bound(plan: &mut Plan, dataset: &dyn Dataset, backend: &dyn Backend) -> Result<(), (String, String)> {
    let Some(written) = plan.profile.ramp.as_ref().map(|ramp| ramp.most_disk) else { return Ok(()) };
    let refused = |why: String| Err(("ramp.most_disk".to_owned(), why));
    let capabilities = &backend.info().capabilities;
    let is_short = plan.ramp.as_ref().is_some_and(|ramp| ramp.step_ns < STEP_OF_A_STUDY.as_ns());
    let bytes = match written {
        Auto::Set(bytes) => bytes.0,
        Auto::Auto if capabilities.embedded && capabilities.stores && is_short => MAX_DISK_BYTES,
        Auto::Auto => return Ok(()),
    };
    let is_asked_for = written != Auto::Auto;
    let at_once = plan.ramp_room(dataset).and_then(|room| room.at_once);
    let history = plan.history_bytes(dataset);
    let Some(RampPlan { course: Course::Search(search), .. }) = &mut plan.ramp else {
        return if is_asked_for {
            refused("the loads are listed: leave it out, or list smaller ones".into())
        } else {
            Ok(())
        };
    };
    let Some(at_once) = at_once else {
        let why = "what a search takes at once is known only where users think or a rate is given, and each step begins anew \
                   (ramp.state = \"fresh\"): leave it out";
        return if is_asked_for { refused(why.into()) } else { Ok(()) };
    };
    if at_once <= bytes {
        return Ok(());
    }
    let of_load = at_once.saturating_sub(history) as f64 / f64::from(search.most.max(1));
    let most = u32::try_from(whole_below(bytes.saturating_sub(history) as f64 / of_load)).unwrap_or(u32::MAX);
    if most == 0 {
        let least = whole(of_load).saturating_add(history);
        return refused(format!(
            "not even a load of 1 has room, which may take {least} bytes at once: raise ramp.most_disk, lower ramp.most, or shorten ramp.step"
        ));
    }
    plan.disk_bound = Some(DiskBound { bytes, most: search.most });
    search.most = most;
    Ok(())
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
        use RampState::{Fresh, Keep, Preconditioned, Preloaded};
        let ramp = self.ramp.as_ref()?;
        // Whether it is known at all does not depend on the time.
        self.most_points_in(dataset, 0)?;
        let of_step = |load: u32, ns: u64| {
            let in_all_ns = ns.saturating_add(AROUND_NS).saturating_add(self.longest_rounds_ns());
            let points = self.most_points_in(dataset, in_all_ns).unwrap_or(0.0) / f64::from(ramp.most().max(1));
            whole(points * self.stored_point_bytes(dataset) as f64 * f64::from(load))
        };
        let longest_ns = ramp.afterwards.soak_ns.max(ramp.afterwards.overload_ns).max(ramp.step_ns);
        let greatest = of_step(ramp.most(), longest_ns);
        let room = match (&ramp.course, self.state) {
            (Course::Search(_), Fresh | Preloaded | Preconditioned) => {
                RampRoom { certain: of_step(ramp.first(), ramp.step_ns), at_once: Some(greatest) }
            }
            (Course::Search(_), Keep) => RampRoom { certain: of_step(ramp.first(), ramp.step_ns), at_once: None },
            (Course::Steps(_), Fresh | Preloaded | Preconditioned) => {
                RampRoom { certain: of_step(ramp.most(), ramp.step_ns), at_once: Some(greatest) }
            }
            (Course::Steps(loads), Keep) => {
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

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and cut off at the most")]
fn whole_below(load: f64) -> u64 {
    load.floor() as u64
}
