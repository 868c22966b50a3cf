//! A private cluster of shards of MongoDB: as a whole where a router `mongos` is, which no package here brings; its config
//! server and its shards by the real `mongod`.

use crate::server::place::{Place, is_here};
use crate::soundness::assert_sound;
use iotbench_backends::BACKENDS;
use iotbench_core::{Backend, Node, Recipe, Settings, Target};
use iotbench_launcher::{Launch, PrivateServer, Programs, start};
use mongodb::{
    Client,
    bson::{Document, doc},
};
use serde_json::{Value, json};

const SHARDS: &str = "backend.mongodb.shards=2";

fn mongodb() -> &'static dyn Backend {
    *BACKENDS.iter().find(|b| b.info().name == "mongodb").unwrap()
}

fn recipe() -> &'static Recipe {
    mongodb().recipe_for(&Settings(serde_json::from_value(json!({"shards": 2})).unwrap())).unwrap()
}

/// The cluster without its router, which is its last role and needs the last program.
fn without_router() -> &'static Recipe {
    let &Recipe { programs, jars, version, user, tuning, nodes, roles, join } = recipe();
    let (programs, roles) = (&programs[..1], &roles[..2]);
    Box::leak(Box::new(Recipe { programs, jars, version, user, tuning, nodes, roles, join }))
}

async fn ask(node: &Node, command: Document) -> Document {
    let url = format!("mongodb://{}/?directConnection=true", node.address.unwrap());
    let client = Client::with_uri_str(url).await.unwrap();
    client.database("admin").run_command(command).await.unwrap()
}

#[tokio::test]
async fn config_server_and_shards_form_their_sets_and_fit_together() {
    if !is_here("mongodb") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let launch = Launch::new("mongodb", without_router(), folder.path().join("server.log")).memory_bytes(256 << 20);
    let server: PrivateServer =
        start(&launch.supervisor(env!("CARGO_BIN_EXE_iotbench").into()), &|| false).unwrap_or_else(|e| panic!("{e}"));
    let nodes = server.nodes();
    let joined = mongodb().join(&Target { nodes: nodes.clone(), ..Target::default() }).await;
    assert!(joined.unwrap_err().message.contains("give the server"), "all is there but the router");
    let [config, shards @ ..] = nodes.as_slice() else { panic!("{nodes:?}") };
    for (node, set) in nodes.iter().zip(["config", "shard1", "shard2"]) {
        let hello = ask(node, doc! { "hello": 1 }).await;
        assert_eq!(hello.get_str("setName").ok(), Some(set));
        assert_eq!(hello.get_bool("isWritablePrimary").ok(), Some(true), "{hello}");
        assert_eq!(hello.contains_key("configsvr"), set == "config", "{hello}");
    }
    // What a router would ask of the config server.
    for node in shards {
        let name = format!("shard{}", node.node);
        let set = format!("{name}/{}", node.address.unwrap());
        let majority = doc! { "w": "majority" };
        let added = ask(config, doc! { "_configsvrAddShard": set, "name": &name, "writeConcern": majority }).await;
        assert_eq!(added.get_str("shardAdded").ok(), Some(name.as_str()), "{added}");
    }
    // On a folder that was kept all is formed already.
    assert!(mongodb().join(&Target { nodes, ..Target::default() }).await.is_err());
    server.stop().unwrap();
}

#[test]
fn a_cluster_of_shards_is_started_loaded_and_removed() {
    let place = Place::new();
    let out = place.results();
    let load = ["run", "-p", "pmu_write", "--warmup", "0", "--vus", "4", "-d", "3s", "--output-format", "json"];
    let server = ["-b", "mongodb:document", "--set", SHARDS, "--server-memory", "256MiB"];
    let arguments = [&load[..], &server, &["--out", out.to_str().unwrap()]].concat();
    if let Err(missing) = Programs::find(recipe()) {
        eprintln!("skipped: {} not found", missing.name);
        let (code, said, err) = place.call(&arguments);
        assert_eq!((code, said.as_str()), (2, ""), "{err}");
        for words in ["not found", "IOTBENCH_MONGO", "--url"] {
            assert!(err.contains(words), "{words} is missing: {err}");
        }
        place.assert_nothing_is_left();
        return;
    }
    let mut run = place.iotbench(&arguments);
    if let Some(mongos) = std::env::var_os("IOTBENCH_MONGOS_BIN") {
        run.env("IOTBENCH_MONGOS_BIN", mongos);
    }
    let said = run.output().unwrap();
    let err = String::from_utf8_lossy(&said.stderr);
    let document: Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|e| panic!("{e}: {err}"));
    assert_sound(&document, said.status.code().unwrap(), err);
    assert_eq!(document["target"]["settings"]["topology"], "2 shards");
    assert_eq!(document["points"]["stored"], document["points"]["acked"]);
    for (role, nodes) in [("config", json!([0])), ("shard", json!([1, 2])), ("router", json!([0]))] {
        let of_role = document["resources"].as_array().unwrap().iter().filter(|r| r["role"] == role);
        assert_eq!(json!(of_role.map(|r| r["node"].clone()).collect::<Vec<_>>()), nodes, "{role}");
    }
    place.assert_nothing_is_left();
}
