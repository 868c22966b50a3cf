//! A query and its arguments, put together at once.

use iotbench_core::{Cause, Error};
use sqlx::{Arguments, Encode, Postgres, Type, postgres::PgArguments};

/// SQL whose parameters are numbered as they are given. Queries of one kind have one text, so that each is prepared
/// once a connection.
#[derive(Default)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) arguments: PgArguments,
}

impl Statement {
    /// Adds an argument and says how the SQL names it.
    pub(crate) fn argument<'v, V>(&mut self, value: V) -> Result<String, Error>
    where
        V: Encode<'v, Postgres> + Type<Postgres> + 'v,
    {
        self.arguments.add(value).map_err(|e| Error::new(Cause::Client, e))?;
        Ok(format!("${}", self.arguments.len()))
    }
}
