//! What the kit reads of databases that keep or answer JSON: seconds, objects, datapoints by metric, and markers. What is read and
//! written again is read the same.

#![no_main]

use iotbench_backend_kit::{
    json::{ObjectWriter, push_second, read_object, read_second},
    marker::{MarkerDocument, Nothing, comment, of_comment},
    metrics::{self, Datapoint, Series},
};
use iotbench_core::{Chunk, Column, ReplyColumn, Schema, SignalId};
use iotbench_fuzz::schema;
use libfuzzer_sys::fuzz_target;

fn columns(schema: &Schema) -> Vec<ReplyColumn> {
    schema.signals().iter().map(|signal| ReplyColumn::new(signal.value_type)).collect()
}

/// The values as columns that can be written; `None` where one is missing.
fn whole(read: &[ReplyColumn]) -> Option<Vec<Column>> {
    let mut all = Vec::new();
    for column in read {
        let mut values = Column::new(column.value_type());
        for row in 0..column.len() {
            assert!(values.push(column.get(row)?));
        }
        all.push(values);
    }
    Some(all)
}

fn object(json: &[u8]) {
    let schema = schema();
    let names: Vec<&str> = schema.signals().iter().map(|signal| signal.name.as_str()).collect();
    let mut read = columns(&schema);
    if read_object(json, &names, &mut read).is_err() {
        return;
    }
    assert!(read.iter().all(|column| column.len() == 1));
    let Some(values) = whole(&read) else { return };
    let mut written = Vec::new();
    ObjectWriter::new(&schema).push(&mut written, &values, 0);
    let mut again = columns(&schema);
    read_object(&written, &names, &mut again).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&written)));
    assert_eq!(again, read);
}

fn second(json: &[u8]) {
    let schema = schema();
    let signals: Vec<SignalId> = (0..5).collect();
    let chunk = || Chunk::new(schema.signals().iter().map(|signal| signal.value_type));
    let mut read = chunk();
    if read_second(json, &signals, &mut read).is_err() {
        return;
    }
    assert!(read.columns.iter().all(|column| column.len() == read.len()));
    let Some(values) = whole(&read.columns) else { return };
    let rows: Option<Vec<(u32, usize)>> =
        read.timestamps_ns.iter().enumerate().map(|(row, &ns)| Some((u32::try_from(ns).ok()?, row))).collect();
    let mut written = Vec::new();
    push_second(&mut written, &values, rows.expect("a nanosecond of a second").into_iter());
    let mut again = chunk();
    read_second(&written, &signals, &mut again)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&written)));
    assert_eq!(again, read);
}

fn points(json: &[u8]) {
    let Ok(lists) = serde_json::from_slice::<Vec<Vec<Datapoint<'_>>>>(json) else { return };
    let width = lists.len().min(3);
    let series = lists.iter().enumerate().map(|(at, values)| Series {
        place: at % width.max(1),
        device: (at / 3) as u32,
        values,
    });
    let (mut cells, mut last) = (0, None);
    let taken = metrics::points(width, series, &mut |device, time, found| {
        assert!(last <= Some((device, time)), "{last:?} before {device} {time}");
        last = Some((device, time));
        cells += found.iter().flatten().count();
        Ok(())
    });
    assert!(taken.is_ok());
    assert_eq!(cells, lists.iter().map(Vec::len).sum::<usize>());
}

fn counts(json: &[u8]) {
    let Ok(series) = serde_json::from_slice::<Vec<(usize, u32, u64)>>(json) else { return };
    let counts = metrics::counts(series);
    assert!(counts.points <= counts.values);
}

fn markers(json: &[u8]) {
    if let Some(mark) = serde_json::from_slice::<MarkerDocument<Nothing>>(json).ok().and_then(MarkerDocument::if_ours) {
        assert_eq!(of_comment(&comment(&mark.marker)), Some(mark.marker));
    }
    if let Some(marker) = std::str::from_utf8(json).ok().and_then(of_comment) {
        assert_eq!(of_comment(&comment(&marker)), Some(marker));
    }
}

fuzz_target!(|json: &[u8]| {
    object(json);
    second(json);
    points(json);
    counts(json);
    markers(json);
});
