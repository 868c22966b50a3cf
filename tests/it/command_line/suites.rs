//! The built-in suites.

use crate::command_line::program::call;
use std::{collections::BTreeSet, fs, path::Path};

/// A short form takes at most 20 minutes; 5 of them are for what is not load.
const MAX_LOAD_S: u64 = 15 * 60;

/// How long all loads take as planned.
fn load_s(said: &str) -> u64 {
    let (_, rest) = said.split_once("loads of at most ").unwrap();
    let (minutes, seconds) = rest.split_whitespace().next().unwrap().split_once(':').unwrap();
    60 * minutes.parse::<u64>().unwrap() + seconds.parse::<u64>().unwrap()
}

#[test]
fn every_suite_in_configs_is_built_in_and_can_be_planned() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/suites");
    let mut names = BTreeSet::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let suite: toml::Table = toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(suite["name"].as_str(), Some(name.as_str()));
        for length in [&[][..], &["--full"]] {
            let said = call(&[&["suite", name.as_str(), "--dry-run"], length].concat());
            assert_eq!(said.code, 0, "{name}: {}", said.err);
            assert!(said.out.contains("iotbench run --profile "), "{name}: {}", said.out);
            assert!(!length.is_empty() || load_s(&said.err) <= MAX_LOAD_S, "{name}: {}", said.err);
        }
        names.insert(name);
    }
    let help = call(&["suite", "--help"]).out;
    assert!(names.iter().all(|name| help.contains(name)), "{help}");
}

#[test]
fn a_misspelt_suite_is_put_right() {
    let said = call(&["suite", "qick"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("did you mean quick?"), "{}", said.err);
}

#[test]
fn agents_make_the_loads_of_a_suite_that_can_be_divided() {
    // Writes and reads; and the load of one device.
    for (suite, expected) in [("compressor", true), ("hof", false)] {
        let said = call(&["suite", suite, "--dry-run", "--agents", "a,b"]);
        assert_eq!(said.code, 0, "{}", said.err);
        let mut runs = said.out.lines().filter(|line| line.contains("iotbench run ")).peekable();
        assert!(runs.peek().is_some() && runs.all(|run| run.contains(" --agents a,b") == expected), "{}", said.out);
        assert!(said.err.contains("agents make the load of "), "{}", said.err);
    }

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let text = "name = \"mine\"\nsummary = \"mine\"\n[[cells]]\nprofile = \"machine_write\"\nbackends = [\"postgres\"]\noptions = [\"--agents=2\"]\n";
    fs::write(&file, text).unwrap();
    let said = call(&["suite", file.to_str().unwrap(), "--dry-run"]);
    assert!(said.code == 2 && said.err.contains("give it to `iotbench suite`"), "{}", said.err);
}
