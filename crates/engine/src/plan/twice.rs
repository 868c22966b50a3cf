//! Whether a workload can send datapoints twice and still be told what is stored.

use crate::profile::Profile;
use iotbench_core::{Backend, Duplicates, Layout};
use iotbench_simulator::Dataset;

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
    let what = match info.capabilities.duplicates {
        Duplicates::Keep => None,
        Duplicates::Overwrite => Some("replaces a datapoint by a later one of the same device and time"),
        Duplicates::Reject => Some("refuses a datapoint of the same device and time as an earlier one"),
    };
    if let Some(what) = what {
        return Err(format!(
            "{} {what}, and of such a database it is not known here how much should be stored of what is sent twice: leave the \
             key out, or use a database that keeps both (iotbench backends NAME tells)",
            info.name
        ));
    }
    if layout == Layout::Narrow && dataset.schema().width() > 1 {
        return Err("in layout narrow, values of two equal datapoints that are written at the same time cannot be put together again: leave \
                    the key out, or use another layout"
            .into());
    }
    if profile.groups.iter().flat_map(|group| &group.operations).any(|operation| operation.is_read()) {
        return Err("what is read is not held against datapoints that are stored twice: leave the key out, or the operations that read".into());
    }
    Ok(())
}
