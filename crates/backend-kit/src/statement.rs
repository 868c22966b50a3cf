//! A user's statement as it is sent: its parameters as placeholders or as text, and its answer.

use crate::answer::Answer;
use iotbench_core::{ComputedBy, Error, Parameter, Piece, Reply, Sink, StatementCall, ValueType};

const NS_OF_SECOND: i64 = 1_000_000_000;

/// How a database writes what stands for the parameters.
pub trait Spelling {
    /// The run's table.
    fn table(&self) -> String;
    /// The column of the call's signal.
    fn signal(&self, call: &StatementCall<'_>) -> String;
    /// A device as the table holds it.
    fn device(&mut self, device: u32) -> String;
    /// A number: nanoseconds, or seconds.
    fn number(&mut self, number: i64) -> String;
}

/// The statement with all parameters in their places.
pub fn spelled(call: &StatementCall<'_>, spelling: &mut impl Spelling) -> String {
    let mut sql = String::new();
    for piece in call.statement.pieces() {
        match piece {
            Piece::Text(text) => sql.push_str(text),
            Piece::Parameter(parameter) => sql.push_str(&match parameter {
                Parameter::Table => spelling.table(),
                Parameter::Device => spelling.device(call.device),
                Parameter::Signal => spelling.signal(call),
                Parameter::From => spelling.number(call.from_ns),
                Parameter::To => spelling.number(call.to_ns),
                Parameter::FromSecond => spelling.number(call.from_ns.div_euclid(NS_OF_SECOND)),
                Parameter::ToSecond => spelling.number(call.to_ns.div_euclid(NS_OF_SECOND)),
                Parameter::Window => spelling.number(call.to_ns.saturating_sub(call.from_ns)),
            }),
        }
    }
    sql
}

/// The rows of a statement's answer: of each the first number.
pub struct StatementAnswer<'a> {
    answer: Answer<'a>,
    device: u32,
    bytes: u64,
}

impl<'a> StatementAnswer<'a> {
    /// Of this call.
    pub fn new(call: &StatementCall<'_>, sink: &'a mut dyn Sink) -> Self {
        Self { answer: Answer::new(sink, [ValueType::F64]), device: call.device, bytes: 0 }
    }

    /// Takes a row: the first number of it, and how many bytes its cells are.
    ///
    /// # Errors
    /// The sink's own.
    pub fn row(&mut self, number: Option<f64>, bytes: u64) -> Result<(), Error> {
        self.bytes += bytes;
        self.answer.figures(self.device, [number])
    }

    /// Ends what changed so many rows, with so many bytes sent, and answered perhaps with some of them.
    ///
    /// # Errors
    /// The sink's own.
    pub fn finish_changed(self, rows: u64, sent_bytes: u64) -> Result<Reply, Error> {
        Ok(Reply { rows, ..self.finish_of(sent_bytes)? })
    }

    /// Ends the answer, of which there are as many bytes as its cells have.
    ///
    /// # Errors
    /// The sink's own.
    pub fn finish(self) -> Result<Reply, Error> {
        let bytes = self.bytes;
        self.finish_of(bytes)
    }

    /// Ends the answer, which had so many bytes on the wire.
    ///
    /// # Errors
    /// The sink's own.
    pub fn finish_of(self, bytes: u64) -> Result<Reply, Error> {
        self.answer.finish(bytes, ComputedBy::Server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Language, Statement};

    struct Words(Vec<i64>);

    impl Spelling for Words {
        fn table(&self) -> String {
            "t".into()
        }
        fn signal(&self, call: &StatementCall<'_>) -> String {
            format!("s{}", call.signal)
        }
        fn device(&mut self, device: u32) -> String {
            self.number(device.into())
        }
        fn number(&mut self, number: i64) -> String {
            self.0.push(number);
            format!("${}", self.0.len())
        }
    }

    #[test]
    fn parameters_are_placed_in_the_order_in_which_they_stand() {
        let text =
            "SELECT max(:signal) FROM :table WHERE t < :to AND t >= :from AND d = :device OR s = :from_s + :window";
        let statement = Statement::parse(text, Language::Sql, false).unwrap();
        let call = StatementCall { statement: &statement, device: 7, signal: 2, from_ns: -1, to_ns: 9, step_ns: None };
        let mut words = Words(Vec::new());
        let sql = spelled(&call, &mut words);
        assert_eq!(sql, "SELECT max(s2) FROM t WHERE t < $1 AND t >= $2 AND d = $3 OR s = $4 + $5");
        assert_eq!(words.0, [9, -1, 7, -1, 10]);
    }
}
