//! A load that agents make, over a real NATS server: the result is that of one process, and whoever of them goes is named.

mod admission;
mod attacker;
pub mod broker;
mod credentials;
mod groups;
mod losses;
mod reading;
mod sampling;
mod serving;
mod trust;

use crate::server::place::{Place, is_here, output};
use broker::{Broker, broker_is_here};
use iotbench_engine::PointRanges;
use iotbench_recorder::{LatencyHistogram, Level};
use iotbench_report::{Document, Resources};
use iotbench_session::open_ledger;
use serde_json::Value;
use std::{process::Child, sync::atomic::Ordering};

/// Whether a broker and a database are here.
pub fn are_here() -> bool {
    broker_is_here() && is_here("postgres")
}

fn of_server(document: &Document) -> &Resources {
    let mut servers = document.resources.iter().filter(|resources| resources.role == "server");
    let server = servers.next().unwrap_or_else(|| panic!("{:#?}", document.resources));
    assert!(servers.next().is_none() && server.node == 0);
    server
}

fn load<'a>(duration: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let fixed = ["run", "-p", "machine_write", "-b", "postgres:wide", "--set", "devices=4", "-r", "100"];
    [&fixed[..], &["--warmup", "1s", "-d", duration, "--output-format", "json"], more].concat()
}

/// A run that leaves its server's folder: its document, and which datapoints were acknowledged. It is verified and removed.
fn run_and_verify(place: &Place, more: &[&str]) -> (Document, PointRanges) {
    let out = place.results();
    let arguments = [&load("3s", more)[..], &["--keep", "--out", out.to_str().unwrap()]].concat();
    let (code, text, said) = place.call(&arguments);
    // 11: a busy machine held the client up, which spoils its times and no datapoint.
    assert!(code == 0 || code == 11, "{code}: {said}");
    let document = Document::from_json(&text).unwrap();
    let folder = out.join(&document.run_id);
    let verified = place.out(&["verify", folder.to_str().unwrap(), "--full", "--json"]);
    let verified: Value = serde_json::from_str(&verified).unwrap();
    assert_eq!(verified["clean"], true, "{verified:#}");
    assert_eq!(verified["audit"]["right"], document.points.counts.acked, "{verified:#}");
    place.out(&["clean"]);
    (document, open_ledger(&folder).unwrap().acked().unwrap())
}

#[test]
fn two_agents_store_what_one_process_would_and_have_one_result() {
    if !are_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let agents = ["a", "b"].map(|name| broker.agent(&place, name));
    // A machine that cannot run for a while loses datapoints of a sensor: then both runs are made again.
    let in_full = |document: &Document| document.points.counts.dropped == 0 && document.points.counts.pending == 0;
    let both = || {
        let here = run_and_verify(&place, &[]);
        (here, run_and_verify(&place, &["--nats", &broker.url(), "--agents", "2"]))
    };
    let mut tries = std::iter::repeat_with(both).take(3);
    let found = tries.find(|((here, _), (merged, _))| in_full(here) && in_full(merged));
    let ((here, stored_here), (merged, stored)) = found.expect("three times, datapoints were lost on the way");
    assert!(here.agents.is_empty() && here.points.counts.acked > 0);
    assert_eq!((merged.points.stored, merged.points.counts.acked), (here.points.stored, here.points.counts.acked));
    assert_eq!(stored, stored_here, "exactly the same datapoints");

    let devices: Vec<_> = merged.agents.iter().map(|agent| (&*agent.name, agent.first_device, agent.devices)).collect();
    assert_eq!(devices, [("a", 0, 2), ("b", 2, 2)]);
    let mut pooled = LatencyHistogram::new();
    for agent in &merged.agents {
        assert!(agent.lost.is_none() && agent.hiccup_count.is_some() && agent.cores.is_some(), "{agent:#?}");
        assert_eq!(agent.start_skew_us.is_some(), agent.clock_uncertainty_us <= agent.clock_limit_us, "{agent:#?}");
        pooled.merge(&agent.response.histogram().unwrap());
    }
    let latency = merged.latency.unwrap();
    assert_eq!(pooled.count(), latency.by_operation.response.count);
    let response = &latency.by_operation.response;
    // As measured, be it the upper end of a range.
    let p99 = response.p99.or_else(|| response.ranges["p99"].high).unwrap();
    let of_pooled = pooled.value_at(Level::P99).unwrap();
    assert!((p99 * 1e3 / of_pooled as f64 - 1.0).abs() <= 1e-3, "{p99} µs, of the pooled sample {of_pooled} ns");
    agents.into_iter().for_each(|mut agent| agent.end());
    place.assert_nothing_is_left();
}

