//! Method insert: prepared `INSERT … VALUES` of many rows.

use super::{Method, records::Portion};
use crate::postgres::layout::Table;
use async_trait::async_trait;
use sqlx::{Arguments, PgConnection, postgres::PgArguments};

/// The most arguments that the protocol counts.
const MAX_ARGUMENTS: usize = 65_535;
const MAX_ROWS: usize = 1024;
/// How many numbers of rows have a statement of their own, beside the powers of two.
const OWN_STATEMENTS: usize = 8;

/// The statements of one writer. The first few numbers of rows that come get a statement each; any other is put together
/// from powers of two, so that only so many are ever prepared.
pub(crate) struct Insert {
    beginning: String,
    columns: usize,
    most_rows: usize,
    /// Number of rows and statement.
    statements: Vec<(usize, String)>,
    own_statements: usize,
}

impl Insert {
    pub(crate) fn new(table: &Table) -> Self {
        let columns = table.columns.len();
        Self {
            beginning: format!("INSERT INTO {} ({}) VALUES ", table.qualified, table.column_list()),
            columns,
            most_rows: MAX_ROWS.min(MAX_ARGUMENTS / columns.max(1)).max(1),
            statements: Vec::new(),
            own_statements: 0,
        }
    }

    /// The place of the statement for the first of `records`, and how many of them it takes.
    fn statement(&mut self, records: usize) -> (usize, usize) {
        let find = |statements: &[(usize, String)], rows| statements.iter().position(|&(known, _)| known == rows);
        let wanted = records.min(self.most_rows);
        if let Some(place) = find(&self.statements, wanted) {
            return (place, wanted);
        }
        let rows = if wanted.is_power_of_two() {
            wanted
        } else if self.own_statements < OWN_STATEMENTS {
            self.own_statements += 1;
            wanted
        } else {
            1 << wanted.ilog2()
        };
        let place = find(&self.statements, rows).unwrap_or_else(|| {
            self.statements.push((rows, self.sql(rows)));
            self.statements.len() - 1
        });
        (place, rows)
    }

    fn sql(&self, rows: usize) -> String {
        let mut sql = self.beginning.clone();
        for row in 0..rows {
            sql.push_str(if row == 0 { "(" } else { ", (" });
            for column in 0..self.columns {
                let place = row * self.columns + column + 1;
                sql.push_str(if column == 0 { "$" } else { ", $" });
                sql.push_str(itoa::Buffer::new().format(place));
            }
            sql.push(')');
        }
        sql
    }
}

#[async_trait]
impl Method for Insert {
    fn is_one_statement(&mut self, records: usize) -> bool {
        self.statement(records).1 == records
    }

    async fn send(&mut self, connection: &mut PgConnection, mut records: Portion<'_>) -> Result<(), sqlx::Error> {
        while records.count > 0 {
            let (place, rows) = self.statement(records.count);
            let mut arguments = PgArguments::default();
            arguments.reserve(rows * self.columns, records.bytes() / records.count * rows);
            for _ in 0..rows {
                for column in &mut records.columns {
                    arguments.add(column.next_argument()).map_err(sqlx::Error::Encode)?;
                }
            }
            records.count -= rows;
            sqlx::query_with(&self.statements[place].1, arguments).execute(&mut *connection).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::layout::tests::table;
    use iotbench_core::{Layout, ValueType};
    use proptest::prelude::*;

    fn insert() -> Insert {
        Insert::new(&table(Layout::Wide, 2, ValueType::F32, "{}"))
    }

    #[test]
    fn the_statement_numbers_its_arguments() {
        let expected = "INSERT INTO \"public\".\"t\" (\"device\", \"ts\", \"a\", \"select\") \
                        VALUES ($1, $2, $3, $4), ($5, $6, $7, $8)";
        assert_eq!(insert().sql(2), expected);
    }

    #[test]
    fn a_number_of_rows_that_comes_again_is_one_statement() {
        let mut insert = insert();
        for rows in [50, 49, 51, 50, 1000, 1, 64] {
            assert!(insert.is_one_statement(rows), "{rows}");
        }
        assert!(!insert.is_one_statement(1025));
    }

    proptest! {
        #[test]
        fn few_statements_are_prepared_and_they_take_every_row(batches in prop::collection::vec(1..5000_usize, 1..100)) {
            let mut insert = insert();
            for batch in batches {
                let mut left = batch;
                while left > 0 {
                    let (place, rows) = insert.statement(left);
                    prop_assert!(rows <= left && insert.statements[place].0 == rows);
                    left -= rows;
                }
            }
            prop_assert!(insert.statements.len() <= OWN_STATEMENTS + 11);
        }

        #[test]
        fn the_arguments_can_be_counted(columns in 1..1030_usize) {
            let mut insert = insert();
            insert.columns = columns;
            insert.most_rows = MAX_ROWS.min(MAX_ARGUMENTS / columns);
            prop_assert!(insert.statement(usize::MAX).1 * columns <= MAX_ARGUMENTS);
        }
    }
}
