//! A broker between devices and writers.
//!
//! Two threads stand between a group's schedule and its writers. The one of the *devices* takes what is due from the
//! group's own source, as a writer would, and publishes it; the one of the *subscriber* receives it and hands it to the
//! loops, whose source is then [`Delivered`](delivered::Delivered). What a message says travels in it, the intended start
//! included, so that the response time runs on one clock from there to the database's acknowledgement. Every buffer on the
//! way is bounded: that of the publisher by the carrier, that of the subscriber here.

mod account;
mod arrivals;
mod delivered;
mod devices;
mod sequences;
mod threads;

pub use account::{Carried, Messages, Stages};
pub use sequences::{Seen, Sequences};

pub(crate) use account::Account;
pub(crate) use threads::{WayPlan, WayThreads};

use crate::{
    plan::{GroupPlan, Load, Planned, key_of_second_sends},
    source::MakeSource,
};
use async_channel::{Receiver, bounded};
use delivered::{Arrival, Delivered};
use iotbench_core::{Batch, Carrier, Node};
use std::sync::Arc;

/// Received messages that wait for a writer.
const MAX_ARRIVALS: usize = 256;

/// What a run's datapoints travel through.
#[derive(Clone, Debug)]
pub struct Via {
    /// What carries them.
    pub carrier: Arc<dyn Carrier>,
    /// Its processes, where they are to be sampled.
    pub nodes: Vec<Node>,
}

/// A workload whose operations no device can publish ahead of the answer to the one before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotBeCarried {
    /// A closed loop waits for the answer of the database.
    #[error(
        "group {0:?} is a closed loop, whose users wait for the database's answer, and a broker gives none: --via is for \
         sensors (paced) and open loops; --rate makes a closed loop an open one"
    )]
    Closed(String),
    /// Sessions wait for the answer of the database too.
    #[error(
        "group {0:?} is partly open: its sessions wait for the database's answer, and a broker gives none: --via is for \
         sensors (paced) and open loops; --arrival poisson makes it an open one"
    )]
    Sessions(String),
    /// A search.
    #[error(
        "a search ends one load before it begins the next, and what a broker holds cannot be told: give a fixed load"
    )]
    Search,
    /// Datapoints that are sent twice, the same or corrected, by this key.
    #[error(
        "{0}: a broker may deliver messages twice by itself, and the two are not told apart: leave the key out, or give the \
         load without --via"
    )]
    Twice(&'static str),
    /// Signals that are added, which a message does not tell from those that it lacks.
    #[error(
        "dataset.added_signals: what a broker carries has all signals: leave the key out, or give the load without --via"
    )]
    AddedSignals,
}

/// Checks that devices of a plan can publish what they send.
///
/// # Errors
/// The first group that cannot, and why.
pub fn can_be_carried(planned: &Planned) -> Result<(), CannotBeCarried> {
    let plan = &planned.plan;
    if planned.dataset.twice().is_some() {
        return Err(CannotBeCarried::Twice(key_of_second_sends(&*planned.dataset)));
    }
    if planned.dataset.added_from().is_some() {
        return Err(CannotBeCarried::AddedSignals);
    }
    if plan.ramp.is_some() {
        return Err(CannotBeCarried::Search);
    }
    let refused = |group: &GroupPlan| match group.load {
        Load::Closed { .. } => Some(CannotBeCarried::Closed(group.name.clone())),
        Load::PartlyOpen { .. } => Some(CannotBeCarried::Sessions(group.name.clone())),
        Load::Open { .. } | Load::Interval { .. } | Load::Paced { .. } => None,
    };
    plan.groups.iter().filter(|group| writes(group)).find_map(refused).map_or(Ok(()), Err)
}

/// Whether a group's operations go through a broker: what reads asks the database itself.
pub(crate) fn writes(group: &GroupPlan) -> bool {
    !group.reads()
}

/// What the two threads and the loops of a group share of its way.
pub(crate) struct Ends {
    pub(crate) arrivals: async_channel::Sender<Arrival>,
    /// Batches that come back from the loops, so that a warm way allocates none.
    pub(crate) spare: Receiver<Batch>,
    /// Whether the devices are sensors: then datapoints are due by the schedule, and operations are not.
    pub(crate) of_sensors: bool,
}

/// The sources of so many loops of a group, and the end at which the subscriber fills them.
pub(crate) fn delivered_to(loops: u32, group: &GroupPlan, account: &Arc<Account>) -> (Vec<MakeSource>, Ends) {
    let operations = group.operations().count();
    let of_sensors = matches!(group.load, Load::Paced { .. });
    let (arrivals, taken) = bounded(MAX_ARRIVALS);
    let (used, spare) = bounded(MAX_ARRIVALS);
    let make = |_| -> MakeSource {
        let source = Delivered::new(taken.clone(), used.clone(), operations, !of_sensors, Arc::clone(account));
        Box::new(move |_| Box::new(source))
    };
    ((0..loops).map(make).collect(), Ends { arrivals, spare, of_sensors })
}
