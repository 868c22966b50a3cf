//! The workflows in docs/ci.md are some, and what they call exists.

use crate::command_line::program::call;
use serde_json::{Map, Value};
use std::{collections::BTreeSet, fs, path::Path};

const CI: &str = include_str!("../../../docs/ci.md");
const ACTION: &str = include_str!("../../../action.yml");

fn workflows() -> Vec<Value> {
    let blocks = CI.split("```yaml\n").skip(1).map(|rest| rest.split_once("```").unwrap().0);
    blocks.map(|text| serde_saphyr::from_str(text).unwrap()).collect()
}

fn action() -> Value {
    serde_saphyr::from_str(ACTION).unwrap()
}

/// The steps of each job of each workflow.
fn steps() -> Vec<Value> {
    let jobs = workflows().into_iter().flat_map(|workflow| workflow["jobs"].as_object().unwrap().clone());
    jobs.flat_map(|(_, job)| job["steps"].as_array().unwrap().clone()).collect()
}

fn keys(of: &Value) -> BTreeSet<&str> {
    of.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_workflows_are_yaml_with_steps_that_run_something() {
    assert_eq!(workflows().len(), 2);
    let steps = steps();
    assert!(steps.len() >= 8, "{steps:?}");
    for step in steps {
        assert!(step["uses"].as_str().is_some() != step["run"].as_str().is_some(), "{step:?}");
    }
}

#[test]
fn every_option_that_a_workflow_gives_to_iotbench_exists() {
    let scripts: String = steps()
        .iter()
        .filter_map(|step| step["run"].as_str())
        .map(|script| script.replace("\\\n", " ") + "\n")
        .collect();
    let calls = scripts.lines().filter_map(|line| line.trim().strip_prefix("iotbench "));
    let mut seen = Vec::new();
    for words in calls.map(|call| call.split_whitespace().collect::<Vec<_>>()) {
        let help = call(&[words[0], "--help"]);
        assert_eq!(help.code, 0, "{words:?}");
        for option in words.iter().filter(|word| word.starts_with("--") && word.len() > 2) {
            assert!(help.out.contains(option), "{option} of {words:?}");
        }
        seen.push(words[0]);
    }
    assert_eq!(seen, ["run", "compare"]);
}

#[test]
fn the_action_is_called_and_documented_by_the_names_that_it_has() {
    let action = action();
    let (inputs, outputs) = (keys(&action["inputs"]), keys(&action["outputs"]));
    let steps = steps();
    let calls = steps.iter().filter(|step| step["uses"].as_str().is_some_and(|uses| uses.contains("/iotbench@")));
    let mut called = 0;
    for call in calls {
        called += 1;
        assert!(keys(&call["with"]).is_subset(&inputs), "{call:#}");
        let arguments = call["with"]["arguments"].as_str().unwrap().lines();
        let help = crate::command_line::program::call(&["run", "--help"]).out;
        for option in arguments.filter(|line| line.starts_with("--")) {
            assert!(help.contains(option), "{option}");
        }
    }
    assert_eq!(called, 1);
    // The first column of the two tables.
    let rows = CI.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" |"));
    let documented: BTreeSet<&str> = rows.flat_map(|(names, _)| names.trim_end_matches('`').split("`, `")).collect();
    assert_eq!(documented, inputs.union(&outputs).copied().collect());
}

#[test]
fn a_step_of_the_action_is_a_script_that_reads_what_it_is_given() {
    let steps = action()["runs"]["steps"].as_array().unwrap().clone();
    assert_eq!(steps.len(), 3);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for step in steps {
        let run = step["run"].as_str().unwrap();
        let script = run.strip_prefix("\"$GITHUB_ACTION_PATH/").and_then(|run| run.strip_suffix('"')).unwrap();
        let text = fs::read_to_string(root.join(script)).unwrap();
        for name in step["env"].as_object().unwrap_or(&Map::new()).keys() {
            let uses = [format!("${name}"), format!("${{{name}:-")].iter().any(|word| text.contains(word));
            assert!(uses, "{script} does not read {name}");
        }
    }
}
