//! Histograms as they come from others: V2 with deflate, as it is (a first byte of 0) or with what is to be deflated (1), and as
//! JSON of an agent (anything else). What is read and written again is the same, also after it was merged with itself.

#![no_main]

use flate2::{Compression, write::ZlibEncoder};
use iotbench_recorder::{LatencyHistogram, Level, OperationKind, Requests, SentWindow};
use libfuzzer_sys::fuzz_target;
use std::{hint::black_box, io::Write};

const COOKIE: [u8; 4] = [0x1c, 0x84, 0x93, 0x14];

fn deflated(data: &[u8]) -> Vec<u8> {
    let mut body = ZlibEncoder::new(Vec::new(), Compression::fast());
    body.write_all(data).unwrap();
    let body = body.finish().unwrap();
    [&COOKIE[..], &u32::try_from(body.len()).unwrap().to_be_bytes(), &body].concat()
}

fn check(histogram: &LatencyHistogram) {
    let written = histogram.to_v2_deflate().unwrap();
    let again = LatencyHistogram::from_v2_deflate(&written).unwrap();
    assert!(again.recorded().eq(histogram.recorded()));
    let mut twice = histogram.clone();
    twice.merge(histogram);
    assert_eq!(twice.count(), 2 * histogram.count());
    for histogram in [histogram, &twice] {
        for level in [Level::P50, Level::P90, Level::P99] {
            black_box(histogram.quantile(level));
        }
    }
}

fn of_json(text: &[u8]) {
    if let Ok(histogram) = serde_json::from_slice::<LatencyHistogram>(text) {
        check(&histogram);
        let written = serde_json::to_string(&histogram).unwrap();
        assert!(serde_json::from_str::<LatencyHistogram>(&written).unwrap() == histogram, "{written}");
    }
    let kinds = [Requests::One, Requests::Many, Requests::Paused]
        .map(|requests| OperationKind { name: "kind".into(), requests });
    for kinds in [&kinds[..1], &kinds[..]] {
        let Ok(sent) = serde_json::from_slice::<SentWindow>(text) else { return };
        let Ok(window) = sent.received(&kinds.into()) else { continue };
        let written = serde_json::to_string(&SentWindow::from(window.clone())).unwrap();
        let again = serde_json::from_str::<SentWindow>(&written).unwrap().received(&kinds.into()).unwrap();
        assert!(again == window, "{written}");
        let mut twice = window.clone();
        twice.merge(&window).unwrap();
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&how, rest)) = data.split_first() else { return };
    let bytes = match how {
        0 => rest.to_vec(),
        1 => deflated(rest),
        _ => return of_json(data),
    };
    if let Ok(histogram) = LatencyHistogram::from_v2_deflate(&bytes) {
        check(&histogram);
    }
});
