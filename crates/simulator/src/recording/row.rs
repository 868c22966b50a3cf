//! One datapoint as a file has it, whatever its form.

use super::error::Fault;
use iotbench_core::{Schema, Value, ValueType};

/// A datapoint with a cell for each signal that the file has named so far. Its buffers are kept from row to row.
#[derive(Debug, Default)]
pub struct Row {
    /// The line, from 1.
    pub line: u64,
    /// The device, by the order in which the file names them.
    pub device: u32,
    /// Since the Unix epoch.
    pub time_ns: i64,
    cells: Vec<Cell>,
    text: String,
}

/// What a row has of one signal.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cell {
    Missing,
    I64(i64),
    F64(f64),
    /// A text by its place in the row's text.
    Text(usize, usize),
    /// The same, of a form whose values have no type.
    Word(usize, usize),
}

/// What a row has of one signal, as it can be read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen<'a> {
    /// Nothing.
    Missing,
    /// A whole number.
    I64(i64),
    /// A number.
    F64(f64),
    /// A text.
    Text(&'a str),
    /// A text that may mean a number.
    Word(&'a str),
}

impl Row {
    /// A row without a cell.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.text.clear();
    }

    /// What there is of a signal.
    pub fn get(&self, signal: usize) -> Seen<'_> {
        let text = |start: usize, end: usize| self.text.get(start..end).unwrap_or_default();
        match self.cells.get(signal) {
            None | Some(Cell::Missing) => Seen::Missing,
            Some(&Cell::I64(v)) => Seen::I64(v),
            Some(&Cell::F64(v)) => Seen::F64(v),
            Some(&Cell::Text(start, end)) => Seen::Text(text(start, end)),
            Some(&Cell::Word(start, end)) => Seen::Word(text(start, end)),
        }
    }

    /// Sets a whole number; false when the signal has a value.
    #[must_use]
    pub fn set_i64(&mut self, signal: usize, value: i64) -> bool {
        self.set(signal, Cell::I64(value))
    }

    /// Sets a number; false when the signal has a value.
    #[must_use]
    pub fn set_f64(&mut self, signal: usize, value: f64) -> bool {
        self.set(signal, Cell::F64(value))
    }

    /// Sets a text that is put together in place; false when the signal has a value.
    #[must_use]
    pub fn set_text(&mut self, signal: usize, write: impl FnOnce(&mut String)) -> bool {
        let start = self.text.len();
        write(&mut self.text);
        let end = self.text.len();
        self.set(signal, Cell::Text(start, end))
    }

    /// Sets what may be a number or a text; nothing when it is empty and `empty_is_text` is not said.
    pub fn set_word(&mut self, signal: usize, word: &str, empty_is_text: bool) {
        if word.is_empty() && !empty_is_text {
            return;
        }
        let start = self.text.len();
        self.text.push_str(word);
        let end = self.text.len();
        let _ = self.set(signal, Cell::Word(start, end));
    }

    fn set(&mut self, signal: usize, cell: Cell) -> bool {
        if self.cells.len() <= signal {
            self.cells.resize(signal + 1, Cell::Missing);
        }
        let is_new = self.cells[signal] == Cell::Missing;
        self.cells[signal] = cell;
        is_new
    }

    /// A signal's value as one of this type.
    ///
    /// # Errors
    /// There is none, or it does not fit.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "the nearest of the type asked for"
    )]
    #[inline]
    pub fn value(&self, signal: usize, name: &str, value_type: ValueType) -> Result<Value<'_>, Fault> {
        let fault = |message: String| Fault::column(name, message);
        let misfit = |v: &dyn std::fmt::Display| fault(format!("{v} is not of the type {}", type_name(value_type)));
        match (self.get(signal), value_type) {
            (Seen::Missing, _) => Err(fault("is empty: every datapoint needs a value".into())),
            (Seen::Word(word), _) => parsed(word, value_type).map_err(fault),
            (Seen::I64(v), ValueType::I64) => Ok(Value::I64(v)),
            (Seen::F64(v), ValueType::F64) => Ok(Value::F64(v)),
            (Seen::I64(v), ValueType::F64) => Ok(Value::F64(v as f64)),
            (Seen::I64(v), ValueType::F32) => Ok(Value::F32(v as f32)),
            (Seen::F64(v), ValueType::F32) if (v as f32).is_finite() => Ok(Value::F32(v as f32)),
            (Seen::I64(v), ValueType::U16) => v.try_into().map(Value::U16).map_err(|_| misfit(&v)),
            (Seen::F64(v), _) => Err(misfit(&v)),
            (Seen::I64(v), ValueType::Text) => Err(misfit(&v)),
            (Seen::Text(text), ValueType::Text) => Ok(Value::Text(text)),
            (Seen::Text(text), _) => Err(misfit(&format!("{text:?}"))),
        }
    }

    /// Whether there is a value of its type for each signal.
    ///
    /// # Errors
    /// See [`Row::value`].
    pub fn check(&self, schema: &Schema) -> Result<(), Fault> {
        let mut signals = schema.signals().iter().enumerate();
        signals.try_for_each(|(place, signal)| self.value(place, &signal.name, signal.value_type).map(|_| ()))
    }
}

/// The word in a profile.
pub fn type_name(value_type: ValueType) -> &'static str {
    match value_type {
        ValueType::F32 => "f32",
        ValueType::F64 => "f64",
        ValueType::I64 => "i64",
        ValueType::U16 => "u16",
        ValueType::Text => "text",
    }
}

fn parsed(cell: &str, value_type: ValueType) -> Result<Value<'_>, String> {
    let finite = |v: f64| if v.is_finite() { Ok(v) } else { Err(format!("{cell:?} is not finite")) };
    match value_type {
        ValueType::F32 => {
            let value = cell.parse::<f32>().map_err(|e| format!("{cell:?}: {e}"))?;
            finite(value.into()).map(|_| Value::F32(value))
        }
        ValueType::F64 => cell.parse().map_err(|e| format!("{cell:?}: {e}")).and_then(finite).map(Value::F64),
        ValueType::I64 => cell.parse().map(Value::I64).map_err(|e| format!("{cell:?}: {e}")),
        ValueType::U16 => cell.parse().map(Value::U16).map_err(|e| format!("{cell:?}: {e}")),
        ValueType::Text => Ok(Value::Text(cell)),
    }
}
