//! Who is let in: at a broker that asks for a certificate, a password or credentials, and under a name that others have.

use super::{
    are_here,
    broker::{self, Agent, Broker, broker_is_here},
    credentials::Operator,
    load,
};
use crate::server::{
    certificates::{Authority, Certificate},
    place::{Place, output, wait_for},
};
use iotbench_report::Document;
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader},
    process::Child,
};

#[test]
fn an_encrypted_broker_must_be_vouched_for() {
    if !are_here() {
        return;
    }
    let place = Place::new();
    let authority = Authority::new(&place, "ours");
    let Certificate { file, key } = authority.issue(&place, "postgres", "127.0.0.1");
    let words = ["--tls", "--tlscert", file.to_str().unwrap(), "--tlskey", key.to_str().unwrap()];
    let broker = Broker::start(&words);
    let trusted = ["--nats-ca", authority.file.to_str().unwrap()];
    let mut agent = broker.agent_with(&place, "a", &trusted);
    let (url, out) = (broker.url().replace("nats://", "tls://"), place.results());
    let run = |more: &[&str]| {
        let fixed = ["--agents", "1", "--nats", &url, "--out", out.to_str().unwrap()];
        place.call(&[&load("1s", more)[..], &fixed].concat())
    };
    let (code, _, said) = run(&[]);
    assert!(code == 22 && said.contains("--nats-ca FILE"), "{code} {said}");
    let (_, text, said) = run(&trusted);
    let document = Document::from_json(&text).unwrap_or_else(|e| panic!("{e}: {said}"));
    assert_eq!(document.points.stored, Some(document.points.counts.acked), "{:?}", document.verdict);
    agent.end();
    // Its certificate lies in the place.
    drop(broker);
    place.assert_nothing_is_left();
}

#[test]
fn a_file_of_credentials_lets_in_whom_its_operator_knows() {
    if !are_here() {
        return;
    }
    let place = Place::new();
    let (known, unknown) = (Operator::new(&place, "known"), Operator::new(&place, "unknown"));
    let broker = Broker::start(&["--config", known.configuration.to_str().unwrap()]);
    let (url, out) = (broker.url(), place.results());
    let run = |more: &[&str]| {
        let fixed = ["--agents", "1", "--nats", &url, "--out", out.to_str().unwrap()];
        place.call(&[&load("1s", more)[..], &fixed].concat())
    };
    let mut agent = broker.agent_with(&place, "a", &known.words());
    let (code, _, said) = run(&[]);
    assert!(code == 21 && said.contains("--nats-credentials"), "{code} {said}");
    let (code, _, said) = run(&unknown.words());
    assert!(code == 21, "{code} {said}");
    let (code, _, said) = run(&["--nats-credentials", "/no/such.creds"]);
    assert!(code == 2 && said.contains("/no/such.creds"), "{code} {said}");

    let (_, text, said) = run(&known.words());
    let document = Document::from_json(&text).unwrap_or_else(|e| panic!("{e}: {said}"));
    assert_eq!(document.points.stored, Some(document.points.counts.acked), "{:?}", document.verdict);
    for told in [&text, &said] {
        assert!(!told.contains(&known.seed), "the secret key is shown");
    }
    let folder = out.join(&document.run_id);
    for file in folder.read_dir().unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(known.seed.len()).any(|window| window == known.seed.as_bytes()), "it is written down");
    }
    agent.end();
    drop(broker);
    place.assert_nothing_is_left();
}

/// The configuration of the broker in deploy/, with its folder in another place.
#[test]
fn the_broker_that_is_deployed_refuses_who_has_no_login_and_admits_an_agent_and_a_run_with_it() {
    if !broker_is_here() {
        return;
    }
    let place = Place::new();
    let root = place.root().to_str().unwrap();
    let [folder, secrets] = ["nats", "nats-secret"].map(|name| place.root().join(name));
    for made in [&folder, &secrets] {
        fs::create_dir(made).unwrap();
    }
    let configuration = deployed_configuration().replace("\"/etc/", &format!("\"{root}/"));
    fs::write(folder.join("nats.conf"), configuration).unwrap();
    let authority = Authority::new(&place, "ours");
    let Certificate { file, key } = authority.issue(&place, "postgres", "127.0.0.1");
    fs::rename(file, secrets.join("tls.crt")).unwrap();
    fs::rename(key, secrets.join("tls.key")).unwrap();
    fs::write(secrets.join("broker.conf"), "password: \"s3cret-of-the-broker\"\n").unwrap();
    let login = |name: &str, text: &str| {
        let file = place.root().join(name);
        fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let (right, wrong) =
        (login("login", "iotbench:s3cret-of-the-broker\n"), login("wrong", "iotbench:s3cret-of-nobody\n"));

    let broker = Broker::start(&["--config", folder.join("nats.conf").to_str().unwrap()]);
    let url = broker.url().replace("nats://", "tls://");
    let fixed = ["--nats", &url, "--nats-ca", authority.file.to_str().unwrap()];
    let agent = [&["agent", "--name", "a"], &fixed[..]].concat();
    for more in [&[][..], &["--nats-credentials", &wrong]] {
        let (code, _, said) = place.call(&[&agent[..], more].concat());
        assert!(code == 21 && said.contains("--nats-credentials") && !said.contains("s3cret"), "{code} {said}");
    }
    let admitted = ["--nats-credentials", &right];
    let ready = format!("agent a at {url}");
    let mut agent = Agent::started(&ready, place.iotbench(&[&agent[..], &admitted].concat()));
    let (code, _, said) = place.call(&[&load("1s", &["--agents", "2"])[..], &fixed, &admitted].concat());
    assert!(code == 20 && said.contains("2 agents are wanted, and 1 free ones are there"), "{code} {said}");
    agent.end();
    assert!(!agent.said().contains("s3cret"));
    drop(broker);
    place.assert_nothing_is_left();
}

fn deployed_configuration() -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/kubernetes/nats.yaml");
    let documents: Vec<Value> = serde_saphyr::from_multiple(&fs::read_to_string(file).unwrap()).unwrap();
    let mut found = documents.iter().filter_map(|document| document["data"]["nats.conf"].as_str());
    found.next().unwrap().to_owned()
}

