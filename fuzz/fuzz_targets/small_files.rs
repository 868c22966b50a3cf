//! Small files of ours that people hand on or write: suites, scores and prices (TOML), and the records of a suite, of sittings, of a
//! sweep and of a folder's digests (JSON). The first byte says which. What is read and written again is the same.

#![no_main]

use iotbench_fuzz::empty_folder;
use iotbench_report::{
    MANIFEST_FILE, PriceFile, SESSIONS_DOCUMENT, SUITE_DOCUMENT, SUITE_FILE, SweepTable, check_manifest, open_sessions,
    read_documents, read_sessions, read_suite, render_sessions, render_suite_state,
};
use iotbench_scoring::ScoreFile;
use iotbench_session::SearchHead;
use iotbench_suite::SuiteFile;
use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use std::{fmt::Display, fs, hint::black_box};

fn toml<T: Serialize, E: Display>(text: &[u8], read: impl Fn(&str) -> Result<T, E>) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    match read(text) {
        Ok(file) => {
            // As texts: a figure that a study did not print is no number, which equals nothing.
            let written = toml::to_string(&file).unwrap();
            let again = read(&written).unwrap_or_else(|e| panic!("{e}\n{written}"));
            assert_eq!(toml::to_string(&again).unwrap(), written);
        }
        Err(error) => drop(error.to_string()),
    }
}

fn suite_record(text: &[u8]) {
    let folder = empty_folder("suite");
    fs::write(folder.join(SUITE_FILE), "").unwrap();
    fs::write(folder.join(SUITE_DOCUMENT), text).unwrap();
    match read_suite(&folder) {
        Ok((held, _, record)) => {
            black_box((record.rounds(), record.next()));
            drop(render_suite_state(&record, true, 100));
            held.write_suite_record(&record).unwrap();
            drop(held);
            let (_, _, again) = read_suite(&folder).unwrap();
            assert!(again == record || record != record.clone(), "{again:?}\n{record:?}");
        }
        Err(error) => drop(error.to_string()),
    }
}

fn sittings(text: &[u8]) {
    let folder = empty_folder("sittings");
    fs::write(folder.join(SESSIONS_DOCUMENT), text).unwrap();
    drop(read_documents(&folder).map_err(|e| e.to_string()));
    match open_sessions::<SearchHead>(&folder) {
        Ok((held, record)) => {
            black_box((record.next(), record.held(), record.names("x")));
            let text = render_sessions(&record, &[], 100);
            held.write_sessions(&record, &text).unwrap();
            let again = read_sessions::<SearchHead>(&folder).unwrap();
            assert_eq!(serde_json::to_string(&again).unwrap(), serde_json::to_string(&record).unwrap());
        }
        Err(error) => drop(error.to_string()),
    }
}

fn sweep(text: &[u8]) {
    let Ok(table) = serde_json::from_slice::<SweepTable>(text) else { return };
    let written = serde_json::to_vec(&table).unwrap();
    assert_eq!(serde_json::from_slice::<SweepTable>(&written).unwrap(), table);
}

fn manifest(text: &[u8]) {
    let folder = empty_folder("manifest");
    fs::write(folder.join(MANIFEST_FILE), text).unwrap();
    match check_manifest(&folder) {
        // None of its files is there.
        Ok(wrong) => drop(wrong.iter().map(ToString::to_string).collect::<Vec<_>>()),
        Err(error) => drop(error.to_string()),
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&what, rest)) = data.split_first() else { return };
    match what {
        b'u' => toml(rest, SuiteFile::from_toml),
        b'c' => toml(rest, ScoreFile::from_toml),
        b'p' => toml(rest, PriceFile::from_toml),
        b'r' => suite_record(rest),
        b's' => sittings(rest),
        b'w' => sweep(rest),
        _ => manifest(rest),
    }
});
