//! A private Mosquitto.

use iotbench_core::{ConfigFile, On, Origin, Program, Ready, Recipe, Role, StopBy};

/// The limits of its queues stay Mosquitto's own unless the user sets them: they decide what a load loses.
pub static RECIPE: Recipe = Recipe {
    programs: &[Program {
        name: "mosquitto",
        folders: &["/usr/sbin", "/usr/local/sbin"],
        from: Origin::Debian("mosquitto"),
    }],
    jars: &[],
    // It prints its version with its help, and then fails.
    version: &["{mosquitto}", "-h"],
    user: "mosquitto",
    tuning: &[],
    nodes: &[1],
    roles: &[Role {
        name: "broker",
        on: On::EveryNode,
        ports: &["port"],
        files: &[ConfigFile {
            path: "mosquitto.conf",
            text: "\
listener {port} {host}
allow_anonymous true
persistence false
log_dest stderr
log_type error
log_type warning
sys_interval 1
{settings}
",
        }],
        init: &[],
        environment: &[],
        start: &["{mosquitto}", "-c", "{run}/mosquitto.conf"],
        setting: &["{key} {value}"],
        reserved: &[
            "listener",
            "port",
            "bind-address",
            "allow-anonymous",
            "log-dest",
            "sys-interval",
            "user",
            "pid-file",
        ],
        ready: Ready::Listens,
        ready_within_s: 10,
        stop: StopBy::Terminate,
        url: Some("mqtt://{host}:{port}"),
    }],
    join: &[],
};
