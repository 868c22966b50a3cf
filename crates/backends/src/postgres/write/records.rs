//! Records in PostgreSQL's binary form, column by column.

use crate::postgres::layout::{ColumnType, TableColumn};
use iotbench_core::{Batch, Column};
use sqlx::{
    Encode, Postgres, Type,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgTypeInfo, types::Oid},
};

/// The length that stands before each value.
const LENGTH_BYTES: usize = 4;
/// The first byte of binary JSONB: its version.
const JSONB_VERSION: u8 = 1;

/// One column: each value is its length in four bytes, then its bytes, all big-endian. So they stand in a binary COPY, in
/// an array and in a Bind message alike.
#[derive(Debug)]
pub(crate) struct EncodedColumn {
    column_type: ColumnType,
    bytes: Vec<u8>,
}

impl EncodedColumn {
    pub(crate) fn put_integer(&mut self, value: i32) {
        self.put(&value.to_be_bytes());
    }

    pub(crate) fn put_bigint(&mut self, value: i64) {
        self.put(&value.to_be_bytes());
    }

    pub(crate) fn put_jsonb(&mut self, json: &[u8]) {
        self.bytes.extend_from_slice(&length_of(json.len() + 1));
        self.bytes.push(JSONB_VERSION);
        self.bytes.extend_from_slice(json);
    }

    /// The value of a signal in a row of a batch.
    pub(crate) fn put_value(&mut self, column: &Column, row: usize) {
        match column {
            Column::F32(values) => self.put(&values[row].to_be_bytes()),
            Column::F64(values) => self.put(&values[row].to_be_bytes()),
            Column::I64(values) => self.put_bigint(values[row]),
            Column::U16(values) => self.put_integer(values[row].into()),
            Column::Text(values) => {
                let text = values.get(row).unwrap_or_default();
                self.bytes.extend_from_slice(&length_of(text.len()));
                self.bytes.extend_from_slice(text.as_bytes());
            }
        }
    }

    /// All values of a signal.
    pub(crate) fn put_values(&mut self, column: &Column) {
        match column {
            Column::F32(values) => values.iter().for_each(|v| self.put(&v.to_be_bytes())),
            Column::F64(values) => values.iter().for_each(|v| self.put(&v.to_be_bytes())),
            Column::I64(values) => values.iter().for_each(|v| self.put_bigint(*v)),
            Column::U16(values) => values.iter().for_each(|v| self.put_integer((*v).into())),
            Column::Text(values) => (0..values.len()).for_each(|row| self.put_value(column, row)),
        }
    }

    fn put<const N: usize>(&mut self, value: &[u8; N]) {
        self.bytes.extend_from_slice(&length_of(N));
        self.bytes.extend_from_slice(value);
    }
}

/// A length as the protocol counts it. The server refuses what is longer than 1 GiB long before this is exceeded.
fn length_of(bytes: usize) -> [u8; LENGTH_BYTES] {
    i32::try_from(bytes).unwrap_or(i32::MAX).to_be_bytes()
}

/// The records of a batch. Emptied and filled again, so that a warm writer allocates nothing here.
#[derive(Debug)]
pub(crate) struct Records {
    pub(crate) columns: Vec<EncodedColumn>,
    pub(crate) count: usize,
}

impl Records {
    pub(crate) fn new(columns: &[TableColumn]) -> Self {
        let columns = columns.iter().map(|c| EncodedColumn { column_type: c.column_type, bytes: Vec::new() });
        Self { columns: columns.collect(), count: 0 }
    }

    pub(crate) fn clear(&mut self) {
        self.columns.iter_mut().for_each(|column| column.bytes.clear());
        self.count = 0;
    }

    /// The column of devices, where there is one, and the others.
    pub(crate) fn split_device(&mut self, has_device: bool) -> (Option<&mut EncodedColumn>, &mut [EncodedColumn]) {
        let (device, others) = self.columns.split_at_mut(usize::from(has_device));
        (device.first_mut(), others)
    }

    /// All of them.
    pub(crate) fn all(&self) -> Portion<'_> {
        let columns = self.columns.iter().map(|c| PortionColumn { column_type: c.column_type, rest: &c.bytes });
        Portion { columns: columns.collect(), count: self.count }
    }

    /// The bytes of all values with their lengths.
    pub(crate) fn bytes(&self) -> u64 {
        self.columns.iter().map(|column| column.bytes.len() as u64).sum()
    }
}

