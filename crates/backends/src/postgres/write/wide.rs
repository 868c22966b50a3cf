//! Writes layout wide: one row a datapoint, a column for each signal.

use super::{
    Layout,
    records::{Records, put_devices},
};
use iotbench_core::Batch;

/// One record a datapoint; a signal's values are encoded in one go.
pub(crate) struct WideRecords {
    pub(crate) has_device: bool,
}

impl Layout for WideRecords {
    fn encode(&mut self, batch: &Batch, records: &mut Records) {
        records.count = batch.len();
        let (device, columns) = records.split_device(self.has_device);
        put_devices(device, batch, 1);
        let Some((time, signals)) = columns.split_first_mut() else { return };
        batch.timestamps_ns().iter().for_each(|&time_ns| time.put_bigint(time_ns));
        signals.iter_mut().zip(batch.columns()).for_each(|(to, from)| to.put_values(from));
    }
}