#[test]
fn of_two_agents_that_take_one_name_together_one_stays() {
    if !broker_is_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let url = broker.url();
    let start = |_| place.iotbench(&["agent", "--nats", &url, "--name", "a"]).spawn().unwrap();
    let mut agents: Vec<Child> = (0..2).map(start).collect();
    let ended = |agents: &mut Vec<Child>| agents.iter_mut().position(|agent| agent.try_wait().unwrap().is_some());
    wait_for("one to give way", || ended(&mut agents).is_some());
    let place_of_it = ended(&mut agents).unwrap();
    let other = agents.remove(place_of_it);
    let output = output(other);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(31) && said.contains("give this one another --name"), "{said}");
    // A third finds it there, once it is: until then names are contested.
    let mut said = BufReader::new(agents[0].stderr.take().unwrap()).lines();
    assert!(said.next().unwrap().unwrap().starts_with("agent a at "));
    let (code, _, said) = place.call(&["agent", "--nats", &url, "--name", "a"]);
    assert!(code == 31 && said.contains("give this one another --name"), "{code} {said}");
    assert_eq!(agents[0].try_wait().unwrap(), None);
    agents[0].kill().unwrap();
    agents[0].wait().unwrap();
    place.assert_nothing_is_left();
}

#[test]
fn who_claims_a_name_a_little_later_is_told() {
    if !broker_is_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let late = broker.late_claimant("a");
    let mut agent = broker.agent(&place, "a");
    late.join().unwrap();
    agent.end();
    place.assert_nothing_is_left();
}

#[test]
fn what_keeps_a_run_from_its_agents_is_said_before_it_begins() {
    if !are_here() {
        return;
    }
    let place = Place::new();
    let out = place.results();
    let call = |nats: &str, more: &[&str]| {
        let fixed = ["--nats", nats, "--out", out.to_str().unwrap()];
        let (code, _, said) = place.call(&[&load("1s", more)[..], &fixed].concat());
        assert_eq!(out.read_dir().unwrap().count(), 0, "{said}");
        (code, said)
    };
    let absent = format!("nats://127.0.0.1:{}", broker::free_port());
    let (code, said) = call(&absent, &["--agents", "2"]);
    assert!(code == 20 && said.contains(&absent) && said.contains("is nats-server running there?"), "{code} {said}");

    let guarded = Broker::start(&["--user", "me", "--pass", "s3cret"]);
    let (code, said) = call(&guarded.url(), &["--agents", "2"]);
    assert!(code == 21 && said.contains("IOTBENCH_NATS"), "{code} {said}");
    let wrong = guarded.url().replace("nats://", "nats://me:wr0ng@");
    let (code, said) = call(&wrong, &["--agents", "2"]);
    assert!(code == 21 && !said.contains("wr0ng"), "{code} {said}");
    let right = guarded.url().replace("nats://", "nats://me:s3cret@");
    let (code, said) = call(&right, &["--agents", "2"]);
    assert!(code == 20 && said.contains("2 agents are wanted, and 0 free ones are there"), "{code} {said}");

    let broker = Broker::start(&[]);
    let _other = broker.agent_of_another_version();
    let (code, said) = call(&broker.url(), &["--agents", "2"]);
    assert!(code == 20 && said.contains("use the same version of iotbench everywhere"), "{code} {said}");

    for (more, why) in [
        (&["--agents", "2", "--set", "devices=1"][..], "cannot be divided into 2 parts"),
        (&["--agents", "2", "--trace"], "--trace"),
        (&["--agents", "2", "-b", "sqlite"], "sqlite lives in one process"),
        (&["--agents", "0"], "no name for an agent"),
    ] {
        let (code, said) = call(&broker.url(), more);
        assert!(code == 2 && said.contains(why), "{code} {said}");
    }
}
