//! The file of compose.

use super::{assert_is_a_command, folder, manifests::Manifests};
use serde_json::{Map, Value, json};
use std::fs;

/// What would give a container more than a network of its own and what it is given here.
const OPENS: [&str; 12] = [
    "cap_add",
    "cgroup",
    "cgroup_parent",
    "device_cgroup_rules",
    "devices",
    "group_add",
    "ipc",
    "network_mode",
    "pid",
    "ports",
    "privileged",
    "userns_mode",
];

fn file() -> Value {
    serde_saphyr::from_str(&fs::read_to_string(folder().join("compose.yaml")).unwrap()).unwrap()
}

fn services(file: &Value) -> &Map<String, Value> {
    let services = file["services"].as_object().unwrap();
    assert_eq!(services.keys().map(String::as_str).collect::<Vec<_>>(), ["agent", "nats", "run"]);
    services
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

#[test]
fn no_service_has_rights_or_can_take_more_than_its_part() {
    let file = file();
    for (name, service) in services(&file) {
        assert_eq!(service["user"], "10001:10001", "{name}");
        assert_eq!(service["read_only"], true, "{name}");
        assert_eq!(service["cap_drop"], json!(["ALL"]), "{name}");
        assert_eq!(service["security_opt"], json!(["no-new-privileges:true"]), "{name}");
        let opened: Vec<_> = OPENS.iter().filter(|key| service.get(key).is_some()).collect();
        assert!(opened.is_empty(), "{name}: {opened:?}");
        let limits = service["deploy"]["resources"]["limits"].as_object().unwrap();
        assert!(["cpus", "memory", "pids"].iter().all(|of| limits.contains_key(*of)), "{name}: {limits:?}");
    }
    assert_eq!(file["services"]["nats"]["networks"], json!(["broker"]));
    assert_eq!(file["networks"]["broker"]["internal"], true, "who has no login does not even reach it");
}

#[test]
fn what_it_starts_are_commands_of_this_version_and_as_many_agents_as_a_run_wants() {
    let file = file();
    for name in ["agent", "run"] {
        let service = &file["services"][name];
        assert_eq!(service["image"], concat!("iotbench:", env!("CARGO_PKG_VERSION")));
        assert_is_a_command(&texts(&service["command"]));
    }
    let run = texts(&file["services"]["run"]["command"]);
    let wanted = run[run.iter().position(|word| *word == "--agents").unwrap() + 1];
    assert_eq!(file["services"]["agent"]["deploy"]["replicas"].to_string(), wanted);
}

#[test]
fn its_broker_is_that_of_the_manifests() {
    let (file, manifests) = (file(), Manifests::read());
    assert_eq!(file["configs"]["nats"]["content"], manifests.broker_configuration());
    let container = &manifests.deployments[0].spec.template.spec.as_ref().unwrap().containers[0];
    assert_eq!(file["services"]["nats"]["image"].as_str(), container.image.as_deref());
    let words = container.command.iter().chain(&container.args).flatten();
    assert_eq!(texts(&file["services"]["nats"]["command"]), words.collect::<Vec<_>>());
}

/// The broker has its certificate and half of the login, agents the other half, and the run alone the key that has agents act.
#[test]
fn secrets_are_files_that_only_those_have_who_need_them() {
    let file = file();
    let names = |service: &str| {
        let list = file["services"][service]["secrets"].as_array().unwrap().iter();
        let names: Vec<_> = list.map(|one| one.as_str().or(one["source"].as_str()).unwrap()).collect();
        names
    };
    assert_eq!(names("nats"), ["broker", "tls-certificate", "tls-key"]);
    assert_eq!(names("agent"), ["ca", "login"]);
    assert_eq!(names("run"), ["ca", "login", "run-key"]);
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    for (name, secret) in file["secrets"].as_object().unwrap() {
        let from = secret["file"].as_str().unwrap();
        assert!(readme.contains(from), "how {name} is made: {from}");
    }
    for (name, service) in services(&file) {
        let variables = service.get("environment").and_then(Value::as_object).into_iter().flatten();
        let given: Vec<_> = variables.filter(|(_, value)| !value.is_null()).collect();
        assert!(given.is_empty(), "{name}: what a variable holds comes from the caller: {given:?}");
        for word in texts(&service["command"]).iter().filter_map(|word| word.strip_prefix("/run/secrets/")) {
            assert!(names(name).contains(&word), "{name}: {word}");
        }
    }
}
