//! Writes layout wide: one row a datapoint, a column for each signal.

use super::records::{Places, Records, bytes_of_value, devices_of, fixed_bytes_of, with_device};
use iotbench_core::{Batch, Signal, TableSpec, ValueType};
use sqlx::error::BoxDynError;

/// One row a datapoint.
pub(crate) struct WideRecords {
    columns: Vec<String>,
    has_device: bool,
    devices: Vec<u32>,
    /// The bytes of a record without its texts, and where these are: only they differ from record to record.
    fixed_bytes: usize,
    texts: Vec<usize>,
}

impl WideRecords {
    /// Those of batches with these signals.
    pub(crate) fn new(table: &TableSpec, signals: &[Signal]) -> Self {
        let mut columns = with_device(table.has_device_column(), &["ts"]);
        columns.extend(signals.iter().map(|s| s.name.clone()));
        let all = signals.iter().enumerate();
        let texts = all.filter(|(_, s)| s.value_type == ValueType::Text).map(|(place, _)| place);
        let fixed: usize = signals.iter().map(|s| fixed_bytes_of(s.value_type)).sum();
        Self {
            columns,
            has_device: table.has_device_column(),
            devices: Vec::new(),
            fixed_bytes: 12 + fixed,
            texts: texts.collect(),
        }
    }
}

impl Records for WideRecords {
    fn columns(&self) -> Vec<String> {
        self.columns.clone()
    }

    fn take(&mut self, batch: &Batch) -> usize {
        if self.has_device {
            devices_of(batch, &mut self.devices);
        }
        batch.len()
    }

    fn bytes(&self, batch: &Batch, record: usize) -> usize {
        let text_bytes = |&place: &usize| bytes_of_value(&batch.columns()[place], record);
        self.fixed_bytes + self.texts.iter().map(text_bytes).sum::<usize>()
    }

    fn bind(&self, batch: &Batch, record: usize, places: &mut Places) -> Result<(), BoxDynError> {
        if self.has_device {
            places.push(self.devices[record])?;
        }
        places.push(batch.timestamps_ns()[record])?;
        batch.columns().iter().try_for_each(|column| places.push_value(column, record))
    }
}
