//! Consecutive values by the window functions of SQL.

use iotbench_core::Consecutive;

/// The values of a signal, as SQL finds them.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// The column of the device; `None` where all are of one.
    pub device: Option<&'a str>,
    /// Where they are, from FROM on, with the whole condition.
    pub rows: &'a str,
    /// The time of one, in nanoseconds.
    pub time: &'a str,
    /// In which order they are: by time, and of equal times as they were stored.
    pub order: &'a str,
    /// A value as a number.
    pub number: &'a str,
    /// The number 1 as a float.
    pub one: &'a str,
}

impl Values<'_> {
    /// The query for what lies between them: the device where there is that column, the time, and what was asked.
    #[must_use]
    pub fn between(&self, what: Consecutive) -> String {
        let Self { rows, time, order, number, one, .. } = self;
        let (device, by_device) = match self.device {
            Some(device) => (format!("{device}, "), format!("PARTITION BY {device} ")),
            None => (String::new(), String::new()),
        };
        let window = format!("{rows} WINDOW w AS ({by_device}ORDER BY {order})");
        match what {
            Consecutive::Gaps { longer_than_ns } => {
                let longer_than_ns = i64::try_from(longer_than_ns).unwrap_or(i64::MAX);
                format!(
                    "SELECT {device}at, apart FROM (SELECT {device}{time} AS at, lead({time}) OVER w - {time} AS apart {window}) \
                     AS pairs WHERE apart > {longer_than_ns} ORDER BY {device}at"
                )
            }
            Consecutive::Differences { per_ns } => {
                let (change, pairs) = match per_ns {
                    None => ("change".into(), "apart IS NOT NULL"),
                    Some(per_ns) => (format!("change / (apart * {one} / {per_ns})"), "apart > 0"),
                };
                format!(
                    "SELECT {device}at, {change} FROM (SELECT {device}{time} AS at, {number} - lag({number}) OVER w AS change, \
                     {time} - lag({time}) OVER w AS apart, row_number() OVER w AS place {window}) AS pairs WHERE {pairs} ORDER BY {device}place"
                )
            }
            // Of the last value nobody knows how long it lasted.
            Consecutive::TimeWeightedMean => {
                let by = self.device.unwrap_or("1");
                format!(
                    "SELECT {device}CAST(0 AS BIGINT), coalesce(sum(number * apart) / nullif(sum(apart) * {one}, 0), \
                     max(CASE WHEN apart IS NULL THEN number END)) FROM (SELECT {device}{number} * {one} AS number, \
                     lead({time}) OVER w - {time} AS apart {window}) AS pairs GROUP BY {by} ORDER BY {by}"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU64;

    #[test]
    fn what_lies_between_values_is_a_window_over_each_device() {
        let (rows, time, order) = ("FROM t WHERE a IS NOT NULL", "ts", "ts, _rowid_");
        let of = |device| Values { device, rows, time, order, number: "a", one: "1e0" };
        assert_eq!(
            of(None).between(Consecutive::Gaps { longer_than_ns: 7 }),
            "SELECT at, apart FROM (SELECT ts AS at, lead(ts) OVER w - ts AS apart FROM t WHERE a IS NOT NULL \
             WINDOW w AS (ORDER BY ts, _rowid_)) AS pairs WHERE apart > 7 ORDER BY at"
        );
        let rate = of(Some("device")).between(Consecutive::Differences { per_ns: NonZeroU64::new(9) });
        assert_eq!(
            rate,
            "SELECT device, at, change / (apart * 1e0 / 9) FROM (SELECT device, ts AS at, a - lag(a) OVER w AS change, \
             ts - lag(ts) OVER w AS apart, row_number() OVER w AS place FROM t WHERE a IS NOT NULL \
             WINDOW w AS (PARTITION BY device ORDER BY ts, _rowid_)) AS pairs WHERE apart > 0 ORDER BY device, place"
        );
        let mean = |device| of(device).between(Consecutive::TimeWeightedMean);
        assert!(mean(None).ends_with(" AS pairs GROUP BY 1 ORDER BY 1"), "of no value there is no row");
        assert!(mean(Some("device")).ends_with(" AS pairs GROUP BY device ORDER BY device"));
        let plain = of(None).between(Consecutive::Differences { per_ns: None });
        assert!(
            plain.starts_with("SELECT at, change FROM ") && plain.ends_with("WHERE apart IS NOT NULL ORDER BY place")
        );
    }
}
