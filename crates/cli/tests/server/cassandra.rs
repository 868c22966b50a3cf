//! KairosDB on Cassandra, whose nodes take minutes to start: in the long set alone.

use crate::place::Place;
use iotbench_backends::BACKENDS;
use iotbench_core::{Recipe, Settings};
use iotbench_launcher::Programs;
use serde_json::{Value, json};

const STORE: &str = "backend.kairosdb.store=cassandra";

fn recipe() -> &'static Recipe {
    let kairosdb = BACKENDS.iter().find(|b| b.name() == "kairosdb").unwrap();
    let settings = Settings(serde_json::from_value(json!({"store": "cassandra"})).unwrap());
    kairosdb.recipe_for(&settings).unwrap()
}

/// A short run on so many nodes.
fn run(place: &Place, nodes: u32) -> Value {
    let (out, nodes) = (place.results(), format!("backend.kairosdb.server.nodes={nodes}"));
    let load = ["run", "-p", "pmu_write", "--warmup", "0", "--vus", "4", "-d", "10s", "--output-format", "json"];
    let server = ["-b", "kairosdb", "--set", STORE, "--set", &nodes, "--server-memory", "384MiB"];
    serde_json::from_str(&place.out(&[&load[..], &server, &["--out", out.to_str().unwrap()]].concat())).unwrap()
}

#[test]
#[ignore = "servers of two and of six Java processes: scripts/long cassandra"]
fn what_is_acknowledged_is_stored_on_one_node_and_on_three() {
    Programs::find(recipe()).unwrap();
    for nodes in [1, 3] {
        let place = Place::new();
        let document = run(&place, nodes);
        assert_eq!(document["verdict"]["status"], "valid", "{:#}", document["verdict"]);
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
