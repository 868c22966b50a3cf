//! Whether a workload can send signals that are added under load, and still be told what is stored.

use super::{GroupPlan, Load, PhasesPlan};
use crate::{
    mix::OperationMix,
    profile::{OperationConfig, Profile},
};
use iotbench_core::SignalId;
use iotbench_simulator::Dataset;

type FieldError = (String, String);

const KEY: &str = "dataset.added_signals";

/// Checks it, where a dataset has signals that are added.
pub(super) fn check(
    profile: &Profile,
    dataset: &dyn Dataset,
    phases: &PhasesPlan,
    groups: &[GroupPlan],
) -> Result<(), FieldError> {
    let Some(from) = dataset.added_from() else { return Ok(()) };
    let refused = |why: &str| Err((KEY.to_owned(), why.to_owned()));
    if profile.ramp.is_some() {
        return refused(
            "the table is altered once, and the steps of a ramp would not be alike: give a fixed load, or leave the key out",
        );
    }
    if profile.groups.iter().flat_map(|group| &group.operations).all(OperationConfig::is_read) {
        return refused("no operation of this workload writes, so that nothing is added: leave the key out");
    }
    let first = dataset.schema().first_signals().len();
    let is_first = |signals: Vec<SignalId>| signals.iter().all(|&signal| usize::from(signal) < first);
    let operations = groups.iter().flat_map(|group| std::iter::once(&group.operation).chain(&group.others));
    let mut reads = operations.filter_map(|operation| Some((operation, operation.question()?)));
    if let Some((operation, _)) = reads.find(|(_, question)| !question.signals().is_some_and(is_first)) {
        return refused(&format!(
            "operation {:?} reads whole records, or signals that are added: an answer may hold them or not, and is not judged. Leave it out, or name \
             others with signals, where the operation takes them",
            operation.name
        ));
    }
    let after = format!("{KEY}.after");
    let Some(of_load) = from.checked_sub(phases.preload) else {
        let message = format!(
            "lies in the history, which has {} datapoints of each device (phases.preload): give at least as many",
            phases.preload
        );
        return Err((after, message));
    };
    for group in groups {
        let operations = OperationMix::new(group, 0);
        if operations.gathers() || matches!(group.load, Load::Paced { .. }) {
            return refused(&format!(
                "group {:?} sends whatever its devices have gathered, from both sides of the change at once: give operations of a number of datapoints, \
                 or leave the key out",
                group.name
            ));
        }
        let length = u64::from(operations.most_points_per_device());
        if !of_load.is_multiple_of(length) {
            let below = phases.preload + of_load / length * length;
            let above = below + length;
            let nearest = if below == 0 { above.to_string() } else { format!("{below} or {above}") };
            let message = format!(
                "an operation of group {:?} has datapoints from both sides of the change: {length} of a device are sent at once, so give {nearest}",
                group.name
            );
            return Err((after, message));
        }
    }
    Ok(())
}
