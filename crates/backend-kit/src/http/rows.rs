//! Takes a document with rows apart as it comes, row by row: `{"dataset":[[1,"a"],[2,null]],"count":2}`.

use super::{error::shown, limits::MAX_PART_BYTES};
use crate::cell::Cell;
use iotbench_core::{Cause, Error};
use std::fmt::Display;

/// Where a database has its rows.
#[derive(Clone, Copy, Debug)]
pub struct RowsOf {
    /// Whose answer it is, for people.
    pub product: &'static str,
    /// What stands before the array of rows: `"dataset":`.
    pub key: &'static str,
}

impl RowsOf {
    /// An answer that this database does not give.
    #[must_use]
    pub fn improper(self, message: &dyn Display) -> Error {
        Error::new(Cause::Protocol, format!("this is no answer of a {}: {message}", self.product))
    }

    fn too_long(self) -> Error {
        self.improper(&format!("a row of more than {MAX_PART_BYTES} bytes"))
    }

    fn take(self, text: &[u8], take: &mut impl FnMut(&[Cell<'_>]) -> Result<(), Error>) -> Result<(), Error> {
        let row: Vec<Cell<'_>> = serde_json::from_slice(text).map_err(|e| self.improper(&e))?;
        take(&row)
    }
}

/// An answer under way.
#[derive(Debug)]
pub struct Rows {
    of: RowsOf,
    state: State,
    /// What came of a row whose end has not, or of what stands where a row should.
    held: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    BeforeKey,
    BeforeRows,
    BetweenRows,
    NoRow,
    InRow,
    InText,
    AfterBackslash,
    AfterRows,
}

impl Rows {
    /// An answer of this database.
    #[must_use]
    pub fn new(of: RowsOf) -> Self {
        Self { of, state: State::default(), held: Vec::new() }
    }

    /// Takes a piece of the answer and gives every row that ends in it to `take`.
    ///
    /// # Errors
    /// Protocol for what is no such answer; the error of `take`.
    pub fn push(&mut self, piece: &[u8], take: &mut impl FnMut(&[Cell<'_>]) -> Result<(), Error>) -> Result<(), Error> {
        let mut start = 0;
        for (place, &byte) in piece.iter().enumerate() {
            self.state = match (self.state, byte) {
                (State::BeforeKey, _) => {
                    self.held.push(byte);
                    if !self.held.ends_with(self.of.key.as_bytes()) {
                        if self.held.len() > MAX_PART_BYTES {
                            return Err(self.of.too_long());
                        }
                        continue;
                    }
                    self.held.clear();
                    State::BeforeRows
                }
                (State::BeforeRows, b'[') => State::BetweenRows,
                (State::BetweenRows, b'[') => {
                    start = place;
                    State::InRow
                }
                (State::BetweenRows, b']') => State::AfterRows,
                (State::BeforeRows | State::BetweenRows, b',' | b' ' | b'\n' | b'\r' | b'\t') => continue,
                // A server that fails in the middle says so there.
                (State::BeforeRows | State::BetweenRows, _) => {
                    start = place;
                    State::NoRow
                }
                (State::InRow, b'"') => State::InText,
                (State::InText, b'\\') => State::AfterBackslash,
                (State::AfterBackslash, _) => State::InText,
                (State::InText, b'"') => State::InRow,
                (State::InRow, b']') => {
                    // A row that lies in one piece is read where it lies.
                    if self.held.is_empty() {
                        self.of.take(&piece[start..=place], take)?;
                    } else {
                        self.held.extend_from_slice(&piece[start..=place]);
                        self.of.take(&self.held, take)?;
                        self.held.clear();
                    }
                    State::BetweenRows
                }
                (state, _) => state,
            };
        }
        if matches!(self.state, State::InRow | State::InText | State::AfterBackslash | State::NoRow) {
            if self.held.len() + piece.len() > MAX_PART_BYTES {
                return Err(self.of.too_long());
            }
            self.held.extend_from_slice(&piece[start..]);
        }
        Ok(())
    }

    /// The end of the answer.
    ///
    /// # Errors
    /// Protocol where rows were still to come, with the words that stand in their place.
    pub fn finish(&self) -> Result<(), Error> {
        match self.state {
            State::AfterRows => Ok(()),
            State::NoRow | State::InRow | State::InText | State::AfterBackslash => {
                let text = String::from_utf8_lossy(&self.held);
                Err(self.of.improper(&format!("it ends before its rows do, with {}", shown(text.trim()))))
            }
            State::BeforeKey | State::BeforeRows | State::BetweenRows => {
                Err(self.of.improper(&"it ends before its rows do"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(pieces: &[&[u8]]) -> Result<Vec<Vec<Cell<'static>>>, Error> {
        let of = RowsOf { product: "Base", key: "\"dataset\":" };
        let (mut rows, mut out) = (Rows::new(of), Vec::new());
        let mut take = |row: &[Cell<'_>]| {
            out.push(row.iter().cloned().map(Cell::into_owned).collect());
            Ok(())
        };
        for piece in pieces {
            rows.push(piece, &mut take)?;
        }
        rows.finish().map(|()| out)
    }

    #[test]
    fn numbers_and_texts_come_out_exactly() {
        let text = r#"{"query":"x","dataset":[[-1,9223372036854775807,-0.0],[5.0E-324,"a\"],[b\\",null]],"count":2}"#;
        let rows = read(&[text.as_bytes()]).unwrap();
        assert_eq!(rows[0][..2], [Cell::Integer(-1), Cell::Integer(i64::MAX)]);
        assert!(matches!(rows[0][2], Cell::Float(zero) if zero == 0.0 && zero.is_sign_negative()));
        assert_eq!(rows[1], [Cell::Float(5e-324), Cell::Text("a\"],[b\\".into()), Cell::Null]);
        assert!(read(&[br#"{"dataset":[],"count":0}"#]).unwrap().is_empty());
    }

    #[test]
    fn rows_may_stand_on_lines_of_their_own() {
        let rows =
            read(&[b"{\n\t\"dataset\":\n\t[\n\t\t[1, \"a\"],\n\t\t[2, null]\n\t],\n\n\t\"rows\": 2\n}"]).unwrap();
        assert_eq!(rows, [[Cell::Integer(1), Cell::Text("a".into())], [Cell::Integer(2), Cell::Null]]);
    }

    #[test]
    fn what_a_server_says_in_the_middle_of_rows_is_told() {
        for cut in ["[1],\nCode: 241, DB::Exception: Memory limit", "[1, \"aCode: 241, DB::Exception: Memory limit"] {
            let error = read(&[br#"{"dataset":["#, cut.as_bytes()]).unwrap_err();
            assert!(error.cause == Cause::Protocol && error.message.contains("Code: 241, DB"), "{error}");
        }
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for bad in [
            "",
            "x",
            r#"{"dataset":["#,
            r#"{"dataset":[[1]"#,
            r#"{"dataset":[[1,"#,
            r#"{"dataset":[[x]]}"#,
            r#"{"ddl":"OK"}"#,
        ] {
            assert_eq!(read(&[bad.as_bytes()]).unwrap_err().cause, Cause::Protocol, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn an_answer_may_come_in_any_pieces(cuts in prop::collection::vec(0..70_usize, 0..9)) {
            let text = br#"{"query":"[[","dataset":[[1,"a]\"[",2.5],[2,"\\",null],[3,"",1]],"count":3}"#;
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|w| &text[w[0]..w[1]]).collect();
            prop_assert_eq!(read(&pieces).unwrap(), read(&[text]).unwrap());
        }
    }
}
