//! Statements that a user wrote.

use super::SqliteReader;
use crate::sqlite::error::classify;
use iotbench_backend_kit::statement::{Spelling, StatementAnswer, spelled};
use iotbench_core::{Action, Cause, Error, Reply, Sink, StatementCall, TableSpec};
use rusqlite::{
    Connection, ErrorCode,
    hooks::{AuthAction, AuthContext, Authorization},
    params_from_iter,
    types::ValueRef,
};

struct Words<'a> {
    table: &'a TableSpec,
    numbers: Vec<i64>,
}

impl Spelling for Words<'_> {
    fn table(&self) -> String {
        self.table.name.to_string()
    }

    fn signal(&self, call: &StatementCall<'_>) -> String {
        let signal = self.table.schema.signals().get(usize::from(call.signal));
        signal.map_or_else(String::new, |signal| format!("\"{}\"", signal.name))
    }

    fn device(&mut self, device: u32) -> String {
        self.number(device.into())
    }

    fn number(&mut self, number: i64) -> String {
        self.numbers.push(number);
        format!("?{}", self.numbers.len())
    }
}

impl SqliteReader {
    pub(super) fn answer_statement(&self, call: &StatementCall<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut words = Words { table: &self.table, numbers: Vec::new() };
        let sql = spelled(call, &mut words);
        let mut statement = self.connection.prepare_cached(&sql).map_err(|e| refused(call, &e))?;
        if !statement.readonly() && !call.statement.writes() {
            return Err(Error::new(Cause::Client, "the statement writes").action(Action::Stop));
        }
        let columns = statement.column_count();
        let sent_bytes = (sql.len() + words.numbers.len() * NUMBER_BYTES) as u64;
        let mut rows = statement.query(params_from_iter(&words.numbers)).map_err(|e| classify(&e))?;
        let mut answer = StatementAnswer::new(call, sink);
        while let Some(row) = rows.next().map_err(|e| classify(&e))? {
            let (mut number, mut bytes) = (None, 0);
            for place in 0..columns {
                let value = row.get_ref(place).map_err(|e| classify(&e))?;
                let (of_cell, length) = cell(value);
                // Nothing tells the type of an expression's column: without a value it counts as one of numbers.
                let is_number = of_cell.is_some() || value == ValueRef::Null;
                number = number.or(is_number.then_some(of_cell));
                bytes += length;
            }
            answer.row(number.flatten(), bytes)?;
        }
        drop(rows);
        if call.statement.writes() {
            return answer.finish_changed(self.connection.changes(), sent_bytes);
        }
        answer.finish()
    }
}

/// A number as it is bound.
const NUMBER_BYTES: usize = 8;

/// Lets the statements of a connection change one table, and look at nothing else.
pub(super) fn allow_only(connection: &Connection, table: &str) -> rusqlite::Result<()> {
    let table = table.to_owned();
    connection.authorizer(Some(move |context: AuthContext<'_>| match context.action {
        AuthAction::Select | AuthAction::Recursive | AuthAction::Transaction { .. } | AuthAction::Function { .. } => {
            Authorization::Allow
        }
        AuthAction::Read { table_name, .. }
        | AuthAction::Insert { table_name }
        | AuthAction::Delete { table_name }
        | AuthAction::Update { table_name, .. }
            if table_name.eq_ignore_ascii_case(&table) =>
        {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }))
}

/// What SQLite does not take for what it touches will not be taken the next time.
fn refused(call: &StatementCall<'_>, error: &rusqlite::Error) -> Error {
    let is_denied = error.sqlite_error_code() == Some(ErrorCode::AuthorizationForStatementDenied);
    let classified = classify(error);
    if is_denied && call.statement.writes() {
        let message = format!("the statement touches more than the run's table: {}", classified.message);
        return Error { message, ..classified }.action(Action::Stop);
    }
    classified
}

/// A cell as a number, if it is one, and how many bytes it is.
fn cell(value: ValueRef<'_>) -> (Option<f64>, u64) {
    #[expect(clippy::cast_precision_loss, reason = "a figure has no more than 53 bits")]
    match value {
        ValueRef::Null => (None, 0),
        ValueRef::Integer(number) => (Some(number as f64), 8),
        ValueRef::Real(number) => (Some(number), 8),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => (None, bytes.len() as u64),
    }
}
