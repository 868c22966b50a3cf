//! The SQL that selects datapoints.

use super::{shape::Shape, statement::Statement};
use iotbench_backend_kit::{
    ask::{Ask, Asked, Order},
    span::Span,
    sql::greatest_first,
};
use iotbench_core::{Error, Layout, SignalId};

impl Shape {
    /// The statement for datapoints. A whole stretch of layout bulk comes as its records, to be taken apart by the client;
    /// of the newest of many devices, where the index finds those of one, the newest of each come first.
    pub(crate) fn datapoints(&self, ask: &Ask<'_>) -> Result<Statement, Error> {
        let is_one = matches!(ask.devices, Asked::One(_));
        match ask.order {
            Order::Stretch if self.layout() == Layout::Bulk => self.records(ask.devices, ask.span),
            Order::Newest if !is_one && self.is_indexed_by_device() => {
                self.newest_of_each(ask.devices, ask.signals, ask.limit)
            }
            _ => self.select(ask),
        }
    }

    /// What follows ORDER BY.
    fn order_by(&self, ask: &Ask<'_>) -> String {
        match ask.order {
            Order::Stretch => format!("device, {}, {}", self.by_time(""), self.by_place("")),
            Order::Oldest => format!("{}, {}", self.by_time(""), self.by_place("")),
            Order::Newest => format!("{}, device, {}", self.by_time(" DESC"), self.by_place(" DESC")),
            Order::After => self.by_time(""),
            Order::Before => self.by_time(" DESC"),
            Order::Least => {
                let rank = ask.signals.first().map(|&signal| format!("{}, ", self.rank(signal)));
                format!("{}{}", rank.unwrap_or_default(), self.by_time(""))
            }
        }
    }

    /// Rows of datapoints: device, time, and the values, or in layout narrow a number and its value.
    pub(crate) fn select(&self, ask: &Ask<'_>) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let condition = self.condition(&mut statement, ask.devices, ask.span)?;
        let of_signals = self.of_signals(ask.signals);
        let holds = match ask.predicate {
            Some(predicate) => format!(" AND {}", self.holds(&mut statement, ask.signal, predicate)?),
            None => String::new(),
        };
        let limit = self.limit(&mut statement, ask.signals, ask.limit)?;
        let (columns, rows, order) = (self.columns(ask.signals), self.rows(), self.order_by(ask));
        statement.sql =
            format!("SELECT {columns} FROM {rows} WHERE {condition}{of_signals}{holds} ORDER BY {order}{limit}");
        Ok(statement)
    }

