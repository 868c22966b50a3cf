//! Who goes in mid-run is named, whoever it is, and every datapoint that was acknowledged is accounted for.

use super::{
    are_here, assert_accounted_for,
    broker::{self, Broker},
    document, load, server,
};
use crate::server::place::{Place, is_alive, tree, wait_for, wait_for_acknowledged, wait_for_series};
use iotbench_report::Document;
use procfs::process::Process;
use std::process::Child;

/// A run under way, made by the agents of a broker on a server that is there.
fn under_way(place: &Place, broker: &Broker, address: &str, more: &[&str]) -> Child {
    under_way_for("1h", place, broker, address, more)
}

/// One of this length.
fn under_way_for(duration: &str, place: &Place, broker: &Broker, address: &str, more: &[&str]) -> Child {
    let out = place.results();
    let (out, nats) = (out.to_str().unwrap(), broker.url());
    let arguments = [&load(duration, more)[..], &["--url", address, "--nats", &nats, "--out", out]].concat();
    let child = place.iotbench(&arguments).spawn().unwrap();
    wait_for_acknowledged(place);
    child
}

#[test]
fn an_agent_that_is_killed_is_named_and_nothing_acknowledged_is_lost() {
    if !are_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let address = server(&place);
    let mut agents = ["a", "b"].map(|name| broker.agent(&place, name));
    let run = under_way(&place, &broker, &address, &["--agents", "a,b", "--verify", "full"]);

    // Meanwhile they are nobody else's, and who asks is told whose they are.
    let nats = broker.url();
    let second = load("1s", &["--url", &address, "--nats", &nats, "--agents", "a"]);
    let (code, _, said) = place.call(&second);
    assert!(code == 31 && said.contains("held for the run") && said.contains("machine_write"), "{code} {said}");

    agents[1].kill();
    let (code, found) = document(run);
    assert_eq!(code, Some(11), "{:?}", found.verdict);
    assert!(found.verdict.reasons.iter().any(|why| why.contains("the agent b was lost")), "{:?}", found.verdict);
    assert!(found.agents[0].lost.is_none() && found.agents[1].lost.is_some(), "{:#?}", found.agents);
    assert_accounted_for(&found);
    agents[0].end();
    place.out(&["server", "stop", "postgres"]);
    place.assert_nothing_is_left();
}

/// The first agent would drop what the run created, were the coordinator gone.
#[test]
fn an_agent_that_is_ended_in_order_leaves_the_run_its_table() {
    if !are_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let address = server(&place);
    let mut agents = ["a", "b"].map(|name| broker.agent(&place, name));
    let run = under_way(&place, &broker, &address, &["--agents", "2", "--verify", "full"]);
    agents[0].end();
    let (code, found) = document(run);
    assert_eq!(code, Some(11), "{:?}", found.verdict);
    assert!(found.agents[0].lost.is_some() && found.agents[1].lost.is_none(), "{:#?}", found.agents);
    assert_accounted_for(&found);
    agents[1].end();
    place.out(&["server", "stop", "postgres"]);
    place.assert_nothing_is_left();
}

/// A process that stands still hears of nobody, and its coordinator lives.
#[test]
fn an_agent_that_was_stalled_leaves_the_run_its_table() {
    if !are_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let address = server(&place);
    let mut agents = ["a", "b"].map(|name| broker.agent(&place, name));
    let more = ["--agents", "2", "--verify", "full", "--on-agent-loss", "continue"];
    let run = under_way_for("15s", &place, &broker, &address, &more);
    agents[0].stall();
    // Not heard of for 5 s by anybody.
    wait_for("the loss", || agents[0].stood_for_s() > 7.0);
    agents[0].go_on();
    agents[0].wait_until_it_says("nothing is heard of its coordinator");
    let (_, found) = document(run);
    assert!(found.agents[0].lost.is_some() && found.agents[1].lost.is_none(), "{:#?}", found.agents);
    assert_accounted_for(&found);
    agents.iter_mut().for_each(broker::Agent::end);
    place.out(&["server", "stop", "postgres"]);
    place.assert_nothing_is_left();
}

#[test]
fn without_their_coordinator_agents_end_and_drop_what_it_created() {
    if !are_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let address = server(&place);
    let mut agents = ["a", "b"].map(|name| broker.agent(&place, name));
    let mut run = under_way(&place, &broker, &address, &["--agents", "2"]);
    assert!(place.out(&["clean", "--url", &address, "--dry-run"]).contains("machine_write"));
    run.kill().unwrap();
    run.wait().unwrap();
    for agent in &agents {
        agent.wait_until_it_says("nothing is heard of its coordinator");
    }
    agents[0].wait_until_it_says("is dropped");
    assert_eq!(place.out(&["clean", "--url", &address, "--dry-run"]), "");
    // What the coordinator knew of their load is in the results folder.
    let folder = place.results().read_dir().unwrap().next().unwrap().unwrap().path();
    place.out(&["recover", folder.to_str().unwrap()]);
    let recovered = Document::from_json(&std::fs::read_to_string(folder.join("run.json")).unwrap()).unwrap();
    assert!(recovered.points.counts.acked > 0, "{:#?}", recovered.points);
    // And they are there for the next one.
    let (nats, out) = (broker.url(), place.results());
    let next = load("1s", &["--url", &address, "--nats", &nats, "--agents", "a,b", "--out", out.to_str().unwrap()]);
    let found = Document::from_json(&place.call(&next).1).unwrap();
    assert_eq!(found.points.stored, Some(found.points.counts.acked), "{:?}", found.verdict);
    agents.iter_mut().for_each(broker::Agent::end);
    place.out(&["server", "stop", "postgres"]);
    place.assert_nothing_is_left();
}

