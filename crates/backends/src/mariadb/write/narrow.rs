//! Writes layout narrow: one row a value, as Table I of the Hof study.

use super::records::{Places, Records, bytes_of_value, devices_of, with_device};
use iotbench_backend_kit::second::split;
use iotbench_core::{Batch, TableSpec};
use sqlx::error::BoxDynError;

/// One row a value; the values of a datapoint follow one another in the order of their numbers.
pub(crate) struct NarrowRecords {
    has_device: bool,
    /// The signals of the batch that was taken.
    width: usize,
    devices: Vec<u32>,
}

impl NarrowRecords {
    pub(crate) fn new(table: &TableSpec) -> Self {
        Self { has_device: table.has_device_column(), width: table.schema.width(), devices: Vec::new() }
    }
}

impl Records for NarrowRecords {
    fn columns(&self) -> Vec<String> {
        with_device(self.has_device, &["second", "nanosecond", "number", "measurement"])
    }

    fn of_datapoint(&self) -> usize {
        self.width
    }

    fn take(&mut self, batch: &Batch) -> usize {
        if self.has_device {
            devices_of(batch, &mut self.devices);
        }
        self.width = batch.columns().len();
        batch.len() * self.width
    }

    fn bytes(&self, batch: &Batch, record: usize) -> usize {
        18 + bytes_of_value(&batch.columns()[record % self.width], record / self.width)
    }

    fn bind(&self, batch: &Batch, record: usize, places: &mut Places) -> Result<(), BoxDynError> {
        let (row, number) = (record / self.width, record % self.width);
        if self.has_device {
            places.push(self.devices[row])?;
        }
        let (second, nanosecond) = split(batch.timestamps_ns()[row]);
        places.push(second)?;
        places.push(nanosecond)?;
        places.push(u16::try_from(number)?)?;
        places.push_value(&batch.columns()[number], row)
    }
}
