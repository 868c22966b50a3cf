//! The SQL of what lies between consecutive values: windows over the rows of each device.

use super::{buckets::ns, shape::Shape, statement::Statement};
use iotbench_backend_kit::{ask::Ask, sql::Values};
use iotbench_core::{Consecutive, Error, Layout};

impl Shape {
    /// Whether the client works out what lies between consecutive values: records of layout bulk are taken apart by it, and of
    /// shards nobody says how they order equal times.
    pub(crate) fn leaves_pairs(&self) -> bool {
        self.layout() == Layout::Bulk || self.is_in_shards()
    }

    /// Rows of device, time and what was asked about consecutive values.
    pub(crate) fn between(&self, ask: &Ask<'_>, what: Consecutive) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let condition = self.condition(&mut statement, ask.devices, ask.span)?;
        let (of_signal, value, number) =
            (self.of_signals(ask.signals), self.value(ask.signal), self.number(ask.signal));
        let rows = format!("FROM {} WHERE {condition}{of_signal} AND {value} IS NOT NULL", self.rows());
        let (time, order) = (ns(self), format!("{}, {}", self.by_time(""), self.by_place("")));
        let values = Values {
            device: Some("device"),
            rows: &rows,
            time: &time,
            order: &order,
            number: &number,
            one: "1::double precision",
        };
        statement.sql = values.between(what);
        Ok(statement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::layout::tests::table;
    use iotbench_backend_kit::{ask::Asked, span::Span};
    use iotbench_core::ValueType;
    use std::sync::Arc;

    #[test]
    fn consecutive_values_are_told_apart_by_time_and_place() {
        let sql = |layout| {
            let shape = Shape::new(Arc::new(table(layout, 2, ValueType::F32, "{}")));
            let ask = Ask::stretch(Asked::All, &[1], Span::ALL);
            shape.between(&ask, Consecutive::Gaps { longer_than_ns: 5 }).unwrap().sql.replace("\"public\".\"t\"", "t")
        };
        assert_eq!(
            sql(Layout::Wide),
            "SELECT device, at, apart FROM (SELECT device, ts AS at, lead(ts) OVER w - ts AS apart FROM (SELECT device, ts, \
             ctid AS _place, \"a\", \"select\" FROM t) AS r WHERE ts BETWEEN $1 AND $2 AND \"select\" IS NOT NULL WINDOW w AS \
             (PARTITION BY device ORDER BY ts, _place)) AS pairs WHERE apart > 5 ORDER BY device, at"
        );
        let narrow = sql(Layout::Narrow);
        let end = " AND number = 1 AND measurement IS NOT NULL WINDOW w AS (PARTITION BY device ORDER BY second, nanosecond, _place)) \
                   AS pairs WHERE apart > 5 ORDER BY device, at";
        assert!(narrow.ends_with(end), "{narrow}");
    }
}