    /// The newest datapoints of each device, and the newest of those.
    pub(crate) fn newest_of_each(
        &self,
        devices: Asked<'_>,
        signals: &[SignalId],
        limit: u64,
    ) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let devices = self.devices(&mut statement, devices)?;
        let limit = self.limit(&mut statement, signals, limit)?;
        let (newest_first, by_place) = (self.by_time(" DESC"), self.by_place_of_point());
        let of_each = self.of_each(&devices, signals, &limit);
        statement.sql = format!("{of_each} ORDER BY {newest_first}, p.device{by_place}{limit}");
        Ok(statement)
    }

    /// The newest datapoint of each device, by device.
    pub(crate) fn last_of_each(&self, devices: Asked<'_>, signals: &[SignalId]) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let devices = self.devices(&mut statement, devices)?;
        let limit = self.limit(&mut statement, signals, 1)?;
        let (newest_first, by_place) = (self.by_time(" DESC"), self.by_place_of_point());
        let of_each = self.of_each(&devices, signals, &limit);
        statement.sql = format!("{of_each} ORDER BY p.device, {newest_first}{by_place}");
        Ok(statement)
    }

    /// Rows of one datapoint must stay together where datapoints of one device and time are several.
    fn by_place_of_point(&self) -> &'static str {
        if self.layout() == Layout::Narrow { ", _place DESC" } else { "" }
    }

    /// The first rows of each device, newest first.
    fn of_each(&self, devices: &str, signals: &[SignalId], limit: &str) -> String {
        let (columns, rows, newest_first) = (self.columns(signals), self.rows(), self.by_time(" DESC"));
        let last_stored = self.by_place(" DESC");
        let place = if self.layout() == Layout::Narrow { ", _place" } else { "" };
        format!(
            "SELECT p.* FROM {devices} CROSS JOIN LATERAL (SELECT {columns}{place} FROM {rows} \
             WHERE r.device = d.device ORDER BY {newest_first}, {last_stored}{limit}) AS p"
        )
    }

    /// The greatest number of a signal over the first datapoints of a stretch.
    pub(crate) fn greatest(&self, ask: &Ask<'_>) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let condition = self.condition(&mut statement, ask.devices, ask.span)?;
        let of_signal = self.of_signals(ask.signals);
        let limit = self.limit(&mut statement, ask.signals, ask.limit)?;
        let number: String = ask.signals.iter().take(1).map(|&signal| self.number(signal)).collect();
        let (rows, by_time, by_place) = (self.rows(), self.by_time(""), self.by_place(""));
        statement.sql = format!(
            "SELECT max(number_of_point) FROM (SELECT {number} AS number_of_point FROM {rows} \
             WHERE {condition}{of_signal} ORDER BY {by_time}, {by_place}{limit}) AS first"
        );
        Ok(statement)
    }

    /// The devices with the greatest figure of a signal: device and figure.
    pub(crate) fn top(&self, ask: &Ask<'_>, function: &str) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let condition = self.condition(&mut statement, ask.devices, ask.span)?;
        let (rows, of_signal, number) = (self.rows(), self.of_signals(ask.signals), self.number(ask.signal));
        let first = greatest_first(&number, ask.limit);
        statement.sql = format!(
            "SELECT device, {function}({number})::double precision FROM {rows} WHERE {condition}{of_signal}{first}"
        );
        Ok(statement)
    }

    /// Whole records of layout bulk: device, second, text.
    pub(crate) fn records(&self, devices: Asked<'_>, span: Span) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let rows = self.records_of_bulk();
        let condition = self.condition_on_records(&mut statement, devices, span)?;
        statement.sql = format!(
            "SELECT device, second, measurements::text FROM {rows} WHERE {condition} ORDER BY device, second, _place"
        );
        Ok(statement)
    }

    fn columns(&self, signals: &[SignalId]) -> String {
        let time = self.by_time("");
        if self.layout() == Layout::Narrow {
            return format!("device, {time}, number, measurement");
        }
        let values = signals.iter().map(|&signal| format!(", {}", self.value(signal)));
        format!("device, {time}{}", values.collect::<String>())
    }

    /// LIMIT, in rows. One row is written out, so that the plan can be made for it.
    fn limit(&self, to: &mut Statement, signals: &[SignalId], points: u64) -> Result<String, Error> {
        let rows = points.saturating_mul(self.rows_of_point(signals));
        Ok(match i64::try_from(rows) {
            Ok(1) => " LIMIT 1".into(),
            Ok(rows) => format!(" LIMIT {}", to.argument(rows)?),
            Err(_) => String::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::layout::tests::{table, tagged};
    use crate::postgres::read::figures::Figures;
    use iotbench_core::{Aggregate, Predicate, Tagged, ValueType};
    use sqlx::Arguments;
    use std::sync::Arc;

    fn shape(layout: Layout, devices: u32) -> Shape {
        Shape::new(Arc::new(table(layout, devices, ValueType::F32, "{}")))
    }

    fn shown(statement: Result<Statement, Error>) -> String {
        statement.unwrap().sql.replace("\"public\".\"t\"", "t")
    }

    #[test]
    fn a_range_names_what_it_needs_and_nothing_else() {
        let sql = |layout, devices| {
            let shape = shape(layout, devices);
            shown(shape.select(&Ask::stretch(Asked::One(1), &[1], Span::ALL)))
        };
        assert_eq!(
            sql(Layout::Wide, 2),
            "SELECT device, ts, \"select\" FROM (SELECT device, ts, ctid AS _place, \"a\", \"select\" FROM t) AS r \
             WHERE device = $1 AND ts BETWEEN $2 AND $3 ORDER BY device, ts, _place"
        );
        assert_eq!(
            sql(Layout::Document, 1),
            "SELECT device, ts, (doc->>'select')::real FROM (SELECT 0 AS device, ts, ctid AS _place, doc FROM t) AS r \
             WHERE device = $1 AND ts BETWEEN $2 AND $3 ORDER BY device, ts, _place"
        );
        assert_eq!(
            sql(Layout::Narrow, 1),
            "SELECT device, second, nanosecond, number, measurement FROM (SELECT 0 AS device, second, nanosecond, \
             ctid AS _place, number, measurement FROM t) AS r WHERE device = $1 AND second BETWEEN $2 AND $4 \
             AND (second, nanosecond) >= ($2, $3) AND (second, nanosecond) <= ($4, $5) AND number = 1 \
             ORDER BY device, second, nanosecond, _place"
        );
        assert_eq!(
            shown(shape(Layout::Bulk, 2).records(Asked::Some(&[0, 1]), Span::ALL)),
            "SELECT device, second, measurements::text FROM (SELECT device, second, ctid AS _place, measurements \
             FROM t) AS r WHERE device = ANY($1) AND second BETWEEN $2 AND $3 ORDER BY device, second, _place"
        );
    }

    #[test]
    fn devices_with_a_value_of_a_tag_are_found_by_that_value_and_no_list_is_sent() {
        let with_y = Tagged { tag: 0, choice: 1, devices: (0..1000).collect() };
        let devices = Asked::Tagged(&with_y);
        let found = "SELECT device FROM \"public\".\"t_devices\" WHERE \"site\" = $1";
        let (within, from) = (format!("WHERE device IN ({found}) AND "), format!("({found}) AS d CROSS JOIN "));
        for layout in Layout::ALL {
            let shape = Shape::new(Arc::new(tagged(layout, 1000, "{}")));
            let stretch = Ask::stretch(devices, &[1], Span::ALL);
            let figures = |aggregate| {
                Figures { devices, signals: &[1], aggregates: &[aggregate], span: Span::ALL, holds: None }
                    .statement(&shape)
                    .unwrap()
            };
            for (statement, part) in [
                (shape.datapoints(&stretch).unwrap(), &within),
                (shape.datapoints(&stretch.first(3, Order::Newest)).unwrap(), &from),
                (shape.last_of_each(devices, &[1]).unwrap(), &from),
                (figures(Aggregate::Max), &within),
                (figures(Aggregate::Last), &from),
            ] {
                assert!(statement.sql.contains(part), "{layout}: {}", statement.sql);
                let sent = format!("{:?}", statement.arguments);
                assert!(sent.contains("[0, 0, 0, 1, 121") && sent.len() < 2000, "y, and no thousand devices: {sent}");
            }
        }
    }

    #[test]
    fn the_nearest_is_one_row() {
        let ask = Ask::stretch(Asked::One(0), &[0], Span::ALL).first(1, Order::Before);
        let ask = Ask { predicate: Some(Predicate::Above(1.0)), ..ask };
        let sql = shown(shape(Layout::Wide, 1).select(&ask));
        let end = "AND ts BETWEEN $2 AND $3 AND \"a\"::double precision > $4 ORDER BY ts DESC LIMIT 1";
        assert!(sql.ends_with(end), "{sql}");
    }

    #[test]
    fn devices_with_the_greatest_figure_are_one_grouping() {
        let sql = |layout| {
            let ask = Ask::stretch(Asked::All, &[1], Span::ALL).first(5, Order::Stretch);
            shown(shape(layout, 2).top(&ask, "avg")).replace("::double precision", "")
        };
        assert_eq!(
            sql(Layout::Wide),
            "SELECT device, avg(\"select\") FROM (SELECT device, ts, ctid AS _place, \"a\", \"select\" FROM t) AS r WHERE ts \
             BETWEEN $1 AND $2 GROUP BY 1 HAVING count(\"select\") > 0 ORDER BY 2 DESC, 1 LIMIT 5"
        );
        let narrow = sql(Layout::Narrow);
        let end = " AND number = 1 GROUP BY 1 HAVING count(measurement) > 0 ORDER BY 2 DESC, 1 LIMIT 5";
        assert!(narrow.starts_with("SELECT device, avg(measurement) FROM ") && narrow.ends_with(end), "{narrow}");
    }

    #[test]
    fn limits_count_the_rows_of_datapoints() {
        let rows = |layout, points| {
            let mut statement = Statement::default();
            let limit = shape(layout, 1).limit(&mut statement, &[0, 1], points).unwrap();
            (limit, statement.arguments.len())
        };
        assert_eq!(rows(Layout::Wide, 1), (" LIMIT 1".into(), 0));
        assert_eq!(rows(Layout::Narrow, 1), (" LIMIT $1".into(), 1));
        assert_eq!(rows(Layout::Narrow, u64::MAX), (String::new(), 0));
        assert_eq!(rows(Layout::Wide, 0), (" LIMIT $1".into(), 1));
    }
}
