//! Method copy: binary `COPY`.

use super::{Method, records::Portion};
use crate::postgres::layout::Table;
use async_trait::async_trait;
use sqlx::PgConnection;

/// What a binary COPY begins with: the signature, no flags, no more header.
const HEADER: &[u8; 19] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
const TRAILER: [u8; 2] = (-1_i16).to_be_bytes();

/// `COPY … FROM STDIN (FORMAT binary)`.
pub(crate) struct Copy {
    sql: String,
    buffer: Vec<u8>,
}

impl Copy {
    pub(crate) fn new(table: &Table) -> Self {
        let sql = format!("COPY {} ({}) FROM STDIN (FORMAT binary)", table.qualified, table.column_list());
        Self { sql, buffer: Vec::new() }
    }

    /// Puts the records together row by row: the number of columns, then the values.
    fn fill(&mut self, mut records: Portion<'_>) {
        let columns = i16::try_from(records.columns.len()).unwrap_or(i16::MAX).to_be_bytes();
        self.buffer.clear();
        self.buffer.extend_from_slice(HEADER);
        for _ in 0..records.count {
            self.buffer.extend_from_slice(&columns);
            for column in &mut records.columns {
                self.buffer.extend_from_slice(column.next());
            }
        }
        self.buffer.extend_from_slice(&TRAILER);
    }
}

#[async_trait]
impl Method for Copy {
    fn is_one_statement(&mut self, _records: usize) -> bool {
        true
    }

    async fn send(&mut self, connection: &mut PgConnection, records: Portion<'_>) -> Result<(), sqlx::Error> {
        self.fill(records);
        let mut copy = connection.copy_in_raw(&self.sql).await?;
        copy.send(self.buffer.as_slice()).await?;
        copy.finish().await.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::{
        layout::tests::table,
        write::{Layout as _, records::Records, wide::WideRecords},
    };
    use iotbench_core::{Batch, Layout, Run, Value, ValueType};

    #[test]
    fn the_bytes_are_those_of_the_format() {
        let table = table(Layout::Wide, 2, ValueType::U16, "{}");
        let mut batch = Batch::new(&table.spec.schema);
        batch.append(Run { device: 1, first: 0, count: 1 }, |times, columns| {
            times.push(-2);
            assert!(columns[0].push(Value::U16(258)) && columns[1].push(Value::U16(0)));
        });
        let mut records = Records::new(&table.columns);
        WideRecords { has_device: true }.encode(&batch, &mut records);
        let mut copy = Copy::new(&table);
        copy.fill(records.all());
        let row: &[u8] = &[
            &[0, 4][..],
            &[0, 0, 0, 4, 0, 0, 0, 1],
            &[0, 0, 0, 8, 255, 255, 255, 255, 255, 255, 255, 254],
            &[0, 0, 0, 4, 0, 0, 1, 2],
            &[0, 0, 0, 4, 0, 0, 0, 0],
        ]
        .concat();
        assert_eq!(copy.buffer, [HEADER, row, &[255, 255]].concat());
        let sql = "COPY \"public\".\"t\" (\"device\", \"ts\", \"a\", \"select\") FROM STDIN (FORMAT binary)";
        assert_eq!(copy.sql, sql);
    }
}
