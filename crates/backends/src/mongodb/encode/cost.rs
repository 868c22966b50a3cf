//! What a document costs here, and built by the driver's raw documents: `cargo test --release -p iotbench-backends
//! mongodb::encode::cost -- --ignored --nocapture` prints both.

#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "it measures, and is no part of a writer")]

use super::Encoder;
use iotbench_core::Value;
use mongodb::bson::{DateTime, RawDocumentBuf, cstr, raw::CString};
use std::{hint::black_box, time::Instant};

const DOCUMENTS: u32 = 50;
const SIGNALS: usize = 15;
const ROUNDS: usize = 31;
const BATCHES: u32 = 400;

fn value(signal: usize) -> f64 {
    0.25 + f64::from(u8::try_from(signal).unwrap())
}

/// A batch of layout `document`, in one buffer.
fn ours(names: &[String], capacity: usize) -> Vec<u8> {
    let mut encoder = Encoder::with_capacity(capacity);
    for time in 0..DOCUMENTS {
        let document = encoder.begin();
        encoder.date("t", time.into());
        encoder.int32("d", 7);
        let values = encoder.begin_document("v");
        for (signal, name) in names.iter().enumerate() {
            encoder.value(name, Value::F64(value(signal)));
        }
        encoder.end(values);
        encoder.end(document);
    }
    encoder.into_bytes()
}

fn raw(names: &[CString], capacity: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(capacity);
    for time in 0..DOCUMENTS {
        let mut document = RawDocumentBuf::new();
        document.append(cstr!("t"), DateTime::from_millis(time.into()));
        document.append(cstr!("d"), 7_i32);
        let mut values = RawDocumentBuf::new();
        for (signal, name) in names.iter().enumerate() {
            values.append(name, value(signal));
        }
        document.append(cstr!("v"), values);
        bytes.extend_from_slice(document.as_bytes());
    }
    bytes
}

/// Nanoseconds a document of the middle round.
fn middle_ns(mut batch: impl FnMut() -> Vec<u8>) -> f64 {
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            (0..BATCHES).for_each(|_| drop(black_box(batch())));
            start.elapsed().as_secs_f64() * 1e9 / f64::from(BATCHES * DOCUMENTS)
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

#[test]
#[ignore = "a measurement, not a check"]
fn cost() {
    let names: Vec<String> = (0..SIGNALS).map(|signal| format!("signal_{signal}")).collect();
    let keys: Vec<CString> = names.iter().map(|name| CString::try_from(name.as_str()).unwrap()).collect();
    let capacity = ours(&names, 0).len();
    assert_eq!(ours(&names, capacity), raw(&keys, capacity));
    let (ours, raw) = (middle_ns(|| ours(&names, capacity)), middle_ns(|| raw(&keys, capacity)));
    println!("15 values, ns a document: in one buffer {ours:.0}, by raw documents {raw:.0}");
}
