//! When a value, a figure and a row are the truth.

use super::{figure::Bounds, truth::Row};
use crate::read::{History, KeptAnswer, row_hash};
use iotbench_core::{Aggregate, Domain, Query, SignalId, Value, ValueType};

/// The greatest relative error of a figure.
const FIGURE_ERROR: f64 = 1e-9;
/// The greatest error of a figure over 32-bit numbers that are stored as decimal text, relative to their magnitude: a
/// database that works it out sees the shortest decimal form of each.
const DECIMAL_ERROR: f64 = f32::EPSILON as f64;
/// What a sum of 32-bit numbers loses at each of them, relative to the magnitudes (Higham 2002, section 4.2).
const SINGLE_ROUNDING: f64 = f32::EPSILON as f64 / 2.0;
/// A mean of whole numbers that is rounded, or cut off, to four decimals.
const MEAN_OF_WHOLE_ERROR: f64 = 1e-4;
/// No simulated sensor has greater values: where the values of a signal share an exponent, their error is relative to it.
const GREATEST_MAGNITUDE: f64 = 1e6;

/// How exactly answers have to agree.
#[derive(Clone, Copy, Debug)]
pub struct Exactness {
    /// Which values come back exactly.
    pub domain: fn(ValueType) -> Domain,
    /// Whether figures are worked out of 32-bit numbers in decimal text.
    pub decimal: bool,
    /// How far a figure may be off whatever its magnitude.
    pub absolute: f64,
    /// Whether a database may add up 32-bit numbers as such, one after the other.
    pub adds_up_32_bit: bool,
}

impl Exactness {
    /// As queries are answered.
    pub const fn new(domain: fn(ValueType) -> Domain, decimal: bool) -> Self {
        Self { domain, decimal, absolute: 0.0, adds_up_32_bit: false }
    }

    /// The same for the figure of a user's statement, who leaves the database its own arithmetic: that of 32-bit numbers in their precision,
    /// and the mean of whole numbers to four decimals (MariaDB, MySQL).
    pub fn of_statement(self, history: &History, query: &Query) -> Self {
        let Query::Aggregates { signals, aggregates, .. } = query else { return self };
        let all = history.dataset.schema().signals();
        let value_type = signals.first().and_then(|&id| all.get(usize::from(id))).map(|signal| signal.value_type);
        let is_whole = matches!(value_type, Some(ValueType::I64 | ValueType::U16));
        let absolute = if is_whole && aggregates.contains(&Aggregate::Mean) { MEAN_OF_WHOLE_ERROR } else { 0.0 };
        let is_single = value_type == Some(ValueType::F32);
        let adds_up = |figure: &Aggregate| matches!(figure, Aggregate::Sum | Aggregate::Mean);
        let adds_up_32_bit = is_single && aggregates.iter().any(adds_up);
        Self { decimal: self.decimal || is_single, absolute, adds_up_32_bit, ..self }
    }

    /// Whether a stored value came back, bit by bit where the database promises that.
    pub fn same(&self, got: Value<'_>, expected: Value<'_>) -> bool {
        match ((self.domain)(type_of(expected)), got, expected) {
            (Domain::Rounded { relative }, got, expected) if type_of(got) == type_of(expected) => {
                match (got.as_f64(), expected.as_f64()) {
                    (Some(got), Some(expected)) => (got - expected).abs() <= relative * expected.abs(),
                    _ => got == expected,
                }
            }
            (Domain::RoundedTogether { relative, of_greatest }, got, expected) if type_of(got) == type_of(expected) => {
                match (got.as_f64(), expected.as_f64()) {
                    (Some(got), Some(expected)) => {
                        (got - expected).abs() <= relative * expected.abs() + of_greatest * GREATEST_MAGNITUDE
                    }
                    _ => got == expected,
                }
            }
            (_, Value::F32(got), Value::F32(expected)) => got.to_bits() == expected.to_bits(),
            (_, Value::F64(got), Value::F64(expected)) => got.to_bits() == expected.to_bits(),
            (_, got, expected) => got == expected,
        }
    }

    /// Whether a value comes back with another last bit, so that a digest of it tells nothing.
    pub fn rounds(&self, value_type: ValueType) -> bool {
        match (self.domain)(value_type) {
            Domain::Rounded { relative } | Domain::RoundedTogether { relative, .. } => relative > 0.0,
            _ => false,
        }
    }

    /// Whether a figure is one that may be.
    pub fn same_figure(&self, got: f64, bounds: Bounds) -> bool {
        let expected = if got < bounds.least { bounds.least } else { got.min(bounds.greatest) };
        (got - expected).abs() <= self.figure_error(expected, bounds)
    }

    /// Whether the difference of two values of a type, many times, is what it has to be.
    pub fn same_difference(&self, got: f64, (from, to): (f64, f64), times: f64, value_type: ValueType) -> bool {
        let expected = (to - from) * times;
        let magnitude = (from.abs() + to.abs()) * times;
        let bounds = Bounds { least: expected, greatest: expected, magnitude, count: 2.0 };
        let stored = match (self.domain)(value_type) {
            Domain::RoundedTogether { of_greatest, .. } => 2.0 * of_greatest * GREATEST_MAGNITUDE * times,
            _ => 0.0,
        };
        (got - expected).abs() <= self.figure_error(expected, bounds) + stored
    }

    /// How far a figure may be off that a database works out, where it should be this one within its bounds.
    pub fn figure_error(&self, expected: f64, Bounds { magnitude, count, .. }: Bounds) -> f64 {
        // The least and the greatest value are further from nothing than the mean one.
        let decimal = if self.decimal { DECIMAL_ERROR * magnitude.max(expected.abs()) } else { 0.0 };
        let added_up = if self.adds_up_32_bit { SINGLE_ROUNDING * count * magnitude } else { 0.0 };
        decimal.max(added_up).max(self.absolute).max(FIGURE_ERROR * expected.abs().max(magnitude))
    }
}

