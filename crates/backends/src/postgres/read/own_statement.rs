//! Statements that a user wrote.

use super::{PostgresReader, shape::Shape, statement::Statement};
use crate::postgres::{error::classify, quoting::quoted};
use futures_util::TryStreamExt;
use iotbench_backend_kit::statement::{Spelling, StatementAnswer, spelled};
use iotbench_core::{Error, Reply, Sink, StatementCall};
use sqlx::{Arguments, Either, Executor, Row, TypeInfo, ValueRef, postgres::PgRow};

/// What the server then refuses to do: any change.
const READ_ONLY: &str = "SET default_transaction_read_only = on";

/// A number as it is sent.
const NUMBER_BYTES: usize = 8;

struct Words<'a> {
    shape: &'a Shape,
    statement: Statement,
    failed: Option<Error>,
}

impl Spelling for Words<'_> {
    fn table(&self) -> String {
        self.shape.table().qualified.clone()
    }

    fn signal(&self, call: &StatementCall<'_>) -> String {
        let signals = self.shape.table().spec.schema.signals();
        signals.get(usize::from(call.signal)).map_or_else(String::new, |signal| quoted(&signal.name))
    }

    fn device(&mut self, device: u32) -> String {
        self.number(device.into())
    }

    fn number(&mut self, number: i64) -> String {
        self.statement.argument(number).unwrap_or_else(|error| {
            self.failed.get_or_insert(error);
            String::new()
        })
    }
}

impl PostgresReader {
    pub(super) async fn answer_statement(
        &mut self,
        call: &StatementCall<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        if !self.is_read_only && !self.may_change {
            sqlx::query(READ_ONLY).execute(&mut self.connection).await.map_err(|e| classify(&e))?;
            self.is_read_only = true;
        }
        let mut words = Words { shape: &self.shape, statement: Statement::default(), failed: None };
        let sql = spelled(call, &mut words);
        if let Some(error) = words.failed {
            return Err(error);
        }
        let mut answer = StatementAnswer::new(call, sink);
        let arguments = words.statement.arguments;
        let (sent_bytes, mut changed) = ((sql.len() + arguments.len() * NUMBER_BYTES) as u64, 0);
        let mut rows = self.connection.fetch_many(sqlx::query_with(&sql, arguments));
        while let Some(came) = rows.try_next().await.map_err(|e| classify(&e))? {
            match came {
                Either::Left(result) => changed += result.rows_affected(),
                Either::Right(row) => {
                    let (number, bytes) = first_number(&row)?;
                    answer.row(number, bytes)?;
                }
            }
        }
        if call.statement.writes() { answer.finish_changed(changed, sent_bytes) } else { answer.finish() }
    }
}

/// The number in the first column of a row that holds numbers, and how many bytes its cells are.
fn first_number(row: &PgRow) -> Result<(Option<f64>, u64), Error> {
    let (mut number, mut bytes) = (None, 0);
    for place in 0..row.len() {
        let cell = row.try_get_raw(place).map_err(|e| classify(&e))?;
        let binary = if cell.is_null() { None } else { cell.as_bytes().ok() };
        bytes += binary.map_or(0, |binary| binary.len() as u64);
        let type_info = cell.type_info();
        if number.is_none() && NUMBERS.contains(&type_info.name()) {
            number = Some(binary.and_then(|binary| as_number(type_info.name(), binary)));
        }
    }
    Ok((number.flatten(), bytes))
}

/// The types of numbers.
const NUMBERS: [&str; 6] = ["INT2", "INT4", "INT8", "FLOAT4", "FLOAT8", "NUMERIC"];

/// A cell in PostgreSQL's binary form as a number; `None`: it is of no type of numbers.
fn as_number(type_name: &str, binary: &[u8]) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a figure has no more than 53 bits")]
    Some(match type_name {
        "INT2" => i16::from_be_bytes(binary.try_into().ok()?).into(),
        "INT4" => i32::from_be_bytes(binary.try_into().ok()?).into(),
        "INT8" => i64::from_be_bytes(binary.try_into().ok()?) as f64,
        "FLOAT4" => f32::from_be_bytes(binary.try_into().ok()?).into(),
        "FLOAT8" => f64::from_be_bytes(binary.try_into().ok()?),
        "NUMERIC" => numeric(binary)?,
        _ => return None,
    })
}

/// A numeric: how many digits of base 10,000, the exponent of the first, the sign, the scale, the digits.
fn numeric(binary: &[u8]) -> Option<f64> {
    const NEGATIVE: u16 = 0x4000;
    const IS_NUMBER: u16 = 0x4000;
    let mut words = binary.chunks_exact(2).map(|word| u16::from_be_bytes([word[0], word[1]]));
    let (_, weight, sign, _) = (words.next()?, words.next()?, words.next()?, words.next()?);
    if sign & !IS_NUMBER != 0 {
        return None;
    }
    let mut exponent = 4 * i32::from(weight.cast_signed());
    let mut text = String::new();
    for digit in words {
        // As a decimal text, which is read with one rounding.
        text.push_str(&format!("{digit:04}"));
        exponent -= 4;
    }
    let magnitude: f64 = if text.is_empty() { 0.0 } else { format!("{text}e{}", exponent + 4).parse().ok()? };
    Some(if sign == NEGATIVE { -magnitude } else { magnitude })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numeric_is_read_as_the_nearest_float() {
        let of = |words: &[u16]| numeric(&words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<_>>());
        // 12345.678, -0.0001, 0, 10^8, NaN.
        assert_eq!(of(&[3, 1, 0, 3, 1, 2345, 6780]), Some(12_345.678));
        assert_eq!(of(&[1, 0xffff, 0x4000, 4, 1]), Some(-0.000_1));
        assert_eq!(of(&[0, 0, 0, 0]), Some(0.0));
        assert_eq!(of(&[1, 2, 0, 0, 1]), Some(1e8));
        assert_eq!(of(&[0, 0, 0xc000, 0]), None);
        assert_eq!(as_number("INT2", &[0xff, 0xfe]), Some(-2.0));
        assert_eq!((as_number("TEXT", b"1"), as_number("INT4", b"1")), (None, None));
    }
}
