//! Writes layout wide: one row a datapoint, a column for each signal.

use super::records::{Places, Records, bytes_of_value, devices_of, with_device};
use iotbench_core::{Batch, Error, TableSpec};

/// One row a datapoint.
pub(crate) struct WideRecords {
    columns: Vec<String>,
    has_device: bool,
    devices: Vec<u32>,
}

impl WideRecords {
    pub(crate) fn new(table: &TableSpec) -> Self {
        let mut columns = with_device(table.has_device_column(), &["ts"]);
        columns.extend(table.schema.signals().iter().map(|s| s.name.clone()));
        Self { columns, has_device: table.has_device_column(), devices: Vec::new() }
    }
}

impl Records for WideRecords {
    fn columns(&self) -> Vec<String> {
        self.columns.clone()
    }

    fn take(&mut self, batch: &Batch) -> usize {
        devices_of(batch, &mut self.devices);
        batch.len()
    }

    fn bytes(&self, batch: &Batch, record: usize) -> usize {
        12 + batch.columns().iter().map(|column| bytes_of_value(column, record)).sum::<usize>()
    }

    fn bind(&self, batch: &Batch, record: usize, places: &mut Places) -> Result<(), Error> {
        if self.has_device {
            places.push(self.devices[record])?;
        }
        places.push(batch.timestamps_ns()[record])?;
        batch.columns().iter().try_for_each(|column| places.push_value(column, record))
    }
}
