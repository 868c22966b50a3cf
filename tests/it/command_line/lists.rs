//! Help, lists, completions and manual pages.

use crate::command_line::program::{Said, call, iotbench};

const COMMANDS: [&str; 17] = [
    "run",
    "suite",
    "profiles",
    "backends",
    "datasets",
    "doctor",
    "check",
    "generate",
    "learn",
    "show",
    "compare",
    "history",
    "score",
    "sample",
    "server",
    "completions",
    "man",
];

/// The output of a call that must succeed.
fn out(arguments: &[&str]) -> String {
    let Said { code, out, err } = call(arguments);
    assert_eq!((code, err.as_str()), (0, ""), "{arguments:?}");
    out
}

#[test]
fn every_help_has_an_example_that_names_its_command() {
    for command in COMMANDS {
        let help = out(&[command, "--help"]);
        let (_, examples) = help.split_once("Examples:").unwrap_or_else(|| panic!("{command} has none: {help}"));
        assert!(examples.contains(&format!("iotbench {command}")), "{help}");
    }
}

#[test]
fn the_exit_codes_are_in_the_help_of_the_program_and_of_run() {
    for help in [out(&["--help"]), out(&["run", "--help"])] {
        for code in ["10  ", "11  ", "12  ", "20  ", "30  ", "31  ", "129, 130, 143"] {
            assert!(help.contains(code), "{code:?} is missing: {help}");
        }
    }
}

#[test]
fn every_profile_is_listed_with_a_summary_and_printed_as_written() {
    let list = out(&["profiles"]);
    let rows: Vec<_> = list.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/configs/profiles")).unwrap();
    assert_eq!(rows.len(), files.count(), "{list}");
    for row in rows {
        let (name, summary) = row.split_once(' ').unwrap();
        assert!(summary.trim().len() > 20, "{row}");
        let text = out(&["profiles", name]);
        let profile: toml::Table = toml::from_str(&text).unwrap();
        assert_eq!(profile["name"].as_str(), Some(name));
        assert!(profile.contains_key("full") && profile.contains_key("study"), "{name}");
    }
}

#[test]
fn backends_and_datasets_show_their_settings() {
    let list = out(&["backends"]);
    for name in ["sqlite", "mariadb", "memory", "blackhole"] {
        assert!(list.contains(name), "{list}");
    }
    assert!(list.starts_with("backend ") && list.contains("\nsurvives: "), "{list}");
    for (backend, promise) in
        [("postgres ", "  OS crash  "), ("kairosdb ", "  nothing  "), ("victoriametrics ", "but for 5 s")]
    {
        let line = list.lines().find(|line| line.starts_with(backend)).unwrap();
        assert!(line.contains(promise), "{line}");
    }
    assert!(out(&["backends", "sqlite"]).contains("synchronous = FULL"));
    let databus = list.lines().find(|line| line.starts_with("databus ")).unwrap();
    for said in ["only by --url", "the original does not run any more", "never measured"] {
        assert!(databus.contains(said), "{databus}");
    }
    assert!(out(&["backends", "databus"]).contains("No private server: only by --url"));
    assert!(out(&["datasets"]).contains("cycles = 3"));
    assert!(out(&["datasets", "text"]).contains("bytes = 1024"));
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = out(&["completions", shell]);
        assert!(COMMANDS.iter().all(|command| script.contains(command)), "{shell}");
    }
    let page = out(&["man"]);
    assert!(page.contains(".TH iotbench") && COMMANDS.iter().all(|command| page.contains(command)));
    for command in COMMANDS {
        assert!(out(&["man", command]).contains(&format!(".TH iotbench-{command}")), "{command}");
    }
}

#[test]
fn a_list_that_nobody_reads_is_no_failure() {
    for arguments in [["datasets"].as_slice(), &["profiles"], &["completions", "zsh"], &["man", "run"], &["--help"]] {
        let mut child = iotbench(arguments).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn the_shapes_of_own_signals_are_listed_with_their_keys_types_and_defaults() {
    let list = out(&["datasets", "custom"]).split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "shape = \"sine\" gives numbers mean number, default 0: the middle",
        "period time, default 1m: time of one wave",
        "shape = \"state\" gives texts states list of texts, default []: names of the states",
        "min number, none",
        "decimals whole number, none",
    ] {
        assert!(list.contains(part), "{part:?} is missing: {list}");
    }
    assert!(!out(&["datasets", "pmu"]).contains("shape"));
}
