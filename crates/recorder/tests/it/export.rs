//! Histograms leave in HdrHistogram's formats and come back.

#![expect(clippy::unwrap_used, reason = "a test")]

use crate::random::Random;
use std::io::Write;
use std::time::{Duration, UNIX_EPOCH};

use flate2::{Compression, write::ZlibEncoder};
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use iotbench_recorder::{ExportError, HIGHEST_NS, LatencyHistogram, Level, interval_line, interval_log_head};

fn sample() -> LatencyHistogram {
    let mut random = Random::new(6);
    let mut histogram = LatencyHistogram::new();
    for _ in 0..20_000 {
        histogram.record(random.log_uniform_ns(1.0, 86.4e12));
    }
    histogram
}

#[test]
fn a_histogram_comes_back() {
    let original = sample();
    let back = LatencyHistogram::from_v2_deflate(&original.to_v2_deflate().unwrap()).unwrap();
    assert_eq!(back.count(), original.count());
    for level in [Level::P50, Level::P90, Level::P99, Level::P999] {
        assert_eq!(back.value_at(level), original.value_at(level));
    }
    let (mean, original_mean) = (back.mean_ns().unwrap(), original.mean_ns().unwrap());
    assert!((mean / original_mean - 1.0).abs() < 1e-3, "{mean} {original_mean}");
    assert_eq!(back.to_v2_deflate().unwrap(), original.to_v2_deflate().unwrap());
    let (deviation, original) = (back.std_dev_ns().unwrap(), original.std_dev_ns().unwrap());
    assert!((deviation / original - 1.0).abs() < 1e-3, "{deviation} {original}");
}

#[test]
fn an_empty_histogram_comes_back_empty() {
    let back = LatencyHistogram::from_v2_deflate(&LatencyHistogram::new().to_v2_deflate().unwrap()).unwrap();
    assert!(back == LatencyHistogram::new());
}

#[test]
fn overflow_stays_at_home() {
    let mut histogram = sample();
    histogram.record(HIGHEST_NS + 1);
    let back = LatencyHistogram::from_v2_deflate(&histogram.to_v2_deflate().unwrap()).unwrap();
    assert_eq!((back.count(), back.overflow()), (20_000, 0));
}

#[test]
fn other_bytes_are_refused() {
    let bytes = sample().to_v2_deflate().unwrap();
    for broken in [&bytes[..0], &bytes[..7], &bytes[..bytes.len() / 2], b"not a histogram, but long enough to be one"] {
        assert!(matches!(LatencyHistogram::from_v2_deflate(broken), Err(ExportError::Decode(_))));
    }
    let mut micros = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 3_600_000_000, 3).unwrap();
    micros.record(1_000).unwrap();
    let mut foreign = Vec::new();
    V2DeflateSerializer::new().serialize(&micros, &mut foreign).unwrap();
    let error = LatencyHistogram::from_v2_deflate(&foreign).unwrap_err();
    assert!(error.to_string().contains("from 1 to 3600000000 with 3 digits"), "{error}");
}

/// A histogram of our bounds whose header claims `payload_length` bytes, with `payload`.
fn forged(payload_length: u32, payload: &[u8]) -> Vec<u8> {
    let mut inner = Vec::new();
    for word in [0x1c84_9313, payload_length, 0, 3] {
        inner.extend(u32::to_be_bytes(word));
    }
    inner.extend(1_u64.to_be_bytes());
    inner.extend(HIGHEST_NS.to_be_bytes());
    inner.extend(1_f64.to_be_bytes());
    inner.extend(payload);
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&inner).unwrap();
    let deflated = encoder.finish().unwrap();
    let mut bytes = 0x1c84_9314_u32.to_be_bytes().to_vec();
    bytes.extend(u32::try_from(deflated.len()).unwrap().to_be_bytes());
    bytes.extend(deflated);
    bytes
}