/// A load that nobody makes in full any more is no trial: what was judged before stays, and the search ends.
#[test]
fn a_search_that_loses_an_agent_ends_with_what_it_has_found() {
    if !are_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let (address, nats, out) = (server(&place), broker.url(), place.results());
    let mut agents = ["a", "b"].map(|name| broker.agent(&place, name));
    let profile =
        ["capacity", "-p", "machine_write", "-b", "postgres:wide", "--set", "devices=4", "--arrival", "constant"];
    let search =
        ["--trial", "2s", "--criterion", "p99<500ms", "--first", "20", "--most", "4000", "--output-format", "json"];
    let through = ["--url", &address, "--nats", &nats, "--agents", "2", "--out", out.to_str().unwrap()];
    let run = place.iotbench(&[&profile[..], &search, &through].concat()).spawn().unwrap();
    wait_for_series(&place);
    agents[1].kill();
    let (code, found) = document(run);
    assert_eq!(code, Some(11), "{:?}", found.verdict);
    assert!(found.agents[1].lost.is_some() && found.agents[0].lost.is_none(), "{:#?}", found.agents);
    let capacity = found.capacity.as_ref().unwrap();
    assert!(capacity.estimate.is_none(), "{capacity:#?}");
    assert_accounted_for(&found);
    agents[0].end();
    place.out(&["server", "stop", "postgres"]);
    place.assert_nothing_is_left();
}

#[test]
fn a_report_that_the_broker_does_not_take_ends_the_part_and_says_so() {
    if !are_here() {
        return;
    }
    let place = Place::new();
    let configuration = place.root().join("nats.conf");
    // An order is shorter, and a second's histograms are longer.
    std::fs::write(&configuration, "max_payload: 4096\n").unwrap();
    let broker = Broker::start(&["--config", configuration.to_str().unwrap()]);
    let (mut agent, nats, out) = (broker.agent(&place, "a"), broker.url(), place.results());
    let many = ["run", "-p", "machine_write", "-b", "postgres:wide", "--set", "devices=4", "-r", "2000", "-d", "10s"];
    let through = ["--nats", &nats, "--agents", "1", "--out", out.to_str().unwrap(), "--output-format", "json"];
    let (code, found) = document(place.iotbench(&[&many[..], &through].concat()).spawn().unwrap());
    assert_eq!(code, Some(11), "{:?}", found.verdict);
    let lost = found.agents[0].lost.as_deref().unwrap();
    assert!(lost.contains("longer than the broker's max_payload"), "{lost}");
    agent.end();
    // Its configuration lies in the place.
    drop(broker);
    place.assert_nothing_is_left();
}

#[test]
fn a_killed_run_takes_its_own_agents_and_broker_with_it() {
    if !are_here() {
        return;
    }
    let place = Place::new();
    let (address, out) = (server(&place), place.results());
    let arguments = load("1h", &["--agents", "2", "--url", &address, "--out", out.to_str().unwrap()]);
    // What is in the environment for an agent of this machine is not for those of a run.
    let mut run = place.iotbench(&arguments).env("IOTBENCH_OFFER", "sample").spawn().unwrap();
    wait_for_series(&place);
    let processes = tree(i32::try_from(run.id()).unwrap());
    let names: Vec<_> = processes.iter().map(|&pid| Process::new(pid).unwrap().stat().unwrap().comm).collect();
    assert_eq!(names.iter().filter(|name| *name == "nats-server").count(), 1, "{names:?}");
    assert!(names.iter().filter(|name| *name == "iotbench").count() >= 3, "{names:?}");
    run.kill().unwrap();
    run.wait().unwrap();
    wait_for("all of them to end", || !processes.iter().any(|&pid| is_alive(pid)));
    assert_eq!(place.out(&["clean", "--url", &address, "--dry-run"]), "");
    place.out(&["server", "stop", "postgres"]);
    place.assert_nothing_is_left();
}

#[test]
fn a_broker_that_restarts_costs_nothing_and_one_that_stays_away_ends_the_run() {
    if !are_here() {
        return;
    }
    let (place, mut broker) = (Place::new(), Broker::start(&[]));
    let address = server(&place);
    let agents = ["a", "b"].map(|name| broker.agent(&place, name));
    let run = under_way(&place, &broker, &address, &["--agents", "2", "--verify", "full"]);
    let seconds = |place: &Place| {
        let folder = place.results().read_dir().unwrap().next().unwrap().unwrap().path();
        std::fs::read_to_string(folder.join("series.csv")).unwrap().lines().count()
    };
    broker.restart();
    let then = seconds(&place);
    wait_for("the run to go on", || seconds(&place) > then + 3);
    broker.kill();
    let (code, found) = document(run);
    assert_eq!(code, Some(11), "{:?}", found.verdict);
    assert!(found.agents.iter().all(|agent| agent.lost.is_some()), "{:#?}", found.verdict);
    assert_accounted_for(&found);
    agents.into_iter().for_each(|mut agent| agent.kill());
    place.out(&["server", "stop", "postgres"]);
    place.assert_nothing_is_left();
}
