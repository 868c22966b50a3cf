//! The SQL of figures of time buckets: in every layout by grouping, also where the rows lie in shards.

use super::{figures::Figures, shape::Shape, statement::Statement};
use iotbench_backend_kit::{grouped_by::GroupedBy, sql::Grouping};
use iotbench_core::{Error, Layout};

impl Figures<'_> {
    /// One row a bucket, by device and time, or so many of the newest of all: the device, or the value of the tag that devices are put
    /// together by, the bucket's beginning, then an array for each aggregate.
    pub(crate) fn of_buckets(
        &self,
        shape: &Shape,
        grouping: &Grouping<'_>,
        newest: Option<u64>,
    ) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let start = if grouping.has_buckets() { grouping.start_of(&ns(shape)) } else { "0::bigint".into() };
        let condition = self.condition(shape, &mut statement)?;
        let (device, rows) = match grouping.by().tag(shape.table().spec.schema.tags())? {
            Some(tag) => ("_value", shape.rows_with(tag)),
            None if grouping.by() == GroupedBy::Nothing => ("0", shape.rows()),
            None => ("device", shape.rows()),
        };
        let order = match newest {
            None => "1, 2".into(),
            Some(newest) => format!("2 DESC LIMIT {}", statement.argument(i64::try_from(newest).unwrap_or(i64::MAX))?),
        };
        statement.sql = if shape.layout() == Layout::Narrow {
            let (number, of_signals) = (self.number(shape), shape.of_signals(self.signals));
            let figures = self.functions().map(|(function, label)| format!(", {} AS {label}", function.of(&number)));
            let (figures, united) = (figures.collect::<String>(), self.united());
            format!(
                "SELECT s.device, s.start{united} FROM (SELECT {device} AS device, {start} AS start, number{figures} FROM {rows} \
                 WHERE {condition}{of_signals} GROUP BY 1, 2, 3) AS s GROUP BY 1, 2 ORDER BY {order}"
            )
        } else {
            let arrays = self.functions().map(|(function, label)| format!(", {}", self.array(shape, function, &label)));
            let arrays: String = arrays.collect();
            format!("SELECT {device}, {start}{arrays} FROM {rows} WHERE {condition} GROUP BY 1, 2 ORDER BY {order}")
        };
        Ok(statement)
    }
}

/// The time in nanoseconds.
pub(super) fn ns(shape: &Shape) -> String {
    match shape.time() {
        [time] => (*time).into(),
        _ => "(second * 1000000000 + nanosecond)".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::layout::tests::{table, tagged};
    use iotbench_backend_kit::{
        ask::{Asked, What},
        span::Span,
    };
    use iotbench_core::{Aggregate, BucketWidth, Percentile, ValueType};
    use std::sync::Arc;

    #[test]
    fn buckets_are_one_grouping_in_every_layout() {
        let aggregates = [Aggregate::Mean, Aggregate::Count];
        let of_each = Grouping::of(What::Buckets(&aggregates, BucketWidth::SECOND)).unwrap();
        let of_all = Grouping::of(What::TotalBuckets(&aggregates, BucketWidth::SECOND)).unwrap();
        let sql = |layout, grouping: &Grouping<'_>, newest| {
            let shape = Shape::new(Arc::new(table(layout, 2, ValueType::F64, "{}")));
            let figures = Figures {
                devices: Asked::One(1),
                signals: &[1],
                aggregates: &aggregates,
                span: Span::ALL,
                holds: None,
            };
            let sql = figures.of_buckets(&shape, grouping, newest).unwrap().sql.replace("\"public\".\"t\"", "t");
            sql.replace("::double precision", "").replace(&grouping.start_of(&ns(&shape)), "START")
        };
        assert_eq!(
            sql(Layout::Wide, &of_each, None),
            "SELECT device, START, ARRAY[avg(\"select\")][] AS mean, ARRAY[count(\"select\")][] AS many FROM (SELECT \
             device, ts, ctid AS _place, \"a\", \"select\" FROM t) AS r WHERE device = $1 AND ts BETWEEN $2 AND $3 \
             GROUP BY 1, 2 ORDER BY 1, 2"
        );
        let narrow = sql(Layout::Narrow, &of_each, None);
        assert!(narrow.starts_with("SELECT s.device, s.start, ARRAY[min(mean) FILTER (WHERE s.number = 1)][], "));
        assert!(
            narrow.contains("(SELECT device AS device, START AS start, number, avg(measurement) AS mean, count("),
            "{narrow}"
        );
        let by_site = Grouping::of(What::ByTag(0, &aggregates, None)).unwrap();
        let shape = Shape::new(Arc::new(tagged(Layout::Wide, 2, "{}")));
        let figures =
            Figures { devices: Asked::All, signals: &[0], aggregates: &aggregates, span: Span::ALL, holds: None };
        let by_site = figures.of_buckets(&shape, &by_site, None).unwrap().sql;
        let joined = "AS r JOIN (SELECT device AS _device, \"site\" AS _value FROM \"public\".\"t_devices\") AS g \
                      ON g._device = r.device WHERE ";
        assert!(by_site.starts_with("SELECT _value, 0::bigint, ARRAY[avg(") && by_site.contains(joined), "{by_site}");
        let percentile = Percentile::parse("p99.9").map(Aggregate::Percentile);
        let with_percentile = Figures { aggregates: percentile.as_slice(), ..figures };
        let grouping =
            Grouping::with_percentiles(What::Buckets(with_percentile.aggregates, BucketWidth::SECOND)).unwrap();
        let in_wide = with_percentile.of_buckets(&shape, &grouping, None).unwrap().sql;
        assert!(
            in_wide.contains("ARRAY[percentile_disc(0.999) WITHIN GROUP (ORDER BY \"a\"::double precision)]"),
            "{in_wide}"
        );
        let narrow_shape = Shape::new(Arc::new(table(Layout::Narrow, 2, ValueType::F64, "{}")));
        let of_device = with_percentile.statement(&narrow_shape).unwrap().sql;
        assert!(of_device.contains("ARRAY[min(p99_9) FILTER (WHERE s.number = 0)]"), "{of_device}");
        assert!(of_device.contains("WITHIN GROUP (ORDER BY measurement::double precision) AS p99_9"), "{of_device}");
        assert!(sql(Layout::Wide, &of_all, None).starts_with("SELECT 0, START, ARRAY[avg("));
        assert!(sql(Layout::Narrow, &of_all, None).contains("(SELECT 0 AS device, START AS start, number, avg("));
        let newest = [Layout::Wide, Layout::Narrow].map(|layout| sql(layout, &of_all, Some(5)));
        assert!(newest[0].ends_with("BETWEEN $2 AND $3 GROUP BY 1, 2 ORDER BY 2 DESC LIMIT $4"), "{}", newest[0]);
        assert!(newest[1].ends_with("GROUP BY 1, 2, 3) AS s GROUP BY 1, 2 ORDER BY 2 DESC LIMIT $6"), "{}", newest[1]);
        assert!(narrow.ends_with("AND number = 1 GROUP BY 1, 2, 3) AS s GROUP BY 1, 2 ORDER BY 1, 2"), "{narrow}");
    }
}
