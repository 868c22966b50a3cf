//! What the encoders write, to the letter.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotbench_core::{Batch, Run};
use iotbench_simulator::{DATASETS, DEFAULT_ORIGIN_NS, Dataset, DatasetConfig, Encoder, Format};
use std::{path::Path, sync::Arc};

fn recording() -> Arc<dyn Dataset> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let config = DatasetConfig::named("replay").unwrap().with("file", "recording.csv");
    config.open(1, DEFAULT_ORIGIN_NS, 2, &data).unwrap()
}

fn encoded(format: Format, dataset: &Arc<dyn Dataset>, runs: &[Run]) -> String {
    let mut batch = Batch::new(dataset.schema());
    runs.iter().for_each(|&run| dataset.fill(run, &mut batch));
    let mut encoder = Encoder::new(format, "my data", dataset.clone());
    let mut out = Vec::new();
    encoder.header(&mut out);
    encoder.encode(&batch, &mut out);
    String::from_utf8(out).unwrap()
}

const BOTH: [Run; 2] = [Run { device: 1, first: 0, count: 1 }, Run { device: 0, first: 1, count: 2 }];

#[test]
fn line_protocol() {
    assert_eq!(
        encoded(Format::Influx, &recording(), &BOTH),
        "my\\ data,device=south temperature=19.25,revolutions=0i,state=\"idle, cold\" 1767225600500000000\n\
         my\\ data,device=north temperature=21.625,revolutions=1479i,state=\"run\" 1767225601000000000\n\
         my\\ data,device=north temperature=21.75,revolutions=1481i,state=\"run\" 1767225602000000000\n"
    );
    assert_eq!(
        encoded(Format::Influx, &recording(), &BOTH[..1]),
        "my\\ data,device=south temperature=19.25,revolutions=0i,state=\"idle, cold\" 1767225600500000000\n"
    );
}

#[test]
fn csv() {
    assert_eq!(
        encoded(Format::Csv, &recording(), &BOTH),
        "time,device,temperature,revolutions,state\n\
         1767225600500000000,south,19.25,0,\"idle, cold\"\n\
         1767225601000000000,north,21.625,1479,run\n\
         1767225602000000000,north,21.75,1481,run\n"
    );
}

#[test]
fn json_lines() {
    assert_eq!(
        encoded(Format::Json, &recording(), &BOTH[..1]),
        "{\"time\":1767225600500000000,\"device\":\"south\",\"temperature\":19.25,\"revolutions\":0,\"state\":\"idle, cold\"}\n"
    );
}

#[test]
fn every_dataset_gives_json_that_parses_and_one_line_a_datapoint() {
    for info in DATASETS.iter().filter(|d| d.name != "custom" && d.name != "replay") {
        let dataset = DatasetConfig::named(info.name).unwrap().open(1, DEFAULT_ORIGIN_NS, 2, Path::new(".")).unwrap();
        let run = [Run { device: 1, first: 5, count: 50 }];
        for line in encoded(Format::Json, &dataset, &run).lines() {
            let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
            assert_eq!(object.len(), dataset.schema().width() + 2);
        }
        assert_eq!(encoded(Format::Influx, &dataset, &run).lines().count(), 50);
        assert_eq!(encoded(Format::Csv, &dataset, &run).lines().count(), 51);
    }
}

#[test]
fn an_unknown_format_gets_a_suggestion() {
    assert_eq!("jsno".parse::<Format>().unwrap_err().suggestion, Some("json"));
    assert_eq!("influx".parse(), Ok(Format::Influx));
}
