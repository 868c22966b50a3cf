//! What was killed goes on after its last whole trial, on another private server.

use crate::server::place::{Place, is_here, output, wait_for};
use crate::small_search::SMALL_SEARCH;
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
};

/// Each trial begins with an empty database.
const SEARCH: [&str; 7] = ["capacity", "-p", "pmu_write", "-b", "postgres", "--state", "fresh"];

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = path.read_dir().map(|entries| entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>());
    entries.unwrap_or_default().into_iter().filter(|path| path.is_dir()).collect()
}

#[test]
fn sittings_of_a_search_with_a_fresh_state_go_on_with_another_server() {
    if !is_here("postgres") {
        return;
    }
    let place = Place::new();
    let out = place.results();
    let options = ["--sessions", "2", "--output-format", "json", "--out", out.to_str().unwrap()];
    let mut child = place.iotbench(&[&SEARCH[..], &SMALL_SEARCH, &options].concat()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("4 users")), "no second trial was told");
    let sessions = folders(&out).remove(0);
    wait_for("two trials to be kept", || {
        let trials = folders(&sessions).first().map(|run| fs::read_to_string(run.join("trials.jsonl")));
        trials.is_some_and(|text| text.is_ok_and(|text| text.matches('\n').count() >= 3))
    });
    child.kill().unwrap();
    child.wait().unwrap();
    place.assert_nothing_is_left();
    let resume = ["capacity", "--resume", sessions.to_str().unwrap(), "--output-format", "json"];
    let ended = output(place.iotbench(&resume).spawn().unwrap());
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    let record: Value = serde_json::from_slice(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {said}"));
    for (place, entry) in record["entries"].as_array().unwrap().iter().enumerate() {
        let folder = sessions.join(entry["end"]["folder"].as_str().unwrap_or_else(|| panic!("{record:#}: {said}")));
        let run: Value = serde_json::from_str(&fs::read_to_string(folder.join("run.json")).unwrap()).unwrap();
        let steps = run["capacity"]["steps"].as_array().unwrap();
        let loads: Vec<_> = steps.iter().map(|step| step["offered_load"].as_u64().unwrap()).collect();
        assert_eq!((loads, &run["capacity"]["state"]), (vec![2, 4, 4], &"fresh".into()), "{said}");
        assert_eq!(run["points"]["stored"], run["points"]["acked"], "each trial's, none of the run before: {said}");
        let of_another = steps.iter().filter(|step| step["from_s"].is_null()).count();
        assert_eq!(of_another > 0, place == 0, "{steps:#?}");
    }
    place.assert_nothing_is_left();
}