/// Fills the column of devices: `each` records for every datapoint.
pub(crate) fn put_devices(device: Option<&mut EncodedColumn>, batch: &Batch, each: usize) {
    let Some(column) = device else { return };
    for run_rows in batch.run_rows() {
        for _ in 0..run_rows.rows.len() * each {
            column.put_integer(device_number(run_rows.run.device));
        }
    }
}

/// A device as PostgreSQL's INTEGER: a table has no more devices than that holds.
pub(crate) fn device_number(device: u32) -> i32 {
    i32::try_from(device).unwrap_or(i32::MAX)
}

/// Values of one column that are still to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortionColumn<'r> {
    column_type: ColumnType,
    rest: &'r [u8],
}

impl<'r> PortionColumn<'r> {
    /// Takes the next value with its length before it.
    pub(crate) fn next(&mut self) -> &'r [u8] {
        let (field, rest) = self.rest.split_at(field_bytes(self.rest));
        self.rest = rest;
        field
    }

    /// Takes the next value as an argument of a statement.
    pub(crate) fn next_argument(&mut self) -> Argument<'r> {
        Argument { oid: self.column_type.oid(), parts: [&self.next()[LENGTH_BYTES..], &[]] }
    }

    fn split_front(&mut self, count: usize) -> Self {
        let start = self.rest;
        let bytes: usize = match self.column_type {
            ColumnType::Integer | ColumnType::Real => count * (LENGTH_BYTES + 4),
            ColumnType::BigInt | ColumnType::Double => count * (LENGTH_BYTES + 8),
            ColumnType::Text | ColumnType::Jsonb => (0..count).fold(0, |bytes, _| bytes + field_bytes(&start[bytes..])),
        };
        let (front, rest) = start.split_at(bytes);
        self.rest = rest;
        Self { column_type: self.column_type, rest: front }
    }
}

/// The bytes of the first value with its length.
fn field_bytes(fields: &[u8]) -> usize {
    let length = fields.first_chunk().map_or(0, |length| u32::from_be_bytes(*length));
    LENGTH_BYTES + length as usize
}

/// Consecutive records.
#[derive(Debug)]
pub(crate) struct Portion<'r> {
    pub(crate) columns: Vec<PortionColumn<'r>>,
    pub(crate) count: usize,
}

impl Portion<'_> {
    /// Takes the first records.
    pub(crate) fn split_front(&mut self, count: usize) -> Self {
        let count = count.min(self.count);
        self.count -= count;
        Self { columns: self.columns.iter_mut().map(|column| column.split_front(count)).collect(), count }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.columns.iter().map(|column| column.rest.len()).sum()
    }
}

/// A value, or an array of them, in the binary form that its type has.
#[derive(Debug)]
pub(crate) struct Argument<'r> {
    oid: u32,
    parts: [&'r [u8]; 2],
}

/// The bytes before an array's elements: dimensions, whether there are nulls, type, length, first index.
pub(crate) const ARRAY_HEADER_BYTES: usize = 20;

/// The header of an array of `count` values of a column.
pub(crate) fn array_header(column: &PortionColumn<'_>, count: usize) -> [u8; ARRAY_HEADER_BYTES] {
    let count = i32::try_from(count).unwrap_or(i32::MAX);
    let fields = [1, 0, column.column_type.oid().cast_signed(), count, 1];
    let mut header = [0; ARRAY_HEADER_BYTES];
    for (bytes, field) in header.chunks_exact_mut(4).zip(fields) {
        bytes.copy_from_slice(&field.to_be_bytes());
    }
    header
}

/// A column as an array.
pub(crate) fn array<'r>(header: &'r [u8; ARRAY_HEADER_BYTES], column: PortionColumn<'r>) -> Argument<'r> {
    Argument { oid: column.column_type.array_oid(), parts: [header, column.rest] }
}

impl Encode<'_, Postgres> for Argument<'_> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        self.parts.iter().for_each(|part| buffer.extend_from_slice(part));
        Ok(IsNull::No)
    }

    fn produces(&self) -> Option<PgTypeInfo> {
        Some(PgTypeInfo::with_oid(Oid(self.oid)))
    }

    fn size_hint(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }
}

/// Asked for by the driver, which goes by [`Encode::produces`].
impl Type<Postgres> for Argument<'_> {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(ColumnType::Text.oid()))
    }
}
