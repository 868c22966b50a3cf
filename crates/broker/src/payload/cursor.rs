//! Reads a text that is known but for its numbers and texts.

use super::Malformed;
use iotbench_core::{Batch, Column, Label, Run};
use std::str::FromStr;

/// A place in a message.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn malformed(&self) -> Malformed {
        Malformed { at: self.at }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest().is_empty()
    }

    /// Whether this comes next; then it is passed.
    pub(super) fn takes(&mut self, text: &[u8]) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Passes what has to come next.
    pub(super) fn pass(&mut self, text: &[u8]) -> Result<(), Malformed> {
        if self.takes(text) { Ok(()) } else { Err(self.malformed()) }
    }

    /// A number, up to whatever cannot be part of one.
    pub(super) fn number<T: FromStr>(&mut self) -> Result<T, Malformed> {
        let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'e' | b'E' | b'+');
        let length = self.rest().iter().take_while(|byte| is_part(byte)).count();
        self.number_of(length)
    }

    /// A float of 64 bits: what is beyond all numbers is none.
    pub(super) fn float(&mut self) -> Result<f64, Malformed> {
        let number: f64 = self.number()?;
        if number.is_finite() { Ok(number) } else { Err(self.malformed()) }
    }

    /// The same of 32 bits.
    #[expect(clippy::cast_possible_truncation, reason = "it was written from 32 bits, so none is lost")]
    pub(super) fn single(&mut self) -> Result<f32, Malformed> {
        let number = self.float()? as f32;
        if number.is_finite() { Ok(number) } else { Err(self.malformed()) }
    }

    /// A number that a plus ends.
    pub(super) fn count<T: FromStr>(&mut self) -> Result<T, Malformed> {
        let length = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.number_of(length)
    }

    fn number_of<T: FromStr>(&mut self, length: usize) -> Result<T, Malformed> {
        let digits = self.rest().get(..length).and_then(|digits| std::str::from_utf8(digits).ok());
        let number = digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| self.malformed())?;
        self.at += length;
        Ok(number)
    }

    /// What stands between this quote and the one that ends it, with its backslashes.
    pub(super) fn quoted(&mut self) -> Result<&'a str, Malformed> {
        self.pass(b"\"")?;
        let mut length = 0;
        loop {
            match self.rest().get(length) {
                Some(b'"') => break,
                Some(b'\\') => length += 2,
                Some(_) => length += 1,
                None => return Err(self.malformed()),
            }
        }
        let text = self.rest().get(..length).and_then(|text| std::str::from_utf8(text).ok());
        let text = text.ok_or_else(|| self.malformed())?;
        self.at += length + 1;
        Ok(text)
    }

    /// The numbers of a label, each after the text that stands before it.
    pub(super) fn label(&mut self, before: [&str; 5]) -> Result<Label, Malformed> {
        let [device, sequence, intended_ns, published_ns, operation] = before.map(str::as_bytes);
        self.pass(device)?;
        let device = self.number()?;
        self.pass(sequence)?;
        let sequence = self.number()?;
        self.pass(intended_ns)?;
        let intended_ns = self.number()?;
        self.pass(published_ns)?;
        let published_ns = self.number()?;
        self.pass(operation)?;
        Ok(Label { device, sequence, intended_ns, published_ns, operation: self.number()? })
    }

    /// Appends `run` to a batch by reading its rows. What cannot be read leaves the batch whole and its values wrong.
    pub(super) fn rows(
        &mut self,
        run: Run,
        batch: &mut Batch,
        mut row: impl FnMut(&mut Self, &mut Column, usize) -> Result<(), Malformed>,
        mut begin: impl FnMut(&mut Self) -> Result<Option<i64>, Malformed>,
        mut end: impl FnMut(&mut Self) -> Result<Option<i64>, Malformed>,
    ) -> Result<(), Malformed> {
        let mut result = Ok(());
        batch.append(run, |timestamps, columns| {
            for _ in 0..run.count {
                let mut time_ns = None;
                let read = result.and_then(|()| begin(self)).map(|time| time_ns = time);
                result = read.map(drop);
                for (place, column) in columns.iter_mut().enumerate() {
                    let length = column.len();
                    result = result.and_then(|()| row(self, column, place));
                    if column.len() == length {
                        column.push_default();
                    }
                }
                let read = result.and_then(|()| end(self)).map(|time| time_ns = time.or(time_ns));
                result = read.map(drop);
                timestamps.push(time_ns.unwrap_or_default());
            }
        });
        result
    }
}

/// Appends digits, of which there are many in a message.
pub(super) fn push_integer(out: &mut Vec<u8>, number: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends the shortest digits that mean this float.
pub(super) fn push_float(out: &mut Vec<u8>, number: f64) {
    out.extend_from_slice(zmij::Buffer::new().format_finite(number).as_bytes());
}

/// Appends the numbers of a label, each after the text that stands before it.
pub(super) fn push_label(out: &mut Vec<u8>, label: &Label, before: [&str; 5]) {
    let numbers = [label.device.into(), label.sequence, label.intended_ns, label.published_ns, label.operation.into()];
    for (before, number) in before.into_iter().zip(numbers) {
        out.extend_from_slice(before.as_bytes());
        push_integer(out, number);
    }
}
