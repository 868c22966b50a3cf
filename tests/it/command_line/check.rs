//! `iotbench check`: whatever a file holds, the answer is "ok" or an error with file, line, key and suggestion.

use crate::command_line::program::{Said, call, ended, iotbench_in};
use std::{
    fs,
    time::{Duration, Instant},
};

/// Checks a file `mine.toml` with this content.
fn check(content: &[u8]) -> Said {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.toml"), content).unwrap();
    ended(&mut iotbench_in(folder.path(), &["check", "mine.toml"]))
}

/// A built-in profile with one text in it replaced.
fn changed(profile: &str, from: &str, to: &str) -> (String, usize) {
    let text = call(&["profiles", profile]).out;
    assert!(text.contains(from), "{profile} has no {from:?}");
    let line = text.split(from).next().unwrap().matches('\n').count() + 1;
    (text.replacen(from, to, 1), line)
}

#[test]
fn a_profile_that_holds_is_explained() {
    let said = check(changed("pmu_write", "6s", "9s").0.as_bytes());
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    for part in ["ok: pmu_write on sqlite", "step of 9s", "think time 1s", "mean response above 1s"] {
        assert!(said.out.contains(part), "{part:?} is missing: {}", said.out);
    }
}

#[test]
fn of_a_read_it_is_told_what_it_asks() {
    let said = check(changed("greenhouse_trends", "5s", "6s").0.as_bytes());
    let asked = "a request asks for min, mean, max of 9 signals of a device in buckets of 1h over 24h";
    assert!(said.out.contains(asked) && !said.out.contains("writes"), "{}", said.out);
}

#[test]
fn an_error_names_file_line_key_and_shows_what_is_written_there() {
    for (profile, from, to, hint) in [
        ("pmu_write", "step = \"6s\"", "stpe = \"6s\"", "did you mean `step`?"),
        ("pmu_write", "growth = 2.0", "growth = nan", "growth"),
        ("pmu_write", "growth = 2.0", "growth = inf", "growth"),
        ("pmu_write", "most = 16384", "most = 3", "at least ramp.first"),
        ("pmu_write", "users = 16", "users = 18446744073709551616", "users"),
        ("pmu_write", "users = 16", "users = -1", "users"),
        ("pmu_write", "window = \"2s\"", "window = \"2 parsecs\"", "no duration"),
        ("pmu_write", "noise = 0.001", "noisee = 0.001", "did you mean noise?"),
        ("pmu_write", "noise = 0.001", "noise = nan", "noise"),
        ("pmu_write", "\"closed\"", "\"close\"", "did you mean `closed`?"),
        ("pmu_write", "\"since_last\"", "\"since_lst\"", "since_last"),
        ("pmu_write", "resolution = \"5%\"", "resolution = \"500%\"", "no share"),
        ("pmu_write", "resolution = \"5%\"", "resolution = 0", "ramp.resolution"),
        ("machine_write", "\"phases.duration\" =", "\"phases.durration\" =", "did you mean `phases.duration`?"),
        ("machine_write", "\"phases.duration\" =", "\"pauses\" =", "full.pauses: there is no such field"),
        ("machine_write", "\"phases.duration\" = \"15m\"", "\"phases.duration\" = \"15 ages\"", "no duration"),
        ("machine_write", "\"phases.duration\" = \"15m\"", "\"dataset.noisee\" = 1", "did you mean `dataset.noise`?"),
        ("machine_write", "\"phases.duration\" =", "phases.duration =", "in quotes"),
        ("machine_write", "\"phases.duration\" = \"15m\"", "\"backend.sqlit.a\" = 1", "did you mean sqlite?"),
        ("machine_write", "[full]", "[backend.sqlit]", "did you mean sqlite?"),
        ("weather_max", "\"dataset.typed\" = true", "\"phases.duraton\" = 1", "did you mean `phases.duration`?"),
        ("weather_max", "typed = { \"dataset.typed\" = true }", "typed = true", "table of fields"),
        ("machine_write", "rate = 1000", "rate = -5", "no rate"),
        ("machine_write", "rate = 1000", "rate = nan", "no rate"),
        ("machine_write", "rate = 1000", "rate = 1e308", "no rate"),
        ("machine_write", "queue = \"16KiB\"", "queue = \"1\"", "queue"),
        ("greenhouse_trends", "\"mean\", \"max\"", "\"mean\", \"median\"", "did you mean `mean`?"),
        ("greenhouse_trends", "width = \"1h\"", "widht = \"1h\"", "did you mean `width`?"),
        ("machine_write", "[phases]", "[phases", "TOML"),
    ] {
        let (text, line) = changed(profile, from, to);
        let said = check(text.as_bytes());
        assert_eq!(said.code, 2, "{to}: {}", said.err);
        assert!(said.err.contains(&format!("mine.toml:{line}:")), "{to} stands in line {line}: {}", said.err);
        assert!(said.err.contains(hint) || hint == "TOML", "{to} does not say {hint:?}: {}", said.err);
        assert!(said.err.contains(to), "{to} is not shown: {}", said.err);
    }
}

