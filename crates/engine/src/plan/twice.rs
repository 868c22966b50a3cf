//! Whether a workload can send datapoints twice and still be told what is stored.

use crate::profile::{OperationConfig, Profile};
use iotbench_core::{Backend, Duplicates, Layout};
use iotbench_simulator::Dataset;

/// The key that says which are sent twice: the same, or corrected.
pub(crate) fn key(dataset: &dyn Dataset) -> &'static str {
    if dataset.corrects() { "dataset.corrected" } else { "dataset.twice" }
}

/// Checks it, where a dataset has datapoints that are sent twice.
pub(super) fn check(
    profile: &Profile,
    dataset: &dyn Dataset,
    layout: Layout,
    backend: &dyn Backend,
) -> Result<(), String> {
    if dataset.twice().is_none() {
        return Ok(());
    }
    let info = backend.info();
    let keeps_both = info.capabilities.duplicates == Duplicates::Keep;
    if keeps_both && layout == Layout::Narrow && dataset.schema().width() > 1 {
        return Err("in layout narrow, the values of two datapoints of the same device and time cannot be put together again: leave \
                    the key out, or use another layout"
            .into());
    }
    if !keeps_both && profile.ramp.is_some() {
        return Err(format!(
            "{} keeps one of two datapoints of the same device and time, and between the steps of a ramp it is not known how many it keeps: give a fixed \
             load, leave the key out, or use a database that keeps both (iotbench backends NAME tells)",
            info.name
        ));
    }
    if profile.groups.iter().flat_map(|group| &group.operations).all(OperationConfig::is_read) {
        return Err(
            "no operation of this workload writes, so that nothing is sent a second time: leave the key out".into()
        );
    }
    Ok(())
}
