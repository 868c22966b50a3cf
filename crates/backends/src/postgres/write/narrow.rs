//! Writes layout narrow: one row a value, as Table I of the Hof study.

use super::{
    Layout,
    records::{Records, put_devices},
};
use iotbench_backend_kit::second::split;
use iotbench_core::Batch;

/// One record a value; the values of a datapoint follow one another in the order of their numbers.
pub(crate) struct NarrowRecords {
    pub(crate) has_device: bool,
}

impl Layout for NarrowRecords {
    fn encode(&mut self, batch: &Batch, records: &mut Records) {
        let width = batch.columns().len();
        records.count = batch.len() * width;
        let (device, columns) = records.split_device(self.has_device);
        put_devices(device, batch, width);
        let [seconds, nanoseconds, numbers, measurements] = columns else { return };
        for (row, &time_ns) in batch.timestamps_ns().iter().enumerate() {
            let (second, nanosecond) = split(time_ns);
            for (number, column) in (0..).zip(batch.columns()) {
                seconds.put_bigint(second);
                nanoseconds.put_integer(nanosecond);
                numbers.put_integer(number);
                measurements.put_value(column, row);
            }
        }
    }
}
