//! Statements that a user wrote.

use super::MongoReader;
use crate::mongodb::{
    error::{classify, of_code},
    statement::{command, filled},
};
use iotbench_backend_kit::statement::StatementAnswer;
use iotbench_core::{Action, Cause, Error, Reply, Sink, StatementCall};
use mongodb::bson::{Bson, Document, RawBsonRef, RawDocument};

/// A statement as it was read once.
pub(super) struct Known {
    text: String,
    command: Document,
}

impl MongoReader {
    pub(super) async fn answer_statement(
        &mut self,
        call: &StatementCall<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let stop = |message: &str| Err(Error::new(Cause::Client, message).action(Action::Stop));
        let text = call.statement.to_string();
        if self.known.as_ref().is_none_or(|known| known.text != text) {
            let command = command(call.statement).map_err(|e| Error::new(Cause::Client, e).action(Action::Stop))?;
            self.known = Some(Known { text, command });
        }
        let Some(known) = &self.known else { return stop("the statement is gone") };
        let mut command = filled(&known.command, self.shape.table(), call);
        if !call.statement.writes() {
            return self.rows(command, call, sink).await;
        }
        let Some(besides) = &self.besides else { return stop("the statement writes") };
        command.extend(besides.clone());
        let sent_bytes = command.to_vec().map_or(0, |bytes| bytes.len() as u64);
        let reply = self.database.run_command(command).await.map_err(|e| classify(&e))?;
        StatementAnswer::new(call, sink).finish_changed(changed(&reply)?, sent_bytes)
    }

    async fn rows(&self, command: Document, call: &StatementCall<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut cursor = self.database.run_cursor_command(command).await.map_err(|e| classify(&e))?;
        let mut answer = StatementAnswer::new(call, sink);
        while cursor.advance().await.map_err(|e| classify(&e))? {
            let document = cursor.current();
            answer.row(first_number(document)?, document.as_bytes().len() as u64)?;
        }
        answer.finish()
    }
}

/// How many documents a command has changed.
fn changed(reply: &Document) -> Result<u64, Error> {
    let failed = |error: &Document| {
        let message = error.get_str("errmsg").unwrap_or_default();
        of_code(error.get_i32("code").unwrap_or_default(), "a write", message)
    };
    let first = reply.get_array("writeErrors").ok().and_then(|errors| errors.first()).and_then(Bson::as_document);
    if let Some(error) = first.or_else(|| reply.get_document("writeConcernError").ok()) {
        return Err(failed(error));
    }
    let number = match reply.get("n") {
        Some(Bson::Int32(number)) => u64::try_from(*number).ok(),
        Some(Bson::Int64(number)) => u64::try_from(*number).ok(),
        _ => None,
    };
    number.ok_or_else(|| Error::new(Cause::Protocol, "a reply does not say how many documents were changed"))
}

/// The first number of a document, beside what groups are called.
fn first_number(document: &RawDocument) -> Result<Option<f64>, Error> {
    for element in document {
        let (name, value) = element.map_err(|e| Error::new(Cause::Protocol, e))?;
        #[expect(clippy::cast_precision_loss, reason = "a figure has no more than 53 bits")]
        let number = match value {
            RawBsonRef::Double(number) => Some(number),
            RawBsonRef::Int32(number) => Some(number.into()),
            RawBsonRef::Int64(number) => Some(number as f64),
            _ => None,
        };
        if name != "_id" && number.is_some() {
            return Ok(number);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mongodb::bson::{RawDocumentBuf, doc};

    #[test]
    fn what_a_write_reports_is_not_passed_over() {
        assert_eq!(changed(&doc! { "n": 3, "nModified": 2, "ok": 1.0 }), Ok(3));
        let error = doc! { "n": 0, "writeErrors": [{ "index": 0, "code": 11000, "errmsg": "E11000 duplicate key" }] };
        assert!(changed(&error).unwrap_err().message.contains("duplicate key"));
        assert!(changed(&doc! { "n": 1, "writeConcernError": { "code": 64, "errmsg": "waiting" } }).is_err());
        assert_eq!(changed(&doc! { "ok": 1.0 }).unwrap_err().cause, Cause::Protocol);
    }

    #[test]
    fn the_number_of_a_row_is_the_first_that_is_no_name() {
        let of = |document: Document| first_number(&RawDocumentBuf::try_from(&document).unwrap()).unwrap();
        assert_eq!(of(doc! { "_id": 7, "a": "x", "b": 2_i64, "c": 1.5 }), Some(2.0));
        assert_eq!(of(doc! { "_id": null, "mean": null }), None);
    }
}
