//! What the runs of a suite say about the hypotheses of the industrial monitoring study.

use super::SuiteRun;
use crate::document::{Document, Scenario};
use iotbench_suite::{ClusterSize, Evidence, Failure, MixedWrites};
use std::collections::BTreeSet;

const UNITS: &str = "pmu_write";
const METERS: &str = "smart_meter_write";

/// Of each contender, whatever the size of its cluster, what its valid runs say.
pub(super) fn evidence(runs: &[SuiteRun<'_>]) -> Vec<Evidence> {
    let contenders: BTreeSet<&str> = runs.iter().map(SuiteRun::base).collect();
    let of_one = |contender: &str| {
        let own: Vec<&Document> =
            runs.iter().filter(|run| run.base() == contender && run.is_valid()).map(|run| run.document).collect();
        let of_profile =
            |profile: &str| own.iter().filter(|d| d.profile == profile).filter_map(|d| cluster_size(d)).collect();
        Evidence {
            contender: contender.into(),
            units: of_profile(UNITS),
            meters: of_profile(METERS),
            // What was killed may make a run invalid, and that is what is asked about.
            failures: runs
                .iter()
                .filter(|run| run.base() == contender)
                .filter_map(|run| failure(run.document))
                .collect(),
            mixed: own.iter().filter_map(|document| mixed_writes(document)).collect(),
        }
    };
    contenders.into_iter().map(of_one).collect()
}

/// How many nodes the database had: those that were sampled, or else the addresses that were given.
pub(super) fn nodes_of(document: &Document) -> u32 {
    let sampled: BTreeSet<u32> = document.resources.iter().filter(|r| r.is_of_database()).map(|r| r.node).collect();
    let addresses = if document.target.managed { 1 } else { document.target.endpoints.len() };
    u32::try_from(sampled.len().max(addresses).max(1)).unwrap_or(u32::MAX)
}

/// Whether two nodes were on one machine: a private cluster is all on this one.
fn shares_machine(document: &Document) -> bool {
    let hosts: BTreeSet<&str> = document.target.endpoints.iter().map(|endpoint| host(endpoint)).collect();
    let nodes = nodes_of(document);
    nodes > 1 && (document.target.managed || hosts.len() < nodes as usize)
}

/// The host of an address; all of the loopback network are this machine.
fn host(endpoint: &str) -> &str {
    let address = endpoint.split_once("://").map_or(endpoint, |(_, rest)| rest);
    let host = address.split(['/', ':', '?']).next().unwrap_or(address);
    if host.starts_with("127.") { "localhost" } else { host }
}

fn cluster_size(document: &Document) -> Option<ClusterSize> {
    let capacity = document.capacity.as_ref()?;
    Some(ClusterSize {
        nodes: nodes_of(document),
        capacity: capacity.limit().unwrap_or(0.0),
        values_per_s: document.throughput.as_ref().and_then(|throughput| throughput.values_per_s),
        shares_machine: shares_machine(document),
    })
}

fn failure(document: &Document) -> Option<Failure> {
    let scenario: &Scenario = document.scenario.as_ref()?;
    let what = scenario.marks.iter().filter(|mark| mark.error.is_none());
    let what: Vec<String> = what.map(|mark| format!("{} {} {}", mark.action, mark.role, mark.node)).collect();
    Some(Failure {
        what: what.join(", "),
        nodes: nodes_of(document),
        before_per_s: scenario.before.operations_per_s,
        during_per_s: scenario.during.operations_per_s.filter(|_| scenario.during.seconds > 0),
        errors: scenario.during.errors,
        recovery_s: scenario.recovery_s,
        missing_points: scenario.missing_points,
    })
    .filter(|failure| !failure.what.is_empty())
}

fn mixed_writes(document: &Document) -> Option<MixedWrites> {
    let writes = document.writes_alone.as_ref()?.kinds.first()?;
    Some(MixedWrites {
        profile: document.profile.clone(),
        mixed_per_s: writes.mixed.operations_per_s?,
        alone_per_s: writes.alone.operations_per_s.filter(|rate| *rate > 0.0)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_machine_are_one_host() {
        assert_eq!(host("http://127.0.0.1:8080/?telnet=x"), host("mongodb://127.0.0.2:27017/"));
        assert_ne!(host("http://db-1:8080"), host("http://db-2:8080"));
        assert_eq!(host("db-1:8080"), "db-1");
    }
}
