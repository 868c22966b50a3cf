//! `series.csv` as it is drawn. Pure.

use crate::thinning::{Joins, Thinned};
use std::io::Read;

/// A plot of so many points, or up to twice as many, shows what a screen can.
const MAX_POINTS: usize = 400;

/// How the names of the columns begin that have what the server counted of itself.
pub const COUNTER_COLUMN: &str = "server_count_";

/// What happened over the run's time, thinned out where the run was long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    columns: Vec<Column>,
    points: Thinned<Point, MAX_POINTS>,
}

/// Why a text is no series.
#[derive(Debug, thiserror::Error)]
pub enum TimelineError {
    /// It is no table.
    #[error("{0}")]
    Csv(#[from] csv::Error),
    /// A cell is no number, or a column is missing.
    #[error("line {line}: {message}")]
    Cell {
        /// From 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
}

/// A column, and how the figures of neighbouring seconds become one.
#[derive(Clone, Debug, PartialEq)]
struct Column {
    name: String,
    joining: Joining,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Joining {
    /// A count, or bytes since the row before: per second it is a rate.
    Sum,
    /// A level: the mean over time.
    Mean,
    /// A quantile: those of several seconds have no mean, their greatest is the worst that was.
    Greatest,
}

impl Joining {
    fn of(column: &str) -> Self {
        let is = |ends: &[&str]| ends.iter().any(|end| column.ends_with(end));
        if column.starts_with(COUNTER_COLUMN) {
            Self::Sum
        } else if is(&["_p50_us", "_p99_us", "_max_us"]) {
            Self::Greatest
        } else if is(&["_pct", "_rss_bytes", "_pss_bytes"]) || column == "users" {
            Self::Mean
        } else {
            Self::Sum
        }
    }
}

/// Some seconds.
#[derive(Clone, Debug, PartialEq)]
struct Point {
    from_s: f64,
    seconds: f64,
    cells: Vec<(Joining, Option<f64>)>,
}

impl Joins for Point {
    fn join(&mut self, next: Self) {
        for ((joining, cell), (_, other)) in self.cells.iter_mut().zip(next.cells) {
            *cell = match (*cell, other) {
                (Some(a), Some(b)) => Some(match joining {
                    Joining::Sum => a + b,
                    Joining::Mean => (a * self.seconds + b * next.seconds) / (self.seconds + next.seconds),
                    Joining::Greatest => a.max(b),
                })
                .filter(|joined| joined.is_finite()),
                // A sum of which a part is missing is not known.
                (a, b) if *joining != Joining::Sum => a.or(b),
                _ => None,
            };
        }
        self.seconds = (self.seconds + next.seconds).min(f64::MAX);
    }
}

impl Timeline {
    /// Reads `series.csv`.
    ///
    /// # Errors
    /// It is no such table.
    pub fn read(file: impl Read) -> Result<Self, TimelineError> {
        let mut csv = csv::Reader::from_reader(file);
        let heads = csv.headers()?.clone();
        let place = |name: &str| {
            let missing = || TimelineError::Cell { line: 1, message: format!("there is no column {name}") };
            heads.iter().position(|head| head == name).ok_or_else(missing)
        };
        let (from, length) = (place("second")?, place("seconds")?);
        let is_number = |name: &str| !["second", "seconds", "phase", "actions"].contains(&name);
        let kept: Vec<(usize, Column)> = heads
            .iter()
            .enumerate()
            .filter(|(_, name)| is_number(name))
            .map(|(place, name)| (place, Column { name: name.to_owned(), joining: Joining::of(name) }))
            .collect();
        let mut timeline = Self { columns: kept.iter().map(|(_, c)| c.clone()).collect(), ..Self::default() };
        for record in csv.records() {
            let record = record?;
            let number = |place: usize| number(&record, place, heads.get(place).unwrap_or_default());
            let cells = kept.iter().map(|(place, column)| Ok((column.joining, number(*place)?)));
            timeline.points.push(Point {
                from_s: number(from)?.unwrap_or_default(),
                seconds: number(length)?.unwrap_or(1.0).max(1.0),
                cells: cells.collect::<Result<_, TimelineError>>()?,
            });
        }
        Ok(timeline)
    }

    /// Where each point begins, in seconds since the run's start.
    #[must_use]
    pub fn starts_s(&self) -> Vec<f64> {
        self.points.items().iter().map(|point| point.from_s).collect()
    }

    /// How many rows of the file are a point.
    #[must_use]
    pub fn rows_per_point(&self) -> usize {
        self.points.each()
    }

    /// Whether the file has no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.points.items().is_empty()
    }

    /// A figure of a column at each point: counts and bytes a second, levels and quantiles as they are; `None` where the
    /// file has no such column, or it is empty from top to bottom.
    #[must_use]
    pub fn figures(&self, column: &str) -> Option<Vec<Option<f64>>> {
        let place = self.columns.iter().position(|c| c.name == column)?;
        let figure = |point: &Point| match point.cells.get(place)? {
            (Joining::Sum, Some(sum)) => Some(sum / point.seconds),
            (_, cell) => *cell,
        };
        let figures: Vec<_> = self.points.items().iter().map(figure).collect();
        figures.iter().any(Option::is_some).then_some(figures)
    }

    /// The counters of the server that have columns, by their names.
    #[must_use]
    pub fn counters(&self) -> Vec<&str> {
        self.columns.iter().filter_map(|column| column.name.strip_prefix(COUNTER_COLUMN)).collect()
    }

    /// The roles that have columns, such as `client` and `server_1`.
    #[must_use]
    pub fn roles(&self) -> Vec<&str> {
        self.columns.iter().filter_map(|column| column.name.strip_suffix("_cpu_pct")).collect()
    }
}

fn number(record: &csv::StringRecord, place: usize, head: &str) -> Result<Option<f64>, TimelineError> {
    let cell = record.get(place).unwrap_or_default();
    if cell.is_empty() {
        return Ok(None);
    }
    let finite = cell.parse().ok().filter(|number: &f64| number.is_finite());
    finite.map(Some).ok_or_else(|| TimelineError::Cell {
        line: record.position().map_or(0, csv::Position::line),
        message: format!("{head} is no number: {}", crate::printable(&cell.chars().take(40).collect::<String>())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    const HEAD: &str = "second,seconds,phase,users,ok,response_p99_us,actions,server_cpu_pct,server_rss_bytes\n";

    #[test]
    fn counts_become_rates_and_an_empty_column_is_none() {
        let text = format!("{HEAD}0,1,measure,4,100,,,12.5,\n1,2,measure,4,300,9.5,kill server 0,,\n");
        let timeline = Timeline::read(text.as_bytes()).unwrap();
        assert_eq!(timeline.starts_s(), [0.0, 1.0]);
        assert_eq!(timeline.figures("ok"), Some(vec![Some(100.0), Some(150.0)]));
        assert_eq!(timeline.figures("response_p99_us"), Some(vec![None, Some(9.5)]));
        assert_eq!(timeline.figures("server_rss_bytes"), None, "nothing is known of it");
        assert_eq!(timeline.roles(), ["server"]);
    }

    #[test]
    fn what_a_server_counted_is_a_rate_by_its_own_name() {
        let text = "second,seconds,server_cpu_pct,server_count_wal_bytes\n0,1,5,100\n1,2,5,300\n";
        let timeline = Timeline::read(text.as_bytes()).unwrap();
        assert_eq!((timeline.counters(), timeline.roles()), (vec!["wal_bytes"], vec!["server"]));
        assert_eq!(timeline.figures("server_count_wal_bytes"), Some(vec![Some(100.0), Some(150.0)]));
    }

    /// Figures that only a hostile file has.
    #[test]
    fn what_is_beyond_all_numbers_is_not_known() {
        let mut text = "second,seconds,ok,users,response_p99_us\n".to_owned();
        (0..1_000).for_each(|second| writeln!(text, "{second},1e308,1e308,1e308,1e308").unwrap());
        let timeline = Timeline::read(text.as_bytes()).unwrap();
        assert!(timeline.rows_per_point() > 1);
        for column in ["ok", "users", "response_p99_us"] {
            let figures = timeline.figures(column).unwrap_or_default();
            assert!(figures.iter().flatten().all(|figure| figure.is_finite()), "{column}: {figures:?}");
        }
    }

    #[test]
    fn a_long_run_keeps_its_mean_and_its_worst() {
        let mut text = HEAD.to_owned();
        for second in 0..10_000 {
            let worst = if second == 5_001 { 99 } else { 1 };
            writeln!(text, "{second},1,measure,4,10,{worst},,{},1", second % 2).unwrap();
        }
        let timeline = Timeline::read(text.as_bytes()).unwrap();
        assert!(timeline.starts_s().len() < 2 * MAX_POINTS && timeline.rows_per_point() == 16);
        assert!(timeline.figures("ok").unwrap().iter().all(|rate| *rate == Some(10.0)));
        let worst = timeline.figures("response_p99_us").unwrap();
        assert_eq!(worst.iter().flatten().filter(|p99| **p99 == 99.0).count(), 1);
        assert!(timeline.figures("server_cpu_pct").unwrap().iter().all(|cpu| *cpu == Some(0.5)));
    }

    #[test]
    fn what_is_no_series_is_refused_with_its_line() {
        let error = |text: &str| Timeline::read(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(error("a,b\n1,2\n"), "line 1: there is no column second");
        assert_eq!(error(&format!("{HEAD}0,1,m,4,<b>,,,,\n")), "line 2: ok is no number: <b>");
        assert!(error(&format!("{HEAD}0,1\n")).contains("9"), "a row that was cut off");
    }
}
