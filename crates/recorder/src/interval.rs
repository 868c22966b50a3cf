//! A line of an interval log, read.

use crate::{export::ExportError, histogram::LatencyHistogram};
use base64::{Engine, prelude::BASE64_STANDARD};
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use std::time::Duration;

/// What one line of an interval log holds.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedInterval {
    /// Its tag; empty without one.
    pub tag: String,
    /// Where the interval begins, after the run's epoch.
    pub start: Duration,
    /// How long it is.
    pub length: Duration,
    /// Its values, in nanoseconds.
    pub histogram: LatencyHistogram,
}

/// Reads a line that [`interval_line`](crate::interval_line) wrote; `None` for a comment, and for what stands at the head of
/// a log.
///
/// # Errors
/// [`ExportError::Line`] for anything else, [`ExportError::Decode`] and those that it has for a histogram of others.
pub fn read_interval_line(line: &str) -> Result<Option<LoggedInterval>, ExportError> {
    let bad = || ExportError::Line(line.chars().take(40).collect());
    let text = line.trim_end();
    if text.is_empty() || text.starts_with('"') {
        return Ok(None);
    }
    // The parser takes whole lines.
    let whole = format!("{text}\n");
    match IntervalLogIterator::new(whole.as_bytes()).next() {
        None => Ok(None),
        Some(Ok(LogEntry::Interval(interval))) => {
            // Whoever reads the line adds the two.
            interval.start_timestamp().checked_add(interval.duration()).ok_or_else(bad)?;
            let bytes = BASE64_STANDARD.decode(interval.encoded_histogram()).map_err(|_| bad())?;
            Ok(Some(LoggedInterval {
                tag: interval.tag().map(|tag| tag.as_str().to_owned()).unwrap_or_default(),
                start: interval.start_timestamp(),
                length: interval.duration(),
                histogram: LatencyHistogram::from_v2_deflate(&bytes)?,
            }))
        }
        Some(Ok(_)) => Ok(None),
        Some(Err(_)) => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{interval_line, interval_log_head};
    use std::time::SystemTime;

    #[test]
    fn what_was_written_is_read() {
        let mut histogram = LatencyHistogram::new();
        for us in 1..=1_000 {
            histogram.record(us * 1_000);
        }
        let (start, length) = (Duration::from_secs(7), Duration::from_secs(1));
        let line = interval_line("response", start, length, &histogram).unwrap();
        let read = read_interval_line(&line).unwrap().unwrap();
        assert_eq!((read.tag.as_str(), read.start, read.length), ("response", start, length));
        let counts = |histogram: &LatencyHistogram| histogram.recorded().collect::<Vec<_>>();
        assert_eq!(counts(&read.histogram), counts(&histogram));
        assert_eq!(counts(&histogram).iter().map(|(_, count)| count).sum::<u64>(), 1_000);
    }

    #[test]
    fn the_head_of_a_log_holds_no_interval_and_a_damaged_line_is_an_error() {
        let head = interval_log_head(SystemTime::UNIX_EPOCH).unwrap();
        assert!(head.lines().all(|line| read_interval_line(line).unwrap().is_none()), "{head}");
        for bad in ["Tag=response,1.0,1.0,2.0,HISTF", "Tag=response,1.0", "nothing", "1.0,1.0,2.0,****"] {
            assert!(read_interval_line(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_interval_that_ends_after_all_time_is_damaged() {
        let line = interval_line("", Duration::ZERO, Duration::from_secs(1), &LatencyHistogram::new()).unwrap();
        let (head, rest) = line.split_once(",0.000,").unwrap();
        let at = |start: &str| read_interval_line(&format!("{head},{start},{rest}")).map(|read| read.unwrap().start);
        assert_eq!(at("18446744073709551614.0").unwrap(), Duration::from_secs(u64::MAX - 1));
        for late in
            ["18446744073709551615.0", "18446744073709551615.9999999999", "18446744073709551616.0", "1e30", "inf"]
        {
            assert!(at(late).is_err(), "{late}");
        }
    }

    #[test]
    fn headings_and_empty_lines_hold_no_interval() {
        for line in ["", " \n", "\"Start of something", "\"StartTimestamp\",\"Interval_Length\""] {
            assert!(matches!(read_interval_line(line), Ok(None)), "{line:?}");
        }
    }
}
