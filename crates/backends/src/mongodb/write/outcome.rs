//! What came of the documents of a batch: an unordered insert stores those that it can. Pure.

use crate::mongodb::error::of_code;
use iotbench_core::{Applied, Cause, Error};
use mongodb::bson::{Bson, Document};
use std::ops::Range;

/// The documents of one batch, over one insert or several.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Whether each is stored, as far as inserts were answered.
    stored: Vec<bool>,
    /// The first that was refused, and how many were.
    refused: Option<(Error, usize)>,
    /// Acknowledged without what the write concern asks for.
    in_doubt: Option<Error>,
}

impl Outcome {
    /// Begins with so many documents of which nothing is known.
    pub(crate) fn begin(&mut self, documents: usize) {
        self.stored.clear();
        self.stored.resize(documents, false);
        self.refused = None;
        self.in_doubt = None;
    }

    /// Takes the answer to an insert of these documents.
    pub(crate) fn note(&mut self, documents: Range<usize>, reply: &Document) {
        self.stored[documents.clone()].fill(true);
        let errors = reply.get_array("writeErrors").map_or(&[][..], Vec::as_slice);
        let mut refused = 0;
        for error in errors.iter().filter_map(Bson::as_document) {
            let index = error.get_i32("index").ok().and_then(|index| usize::try_from(index).ok());
            if let Some(place) = index.and_then(|index| self.stored[documents.clone()].get_mut(index)) {
                *place = false;
                refused += 1;
            }
            let code = error.get_i32("code").unwrap_or_default();
            let of_first = || of_code(code, "write error", error.get_str("errmsg").unwrap_or_default());
            self.refused.get_or_insert_with(|| (of_first(), 0)).1 += 1;
        }
        if let Ok(error) = reply.get_document("writeConcernError") {
            let code = error.get_i32("code").unwrap_or_default();
            self.in_doubt = Some(of_code(code, "write concern", error.get_str("errmsg").unwrap_or_default()));
        }
        let taken = reply.get_i32("n").ok().and_then(|n| usize::try_from(n).ok());
        if taken != Some(documents.len() - refused) {
            let message = format!("{} documents were sent, {refused} refused and {taken:?} taken", documents.len());
            self.in_doubt = Some(Error::new(Cause::Protocol, message));
        }
    }

    /// The error of the batch, where not all of it is stored for certain.
    pub(crate) fn finish(&mut self, rows: impl FnOnce(&[bool]) -> Applied) -> Option<Error> {
        if let Some(error) = self.in_doubt.take() {
            return Some(error.applied(Applied::Maybe));
        }
        let (error, refused) = self.refused.take()?;
        let message =
            format!("{refused} of {} documents were refused, the first: {}", self.stored.len(), error.message);
        let applied = if self.stored.contains(&true) { rows(&self.stored) } else { Applied::No };
        Some(Error { message, ..error }.applied(applied))
    }

    /// The error that ended the batch before its last insert was answered.
    pub(crate) fn ended(&self, error: Error, rows: impl FnOnce(&[bool]) -> Applied) -> Error {
        let applied = match error.applied {
            _ if self.in_doubt.is_some() => Applied::Maybe,
            Applied::No if self.stored.contains(&true) => rows(&self.stored),
            _ => error.applied.clone(),
        };
        error.applied(applied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mongodb::bson::doc;

    fn rows(stored: &[bool]) -> Applied {
        Applied::Rows(super::super::documents::places(stored))
    }

    #[test]
    fn each_document_is_accounted_for() {
        let mut outcome = Outcome::default();
        outcome.begin(5);
        outcome.note(0..3, &doc! { "ok": 1, "n": 3 });
        let errors = vec![doc! { "index": 1, "code": 11000, "errmsg": "E11000 duplicate key" }];
        outcome.note(3..5, &doc! { "ok": 1, "n": 1, "writeErrors": errors.clone() });
        let error = outcome.finish(rows).unwrap();
        assert_eq!((error.cause, error.applied), (Cause::Data, Applied::Rows(vec![0, 1, 2, 3])));
        assert!(error.message.contains("1 of 5") && error.message.contains("E11000"), "{}", error.message);
        outcome.begin(1);
        outcome.note(0..1, &doc! { "n": 1 });
        assert_eq!(outcome.finish(rows), None);
        outcome.begin(2);
        let errors = vec![doc! { "index": 0, "code": 121 }, doc! { "index": 1, "code": 121 }];
        outcome.note(0..2, &doc! { "n": 0, "writeErrors": errors });
        assert_eq!(outcome.finish(rows).unwrap().applied, Applied::No);
    }

    #[test]
    fn what_the_write_concern_does_not_confirm_is_unknown() {
        let mut outcome = Outcome::default();
        outcome.begin(2);
        let error = doc! { "code": 64, "errmsg": "waiting for replication timed out" };
        outcome.note(0..2, &doc! { "n": 2, "writeConcernError": error });
        let error = outcome.finish(rows).unwrap();
        assert_eq!((error.cause, error.applied), (Cause::Server, Applied::Maybe));
        outcome.begin(2);
        outcome.note(0..2, &doc! { "n": 1 });
        assert_eq!(outcome.finish(rows).unwrap().applied, Applied::Maybe);
    }

    #[test]
    fn an_insert_without_an_answer_leaves_those_before_it_known() {
        let mut outcome = Outcome::default();
        outcome.begin(3);
        outcome.note(0..2, &doc! { "n": 2 });
        let lost = Error::new(Cause::Connect, "lost");
        assert_eq!(outcome.ended(lost.clone(), rows).applied, Applied::Rows(vec![0, 1]));
        assert_eq!(outcome.ended(lost.clone().applied(Applied::Maybe), rows).applied, Applied::Maybe);
        outcome.begin(3);
        assert_eq!(outcome.ended(lost, rows).applied, Applied::No);
    }
}
