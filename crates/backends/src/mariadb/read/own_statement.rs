//! Statements that a user wrote.

use super::{MariaDbReader, ReadTable, points::cell};
use crate::mariadb::{error::classify, layout::quoted, server::execute};
use futures_util::TryStreamExt;
use iotbench_backend_kit::statement::{Spelling, StatementAnswer, spelled};
use iotbench_core::{Cause, Error, Reply, Sink, StatementCall};
use sqlx::{
    Arguments, Column, Either, Executor, Row, TypeInfo, ValueRef,
    mysql::{MySqlArguments, MySqlRow},
};

/// What the server then refuses to do: any change.
const READ_ONLY: &str = "SET SESSION TRANSACTION READ ONLY";

/// A number as it is sent.
const NUMBER_BYTES: usize = 8;

struct Words<'a> {
    place: &'a ReadTable,
    numbers: Vec<i64>,
}

impl Spelling for Words<'_> {
    fn table(&self) -> String {
        self.place.name.clone()
    }

    fn signal(&self, call: &StatementCall<'_>) -> String {
        let signal = self.place.table.schema.signals().get(usize::from(call.signal));
        signal.map_or_else(String::new, |signal| quoted(&signal.name))
    }

    fn device(&mut self, device: u32) -> String {
        self.number(device.into())
    }

    fn number(&mut self, number: i64) -> String {
        self.numbers.push(number);
        "?".into()
    }
}

impl MariaDbReader {
    pub(super) async fn answer_statement(
        &mut self,
        call: &StatementCall<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        if !self.is_read_only && !self.may_change {
            execute(&mut self.connection, READ_ONLY).await?;
            self.is_read_only = true;
        }
        let mut words = Words { place: &self.place, numbers: Vec::new() };
        let sql = spelled(call, &mut words);
        let mut arguments = MySqlArguments::default();
        for number in words.numbers {
            arguments.add(number).map_err(|e| Error::new(Cause::Client, e))?;
        }
        let mut answer = StatementAnswer::new(call, sink);
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
fn first_number(row: &MySqlRow) -> Result<(Option<f64>, u64), Error> {
    let (mut number, mut bytes) = (None, 0);
    for (place, column) in row.columns().iter().enumerate() {
        let type_info = column.type_info();
        let is_null = row.try_get_raw(place).map_err(|e| classify(&e))?.is_null();
        if !is_null {
            let raw: &[u8] = cell(row, place)?;
            bytes += raw.len() as u64;
        }
        if number.is_none()
            && let Some(kind) = Kind::of(type_info.name())
        {
            number = Some(if is_null { None } else { kind.read(row, place)? });
        }
    }
    Ok((number.flatten(), bytes))
}

/// How a number is sent.
#[derive(Clone, Copy)]
enum Kind {
    Unsigned,
    Signed,
    Single,
    Double,
    /// As text.
    Decimal,
}

impl Kind {
    /// `None`: the type is none of numbers. A truth value is one.
    fn of(type_name: &str) -> Option<Self> {
        let base = type_name.trim_end_matches(" UNSIGNED");
        Some(match base {
            "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" if base.len() < type_name.len() => Self::Unsigned,
            "BOOLEAN" | "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" => Self::Signed,
            "FLOAT" => Self::Single,
            "DOUBLE" => Self::Double,
            "DECIMAL" => Self::Decimal,
            _ => return None,
        })
    }

    fn read(self, row: &MySqlRow, place: usize) -> Result<Option<f64>, Error> {
        #[expect(clippy::cast_precision_loss, reason = "a figure has no more than 53 bits")]
        Ok(match self {
            Self::Unsigned => Some(cell::<u64>(row, place)? as f64),
            Self::Signed => Some(cell::<i64>(row, place)? as f64),
            Self::Single => Some(cell::<f32>(row, place)?.into()),
            Self::Double => Some(cell::<f64>(row, place)?),
            Self::Decimal => cell::<&str>(row, place)?.parse().ok(),
        })
    }
}
