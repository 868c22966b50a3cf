//! What deploy/ holds: manifests for Kubernetes, a file of compose, a container, a unit of systemd. None of them is run here, but the
//! broker's configuration is (server/agents/admission.rs).

mod compose;
mod container;
mod kubernetes;
mod manifests;
mod systemd;

use crate::command_line::program::call;
use std::path::{Path, PathBuf};

/// What the options of this build do not have yet.
const OF_AGENTS: [&str; 5] = ["--agents", "--nats", "--nats-ca", "--nats-credentials", "--agent-key"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy")
}

/// Whether the words are a command of iotbench, by its own definition: what stands before a call for help is read first.
#[expect(clippy::print_stderr, reason = "who reads the tests' output sees what was not tested")]
fn assert_is_a_command(words: &[&str]) {
    let mut words = words.to_vec();
    if call(&["agent", "--help"]).code != 0 {
        eprintln!("skipped: this build has no agents: {words:?} as far as it has its options");
        if words[0] == "agent" {
            return;
        }
        for option in OF_AGENTS {
            let place = words.iter().position(|word| *word == option).unwrap();
            words.drain(place..place + 2);
        }
    }
    let said = call(&[&words[..], &["--help"]].concat());
    assert_eq!(said.code, 0, "{words:?}: {}", said.err);
    let wrong = call(&[&words[..], &["--no-such-option", "--help"]].concat());
    assert_eq!(wrong.code, 2, "options before --help are read");
}