#[test]
fn a_run_starts_agents_of_its_own_and_ends_them() {
    if !are_here() {
        return;
    }
    let place = Place::new();
    let out = place.results();
    let (code, text, said) =
        place.call(&[&load("2s", &["--agents", "2"])[..], &["--out", out.to_str().unwrap()]].concat());
    let document = Document::from_json(&text).unwrap_or_else(|e| panic!("{code} {e}: {said}"));
    assert_eq!(document.points.stored, Some(document.points.counts.acked), "{:?}", document.verdict);
    let names: Vec<_> = document.agents.iter().map(|agent| &*agent.name).collect();
    assert_eq!(names, ["local-1", "local-2"]);
    assert!(said.contains("agents: local-1, local-2"), "{said}");
    place.assert_nothing_is_left();
}

#[test]
fn a_scenario_acts_on_the_server_while_agents_load_it() {
    if !are_here() {
        return;
    }
    let place = Place::new();
    let out = place.results();
    let scenario = ["--agents", "2", "--scenario", "3s:restart", "--out", out.to_str().unwrap()];
    let (code, text, said) = place.call(&load("8s", &scenario));
    let found = Document::from_json(&text).unwrap_or_else(|e| panic!("{code} {e}: {said}"));
    let marks: Vec<_> =
        found.scenario.as_ref().unwrap().marks.iter().map(|mark| (&*mark.action, &mark.error)).collect();
    assert_eq!(marks, [("restart", &None)], "{:?}", found.verdict);
    assert!(found.agents.iter().all(|agent| agent.lost.is_none() && agent.points_acked > 0), "{:#?}", found.agents);
    assert_accounted_for(&found);
    place.assert_nothing_is_left();
}

fn document(child: Child) -> (Option<i32>, Document) {
    let output = output(child);
    let text = String::from_utf8(output.stdout).unwrap();
    let document =
        Document::from_json(&text).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code(), document)
}

fn server(place: &Place) -> String {
    place.started(&["server", "start", "postgres"]).trim().to_owned()
}

/// Every datapoint that was acknowledged is stored as it was sent, and no other but those that are unknown.
fn assert_accounted_for(document: &Document) {
    assert_eq!(document.check(), Ok(()));
    let audit = document.audit.as_ref().unwrap();
    assert_eq!((audit.lost, audit.corrupt, audit.duplicate.unwrap_or(0), audit.alien), (0, 0, 0, 0), "{audit:#?}");
    assert!(audit.right > 0 && document.points.stored >= Some(document.points.counts.acked), "{:#?}", document.points);
}

#[test]
fn what_is_reported_twice_and_out_of_order_counts_once() {
    if !are_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let agents = ["a", "b"].map(|name| broker.agent(&place, name));
    let again = broker.say_all_again();
    let (document, _) = run_and_verify(&place, &["--nats", &broker.url(), "--agents", "2"]);
    assert!(document.agents.iter().all(|agent| agent.lost.is_none()), "{:#?}", document.agents);
    assert_eq!((document.check(), document.points.stored), (Ok(()), Some(document.points.counts.acked)));
    // Windows of a second, of two agents.
    assert!(again.load(Ordering::Relaxed) > 8);
    agents.into_iter().for_each(|mut agent| agent.end());
    place.assert_nothing_is_left();
}

/// An agent keeps nothing on a disk: a full one is nothing to it.
#[test]
fn an_agent_that_cannot_write_to_any_file_makes_its_part() {
    if !are_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let agents = [broker.agent_without_a_disk(&place, "a"), broker.agent(&place, "b")];
    let (document, _) = run_and_verify(&place, &["--nats", &broker.url(), "--agents", "2"]);
    assert!(
        document.agents.iter().all(|agent| agent.lost.is_none() && agent.points_acked > 0),
        "{:#?}",
        document.agents
    );
    agents.into_iter().for_each(|mut agent| agent.end());
    place.assert_nothing_is_left();
}
