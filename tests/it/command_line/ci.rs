//! The workflow in docs/ci.md is one, and what it calls exists.

use crate::command_line::program::call;
use serde_json::Value;

const CI: &str = include_str!("../../../docs/ci.md");

fn workflow() -> Value {
    let (_, rest) = CI.split_once("```yaml\n").unwrap();
    let (text, _) = rest.split_once("```").unwrap();
    serde_saphyr::from_str(text).unwrap()
}

#[test]
fn the_workflow_is_yaml_with_steps_that_run_something() {
    let workflow = workflow();
    let job = &workflow["jobs"]["compare"];
    assert!(job["runs-on"].as_str().is_some() && workflow["permissions"]["pull-requests"].as_str() == Some("write"));
    let steps = job["steps"].as_array().unwrap();
    assert!(steps.len() >= 5, "{steps:?}");
    for step in steps {
        assert!(step["uses"].as_str().is_some() != step["run"].as_str().is_some(), "{step:?}");
    }
}

#[test]
fn every_option_that_the_workflow_gives_to_iotbench_exists() {
    let workflow = workflow();
    let scripts =
        workflow["jobs"]["compare"]["steps"].as_array().unwrap().iter().filter_map(|step| step["run"].as_str());
    let scripts: String = scripts.map(|script| script.replace("\\\n", " ") + "\n").collect();
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
