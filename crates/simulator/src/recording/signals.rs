//! Which signals a file has, by the names of its columns or fields.

use iotbench_core::{Schema, Signal, ValueType, closest};
use std::collections::HashMap;

/// More columns than a schema takes, since not all need be taken.
const MAX_COLUMNS: usize = 4096;
/// The longest name that a schema takes.
const MAX_NAME_BYTES: usize = 48;

/// The columns that a file has named so far, and which of them are signals.
#[derive(Debug)]
pub struct Signals {
    /// As the file writes them, with their place among the signals.
    columns: Vec<(Box<[u8]>, Option<usize>)>,
    places: HashMap<Box<[u8]>, usize>,
    names: Vec<String>,
    wanted: Vec<String>,
    /// The column that probably comes next.
    next: usize,
}

impl Signals {
    /// No column yet. `wanted` are the signals that are taken; empty: all.
    pub fn new(wanted: &[String]) -> Self {
        let (columns, places, names) = (Vec::new(), HashMap::new(), Vec::new());
        Self { columns, places, names, wanted: wanted.to_vec(), next: 0 }
    }

    /// The names of those that are taken.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The next field is probably the first column.
    pub fn begin_line(&mut self) {
        self.next = 0;
    }

    /// Which signal a column of this name is; `None`: one that is not taken. Names are made ones that every database takes
    /// by [`signal_name`].
    ///
    /// # Errors
    /// A new name that is too many, or becomes that of another column.
    #[inline]
    pub fn place(&mut self, column: &[u8]) -> Result<Option<usize>, String> {
        // Lines of a file mostly have the same fields in the same order.
        if let Some((name, signal)) = self.columns.get(self.next).filter(|(name, _)| **name == *column) {
            let _: &[u8] = name;
            self.next += 1;
            return Ok(*signal);
        }
        self.searched(column)
    }

    fn searched(&mut self, column: &[u8]) -> Result<Option<usize>, String> {
        let place = match self.places.get(column) {
            Some(&place) => place,
            None => {
                let text = std::str::from_utf8(column).map_err(|_| "has a field whose name is no UTF-8 text")?;
                self.add(text, signal_name(text))?
            }
        };
        self.next = place + 1;
        Ok(self.columns.get(place).and_then(|(_, signal)| *signal))
    }

    /// Adds a column whose signal has this name; its place among the columns.
    ///
    /// # Errors
    /// As [`Signals::place`].
    pub fn add(&mut self, column: &str, name: String) -> Result<usize, String> {
        let place = self.columns.len();
        if place == MAX_COLUMNS {
            return Err(format!("has more than {MAX_COLUMNS} columns with those before it"));
        }
        let is_wanted = self.wanted.is_empty() || self.wanted.contains(&name);
        let signal = if is_wanted {
            if self.names.contains(&name) {
                return Err(format!(
                    "has two columns that would be called {name}, the second is {column:?}: rename one"
                ));
            }
            self.names.push(name);
            Some(self.names.len() - 1)
        } else {
            None
        };
        self.columns.push((column.as_bytes().into(), signal));
        self.places.insert(column.as_bytes().into(), place);
        Ok(place)
    }

    /// A signal that is named by a parameter and does not exist, with what was probably meant.
    pub fn unknown<'a>(&self, mut named: impl Iterator<Item = &'a String>) -> Option<String> {
        let unknown = named.find(|name| !self.names.contains(name))?;
        let meant = closest(unknown, self.names.iter().map(String::as_str));
        let meant = meant.map(|m| format!(" (did you mean {m}?)")).unwrap_or_default();
        Some(format!("{unknown:?}{meant}"))
    }
}

/// A name of `[a-z][a-z0-9_]*` for a field of whatever name: capitals become small, all else `_`; what does not begin with
/// a letter gets `s_` before it, what is a column of the layouts `_` after it.
pub fn signal_name(field: &str) -> String {
    let mut name = String::new();
    for character in field.chars().take(MAX_NAME_BYTES) {
        let small = character.to_ascii_lowercase();
        name.push(if small.is_ascii_alphanumeric() { small } else { '_' });
    }
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        name.insert_str(0, "s_");
    }
    name.truncate(MAX_NAME_BYTES);
    let taken = |name: &str| {
        Schema::new(vec![Signal { name: name.into(), value_type: ValueType::F64, max_text_bytes: 0 }]).is_ok()
    };
    if !taken(&name) {
        name.truncate(MAX_NAME_BYTES - 1);
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_name_becomes_one_that_a_schema_takes(field in ".{0,60}") {
            let signal = Signal { name: signal_name(&field), value_type: ValueType::F64, max_text_bytes: 0 };
            prop_assert!(Schema::new(vec![signal]).is_ok(), "{:?}", signal_name(&field));
        }
    }

    #[test]
    fn names_stay_readable() {
        let names = ["usage_user", "Temperature [C]", "value", "1st", ""].map(signal_name);
        assert_eq!(names, ["usage_user", "temperature__c_", "value_", "s_1st", "s_"]);
    }
}
