//! What a first reading of a file tells: its signals with their types, how many datapoints there are, how much memory they take.

use super::{
    error::RecordingError,
    plan::{Broken, RecordingPlan},
    reader::RowReader,
    row::{Row, Seen},
};
use iotbench_core::{Schema, Signal, ValueType};

/// After so many rows it is looked whether they fit into memory.
const ROWS_BETWEEN_LOOKS: u64 = 1 << 16;

/// What a column of a device costs beside its values.
const COLUMN_BYTES: u64 = 48;
/// What a datapoint costs beside its values that was not sent by its time.
const LATE_BYTES: u64 = 24;

/// What a first reading of a file tells.
#[derive(Debug)]
pub struct Survey {
    /// The signals.
    pub schema: Schema,
    /// Their names.
    pub names: Vec<String>,
    /// How many datapoints each device has, broken ones among them.
    pub rows: Vec<u64>,
    /// Signals that most lines lack, and which are left out for that.
    pub left_out: Vec<String>,
}

/// What was seen of one signal.
#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    value_type: Option<ValueType>,
    present: u64,
    text_bytes: u64,
    longest: usize,
}

impl Survey {
    /// Reads a file once. `is_held`: all its datapoints have to fit into memory. `look` sees each row.
    ///
    /// # Errors
    /// A file that cannot be read, broken lines that are not skipped, more than fits into memory.
    pub fn read(
        plan: &RecordingPlan<'_>,
        is_held: bool,
        mut look: impl FnMut(&RowReader, &Row) -> Result<(), RecordingError>,
    ) -> Result<Self, RecordingError> {
        let mut reader = RowReader::open(plan, plan.signals)?;
        let (mut row, mut facts, mut rows) = (Row::default(), Vec::new(), Vec::new());
        let (mut newest_ns, mut total, mut late) = (Vec::new(), 0_u64, 0_u64);
        while reader.next(&mut row)? {
            let names = reader.signals.names();
            while let Some(name) = names.get(facts.len()) {
                facts.push(Facts { value_type: plan.types.get(name).copied(), ..Facts::default() });
            }
            for (signal, (name, facts)) in names.iter().zip(&mut facts).enumerate() {
                facts.see(row.get(signal), plan.types.contains_key(name));
            }
            let device = row.device as usize;
            if rows.len() <= device {
                rows.resize(device + 1, 0);
                newest_ns.resize(device + 1, i64::MIN);
            }
            late += u64::from(rows[device] > 0 && newest_ns[device] >= row.time_ns);
            newest_ns[device] = row.time_ns.max(newest_ns[device]);
            rows[device] += 1;
            total += 1;
            if is_held && total % ROWS_BETWEEN_LOOKS == 0 {
                reader.check_memory(needed_bytes(&facts, total, &reader) + late * LATE_BYTES)?;
            }
            look(&reader, &row)?;
        }
        let given = plan.types.keys().chain(plan.signals);
        if let Some(unknown) = reader.signals.unknown(given).filter(|_| total > 0) {
            let message = format!("there is no signal {unknown}; known: {}", reader.signals.names().join(", "));
            return Err(RecordingError::Header { file: reader.file().into(), line: 1, message });
        }
        if total == 0 {
            return Err(RecordingError::Empty { file: reader.file().into(), skipped: reader.skipped() });
        }
        if is_held {
            reader.check_memory(needed_bytes(&facts, total, &reader) + late * LATE_BYTES)?;
        }
        Self::concluded(plan, &reader, &facts, rows, total)
    }

    fn concluded(
        plan: &RecordingPlan<'_>,
        reader: &RowReader,
        facts: &[Facts],
        rows: Vec<u64>,
        total: u64,
    ) -> Result<Self, RecordingError> {
        // One line with a misspelt name must not make all others broken.
        let is_rare = |facts: &Facts| plan.broken == Broken::Skip && facts.present * 2 < total;
        let (mut signals, mut left_out) = (Vec::new(), Vec::new());
        for (name, facts) in reader.signals.names().iter().zip(facts) {
            if is_rare(facts) {
                left_out.push(name.clone());
                continue;
            }
            let value_type = facts.value_type.unwrap_or(ValueType::I64);
            let longest = if value_type == ValueType::Text { facts.longest } else { 0 };
            let max_text_bytes = u32::try_from(longest).unwrap_or(u32::MAX);
            signals.push(Signal { name: name.clone(), value_type, max_text_bytes });
        }
        let names = signals.iter().map(|s| s.name.clone()).collect();
        let schema = Schema::new(signals).map_err(|e| RecordingError::Header {
            file: reader.file().into(),
            line: 1,
            message: e.to_string(),
        })?;
        Ok(Self { schema, names, rows, left_out })
    }
}

impl Survey {
    /// What was left out in this reading of the same file and why, where something was.
    pub fn remark(&self, reader: &RowReader) -> Option<String> {
        let lines = reader.first_skipped().map(|first| {
            let n = reader.skipped();
            format!("{n} broken line{} skipped, the first: {first}", if n == 1 { " was" } else { "s were" })
        });
        let signals = (!self.left_out.is_empty())
            .then(|| format!("signals that most lines lack were left out: {}", self.left_out.join(", ")));
        let parts: Vec<String> = lines.into_iter().chain(signals).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

fn needed_bytes(facts: &[Facts], rows: u64, reader: &RowReader) -> u64 {
    let of_signal = |facts: &Facts| match facts.value_type {
        Some(ValueType::U16) => 2 * rows,
        Some(ValueType::F32) => 4 * rows,
        Some(ValueType::Text) => 8 * rows + facts.text_bytes,
        _ => 8 * rows,
    };
    let columns = (reader.devices.names().len() * facts.len()) as u64;
    8 * rows + facts.iter().map(of_signal).sum::<u64>() + columns * COLUMN_BYTES + reader.devices.taken_bytes()
}

impl Facts {
    #[inline]
    fn see(&mut self, seen: Seen<'_>, is_given: bool) {
        let (of_cell, text) = match seen {
            Seen::Missing => return,
            Seen::I64(_) => (ValueType::I64, ""),
            Seen::F64(_) => (ValueType::F64, ""),
            Seen::Text(text) => (ValueType::Text, text),
            Seen::Word(word) if is_given => (ValueType::Text, word),
            Seen::Word(word) => (widened(self.value_type.unwrap_or(ValueType::I64), word), word),
        };
        self.present += 1;
        self.text_bytes += text.len() as u64;
        self.longest = self.longest.max(text.len());
        if is_given {
            return;
        }
        self.value_type = Some(match (self.value_type, of_cell, seen) {
            (_, word, Seen::Word(_)) => word,
            (None, first, _) => first,
            (Some(ValueType::I64 | ValueType::F64), ValueType::F64, _) => ValueType::F64,
            // What is of another kind is a broken line.
            (Some(before), ..) => before,
        });
    }
}

/// The narrowest type that holds what was there before and this cell.
fn widened(so_far: ValueType, cell: &str) -> ValueType {
    match so_far {
        ValueType::I64 if cell.parse::<i64>().is_ok() => ValueType::I64,
        ValueType::I64 | ValueType::F64 if cell.parse::<f64>().is_ok_and(f64::is_finite) => ValueType::F64,
        _ => ValueType::Text,
    }
}
