//! `iotbench report`: results folders in; a page, Markdown, CSV, Parquet or JSON out.

use crate::end_to_end::{
    browser::Browser,
    program::{Run, in_full, said},
};
use crate::soundness::assert_sound;
use bytes::Bytes;
use parquet::{
    file::reader::{FileReader, SerializedFileReader},
    record::Field,
};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::LazyLock,
};

/// Two runs of one profile with enough operations for a 99th percentile.
static RUNS: LazyLock<[Run; 2]> = LazyLock::new(|| {
    let load = ["-p", "machine_write", "--arrival", "constant", "-r", "1000", "-d", "3s", "--warmup", "0s"];
    ["blackhole", "sqlite:wide"].map(|backend| in_full(&[&load[..], &["-b", backend]].concat()))
});

fn report(arguments: &[&str], runs: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotbench"));
    command.arg("report").args(runs).args(arguments);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("IOTBENCH_")) {
        command.env_remove(name);
    }
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", said(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn folders() -> [&'static Path; 2] {
    RUNS.each_ref().map(|run| run.folder.as_path())
}

/// A page of these runs in this folder.
fn page(folder: &Path, name: &str, runs: &[&Path]) -> PathBuf {
    let path = folder.join(name);
    let output = report(&["--across-durability", "-o", path.to_str().unwrap()], runs);
    assert!(output.status.success() && said(&output).contains(name), "{}", said(&output));
    path
}

/// What a page would run, if it could: in an element, an attribute, and a block of data.
const HOSTILE: [&str; 3] = [
    "</script><script>parent.hacked = true</script>",
    "\"'><img src=x onerror='parent.hacked = true'>",
    "<!--<script>]]><svg onload=parent.hacked=true>",
];

/// A copy of a run in which every text that decides nothing is hostile.
fn hostile(folder: &Path) -> PathBuf {
    let run = &RUNS[1];
    let copy = folder.join("hostile");
    fs::create_dir(&copy).unwrap();
    for file in ["series.csv", "latency.hlog"] {
        fs::copy(run.folder.join(file), copy.join(file)).unwrap();
    }
    let mut document = run.document.clone();
    let all = json!(HOSTILE);
    for key in ["run_id", "profile", "variant", "started", "phase", "fingerprint"] {
        document[key] = json!(HOSTILE.concat());
    }
    document["remarks"] = all.clone();
    document["command"] = all.clone();
    document["verdict"]["status"] = json!("invalid");
    document["verdict"]["reasons"] = all.clone();
    for key in ["backend", "layout", "driver", "method", "product", "version"] {
        document["target"][key] = json!(HOSTILE.concat());
    }
    document["target"]["endpoints"] = all;
    document["target"]["settings"] = json!({ HOSTILE[0]: HOSTILE[1] });
    document["errors"] = json!([{ "cause": HOSTILE[0], "count": 1, "samples": HOSTILE }]);
    document["resources"][0]["role"] = json!(HOSTILE[0]);
    document["environment"]["cpu"] = json!(HOSTILE[1]);
    fs::write(copy.join("run.json"), document.to_string()).unwrap();
    // The names of roles are those of columns too, and marks are labels in a plot.
    let series = fs::read_to_string(copy.join("series.csv")).unwrap();
    fs::write(copy.join("series.csv"), series.replace("client+database", "<script>parent.hacked=true</script>"))
        .unwrap();
    copy
}

