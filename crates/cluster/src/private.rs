//! A private NATS server, for agents of one machine.

use iotbench_core::{ConfigFile, On, Origin, Program, Ready, Recipe, Role, StopBy};

/// What lets its clients in: a setting that whoever starts it gives a random value.
pub const TOKEN: &str = "token";

/// Only who knows the token may speak to agents: they do what they are told.
pub static RECIPE: Recipe = Recipe {
    programs: &[Program {
        name: "nats-server",
        folders: &["/usr/sbin", "/usr/local/bin"],
        from: Origin::Debian("nats-server"),
    }],
    jars: &[],
    version: &["{nats-server}", "--version"],
    user: "nats",
    tuning: &[],
    nodes: &[1],
    roles: &[Role {
        name: "broker",
        on: On::EveryNode,
        ports: &["port"],
        open_ports: &[],
        files: &[ConfigFile { path: "nats.conf", text: "authorization {{\n{settings}\n}\n" }],
        init: &[],
        environment: &[],
        start: &["{nats-server}", "--config", "{run}/nats.conf", "--addr", "{host}", "--port", "{port}"],
        setting: &["{key}: \"{value}\""],
        reserved: &[],
        ready: Ready::Listens,
        ready_within_s: 20,
        stop: StopBy::Terminate,
        url: Some("nats://{host}:{port}"),
    }],
    join: &[],
};
