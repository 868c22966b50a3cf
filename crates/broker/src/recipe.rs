//! A private Mosquitto.

use iotbench_core::{ConfigFile, On, Origin, Program, Ready, Recipe, Role, StopBy};

/// The limits of its queues stay Mosquitto's own unless the user sets them: they decide what a load loses.
pub static RECIPE: Recipe = Recipe {
    programs: &[
        Program { name: "mosquitto", folders: &["/usr/sbin", "/usr/local/sbin"], from: Origin::Debian("mosquitto") },
        Program {
            name: "mosquitto_passwd",
            folders: &["/usr/bin", "/usr/local/bin"],
            from: Origin::Debian("mosquitto"),
        },
    ],
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
        open_ports: &[],
        files: &[
            ConfigFile { path: "passwords", text: "iotbench:{password}\n" },
            ConfigFile {
                path: "mosquitto.conf",
                text: "\
listener {port} {host}
allow_anonymous false
password_file {run}/passwords
persistence false
log_dest stderr
log_type error
log_type warning
sys_interval 1
{settings}
",
            },
        ],
        // What stands there in plain text is replaced by what Mosquitto can hold a password against.
        init: &[&["{mosquitto_passwd}", "-U", "{run}/passwords"]],
        environment: &[],
        start: &["{mosquitto}", "-c", "{run}/mosquitto.conf"],
        setting: &["{key} {value}"],
        reserved: &[
            "listener",
            "port",
            "bind-address",
            "allow-anonymous",
            "password-file",
            "log-dest",
            "sys-interval",
            "user",
            "pid-file",
        ],
        ready: Ready::Listens,
        ready_within_s: 10,
        stop: StopBy::Terminate,
        url: Some("mqtt://iotbench:{password}@{host}:{port}"),
    }],
    join: &[],
};
