//! The SQL of figures over rows in shards. Each shard groups its own rows: a query that takes one device after another, as is
//! quickest on one server, cannot be sent to them.

use super::{
    figures::{Figures, Function},
    shape::Shape,
    statement::Statement,
};
use iotbench_core::Error;

impl Figures<'_> {
    /// As on one server: one row a device, ascending, with an array for each aggregate asked for.
    pub(super) fn of_points_in_shards(&self, shape: &Shape) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let mut tables = Vec::with_capacity(3);
        if self.functions().next().is_some() {
            tables.push(self.grouped_points(shape, &mut statement)?);
        }
        for (label, direction) in self.ends() {
            let condition = shape.condition(&mut statement, self.devices, self.span)?;
            let (rows, array, order) =
                (shape.rows(), self.array(shape, Function::None, &label), shape.by_time(direction));
            tables.push(if shape.table().spec.has_device_column() {
                format!(
                    "(SELECT DISTINCT ON (device) device, {array} FROM {rows} WHERE {condition} \
                     ORDER BY device, {order}) AS of_{label}"
                )
            } else {
                // Of one device's rows each shard sends the one at the end only.
                format!("(SELECT device, {array} FROM {rows} WHERE {condition} ORDER BY {order} LIMIT 1) AS of_{label}")
            });
        }
        let (arrays, tables) = (self.arrays(), joined(&tables, "device"));
        statement.sql = format!("SELECT device{arrays} FROM {tables} ORDER BY device");
        Ok(statement)
    }

    /// The same of layout narrow.
    pub(super) fn of_values_in_shards(&self, shape: &Shape) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let mut tables = Vec::with_capacity(3);
        if self.functions().next().is_some() {
            tables.push(self.grouped_values(shape, &mut statement)?);
        }
        for (label, direction) in self.ends() {
            let condition = shape.condition(&mut statement, self.devices, self.span)?;
            let (rows, number, order) = (shape.rows(), self.number(shape), shape.by_time(direction));
            let of_signals = shape.of_signals(self.signals);
            let name = if tables.is_empty() { "s".into() } else { format!("of_{label}") };
            tables.push(format!(
                "(SELECT DISTINCT ON (device, number) device, number, {number} AS {label} FROM {rows} \
                 WHERE {condition}{of_signals} ORDER BY device, number, {order}) AS {name}"
            ));
        }
        let (united, tables) = (self.united(), joined(&tables, "device, number"));
        statement.sql = format!("SELECT device{united} FROM {tables} GROUP BY device ORDER BY device");
        Ok(statement)
    }
}

/// These items of FROM, joined by columns that all of them have.
fn joined(tables: &[String], columns: &str) -> String {
    let (first, others) = tables.split_first().map_or(("", &[][..]), |(first, others)| (first.as_str(), others));
    let others = others.iter().map(|table| format!(" JOIN {table} USING ({columns})"));
    format!("{first}{}", others.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::layout::tests::table;
    use iotbench_backend_kit::ask::Asked;
    use iotbench_backend_kit::span::Span;
    use iotbench_core::{Aggregate, Layout, ValueType};
    use std::sync::Arc;

    fn sql(layout: Layout, devices: u32, aggregates: &[Aggregate]) -> String {
        let shape = Shape::new(Arc::new(table(layout, devices, ValueType::F64, r#"{"distributed": true}"#)));
        let figures =
            Figures { devices: Asked::Some(&[0, 1]), signals: &[1], aggregates, span: Span::ALL, holds: None };
        figures.statement(&shape).unwrap().sql.replace("\"public\".\"t\"", "t").replace("::double precision", "")
    }

    #[test]
    fn each_shard_groups_its_own_rows() {
        assert_eq!(
            sql(Layout::Document, 2, &[Aggregate::Last]),
            "SELECT device, last FROM (SELECT DISTINCT ON (device) device, ARRAY[((doc->>'select'))][] AS last \
             FROM (SELECT device, ts, ctid AS _place, doc FROM t) AS r WHERE device = ANY($1) AND ts BETWEEN $2 AND $3 \
             ORDER BY device, ts DESC) AS of_last ORDER BY device"
        );
        let both = sql(Layout::Wide, 2, &[Aggregate::Last, Aggregate::Max]);
        assert!(both.starts_with("SELECT device, last, greatest FROM (SELECT device, ARRAY[max("), "{both}");
        assert!(both.contains("GROUP BY device) AS d JOIN (SELECT DISTINCT ON (device) device, "), "{both}");
        assert!(both.ends_with("AS of_last USING (device) ORDER BY device"), "{both}");
        let narrow = sql(Layout::Narrow, 2, &[Aggregate::Last]);
        assert!(narrow.starts_with("SELECT device, ARRAY[min(last) FILTER (WHERE s.number = 1)][] FROM ("), "{narrow}");
        assert!(narrow.ends_with("AS s GROUP BY device ORDER BY device"), "{narrow}");
        for layout in Layout::ALL {
            for aggregates in
                [&[Aggregate::Last][..], &[Aggregate::Min], &[Aggregate::Mean, Aggregate::Last], &Aggregate::ALL]
            {
                let sql = sql(layout, 2, aggregates);
                let is_lateral = sql.replace("LATERAL jsonb_array_elements", "").contains("LATERAL");
                assert!(!is_lateral && !sql.contains("RECURSIVE"), "{sql}");
            }
        }
    }
}
