//! What a layout makes of a batch: records, and how they are bound to the places of an INSERT.

use iotbench_core::{Batch, Column, ValueType};
use sqlx::{Arguments, error::BoxDynError, mysql::MySqlArguments};

/// The records of a batch in one layout.
pub(crate) trait Records: Send {
    /// The columns of one record.
    fn columns(&self) -> Vec<String>;

    /// How many records one datapoint is; 1 where a record may hold many.
    fn of_datapoint(&self) -> usize {
        1
    }

    /// Makes the records of a batch and says how many they are.
    fn take(&mut self, batch: &Batch) -> usize;

    /// The bytes of a record as it is bound, without the driver's types.
    fn bytes(&self, batch: &Batch, record: usize) -> usize;

    /// Binds a record: one value to each column. An error is of what the value is.
    fn bind(&self, batch: &Batch, record: usize, places: &mut Places) -> Result<(), BoxDynError>;

    /// The rows of the batch that the first `records` hold, ascending.
    fn rows_of_first(&self, records: usize) -> Vec<u32> {
        (0..u32::try_from(records / self.of_datapoint()).unwrap_or(u32::MAX)).collect()
    }
}

/// The values of one statement, as the driver takes them.
#[derive(Default)]
pub(crate) struct Places(pub(crate) MySqlArguments);

impl Places {
    /// Room for so many values of so many bytes: the driver keeps no buffers between statements.
    pub(crate) fn with_room(values: usize, bytes: usize) -> Self {
        let mut arguments = MySqlArguments::default();
        arguments.reserve(values, bytes);
        Self(arguments)
    }

    #[inline]
    pub(crate) fn push<'q, T>(&mut self, value: T) -> Result<(), BoxDynError>
    where
        T: sqlx::Encode<'q, sqlx::MySql> + sqlx::Type<sqlx::MySql> + 'q,
    {
        self.0.add(value)
    }

    /// The value of a row, in its own type.
    #[inline]
    pub(crate) fn push_value(&mut self, column: &Column, row: usize) -> Result<(), BoxDynError> {
        match column {
            Column::F32(values) => self.push(values[row]),
            Column::F64(values) => self.push(values[row]),
            Column::I64(values) => self.push(values[row]),
            Column::U16(values) => self.push(values[row]),
            Column::Text(values) => self.push(values.get(row).unwrap_or_default()),
        }
    }
}

/// The bytes of a value as it is bound.
pub(crate) fn bytes_of_value(column: &Column, row: usize) -> usize {
    match column {
        // With its length before it.
        Column::Text(values) => values.get(row).map_or(0, str::len) + 4,
        numbers => fixed_bytes_of(numbers.value_type()),
    }
}

/// The bytes of a value of this type as it is bound; none for a text, whose bytes are its own.
pub(crate) fn fixed_bytes_of(value_type: ValueType) -> usize {
    match value_type {
        ValueType::F32 => 4,
        ValueType::F64 | ValueType::I64 => 8,
        ValueType::U16 => 2,
        ValueType::Text => 0,
    }
}

/// The device of each row of a batch.
pub(crate) fn devices_of(batch: &Batch, devices: &mut Vec<u32>) {
    devices.clear();
    for run in batch.runs() {
        devices.extend(std::iter::repeat_n(run.device, run.count as usize));
    }
}

/// The columns of a record: those given, after the device where records name it.
pub(crate) fn with_device(has_device: bool, columns: &[&str]) -> Vec<String> {
    let device = has_device.then_some("device");
    device.into_iter().chain(columns.iter().copied()).map(ToOwned::to_owned).collect()
}
