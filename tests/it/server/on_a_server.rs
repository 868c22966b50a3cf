//! A short run on a server that the test has started, and what came of it.

use crate::server::place::Place;
use crate::soundness::assert_sound;
use serde_json::Value;
use url::Url;

/// How a run ended.
pub struct Ended {
    pub code: i32,
    /// `run.json` as printed.
    pub document: Value,
    /// What was said on standard error.
    pub err: String,
}

impl Ended {
    /// A call of `iotbench run` that prints JSON.
    pub fn of(place: &Place, arguments: &[&str]) -> Self {
        let (code, out, err) = place.call(arguments);
        Self { code, document: serde_json::from_str(&out).unwrap_or_default(), err }
    }

    /// See [`assert_sound`].
    #[track_caller]
    pub fn assert_sound(&self, case: &str) {
        assert_sound(&self.document, self.code, format_args!("{case}: {}", self.err));
    }

    /// The reasons of the verdict as one text.
    pub fn reasons(&self) -> String {
        self.document["verdict"]["reasons"].to_string()
    }

    /// A count in the document, such as `/points/acked`.
    pub fn count(&self, pointer: &str) -> u64 {
        self.document
            .pointer(pointer)
            .and_then(Value::as_u64)
            .unwrap_or_else(|| panic!("{pointer}: {:#}", self.document))
    }

    /// What a role used.
    pub fn of_role(&self, role: &str) -> &Value {
        let mut resources = self.document["resources"].as_array().into_iter().flatten();
        resources.find(|resources| resources["role"] == role).unwrap_or_else(|| panic!("{role}: {:#}", self.document))
    }
}

/// The arguments of a closed loop, which has no schedule that a busy machine could break.
pub fn arguments<'a>(backend: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let load = ["run", "-p", "pmu_write", "--warmup", "0", "--output-format", "json", "-b", backend];
    [&load[..], more].concat()
}

/// Runs until every user may have written twice, which takes two seconds where the machine keeps up, on the server at `url`, with
/// so many users and as many connections.
pub fn run(place: &Place, backend: &str, url: &Url, users: usize, more: &[&str]) -> Ended {
    let (results, operations, users) = (place.results(), (2 * users).to_string(), users.to_string());
    let load = ["--operations", &operations, "-d", "60s", "--vus", &users, "--connections", &users];
    let target = ["--url", url.as_str(), "--out", results.to_str().unwrap()];
    Ended::of(place, &arguments(backend, &[&load[..], &target, more].concat()))
}

/// What a sound run printed.
#[track_caller]
pub fn sound(place: &Place, arguments: &[&str]) -> Value {
    let ended = Ended::of(place, arguments);
    ended.assert_sound("");
    ended.document
}