#[test]
fn what_is_no_profile_is_refused_in_one_breath() {
    let noise: Vec<u8> = (0_u32..10_000_000).map(|i| (i.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]).collect();
    let text_noise: Vec<u8> = noise.iter().take(900_000).map(|b| b' ' + b % 90).collect();
    let deep = "[".repeat(500_000);
    let nested = format!("a = {}", "[".repeat(100_000));
    let tables = format!("a{} = 1", ".a".repeat(100_000));
    for content in [
        b"".as_slice(),
        b"\n\n",
        b"name = \"x\"\nb = \"\xff\xfe\"\n",
        b"\x00\x01\x02",
        b"\x1b[2Jname = 1",
        &noise,
        &text_noise,
        deep.as_bytes(),
        nested.as_bytes(),
        tables.as_bytes(),
    ] {
        let said = check(content);
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.starts_with("error: mine.toml"), "{}", said.err);
        assert!(said.err.len() < 4_000, "{} bytes are no message", said.err.len());
        assert!(!said.err.contains('\u{1b}'), "an escape sequence reached the terminal");
    }
}

#[test]
fn a_folder_and_a_missing_file_are_no_profiles() {
    let folder = tempfile::tempdir().unwrap();
    for file in [".", "nothere.toml"] {
        let said = ended(&mut iotbench_in(folder.path(), &["check", file]));
        assert_eq!(said.code, 2, "{}", said.err);
    }
}

#[test]
fn every_built_in_profile_is_ok_or_says_what_is_missing() {
    let list = call(&["profiles"]).out;
    for name in list.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()) {
        let profile = call(&["profiles", name]).out;
        let mut said = check(profile.as_bytes());
        // Of SQLite's devices none is replaced: the error says what to write.
        if said.code == 2 && said.err.contains("--set dataset.tags.6.life=0,") {
            said = check(profile.replace("life = 60", "life = 0").as_bytes());
        }
        let fine = said.code == 0 && said.out.starts_with(&format!("ok: {name} on sqlite"));
        assert!(fine || (said.code == 2 && said.err.contains("cannot run yet")), "{name}: {}", said.err);
    }
}

#[test]
fn a_pipe_and_a_device_are_refused_at_once_wherever_a_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.toml");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let linked = folder.path().join("zero.toml");
    std::os::unix::fs::symlink("/dev/zero", &linked).unwrap();
    let custom = "name = \"c\"\nsummary = \"c\"\n[dataset]\nname = \"custom\"\nfile = \"pipe.toml\"\n\
                  [[groups]]\nname = \"g\"\nload = { model = \"closed\" }\noperations = [{ kind = \"write\" }]\n";
    fs::write(folder.path().join("custom.toml"), custom).unwrap();
    for file in ["./pipe.toml", "/dev/zero", "./zero.toml"] {
        for arguments in [
            &["run", "--profile", file, "--vus", "1"] as &[&str],
            &["check", file],
            &["suite", file],
            &["score", ".", "--file", file],
            &["report", ".", "--price", file],
            &["generate", "--dataset", "replay", "--set", &format!("file={file}"), "--for", "1s"],
        ] {
            let begun = Instant::now();
            let said = ended(&mut iotbench_in(folder.path(), arguments));
            assert_eq!(said.code, 2, "{arguments:?}: {}", said.err);
            assert!(said.err.contains("not a regular file"), "{arguments:?}: {}", said.err);
            assert!(begun.elapsed() < Duration::from_secs(10), "{arguments:?}");
        }
    }
    let said = ended(&mut iotbench_in(folder.path(), &["check", "custom.toml"]));
    assert!(
        said.code == 2 && said.err.contains("custom.toml:5:1") && said.err.contains("not a regular file"),
        "{}",
        said.err
    );
}
