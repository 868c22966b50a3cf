//! `series.csv` as reports draw it: in bounded memory, every figure finite.

#![no_main]

use iotbench_report::Timeline;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let timeline = match Timeline::read(data) {
        Ok(timeline) => timeline,
        Err(error) => return drop(error.to_string()),
    };
    let points = timeline.starts_s();
    assert!(points.len() <= 800 && timeline.is_empty() == points.is_empty());
    let heads = data.split(|&byte| byte == b'\n').next().and_then(|line| std::str::from_utf8(line).ok());
    for head in heads.unwrap_or_default().split(',') {
        let Some(figures) = timeline.figures(head) else { continue };
        assert_eq!(figures.len(), points.len());
        assert!(figures.iter().flatten().all(|figure| figure.is_finite()), "{head}: {figures:?}");
    }
});