#[test]
fn a_run_leaves_its_page_and_the_terminal_names_it() {
    let out = tempfile::tempdir().unwrap();
    let arguments = ["run", "-p", "machine_write", "-b", "blackhole", "-d", "1s", "--warmup", "0s"];
    let output = crate::end_to_end::program::iotbench(out.path(), &arguments).output().unwrap();
    let folder = crate::end_to_end::program::only_folder(out.path());
    let page = folder.join("report.html");
    let run: Value = serde_json::from_slice(&fs::read(folder.join("run.json")).unwrap()).unwrap();
    assert_sound(&run, output.status.code().unwrap(), said(&output));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed.lines().last(), Some(format!("report: {}", page.display()).as_str()));
    let manifest = fs::read_to_string(folder.join("manifest.json")).unwrap();
    assert!(manifest.contains("\"report.html\""), "{manifest}");
    let html = fs::read_to_string(page).unwrap();
    assert!(html.contains("machine_write") && html.contains("--warmup 0s"), "the command to repeat it");
    assert!(!html.contains("src=") && !html.contains("@import"), "nothing is loaded");
}

#[test]
fn a_page_is_drawn_in_a_browser_in_both_themes_on_a_desk_a_phone_and_paper() {
    let Some(browser) = Browser::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let one = page(folder.path(), "one.html", &folders()[1..]);
    let several = page(folder.path(), "several.html", &folders());
    let hostile = page(folder.path(), "hostile.html", &[&hostile(folder.path()), folders()[0]]);
    let looks =
        browser.look(folder.path(), &[(&one, 1200, "light"), (&several, 375, "dark"), (&hostile, 375, "light")]);
    for look in &looks {
        let figure = |key: &str| look[key].as_u64().unwrap_or_else(|| panic!("no {key} in {look:#}"));
        assert!(figure("plots") >= 5, "{look:#}");
        assert_eq!(look["empty"], json!([]), "plots without a pixel of their line: {look:#}");
        assert_eq!(look["empty_after_toggle"], json!([]), "{look:#}");
        assert_eq!(figure("tables"), figure("plots"), "a table behind every plot: {look:#}");
        assert_eq!(look["overflow_px"], json!(0), "{look:#}");
        assert_ne!(look["background"], look["background_after_toggle"], "{look:#}");
        assert!(figure("reachable") > 0, "legends by keyboard: {look:#}");
        assert_eq!(look["hacked"], json!(false), "{look:#}");
    }
    assert_eq!(looks[0]["background"], "rgb(255, 255, 255)");
    assert_ne!(looks[1]["background"], "rgb(255, 255, 255)", "the phone is dark");
    let pages = browser.print(folder.path(), &several);
    assert!(pages >= 3, "{pages} pages of paper");
}

#[test]
fn all_formats_tell_the_same_figures() {
    let runs = folders();
    let document: Value = serde_json::from_str(&text(&report(&["--format", "json"], &runs))).unwrap();
    assert_eq!(document["schema"], "iotbench-report/1.0");
    assert_eq!(document["runs"], json!(RUNS.each_ref().map(|run| &run.document)));
    assert_eq!(document["costs"][0]["price"], Value::Null);
    assert_eq!(document["costs"][0]["unknown"]["price"], "no price was given");
    let tidy = text(&report(&["--format", "csv"], &runs));
    for run in RUNS.iter() {
        let response = run.figure("latency.by_operation.response");
        let id = run.figure("run_id").as_str().unwrap();
        let row = tidy.lines().find(|line| line.starts_with(id) && line.contains(",response_p99_us,")).unwrap();
        match response["p99"].as_f64() {
            Some(p99) => assert!(row.contains(&format!(",response_p99_us,{p99},")), "{row}"),
            None => {
                let [low, high] = ["low", "high"].map(|end| response["ranges"]["p99"][end].as_f64().unwrap());
                let range = format!(",response_p99_us,,,,from {low} to {high} by the client's own delay");
                assert!(row.ends_with(&range), "{row}");
            }
        }
        let energy = tidy.lines().find(|line| line.starts_with(id) && line.contains("energy")).unwrap();
        let reason = ",cost_energy_j_per_million,,,,the machine does not tell";
        let is_known = run.figure("resources").as_array().unwrap().iter().any(|r| !r["energy_j"].is_null());
        assert_eq!(energy.ends_with(reason), !is_known, "{energy}");
    }
    assert_eq!(rows_of_parquet(&report(&["--format", "parquet"], &runs)), tidy);
    let markdown = text(&report(&["--format", "md", "--across-durability"], &runs));
    assert!(markdown.starts_with("**") && markdown.contains("| rank | contender |"), "{markdown}");
    assert!(markdown.len() < 65_536, "what a comment may have");
}

