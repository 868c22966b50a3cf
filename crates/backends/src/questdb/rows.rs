//! Takes an answer of `/exec` apart as it comes: `{"dataset":[[1,"a"],[2,null]],"count":2}`, row by row.

use iotbench_backend_kit::{cell::Cell, http::limits::MAX_PART_BYTES};
use iotbench_core::{Cause, Error};

/// What stands before the first row.
const START: &[u8] = b"\"dataset\":[";

/// An answer under way.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    state: State,
    /// What came of a row whose end has not.
    held: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    BeforeRows,
    BetweenRows,
    InRow,
    InText,
    AfterBackslash,
    AfterRows,
}

impl Rows {
    /// Takes a piece of the answer and gives every row that ends in it to `take`.
    ///
    /// # Errors
    /// Protocol for what is no such answer; the error of `take`.
    pub(crate) fn push(
        &mut self,
        piece: &[u8],
        take: &mut impl FnMut(&[Cell<'_>]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut start = 0;
        for (place, &byte) in piece.iter().enumerate() {
            self.state = match (self.state, byte) {
                (State::BeforeRows, _) => {
                    self.held.push(byte);
                    if !self.held.ends_with(START) {
                        if self.held.len() > MAX_PART_BYTES {
                            return Err(too_long());
                        }
                        continue;
                    }
                    self.held.clear();
                    State::BetweenRows
                }
                (State::BetweenRows, b'[') => {
                    start = place;
                    State::InRow
                }
                (State::BetweenRows, b']') => State::AfterRows,
                (State::InRow, b'"') => State::InText,
                (State::InText, b'\\') => State::AfterBackslash,
                (State::AfterBackslash, _) => State::InText,
                (State::InText, b'"') => State::InRow,
                (State::InRow, b']') => {
                    // A row that lies in one piece is read where it lies.
                    if self.held.is_empty() {
                        take_row(&piece[start..=place], take)?;
                    } else {
                        self.held.extend_from_slice(&piece[start..=place]);
                        take_row(&self.held, take)?;
                        self.held.clear();
                    }
                    State::BetweenRows
                }
                (state, _) => state,
            };
        }
        if matches!(self.state, State::InRow | State::InText | State::AfterBackslash) {
            if self.held.len() + piece.len() > MAX_PART_BYTES {
                return Err(too_long());
            }
            self.held.extend_from_slice(&piece[start..]);
        }
        Ok(())
    }

    /// The end of the answer.
    ///
    /// # Errors
    /// Protocol where rows were still to come.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        if self.state == State::AfterRows { Ok(()) } else { Err(improper(&"it ends before its rows do")) }
    }
}

/// An answer that QuestDB does not give.
pub(crate) fn improper(message: &dyn std::fmt::Display) -> Error {
    Error::new(Cause::Protocol, format!("this is no answer of a QuestDB: {message}"))
}

fn too_long() -> Error {
    improper(&format!("a row of more than {MAX_PART_BYTES} bytes"))
}

fn take_row(text: &[u8], take: &mut impl FnMut(&[Cell<'_>]) -> Result<(), Error>) -> Result<(), Error> {
    let row: Vec<Cell<'_>> = serde_json::from_slice(text).map_err(|e| improper(&e))?;
    take(&row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(pieces: &[&[u8]]) -> Result<Vec<Vec<Cell<'static>>>, Error> {
        let (mut rows, mut out) = (Rows::default(), Vec::new());
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
