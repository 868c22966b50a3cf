//! A query and its arguments, put together at once.

use iotbench_backend_kit::ask::Having;
use iotbench_core::{Cause, Error, Predicate};
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

    /// Of rows of a group, a bucket where there are such, and an array of one figure those that are wanted.
    pub(crate) fn having(mut self, having: Option<Having>, has_buckets: bool) -> Result<Self, Error> {
        let Some(Having { predicate, at_least }) = having else { return Ok(self) };
        let (operator, limit) = match predicate {
            Predicate::Above(limit) => (">", limit),
            Predicate::Below(limit) => ("<", limit),
        };
        let columns = if has_buckets { "of, start, figures" } else { "of, figures" };
        let limit = self.argument(limit)?;
        let rows = format!("({}) AS h({columns}) WHERE figures[1] {operator} {limit}", self.sql);
        self.sql = match at_least {
            None => format!("SELECT {columns} FROM {rows} ORDER BY {}", if has_buckets { "1, 2" } else { "1" }),
            Some(at_least) => {
                let at_least = self.argument(i64::try_from(at_least).unwrap_or(i64::MAX))?;
                format!(
                    "SELECT of, 0::bigint, ARRAY[count(*)]::double precision[] FROM {rows} GROUP BY 1 \
                     HAVING count(*) >= {at_least} ORDER BY 1"
                )
            }
        };
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_on_the_only_figure_of_each_row() {
        let of = |at_least, has_buckets| {
            let statement = Statement { sql: "ALL".into(), ..Statement::default() };
            let having = Having { predicate: Predicate::Below(1.5), at_least };
            statement.having(Some(having), has_buckets).unwrap()
        };
        assert_eq!(
            of(None, false).sql,
            "SELECT of, figures FROM (ALL) AS h(of, figures) WHERE figures[1] < $1 ORDER BY 1"
        );
        let buckets = "(ALL) AS h(of, start, figures) WHERE figures[1] < $1";
        assert_eq!(of(None, true).sql, format!("SELECT of, start, figures FROM {buckets} ORDER BY 1, 2"));
        let counted = of(Some(3), true);
        let select = "SELECT of, 0::bigint, ARRAY[count(*)]::double precision[] FROM";
        assert_eq!(counted.sql, format!("{select} {buckets} GROUP BY 1 HAVING count(*) >= $2 ORDER BY 1"));
        assert_eq!(counted.arguments.len(), 2);
    }
}
