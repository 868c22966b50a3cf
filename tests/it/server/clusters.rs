//! Servers of several nodes, which take minutes and gigabytes: in the long set alone.

use crate::server::{
    on_a_server::{Ended, arguments, sound},
    place::{Place, is_here},
};
use iotbench_backends::BACKENDS;
use iotbench_core::{Recipe, Settings};
use iotbench_launcher::Programs;
use serde_json::{Value, json};

const STORE: &str = "backend.kairosdb.store=cassandra";

fn recipe() -> &'static Recipe {
    let kairosdb = BACKENDS.iter().find(|b| b.info().name == "kairosdb").unwrap();
    let settings = Settings(serde_json::from_value(json!({"store": "cassandra"})).unwrap());
    kairosdb.recipe_for(&settings).unwrap()
}

/// A short run on so many nodes.
fn run(place: &Place, nodes: u32) -> Value {
    let (out, nodes) = (place.results(), format!("backend.kairosdb.server.nodes={nodes}"));
    let load = ["run", "-p", "pmu_write", "--warmup", "0", "--vus", "4", "-d", "10s", "--output-format", "json"];
    let server = ["-b", "kairosdb", "--set", STORE, "--set", &nodes, "--server-memory", "384MiB"];
    sound(place, &[&load[..], &server, &["--out", out.to_str().unwrap()]].concat())
}

#[test]
#[ignore = "servers of two and of six Java processes: scripts/long cassandra"]
fn what_is_acknowledged_is_stored_on_one_node_and_on_three() {
    Programs::find(recipe()).unwrap();
    for nodes in [1, 3] {
        let place = Place::new();
        let document = run(&place, nodes);
        assert_eq!(document["target"]["acknowledgement"], "queued");
        let points = &document["points"];
        assert!(points["acked"].as_u64() > Some(0), "{points:#}");
        assert_eq!(points["stored"], points["acked"], "{points:#}");
        for role in ["cassandra", "kairosdb"] {
            let of_role = document["resources"].as_array().unwrap().iter().filter(|r| r["role"] == role);
            let numbers: Vec<_> = of_role.map(|r| r["node"].as_u64().unwrap()).collect();
            assert_eq!(numbers, (0..u64::from(nodes)).collect::<Vec<_>>(), "{role}");
        }
        place.assert_nothing_is_left();
    }
}

/// A node is killed after 15 s and started again after 35: the others go on.
fn without_a_node(place: &Place, backend: &str, role: &str, node: u32, set: &[&str]) -> Ended {
    let (results, scenario) = (place.results(), format!("15s:kill:{role}:{node},35s:restart:{role}:{node}"));
    let load = ["-d", "60s", "--vus", "4", "--scenario", &scenario, "--out", results.to_str().unwrap()];
    Ended::of(place, &arguments(backend, &[&load[..], set].concat()))
}

fn assert_nothing_was_lost(ended: &Ended) {
    let scenario = &ended.document["scenario"];
    let case = format!("{} {} {scenario:#}", ended.reasons(), ended.err);
    ended.assert_sound(&case);
    let marks = scenario["marks"].as_array().unwrap();
    assert!(marks.len() == 2 && marks.iter().all(|mark| mark["error"].is_null()), "{case}");
    assert_eq!(ended.count("/scenario/missing_points"), 0, "{case}");
    for stretch in ["before", "after"] {
        assert!(scenario[stretch]["operations_per_s"].as_f64() > Some(0.0), "{case}");
    }
}

#[test]
#[ignore = "a replica set of three: scripts/long mongodb"]
fn a_replica_set_that_loses_its_primary_chooses_another() {
    assert!(is_here("mongodb"), "scripts/servers installs it");
    let place = Place::new();
    let ended = without_a_node(&place, "mongodb", "server", 0, &["--set", "backend.mongodb.server.nodes=3"]);
    assert_nothing_was_lost(&ended);
    assert!(ended.count("/scenario/outage_s") >= 1, "the set is without a primary until it has chosen one");
    assert!(ended.document["scenario"]["recovery_s"].is_number());
    place.assert_nothing_is_left();
}

#[test]
#[ignore = "six Java processes: scripts/long cassandra"]
fn three_cassandra_nodes_go_on_without_one() {
    Programs::find(recipe()).unwrap();
    let place = Place::new();
    let set = ["--set", STORE, "--set", "backend.kairosdb.server.nodes=3", "--server-memory", "384MiB"];
    let ended = without_a_node(&place, "kairosdb", "cassandra", 2, &set);
    assert_nothing_was_lost(&ended);
    place.assert_nothing_is_left();
}
