//! An interval log: every line that is read is written again and read alike, and the heat map of the whole can be made. In the input
//! `~` and a byte stand for a histogram of so many values, which no chance comes upon.

#![no_main]

use base64::{Engine, prelude::BASE64_STANDARD};
use iotbench_recorder::{ExportError, LatencyHistogram, interval_line, read_interval_line};
use iotbench_report::HeatMap;
use libfuzzer_sys::fuzz_target;
use std::{sync::OnceLock, time::Duration};

/// No run is longer than a hundred years.
const MOST: Duration = Duration::from_secs(36_525 * 86_400);

/// Each takes a millisecond or more to be written and read.
static HISTOGRAMS: [OnceLock<String>; 256] = [const { OnceLock::new() }; 256];
const MAX_REWRITTEN: usize = 4;

fn histogram(values: u8) -> &'static str {
    HISTOGRAMS[usize::from(values)].get_or_init(|| {
        let mut histogram = LatencyHistogram::new();
        (0..u64::from(values)).for_each(|value| histogram.record_many(value * value * 1_000 + 1, value + 1));
        BASE64_STANDARD.encode(histogram.to_v2_deflate().unwrap())
    })
}

fn spelt_out(data: &[u8]) -> Vec<u8> {
    let (mut log, mut bytes) = (Vec::new(), data.iter());
    while let Some(&byte) = bytes.next() {
        match (byte, bytes.as_slice().first()) {
            (b'~', Some(&values)) => {
                bytes.next();
                log.extend(histogram(values).bytes());
            }
            _ => log.push(byte),
        }
    }
    log
}

fuzz_target!(|data: &[u8]| {
    let log = spelt_out(data);
    if let Ok(text) = std::str::from_utf8(&log) {
        for line in text.lines().take(MAX_REWRITTEN) {
            let Ok(Some(read)) = read_interval_line(line) else { continue };
            // The sum of both is within all time.
            let end = read.start.checked_add(read.length).unwrap();
            // The library writes milliseconds, by way of a float.
            if end >= MOST {
                continue;
            }
            // A tag of others may hold a blank, which is not written.
            let written = match interval_line(&read.tag, read.start, read.length, &read.histogram) {
                Err(ExportError::Tag(_)) => continue,
                written => written.unwrap(),
            };
            let again = read_interval_line(&written).unwrap().unwrap();
            assert_eq!(again.tag, read.tag);
            assert!(again.start.abs_diff(read.start).as_millis() <= 1, "{:?} {:?}", again.start, read.start);
            assert!(again.histogram.recorded().eq(read.histogram.recorded()));
        }
    }
    if let Ok(map) = HeatMap::read(&log[..]) {
        assert!(map.columns.len() <= 120);
        for column in &map.columns {
            assert!(column.from_s <= column.to_s && column.rows.len() <= 200, "{column:?}");
        }
    }
});
