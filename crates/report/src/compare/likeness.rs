//! What two runs do not have in common.

use crate::document::{Document, Durability, Group};
use serde::Serialize;

/// What kind of thing differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// The workload: profile, seed, load.
    Plan,
    /// What an acknowledged write survives.
    Durability,
    /// The machine, its system and where the files are.
    Machine,
    /// What is judged: the database, its version and settings, or iotbench itself.
    Subject,
}

/// Something that differs between two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unlike {
    /// What kind of thing.
    pub aspect: Aspect,
    /// Its name.
    pub what: String,
    /// What it is in the one.
    pub base: String,
    /// What it is in the other.
    pub new: String,
}

/// Measured parts that differ by more than this factor had different lengths in the plan, and not by chance.
const ALIKE_LENGTHS: f64 = 1.1;

/// Everything in which two runs differ that decides a result but chance.
#[must_use]
pub fn unlike(base: &Document, new: &Document) -> Vec<Unlike> {
    let mut found = Vec::new();
    plan(base, new, &mut found);
    let pairs = |document: &Document| [("a write survives", survives(document.target.durability.as_ref()))];
    note(Aspect::Durability, pairs(base), pairs(new), &mut found);
    note(Aspect::Machine, machine(base), machine(new), &mut found);
    // An embedded database and a private server have their files here, and others elsewhere.
    let files = |document: &Document| document.environment.database_filesystem.clone();
    if let (Some(base), Some(new)) = (files(base), files(new)) {
        let pairs = |kind: String, options: String| [("the database's file system", kind), ("its options", options)];
        note(Aspect::Machine, pairs(base.kind, base.options), pairs(new.kind, new.options), &mut found);
    }
    note(Aspect::Subject, subject(base), subject(new), &mut found);
    settings(base, new, &mut found);
    found
}

/// The workload. Where the whole profile is the same, a measured part of another length is a result: the run ended after so
/// many operations.
fn plan(base: &Document, new: &Document, found: &mut Vec<Unlike>) {
    note(Aspect::Plan, workload(base), workload(new), found);
    if base.profile_sha256.is_some() && base.profile_sha256 == new.profile_sha256 {
        return;
    }
    let length = |document: &Document| document.measured.as_ref().and_then(|measured| measured.length_s);
    if let (Some(a), Some(b)) = (length(base), length(new))
        && a.max(b) > ALIKE_LENGTHS * a.min(b)
    {
        let pairs = |seconds: f64| [("length of the measured part", format!("{seconds:.0} s"))];
        note(Aspect::Plan, pairs(a), pairs(b), found);
    }
}

fn workload(document: &Document) -> [(&'static str, String); 6] {
    let value = document.sweep.as_ref().map(|swept| format!("{} = {}", swept.field, swept.value));
    // How many connections a backend takes is its own, and its schedule is not.
    let groups = document.load.groups.iter().map(|group| Group { connections: 0, ..group.clone() });
    let groups: Vec<Group> = groups.collect();
    [
        ("profile", document.profile_title()),
        ("value of the sweep", value.unwrap_or_else(|| "none".into())),
        ("seed", document.seed.to_string()),
        ("load model", document.load.model.clone()),
        ("via", document.target.via.clone().unwrap_or_else(|| "nothing between".into())),
        ("groups of the load", serde_json::to_string(&groups).unwrap_or_default()),
    ]
}

fn survives(durability: Option<&Durability>) -> String {
    durability.map_or_else(
        || "not known".into(),
        |durability| match durability.nodes {
            0 | 1 => crate::comparison::survived(durability),
            nodes => format!("{}, on {nodes} nodes", crate::comparison::survived(durability)),
        },
    )
}

fn machine(document: &Document) -> [(&'static str, String); 9] {
    let environment = &document.environment;
    [
        ("processor", word(environment.cpu.as_ref())),
        ("usable cores", word(environment.cores_usable.as_ref())),
        ("memory", word(environment.memory_bytes.as_ref())),
        ("kernel", word(environment.kernel.as_ref())),
        ("operating system", word(environment.os.as_ref())),
        ("governor", word(environment.governor.as_ref())),
        ("transparent huge pages", word(environment.thp.as_ref())),
        ("clock source", word(environment.clocksource.as_ref())),
        ("NUMA nodes", word(environment.numa_nodes.as_ref())),
    ]
}

fn subject(document: &Document) -> [(&'static str, String); 9] {
    let (target, tool) = (&document.target, &document.tool);
    [
        ("database", target.name()),
        ("strategy", word(target.strategy.as_ref())),
        ("way of writing", word(target.method.as_ref())),
        ("product", word(target.product.as_ref())),
        ("version", word(target.version.as_ref())),
        ("driver", word(target.driver.as_ref())),
        ("private server", target.managed.to_string()),
        ("iotbench", tool.version.clone()),
        ("iotbench's commit", word(tool.git.as_ref())),
    ]
}

fn settings(base: &Document, new: &Document, found: &mut Vec<Unlike>) {
    let (a, b) = (&base.target.settings, &new.target.settings);
    let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
    for name in names.filter(|name| a.get(*name) != b.get(*name)) {
        let (base, new) = (word(a.get(name)), word(b.get(name)));
        found.push(Unlike { aspect: Aspect::Subject, what: name.clone(), base, new });
    }
}

fn word<T: ToString>(value: Option<&T>) -> String {
    value.map_or_else(|| "not known".into(), ToString::to_string)
}

fn note<const N: usize>(
    aspect: Aspect,
    base: [(&'static str, String); N],
    new: [(&'static str, String); N],
    found: &mut Vec<Unlike>,
) {
    for ((what, base), (_, new)) in base.into_iter().zip(new) {
        if base != new {
            found.push(Unlike { aspect, what: what.into(), base, new });
        }
    }
}
