//! INSERT statements of many rows, and how many rows one may have.

use super::records::Records;
use crate::mariadb::layout::quoted;
use iotbench_core::Batch;
use std::ops::Range;

/// The protocol counts the parameters of a statement in 16 bits.
const MAX_PARAMETERS: usize = 65_535;
/// Of a packet, for all that is not values: statement, types, null bits.
const PACKET_RESERVE: usize = 4096;
/// The driver sends two bytes of type and a null bit with each value.
const BYTES_BESIDE_VALUE: usize = 3;

/// The INSERT of one table, written out for the numbers of rows that are used.
pub(crate) struct InsertStatement {
    head: String,
    row: String,
    columns: usize,
    most_rows: usize,
    most_bytes: usize,
    /// Statements of the most rows, and of as many rows as were last left over: the same texts again and again, so that
    /// the driver finds them prepared.
    full: String,
    rest: (usize, String),
}

impl InsertStatement {
    pub(crate) fn new(table: &str, columns: &[String], most_rows: usize, packet_bytes: usize) -> Self {
        let names: Vec<_> = columns.iter().map(|name| quoted(name)).collect();
        let row = format!("(?{})", ",?".repeat(columns.len() - 1));
        Self {
            head: format!("INSERT INTO {table} ({}) VALUES ", names.join(",")),
            row,
            columns: columns.len(),
            most_rows: most_rows.min(MAX_PARAMETERS / columns.len()).max(1),
            most_bytes: packet_bytes.saturating_sub(PACKET_RESERVE),
            full: String::new(),
            rest: (0, String::new()),
        }
    }

    /// How many values one row has.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// The first records of these that fit into one statement, at least one, and their bytes.
    pub(crate) fn fitting(&self, records: &dyn Records, batch: &Batch, of: Range<usize>) -> (Range<usize>, usize) {
        let mut bytes = 0;
        let mut end = of.start;
        for record in of.clone().take(self.most_rows) {
            let more = records.bytes(batch, record) + BYTES_BESIDE_VALUE * self.columns;
            if end > of.start && bytes + more > self.most_bytes {
                break;
            }
            bytes += more;
            end += 1;
        }
        (of.start..end, bytes)
    }

    /// The statement for so many rows.
    pub(crate) fn sql(&mut self, rows: usize) -> &str {
        if rows == self.most_rows {
            if self.full.is_empty() {
                self.full = self.written(rows);
            }
            return &self.full;
        }
        if self.rest.0 != rows {
            self.rest = (rows, self.written(rows));
        }
        &self.rest.1
    }

    fn written(&self, rows: usize) -> String {
        let mut sql = String::with_capacity(self.head.len() + rows * (self.row.len() + 1));
        sql.push_str(&self.head);
        for row in 0..rows {
            if row > 0 {
                sql.push(',');
            }
            sql.push_str(&self.row);
        }
        sql
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mariadb::write::wide::WideRecords;
    use iotbench_core::{Layout, Marker, Name, Run, Schema, Signal, TableSpec, Value, ValueType};

    fn statement(most_rows: usize, packet_bytes: usize) -> InsertStatement {
        InsertStatement::new("`d`.`t`", &["ts".into(), "select".into()], most_rows, packet_bytes)
    }

    #[test]
    fn a_statement_has_a_row_of_places_for_each_record() {
        let mut statement = statement(3, 1 << 20);
        assert_eq!(statement.sql(1), "INSERT INTO `d`.`t` (`ts`,`select`) VALUES (?,?)");
        assert_eq!(statement.sql(3), "INSERT INTO `d`.`t` (`ts`,`select`) VALUES (?,?),(?,?),(?,?)");
        assert_eq!(statement.sql(2), "INSERT INTO `d`.`t` (`ts`,`select`) VALUES (?,?),(?,?)");
    }

    #[test]
    fn parameters_are_never_more_than_the_protocol_counts() {
        let columns: Vec<String> = (0..1025).map(|i| format!("s{i}")).collect();
        let statement = InsertStatement::new("t", &columns, 65_535, 1 << 30);
        assert_eq!(statement.most_rows, 63);
    }

    #[test]
    fn records_are_cut_by_rows_and_by_bytes_and_one_always_fits() {
        let signal = Signal { name: "a".into(), value_type: ValueType::Text, max_text_bytes: 1000 };
        let table = TableSpec {
            name: Name::new("t").unwrap(),
            layout: Layout::Wide,
            schema: Schema::new(vec![signal]).unwrap(),
            devices: 1,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        };
        let mut batch = Batch::new(&table.schema);
        batch.append(Run { device: 0, first: 0, count: 10 }, |times, columns| {
            for time in 0..10 {
                times.push(time);
                assert!(columns[0].push(Value::Text(&"x".repeat(1000))));
            }
        });
        let mut records = WideRecords::new(&table, table.schema.signals());
        assert_eq!(records.take(&batch), 10);
        let fitting = |rows, bytes, of| statement(rows, bytes).fitting(&records, &batch, of).0;
        assert_eq!(fitting(100, 1 << 20, 0..10), 0..10);
        assert_eq!(fitting(4, 1 << 20, 3..10), 3..7);
        assert_eq!(fitting(100, PACKET_RESERVE + 3100, 0..10), 0..3);
        assert_eq!(fitting(100, 0, 9..10), 9..10);
    }
}
