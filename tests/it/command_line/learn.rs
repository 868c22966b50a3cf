//! `iotbench learn`.

use crate::command_line::program::{Said, call, iotbench};
use std::{fs, path::Path};

const CUSTOM: &str = "signals=[{ name = \"flow\", shape = \"normal\", mean = 5, decimals = 2 }, \
                      { name = \"mode\", shape = \"state\", states = [\"idle\", \"run\"], hold = 1 }]";

/// A recording of two devices, a datapoint every 20 ms.
fn recorded(folder: &Path, format: &str) -> String {
    let file = folder.join(format!("Pump.{format}")).display().to_string();
    let data = ["generate", "--dataset", "custom", "--set", CUSTOM, "--set", "interval=20ms", "--devices", "2"];
    let said = call(&[&data[..], &["--for", "20s", "--format", format, "--out", &file]].concat());
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    file
}

#[test]
fn a_learned_profile_is_alike_and_planned() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    for format in ["csv", "influx"] {
        let learned = call(&["learn", &recorded(folder.path(), format), "-o", &at("mine.toml"), "--force"]);
        assert_eq!((learned.code, learned.err.as_str()), (0, ""));
        for part in
            ["flow", "mode", "times between datapoints", "compressed size, recorded : generated = ", "profile: "]
        {
            assert!(learned.out.contains(part), "{}", learned.out);
        }
        let profile = fs::read_to_string(at("mine.toml")).unwrap();
        assert!(profile.contains("name = \"pump\"") && profile.contains("interval = \"20ms\""), "{profile}");
        assert!(!profile.contains("idle"), "{profile}");
        let checked = call(&["check", &at("mine.toml")]);
        assert_eq!(checked.code, 0, "{}", checked.err);
        // They are written in stretches of 500 datapoints of a device.
        let expected =
            ["2 devices of 2 signals, a datapoint every 20ms", "0.2 operations/s", "a request writes 500 datapoints"];
        assert!(expected.iter().all(|part| checked.out.contains(part)), "{}", checked.out);
    }
}

#[test]
fn a_file_that_is_there_stays_unless_it_is_to_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("mine.toml");
    fs::write(&output, "mine").unwrap();
    let recording = recorded(folder.path(), "csv");
    let said = call(&["learn", &recording, "-o", output.to_str().unwrap()]);
    assert_eq!((said.code, fs::read_to_string(&output).unwrap().as_str()), (2, "mine"));
    assert!(said.err.contains("--force"), "{}", said.err);
    let said = call(&["learn", &recording, "-o", output.to_str().unwrap(), "--force"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let printed = call(&["learn", &recording]);
    assert_eq!(fs::read_to_string(&output).unwrap(), printed.out);
    assert!(printed.err.contains("KS distance"), "{}", printed.err);
}

#[test]
fn what_is_no_recording_is_refused_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&[u8], &str); 7] = [
        (b"time,a\n1,2\n2,\n", "r: line 3, column a"),
        (b"m v=1 1\nm v=1\n", "r: line 2, column time"),
        (b"m v=1 1\n\xff\xfe v=1 2\n", "r: line 2: is no UTF-8 text"),
        (b"tags,host string\ncpu,a\n\ncpu,1,2\n", "r: line 4: has no line of tags"),
        (b"\x1f\x8b\x08\x00nonsense", "r: "),
        (b"", "r: line 1: the first column must be named time"),
        (b"\x00\x00\x00\x00", "r: line 1: the first column must be named time"),
    ];
    for (bytes, expected) in cases {
        let file = folder.path().join("r");
        fs::write(&file, bytes).unwrap();
        let Said { code, out, err } = call(&["learn", file.to_str().unwrap()]);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(expected), "{err}");
    }
    let gone = iotbench(&["learn", "/nonexistent/r"]).output().unwrap();
    assert_eq!(gone.status.code(), Some(2));
    let said = call(&["learn", "/dev/null"]);
    assert!(said.code == 2 && said.err.contains("not a regular file"), "{}", said.err);
    let said = call(&["learn", "x", "--set", "brokn=skip"]);
    assert!(said.code == 2 && said.err.contains("did you mean broken?"), "{}", said.err);
}
