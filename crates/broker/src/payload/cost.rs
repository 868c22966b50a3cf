//! What a message in JSON costs here, and by derived types of serde: `cargo test --release -p iotbench-broker payload::cost --
//! --ignored --nocapture` prints both.

use super::{
    Codec,
    tests::{LABEL, pmu},
};
use crate::address::Payload;
use base64::{Engine, engine::general_purpose::STANDARD};
use iotbench_core::{Batch, Column, Run, RunRows};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, hint::black_box, time::Instant};

const DATAPOINTS: u32 = 50;
const ROUNDS: usize = 31;
const MESSAGES: u32 = 200;

#[derive(Serialize, Deserialize)]
struct Message {
    device: u32,
    sequence: u64,
    intended_ns: u64,
    published_ns: u64,
    operation: u64,
    records: Vec<Record>,
}

#[derive(Serialize, Deserialize)]
struct Record {
    device: u32,
    index: u64,
    time_ns: i64,
    data: BTreeMap<String, f32>,
}

fn by_serde(names: &[String], batch: &Batch) -> Vec<u8> {
    let value = |column: &Column, row: usize| match column {
        Column::F32(values) => values[row],
        other => panic!("{other:?}"),
    };
    let mut records = Vec::new();
    for RunRows { run, rows } in batch.run_rows() {
        for (index, row) in run.indices().zip(rows) {
            let data = names.iter().zip(batch.columns()).map(|(name, column)| (name.clone(), value(column, row)));
            records.push(Record {
                device: run.device,
                index,
                time_ns: batch.timestamps_ns()[row],
                data: data.collect(),
            });
        }
    }
    let message = Message {
        device: LABEL.device,
        sequence: LABEL.sequence,
        intended_ns: LABEL.intended_ns,
        published_ns: LABEL.published_ns,
        operation: 1,
        records,
    };
    STANDARD.encode(serde_json::to_vec(&message).unwrap()).into_bytes()
}

fn read_by_serde(names: &[String], message: &[u8], batch: &mut Batch) {
    let message: Message = serde_json::from_slice(&STANDARD.decode(message).unwrap()).unwrap();
    for Record { device, index, time_ns, data } in message.records {
        batch.append(Run { device, first: index, count: 1 }, |times, columns| {
            times.push(time_ns);
            for (name, column) in names.iter().zip(columns) {
                assert!(column.push(iotbench_core::Value::F32(data[name])));
            }
        });
    }
}

/// Nanoseconds a datapoint of the middle round.
fn middle_ns(mut message: impl FnMut()) -> f64 {
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            (0..MESSAGES).for_each(|_| message());
            start.elapsed().as_secs_f64() * 1e9 / f64::from(MESSAGES * DATAPOINTS)
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

#[test]
#[ignore = "a measurement, not a check"]
fn cost() {
    let (schema, batch) = pmu(DATAPOINTS);
    let names: Vec<String> = schema.signals().iter().map(|signal| signal.name.clone()).collect();
    let mut codec = Codec::new(Payload::Json64, &schema);
    let (ours, theirs) = (codec.encode(&LABEL, &batch), by_serde(&names, &batch));
    let mut received = Batch::new(&schema);
    read_by_serde(&names, &theirs, &mut received);
    assert_eq!(received.columns(), batch.columns());
    let encode = middle_ns(|| drop(black_box(codec.encode(&LABEL, &batch))));
    let decode = middle_ns(|| {
        received.clear();
        codec.decode(&ours, &mut received).unwrap();
    });
    let encode_by_serde = middle_ns(|| drop(black_box(by_serde(&names, &batch))));
    let decode_by_serde = middle_ns(|| {
        received.clear();
        read_by_serde(&names, &theirs, &mut received);
    });
    println!("15 values, ns a datapoint: written {encode:.0}, by serde {encode_by_serde:.0}");
    println!("15 values, ns a datapoint: read {decode:.0}, by serde {decode_by_serde:.0}");
}
