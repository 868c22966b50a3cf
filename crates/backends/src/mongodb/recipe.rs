//! A private MongoDB server, or a replica set of three.

use iotbench_core::{On, Origin, Program, Ready, Recipe, Role, StopBy};

pub(crate) static RECIPE: Recipe = Recipe {
    programs: &[Program { name: "mongod", folders: &["{servers}/mongodb/bin"], from: Origin::ServersScript }],
    jars: &[],
    version: &["{mongod}", "--version"],
    user: "mongodb",
    nodes: &[1, 3],
    roles: &[Role {
        name: "server",
        on: On::EveryNode,
        ports: &["port"],
        files: &[],
        init: &[&["mkdir", "{data}"]],
        environment: &[],
        start: &[
            "{mongod}",
            // Several nodes are members of a set of this name; one alone is none.
            "--replSet={cluster}",
            // The default is a part of the whole disk.
            "--oplogSize=990",
            "{settings}",
            "--wiredTigerEngineConfigString=cache_size={memory_bytes}",
            "--dbpath={data}",
            "--port={port}",
            "--bind_ip={host}",
            "--nounixsocket",
        ],
        setting: &["--{key}={value}"],
        reserved: &[
            "wiredtigerengineconfigstring",
            "dbpath",
            "port",
            "bind-ip",
            "bind-ip-all",
            "nounixsocket",
            "fork",
            "logpath",
            "config",
            "oplogsize",
        ],
        // A GET on its port is answered with advice.
        ready: Ready::Http { port: "port", path: "/" },
        ready_within_s: 60,
        stop: StopBy::Terminate,
        url: Some("mongodb://{host}:{port}/"),
    }],
    // The driver does it: `Backend::join`.
    join: &[],
};
