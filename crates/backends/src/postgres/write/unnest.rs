//! Method unnest: one prepared statement for any number of rows, an array a column.

use super::{
    Method,
    records::{ARRAY_HEADER_BYTES, Portion, array, array_header},
};
use crate::postgres::layout::Table;
use async_trait::async_trait;
use sqlx::{Arguments, PgConnection, postgres::PgArguments};

/// `INSERT … SELECT FROM unnest`.
pub(crate) struct Unnest {
    sql: String,
}

impl Unnest {
    pub(crate) fn new(table: &Table) -> Self {
        let arrays = (1..).zip(&table.columns).map(|(place, c)| format!("${place}::{}[]", c.column_type.sql()));
        let arrays = arrays.collect::<Vec<_>>().join(", ");
        let columns = table.column_list();
        Self { sql: format!("INSERT INTO {} ({columns}) SELECT * FROM unnest({arrays})", table.qualified) }
    }
}

#[async_trait]
impl Method for Unnest {
    fn is_one_statement(&mut self, _records: usize) -> bool {
        true
    }

    async fn send(&mut self, connection: &mut PgConnection, records: Portion<'_>) -> Result<(), sqlx::Error> {
        let mut arguments = PgArguments::default();
        arguments.reserve(records.columns.len(), records.bytes() + records.columns.len() * ARRAY_HEADER_BYTES);
        for column in &records.columns {
            let header = array_header(column, records.count);
            arguments.add(array(&header, *column)).map_err(sqlx::Error::Encode)?;
        }
        sqlx::query_with(&self.sql, arguments).execute(connection).await.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::layout::tests::table;
    use iotbench_core::{Layout, ValueType};

    #[test]
    fn every_column_is_an_array_of_its_type() {
        let sql = |layout, value_type| Unnest::new(&table(layout, 2, value_type, "{}")).sql;
        assert_eq!(
            sql(Layout::Wide, ValueType::F32),
            "INSERT INTO \"public\".\"t\" (\"device\", \"ts\", \"a\", \"select\") \
             SELECT * FROM unnest($1::integer[], $2::bigint[], $3::real[], $4::real[])"
        );
        assert_eq!(
            sql(Layout::Bulk, ValueType::U16),
            "INSERT INTO \"public\".\"t\" (\"device\", \"second\", \"size\", \"measurements\") \
             SELECT * FROM unnest($1::integer[], $2::bigint[], $3::integer[], $4::jsonb[])"
        );
    }
}
