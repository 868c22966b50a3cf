//! How response times were distributed over the run's time, from `latency.hlog`. Pure.

use crate::thinning::{Joins, Thinned};
use iotbench_recorder::{ExportError, Level, LoggedInterval, read_interval_line};
use std::{
    collections::BTreeMap,
    io::{self, BufRead},
};

/// So many columns of cells, or up to twice as many.
const MAX_COLUMNS: usize = 60;
/// Rows of cells for each factor of ten of the response time.
const ROWS_PER_DECADE: f64 = 8.0;
/// A line of the log is never longer than a full histogram, in base64.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// Operations by when they were acknowledged and how long they took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// By time.
    pub columns: Vec<HeatColumn>,
}

/// What of a log is one column, while it is read.
type Intervals = Thinned<LoggedInterval, MAX_COLUMNS>;

/// Why a text is no interval log.
#[derive(Debug, thiserror::Error)]
pub enum HeatMapError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// A line of it is damaged.
    #[error("line {line}: {source}")]
    Line {
        /// From 1.
        line: u64,
        /// Why.
        source: ExportError,
    },
}

/// Some seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatColumn {
    /// Where they begin, in seconds since the run's start.
    pub from_s: f64,
    /// Where they end.
    pub to_s: f64,
    /// How many operations.
    pub count: u64,
    /// Operations by row: row r holds those from 10^(r / 8) ns on, below the next one's.
    pub rows: BTreeMap<u32, u64>,
    /// Median, 90th and 99th percentile and the greatest response time, in nanoseconds; none where the sample does not
    /// support it.
    pub quantiles_ns: [Option<u64>; 4],
}

impl Joins for LoggedInterval {
    fn join(&mut self, next: Self) {
        self.length = (next.start + next.length).saturating_sub(self.start);
        self.histogram.merge(&next.histogram);
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a log of at least 1 ns: small, positive")]
fn row_of(ns: u64) -> u32 {
    ((ns.max(1) as f64).log10() * ROWS_PER_DECADE).floor() as u32
}

impl HeatMap {
    /// Reads the lines of a log that are tagged `response`. Memory does not grow with its length.
    ///
    /// # Errors
    /// It cannot be read, or a line is damaged.
    pub fn read(mut log: impl BufRead) -> Result<Self, HeatMapError> {
        let mut intervals = Intervals::default();
        let mut text = String::new();
        for line in 1.. {
            text.clear();
            if io::Read::take(&mut log, MAX_LINE_BYTES).read_line(&mut text)? == 0 {
                break;
            }
            let read = read_interval_line(&text).map_err(|source| HeatMapError::Line { line, source })?;
            read.into_iter()
                .filter(|interval| interval.tag == "response")
                .for_each(|interval| intervals.push(interval));
        }
        Ok(Self { columns: intervals.items().iter().map(HeatColumn::from).collect() })
    }

    /// The response time at which a row begins, in microseconds.
    #[must_use]
    pub fn row_from_us(row: u32) -> f64 {
        10_f64.powf(f64::from(row) / ROWS_PER_DECADE) / 1e3
    }
}

impl From<&LoggedInterval> for HeatColumn {
    fn from(interval: &LoggedInterval) -> Self {
        let histogram = &interval.histogram;
        let mut rows = BTreeMap::new();
        for (ns, count) in histogram.recorded() {
            *rows.entry(row_of(ns)).or_default() += count;
        }
        let [p50, p90, p99] = [Level::P50, Level::P90, Level::P99].map(|level| histogram.quantile(level).ns());
        Self {
            from_s: interval.start.as_secs_f64(),
            to_s: (interval.start + interval.length).as_secs_f64(),
            count: histogram.count(),
            rows,
            quantiles_ns: [p50, p90, p99, histogram.max_ns()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_recorder::{LatencyHistogram, interval_line, interval_log_head};
    use std::time::{Duration, SystemTime};

    fn log(seconds: u64) -> String {
        let mut text = interval_log_head(SystemTime::UNIX_EPOCH).unwrap();
        for second in 0..seconds {
            for (tag, ns) in [("response", 1_500_000), ("service", 200)] {
                let mut histogram = LatencyHistogram::new();
                (0..second % 3 + 1).for_each(|_| histogram.record(ns));
                let start = Duration::from_secs(second);
                text += &interval_line(tag, start, Duration::from_secs(1), &histogram).unwrap();
            }
        }
        text
    }

    #[test]
    fn every_response_is_in_a_cell_and_no_service_time() {
        let map = HeatMap::read(log(500).as_bytes()).unwrap();
        assert!(map.columns.len() < 2 * MAX_COLUMNS);
        let cells: Vec<(u32, u64)> = map.columns.iter().flat_map(|c| c.rows.clone()).collect();
        assert_eq!(cells.iter().map(|(_, count)| count).sum::<u64>(), (0..500_u64).map(|s| s % 3 + 1).sum::<u64>());
        for (row, _) in cells {
            assert!(HeatMap::row_from_us(row) <= 1_500.0 && 1_500.0 < HeatMap::row_from_us(row + 1));
        }
        assert_eq!(map.columns.last().unwrap().to_s, 500.0);
    }

    #[test]
    fn a_line_that_was_cut_off_is_named() {
        let text = log(3);
        let error = HeatMap::read(&text.as_bytes()[..text.len() - 20]).unwrap_err().to_string();
        let last = text.lines().count();
        assert!(error.starts_with(&format!("line {last}: ")), "{error}");
    }
}