/// A Parquet file as the CSV of its rows.
fn rows_of_parquet(output: &Output) -> String {
    assert!(output.status.success(), "{}", said(output));
    let file = SerializedFileReader::new(Bytes::copy_from_slice(&output.stdout)).unwrap();
    let columns: Vec<_> = file.metadata().file_metadata().schema().get_fields().to_vec();
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(columns.iter().map(|column| column.name())).unwrap();
    for row in file.get_row_iter(None).unwrap() {
        let cell = |(_, cell): (&String, &Field)| match cell {
            Field::Str(text) => text.clone(),
            Field::Double(number) => number.to_string(),
            Field::Null => String::new(),
            other => panic!("{other}"),
        };
        csv.write_record(row.unwrap().get_column_iter().map(cell)).unwrap();
    }
    String::from_utf8(csv.into_inner().unwrap()).unwrap()
}

#[test]
fn different_promises_are_ranked_together_only_on_demand() {
    let ranked = |arguments: &[&str]| {
        text(&report(&[&["-o", "-"], arguments].concat(), &folders())).matches("<h2>Ranking").count()
    };
    assert_eq!((ranked(&[]), ranked(&["--across-durability"])), (2, 1));
}

#[test]
fn a_price_gives_money_and_what_it_is_worked_out_from() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("prices.toml");
    let prices = "currency = \"EUR\"\ndate = \"2026-11-22\"\ntargets = [\"sqlite:wide\"]\n\
                  [[items]]\nwhat = \"computer\"\ncount = 2\nonce = 1000\na_year = 100\n";
    fs::write(&file, prices).unwrap();
    let price = file.to_str().unwrap();
    let document: Value =
        serde_json::from_str(&text(&report(&["--format", "json", "--price", price], &folders()))).unwrap();
    assert_eq!(document["costs"][0]["price"], Value::Null, "no price was given for it");
    let cost = &document["costs"][1]["price"];
    let rate = RUNS[1].figure("throughput.points_per_s").as_f64().unwrap();
    // 2 × (1000 + 3 × 100).
    assert_eq!(cost["total"], json!(2_600.0));
    assert_eq!(cost["per_thousand_datapoints_per_s"], json!(1_000.0 * 2_600.0 / rate));
    assert_eq!((&cost["system"]["currency"], &cost["system"]["date"]), (&json!("EUR"), &json!("2026-11-22")));
    fs::write(&file, prices.replace("once", "onse")).unwrap();
    let output = report(&["--price", price], &folders());
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("prices.toml:7:") && said(&output).contains("onse"), "{}", said(&output));
}

#[test]
fn what_is_no_run_is_a_wrong_argument_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let output = report(&[], &[&folder.path().join("nowhere")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("nowhere"), "{}", said(&output));
    fs::write(folder.path().join("run.json"), "{\"schema\": \"other\"}").unwrap();
    let output = report(&[], &[folder.path()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("run.json"), "{}", said(&output));
}

#[test]
fn a_run_whose_files_are_damaged_is_reported_with_what_is_left() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("run.json"), RUNS[0].document.to_string()).unwrap();
    fs::write(folder.path().join("series.csv"), "second,seconds,ok\n0,1,<b>\n").unwrap();
    let html = text(&report(&["-o", "-"], &[folder.path()]));
    assert!(html.contains("series.csv, line 2: ok is no number: &lt;b&gt;"), "the table that is damaged");
    assert!(html.contains("latency.hlog: No such file"), "the log that is missing");
}
