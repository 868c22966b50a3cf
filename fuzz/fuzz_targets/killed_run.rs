//! The folder of a run that was killed: document, journal, interval log and series, in this order. What is recovered is a document that
//! is read again and stands by itself, and is recovered once.

#![no_main]

use iotbench_fuzz::{empty_folder, parts};
use iotbench_report::{
    JOURNAL_FILE, LATENCY_FILE, RUN_FILE, RecoverError, Recovered, ReportedRun, SERIES_FILE, check_manifest,
    read_document, recover, render,
};
use libfuzzer_sys::fuzz_target;
use std::fs;

fuzz_target!(|data: &[u8]| {
    let folder = empty_folder("run");
    for (name, part) in [RUN_FILE, JOURNAL_FILE, LATENCY_FILE, SERIES_FILE].into_iter().zip(parts::<4>(data)) {
        if let Some(part) = part {
            fs::write(folder.join(name), part).unwrap();
        }
    }
    let Recovered { document, notes } = match recover(&folder) {
        Ok(recovered) => recovered,
        Err(error) => return drop(error.to_string()),
    };
    drop(notes);
    assert_eq!(check_manifest(&folder).unwrap(), []);
    let written = document.to_json().unwrap();
    assert_eq!(read_document(&folder).unwrap().to_json().unwrap(), written);
    drop(render(&document, Some(&folder), 100));
    drop(ReportedRun::read(&folder).unwrap());
    assert!(matches!(recover(&folder), Err(RecoverError::Ended { .. })));
    assert_eq!(fs::read_to_string(folder.join(RUN_FILE)).unwrap(), written);
});
