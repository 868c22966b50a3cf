//! A stored datapoint and its values.

use iotbench_core::{Batch, SignalId, Value};

/// One stored datapoint.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) device: u32,
    pub(super) index: u64,
    pub(super) timestamp_ns: i64,
    pub(super) values: Vec<Stored>,
}

/// A value that stands by itself.
#[derive(Clone, Debug)]
pub(super) enum Stored {
    F32(f32),
    F64(f64),
    I64(i64),
    U16(u16),
    Text(String),
}

impl Stored {
    fn value(&self) -> Value<'_> {
        match self {
            Self::F32(v) => Value::F32(*v),
            Self::F64(v) => Value::F64(*v),
            Self::I64(v) => Value::I64(*v),
            Self::U16(v) => Value::U16(*v),
            Self::Text(v) => Value::Text(v),
        }
    }
}

impl From<Value<'_>> for Stored {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::F32(v) => Self::F32(v),
            Value::F64(v) => Self::F64(v),
            Value::I64(v) => Self::I64(v),
            Value::U16(v) => Self::U16(v),
            Value::Text(v) => Self::Text(v.into()),
        }
    }
}

impl Point {
    /// The datapoints of a batch.
    pub(super) fn all_of(batch: &Batch) -> Vec<Self> {
        let of_run = |run: iotbench_core::RunRows| {
            run.run.indices().zip(run.rows).map(move |(index, row)| Self {
                device: run.run.device,
                index,
                timestamp_ns: batch.timestamps_ns()[row],
                values: batch.columns().iter().filter_map(|c| c.get(row)).map(Stored::from).collect(),
            })
        };
        batch.run_rows().flat_map(of_run).collect()
    }

    /// `None`: it was stored without it.
    pub(super) fn value(&self, signal: SignalId) -> Option<Value<'_>> {
        self.values.get(usize::from(signal)).map(Stored::value)
    }

    pub(super) fn number(&self, signal: SignalId) -> f64 {
        self.value(signal).and_then(|value| value.as_f64()).unwrap_or(f64::NAN)
    }
}

/// Whether the value of a signal is less: whole numbers as such.
pub(super) fn less(a: &Point, b: &Point, signal: SignalId) -> bool {
    match (a.value(signal), b.value(signal)) {
        (Some(Value::I64(a)), Some(Value::I64(b))) => a < b,
        _ => a.number(signal) < b.number(signal),
    }
}