#[test]
fn claims_are_checked_before_they_are_allocated() {
    // A sound payload of one count: 7 values of 0 ns.
    assert_eq!(LatencyHistogram::from_v2_deflate(&forged(1, &[14])).unwrap().count(), 7);
    let claim = LatencyHistogram::from_v2_deflate(&forged(u32::MAX, &[14])).unwrap_err();
    assert!(claim.to_string().contains("4294967295 bytes"), "{claim}");
    // The same count, 2^62, three times: their sum has no 64 bits.
    let mut counts = [0x80; 27];
    (counts[8], counts[17], counts[26]) = (0x80, 0x80, 0x80);
    let claim = LatencyHistogram::from_v2_deflate(&forged(27, &counts)).unwrap_err();
    assert!(matches!(claim, ExportError::Implausible(_)), "{claim}");
}

#[test]
fn damaged_bytes_never_panic() {
    let mut random = Random::new(7);
    let sound = sample().to_v2_deflate().unwrap();
    for _ in 0..300 {
        let mut damaged = sound.clone();
        let place = usize::try_from(random.bits() % damaged.len() as u64).unwrap();
        damaged[place] ^= 1 << (random.bits() % 8);
        if let Ok(histogram) = LatencyHistogram::from_v2_deflate(&damaged) {
            assert!(histogram.count() > 0);
        }
    }
}

#[test]
fn an_interval_log_comes_back() {
    let epoch = UNIX_EPOCH + Duration::from_millis(1_700_000_000_250);
    let mut log = interval_log_head(epoch).unwrap();
    let mut histogram = LatencyHistogram::new();
    for second in 0..3 {
        histogram.record(1_000_000);
        let start = Duration::from_secs(second);
        log += &interval_line("write.response", start, Duration::from_secs(1), &histogram).unwrap();
    }
    assert!(log.contains("#[StartTime: 1700000000.250 (seconds since epoch)]\n"), "{log}");
    assert!(log.contains("#[BaseTime: 1700000000.250 (seconds since epoch)]\n"), "{log}");
    let intervals: Vec<_> = IntervalLogIterator::new(log.as_bytes())
        .map(Result::unwrap)
        .filter_map(|entry| match entry {
            LogEntry::Interval(interval) => Some((interval.tag().unwrap().to_string(), interval.start_timestamp())),
            _ => None,
        })
        .collect();
    assert_eq!(intervals.len(), 3);
    assert_eq!(intervals[2], ("write.response".to_owned(), Duration::from_secs(2)));
    assert_eq!(log.lines().count(), 4 + 3);
}

#[test]
fn a_tag_that_would_break_the_log_is_refused() {
    let result = interval_line("write, response", Duration::ZERO, Duration::ZERO, &LatencyHistogram::new());
    assert!(matches!(result, Err(ExportError::Tag(tag)) if tag == "write, response"));
}

/// What a histogram may claim, and one more.
#[test]
fn the_greatest_claims_that_are_believed() {
    let zigzag = |count: u64| {
        let (mut rest, mut bytes) = (count << 1, Vec::new());
        while rest >= 0x80 {
            bytes.push(u8::try_from(rest & 0x7f).unwrap() | 0x80);
            rest >>= 7;
        }
        bytes.push(u8::try_from(rest).unwrap());
        bytes
    };
    let of_count = |count| {
        let payload = zigzag(count);
        LatencyHistogram::from_v2_deflate(&forged(u32::try_from(payload.len()).unwrap(), &payload))
    };
    assert_eq!(of_count(1 << 52).unwrap().count(), 1 << 52);
    assert!(matches!(of_count((1 << 52) + 1), Err(ExportError::Implausible(_))));
    let layout = hdrhistogram::Histogram::<u64>::new_with_bounds(1, HIGHEST_NS, 3).unwrap();
    let longest = u32::try_from(layout.distinct_values() * 9).unwrap();
    let of_length = |length| LatencyHistogram::from_v2_deflate(&forged(length, &[14])).unwrap_err();
    assert!(matches!(of_length(longest), ExportError::Decode(_)), "it is only not there");
    assert!(matches!(of_length(longest + 1), ExportError::Implausible(_)));
}
