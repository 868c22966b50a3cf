//! A search that was interrupted: the document, then `trials.jsonl`. What is read of the plan and of the trials is written again the same.

#![no_main]

use iotbench_fuzz::{empty_folder, parts};
use iotbench_report::{RUN_FILE, TRIALS_FILE};
use iotbench_session::{SearchHead, TrialRecord, read_search};
use libfuzzer_sys::fuzz_target;
use std::fs;

fuzz_target!(|data: &[u8]| {
    let folder = empty_folder("search");
    for (name, part) in [RUN_FILE, TRIALS_FILE].into_iter().zip(parts::<2>(data)) {
        if let Some(part) = part {
            fs::write(folder.join(name), part).unwrap();
        }
    }
    let search = match read_search(&folder) {
        Ok(search) => search,
        Err(error) => return drop(error.to_string()),
    };
    let written = serde_json::to_string(&search.head).unwrap();
    let again: SearchHead = serde_json::from_str(&written).unwrap_or_else(|e| panic!("{e}\n{written}"));
    assert_eq!(serde_json::to_string(&again).unwrap(), written);
    for trial in &search.trials {
        let written = serde_json::to_string(trial).unwrap();
        let again: TrialRecord = serde_json::from_str(&written).unwrap_or_else(|e| panic!("{e}\n{written}"));
        assert_eq!(again, *trial, "{written}");
    }
});