/// A value that stands by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Owned {
    /// A 32-bit number.
    F32(f32),
    /// A 64-bit number.
    F64(f64),
    /// An integer.
    I64(i64),
    /// A small integer.
    U16(u16),
    /// A text.
    Text(String),
}

impl Owned {
    /// As it is in a column.
    pub fn value(&self) -> Value<'_> {
        match self {
            Self::F32(v) => Value::F32(*v),
            Self::F64(v) => Value::F64(*v),
            Self::I64(v) => Value::I64(*v),
            Self::U16(v) => Value::U16(*v),
            Self::Text(v) => Value::Text(v),
        }
    }
}

impl From<Value<'_>> for Owned {
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

/// A datapoint that a query should have found, with the value that was asked for.
#[derive(Clone, Debug)]
pub struct Found {
    /// Whose.
    pub device: u32,
    /// When.
    pub timestamp_ns: i64,
    /// The value.
    pub value: Owned,
}

impl Found {
    /// A row's device, time and value of a signal.
    pub fn of(row: &Row<'_>, signal: SignalId) -> Self {
        let value = row.value(signal).map_or(Owned::Text(String::new()), Owned::from);
        Self { device: row.device, timestamp_ns: row.timestamp_ns, value }
    }
}

/// In what the `place`-th row of an answer differs from the truth; `None`: in nothing.
pub fn row_differs(
    answer: &KeptAnswer,
    place: u64,
    expected: &Row<'_>,
    signals: &[SignalId],
    exactness: Exactness,
) -> Option<String> {
    let place = usize::try_from(place).ok()?;
    let rows = answer.rows.as_ref();
    let whole = rows.map_or(0, iotbench_core::Chunk::len);
    let Some(rows) = rows.filter(|_| place < whole) else {
        let values = signals.iter().map(|&signal| expected.value(signal));
        let digest = row_hash(Some(expected.device), Some(expected.timestamp_ns), values);
        return match answer.digests.get(place - whole) {
            Some(&got) if got == digest => None,
            // Of so long an answer of rounded numbers the first rows are compared, and how many there are.
            Some(_) if signals.iter().any(|&s| expected.value(s).is_some_and(|v| exactness.rounds(type_of(v)))) => None,
            Some(_) => Some(format!("row {place} is not device {} at {}", expected.device, expected.timestamp_ns)),
            None => Some(missing(place, expected)),
        };
    };
    let got = (rows.devices.get(place).copied()?, rows.timestamps_ns.get(place).copied()?);
    if got != (expected.device, expected.timestamp_ns) {
        return Some(format!(
            "row {place} is device {} at {} ns and should be device {} at {} ns",
            got.0, got.1, expected.device, expected.timestamp_ns
        ));
    }
    signals.iter().zip(&rows.columns).find_map(|(&signal, column)| {
        let got = column.get(place);
        let same = got.is_some_and(|got| expected.values(signal).any(|expected| exactness.same(got, expected)));
        let should = || shown(expected.value(signal));
        (!same).then(|| format!("row {place}: signal {signal} is {} and should be {}", shown(got), should()))
    })
}

fn missing(place: usize, expected: &Row<'_>) -> String {
    format!("row {place} is missing: device {} at {} ns", expected.device, expected.timestamp_ns)
}

/// A value for people; a long text is cut.
pub fn shown(value: Option<Value<'_>>) -> String {
    match value {
        None => "nothing".into(),
        Some(Value::F32(v)) => v.to_string(),
        Some(Value::F64(v)) => v.to_string(),
        Some(Value::I64(v)) => v.to_string(),
        Some(Value::U16(v)) => v.to_string(),
        Some(Value::Text(v)) => format!("{:?}", v.chars().take(60).collect::<String>()),
    }
}

fn type_of(value: Value<'_>) -> ValueType {
    match value {
        Value::F32(_) => ValueType::F32,
        Value::F64(_) => ValueType::F64,
        Value::I64(_) => ValueType::I64,
        Value::U16(_) => ValueType::U16,
        Value::Text(_) => ValueType::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_in_decimal_text_is_as_near_as_the_text_is() {
        let bounds = |figure| Bounds { least: figure, greatest: figure, magnitude: 0.1, count: 3.0 };
        let exact = Exactness::new(|_| Domain::Full, false);
        let stored = f64::from(-8.9_f32);
        assert!(Exactness { decimal: true, ..exact }.same_figure(-8.9, bounds(stored)));
        assert!(!exact.same_figure(-8.9, bounds(stored)));
        assert!(!Exactness { decimal: true, ..exact }.same_figure(-8.900_002, bounds(stored)));
    }

    #[test]
    fn values_that_share_an_exponent_may_differ_by_a_part_of_the_greatest() {
        let domain = |_| Domain::RoundedTogether { relative: 1e-12, of_greatest: 1e-17 };
        let exactness = Exactness::new(domain, false);
        let same = |got, expected| exactness.same(Value::F64(got), Value::F64(expected));
        assert!(same(1.0 + 9e-13, 1.0) && same(0.0, 1e-12));
        assert!(!same(1.0 + 1e-10, 1.0) && !same(0.0, 1e-10));
        assert!(!exactness.same(Value::I64(1), Value::F64(1.0)));
        assert!(exactness.rounds(ValueType::F64));
        let exact = Exactness::new(|_| Domain::Rounded { relative: 0.0 }, false);
        assert!(!exact.rounds(ValueType::F64));
    }
}
