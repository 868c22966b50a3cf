//! Whose orders an agent obeys, and what these may have it open.

use super::{
    are_here,
    attacker::{Attacker, deaf_broker, listen, order, question},
    broker::{Agent, Broker, broker_is_here},
    load, server,
};
use crate::server::place::{Place, is_here, output};
use iotbench_report::Document;
use nkeys::KeyPair;
use serde_json::json;
use std::{fs, net::UdpSocket};

#[test]
fn an_agent_that_trusts_nobody_does_not_start() {
    let place = Place::new();
    let nobody = place.root().join("nobody");
    fs::write(&nobody, "# of them\n\n").unwrap();
    let of_file = ["--trust", nobody.to_str().unwrap()];
    for (nats, more) in [("nats://127.0.0.1:1", &[][..]), ("tls://192.0.2.1", &[]), ("nats://127.0.0.1:1", &of_file)] {
        let mut command = place.iotbench(&[&["agent", "--nats", nats], more].concat());
        let output = output(command.env_remove("IOTBENCH_TRUST").spawn().unwrap());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("iotbench agent-key FILE") && said.contains("--trust KEY"), "{said}");
    }
    let mut command =
        place.iotbench(&["run", "-p", "machine_write", "-b", "postgres", "--set", "devices=2", "--agents", "2"]);
    command.args(["--nats", "nats://127.0.0.1:1", "--url", "postgres://127.0.0.1:1/"]).env_remove("IOTBENCH_AGENT_KEY");
    let output = output(command.spawn().unwrap());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("--agent-key FILE"), "{said}");
}

#[test]
fn another_client_of_the_broker_has_an_agent_do_nothing() {
    if !broker_is_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let offers = ["--offer", "load,sample,serve"];
    let mut agent = broker.agent_with(&place, "a", &offers);
    let (mut attacker, key) = (Attacker::at(&broker), KeyPair::new_user());
    let secret = place.root().join("secret");
    fs::write(&secret, "1\n").unwrap();
    let orders = [
        json!({ "hold": { "run": "evil" } }),
        json!({ "resolve": { "what": { "pid_file": secret } } }),
        json!({ "resolve": { "what": { "pid": 1 } } }),
        json!({ "serve": { "id": "evil", "backend": "postgres", "settings": {}, "memory_bytes": 1 } }),
    ];
    for what in orders {
        let unsigned = json!({ "schema": "iotbench-cluster/6", "message": what }).to_string();
        assert!(attacker.refused("a", unsigned.as_bytes()).contains("cannot be read"), "{what}");
        let session = attacker.session("a");
        let why = attacker.refused("a", &order(&key, "a", &session, 1, &what));
        assert!(
            why.contains("is not trusted") && why.contains(&format!("--trust {}", key.public_key())),
            "{what}: {why}"
        );
        assert_eq!(attacker.holder("a"), json!(null), "{what}");
    }
    assert!(agent.said().contains("refused: "), "{}", agent.said());
    assert!(!agent.said().contains("starting"), "{}", agent.said());
    agent.end();
    place.assert_nothing_is_left();
}

#[test]
fn a_run_whose_key_an_agent_does_not_know_is_refused_with_the_option_to_add() {
    if !are_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let mut agent = broker.agent(&place, "a");
    let (nats, out) = (broker.url(), place.results());
    let address = server(&place);
    let other = place.root().join("other.key");
    let public = place.out(&["agent-key", other.to_str().unwrap()]);
    assert_eq!(place.out(&["agent-key", other.to_str().unwrap()]), public, "one that is there is kept");
    let more = ["--url", &address, "--nats", &nats, "--agents", "a", "--out", out.to_str().unwrap()];
    let (code, text, said) = place.call(&[&load("1s", &more)[..], &["--agent-key", other.to_str().unwrap()]].concat());
    // Once the run has begun, why it ended is in its result.
    let said = text + &said;
    assert!(code == 21 && said.contains(&format!("--trust {}", public.trim())), "{code} {said}");
    agent.end();
    place.out(&["server", "stop", "postgres"]);
    place.assert_nothing_is_left();
}

/// A stolen plan, said again to the same agent, to another one, and to one that was started anew.
#[test]
fn what_was_said_to_an_agent_once_is_done_once_and_by_no_other() {
    if !are_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let mut agents = ["a", "b"].map(|name| broker.agent(&place, name));
    let heard = listen(&broker);
    let (nats, out) = (broker.url(), place.results());
    let more = ["--nats", &nats, "--agents", "2", "--out", out.to_str().unwrap()];
    let (code, text, said) = place.call(&load("1s", &more));
    assert!(code == 0 || code == 11, "{code}: {text} {said}");
    let orders: Vec<_> =
        heard.lock().unwrap().iter().filter(|(_, payload)| !payload.starts_with(b"{")).cloned().collect();
    assert!(orders.iter().any(|(_, payload)| payload.windows(9).any(|window| window == b"\"connect\"")));

    let mut attacker = Attacker::at(&broker);
    let mut replayed = |started_anew: &str| {
        for (subject, payload) in &orders {
            for agent in ["a", "b"] {
                // A session ends 30 s after its last order: on a machine that is slow it has, and there is none.
                let expected: &[&str] = match subject.ends_with(&format!(".{agent}")) {
                    false => &["for another agent"],
                    true if agent == started_anew => &["no session"],
                    true => &["has come before", "no session"],
                };
                let refused = attacker.refused(agent, payload);
                let is_expected = expected.iter().any(|why| refused.contains(why));
                assert!(is_expected, "{refused}: {}", String::from_utf8_lossy(payload));
                assert_eq!(attacker.holder(agent), json!(null), "{}", String::from_utf8_lossy(payload));
            }
        }
    };
    replayed("none");
    // Its session was of the process that is gone.
    agents[0].end();
    agents[0] = broker.agent(&place, "a");
    replayed("a");
    agents.into_iter().for_each(|mut agent| agent.end());
    place.assert_nothing_is_left();
}

#[test]
fn a_plan_opens_what_its_agent_allows_and_a_refusal_names_the_option() {
    if !are_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let address = server(&place);
    let port = address.rsplit(':').next().unwrap().split('/').next().unwrap().to_owned();
    let elsewhere = tempfile::tempdir().unwrap();
    let password = elsewhere.path().join("password");
    fs::write(&password, "secret\n").unwrap();
    let setting = format!("backend.postgres.password_file={}", password.display());
    let (nats, out) = (broker.url(), place.results());
    let run = |agent: &str, more: &[&str]| {
        let fixed = ["--url", &address, "--nats", &nats, "--agents", agent, "--out", out.to_str().unwrap()];
        place.call(&[&load("1s", more)[..], &fixed].concat())
    };
    // Once a run has begun, why it ended is in its result.
    let refused = |agent: &str, more: &[&str], option: &str| {
        let (code, text, said) = run(agent, more);
        assert!(code == 21 && text.contains(&format!("start it with {option}")), "{code} {text} {said}");
    };
    let variables = ["IOTBENCH_ALLOW_TARGET", "IOTBENCH_ALLOW_DIR"];
    let target = format!("127.0.0.1:{port}");
    let bare = broker.agent_without(&variables, &place, "bare", &["--allow-target", "127.0.0.1:1"]);
    let able = broker.agent_without(&variables, &place, "able", &["--allow-target", &target]);
    let folder = elsewhere.path().to_str().unwrap();
    let both = ["--allow-target", &target, "--allow-dir", folder];
    let both = broker.agent_without(&variables, &place, "both", &both);

    refused("bare", &[], &format!("--allow-target {target}"));
    refused("able", &["--set", &setting], &format!("--allow-dir {folder}"));
    for (agent, more) in [("able", &[][..]), ("both", &["--set", &setting])] {
        let (code, text, said) = run(agent, more);
        // 11: a busy machine held the client up.
        assert!(code == 0 || code == 11, "{code}: {said}");
        assert!(Document::from_json(&text).unwrap().points.counts.acked > 0);
    }
    // A file with a process number too.
    let pid = elsewhere.path().join("server.pid");
    fs::write(&pid, format!("{}\n", place.server("postgres"))).unwrap();
    let wish = |agent: &str| format!("{agent}:{}", pid.display());
    let sampled = |agent: &str| {
        let wish = wish(agent);
        let fixed = ["--url", &address, "--nats", &nats, "--sample", &wish, "--out", out.to_str().unwrap()];
        place.call(&load("1s", &fixed))
    };
    let (code, _, said) = sampled("able");
    assert!(code == 21 && said.contains(&format!("start it with --allow-dir {folder}")), "{code} {said}");
    let (code, _, said) = sampled("both");
    assert!(code == 0 || code == 11, "{code}: {said}");

    [bare, able, both].into_iter().for_each(|mut agent| agent.end());
    place.out(&["server", "stop", "postgres"]);
    place.assert_nothing_is_left();
}

#[test]
fn no_message_ends_an_agent() {
    if !broker_is_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let mut agent = broker.agent(&place, "a");
    let mut attacker = Attacker::at(&broker);
    let key = KeyPair::from_seed(fs::read_to_string(place.agent_key()).unwrap().trim()).unwrap();
    // Shown with its escapes it would be seven times as long, and more than the broker takes.
    let other_version = format!("{{\"schema\":\"{}\",\"message\":1}}", "\u{7f}".repeat(900_000));
    let deep = format!("{{\"schema\":\"iotbench-cluster/6\",\"message\":{}", "[".repeat(900_000));
    let messages: [&[u8]; 7] = [
        b"",
        b"\xff\xfe",
        b"{",
        other_version.as_bytes(),
        deep.as_bytes(),
        &[b'x'; 900_000],
        b"iotbench-cluster/6 a b\n{}",
    ];
    for message in messages {
        for subject in ["iotbench.agent.a", "iotbench.find"] {
            // Replies where nobody can be answered, to all, and to the agent itself.
            for reply in ["a..b", "*", ">", "iotbench.agent.a", "iotbench.find"] {
                attacker.say(subject, reply, message);
            }
        }
        assert_eq!(attacker.holder("a"), json!(null), "{}", String::from_utf8_lossy(&message[..message.len().min(40)]));
    }
    attacker.say("iotbench.agent.a", "a..b", &question("find"));

    // What anybody may send is not read for long.
    let padded = [question("find"), vec![b' '; 2000]].concat();
    assert!(attacker.refused("a", &padded).contains("cannot be read"));

    // Nor does an order of a coordinator that is trusted and mad.
    let session = attacker.session("a");
    let long = "r".repeat(700_000);
    let hostile = [
        json!({ "hold": { "run": long } }),
        json!({ "start": { "run": "r", "at_ns": i64::MAX } }),
        json!({ "sample": { "run": long, "subjects": ["host"], "at_ns": i64::MAX, "reports": "a..b" } }),
        json!({ "resolve": { "what": { "pid_file": "/dev/zero" } } }),
        json!({ "connect": {} }),
        json!({ "no_such": {} }),
    ];
    for (number, what) in hostile.iter().enumerate() {
        let order = order(&key, "a", &session, number as u64, what);
        attacker.say("iotbench.agent.a", "a..b", &order);
    }
    // Its answer would be as long as the name.
    attacker.say("iotbench.agent.a", "_INBOX.nobody", &question("find"));
    assert!(attacker.session("a").len() > 8, "it answers still");
    assert!(agent.said().contains("refused so far"), "{}", agent.said());
    assert!(agent.said().len() < 10_000, "a log does not grow with what comes");
    agent.end();
    place.assert_nothing_is_left();
}

/// One that waited for its answers to go out would see neither a signal nor that its coordinator is gone.
#[test]
fn an_agent_ends_when_it_is_told_to_whatever_it_was_asked() {
    let place = Place::new();
    let (nats, tell) = deaf_broker("a");
    let command = place.iotbench(&["agent", "--nats", &nats, "--name", "a"]);
    let mut agent = Agent::started(&format!("agent a at {nats}"), command);
    tell.send(()).unwrap();
    agent.wait_until_it_says("1024 refused so far");
    agent.wait_until_it_stands_still();
    agent.end();
    place.assert_nothing_is_left();
}

#[test]
fn an_agents_server_is_tuned_from_elsewhere_and_no_more() {
    if !broker_is_here() || !is_here("postgres") {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let mut agent = broker.agent_with(&place, "db1", &["--offer", "serve"]);
    let (nats, out) = (broker.url(), place.results());
    let run = |setting: &str| {
        let setting = format!("backend.postgres.server.{setting}");
        let fixed = ["--nats", &nats, "--server-at", "db1", "--set", &setting, "--out", out.to_str().unwrap()];
        place.call(&load("1s", &fixed))
    };
    for setting in ["log_directory=/tmp", "ssl_crl_file=/etc/hostname", "log_filename=x"] {
        let (code, _, said) = run(setting);
        assert!(code == 21 && said.contains("not taken from another machine"), "{setting}: {code} {said}");
    }
    let (code, _, said) = run("archive_command=/bin/true");
    assert!(code != 0 && said.contains("run a program"), "{code} {said}");
    agent.end();
    place.assert_nothing_is_left();
}

#[test]
fn a_broker_in_clear_text_elsewhere_is_taken_where_that_is_wanted_and_the_result_says_so() {
    if !are_here() {
        return;
    }
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    // Nothing is sent: the route alone is asked for.
    let own = socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr());
    let Some(own) = own.ok().map(|address| address.ip()).filter(|ip| !ip.is_loopback()) else { return };
    let (place, broker) = (Place::new(), Broker::start_at(own, &[]));
    let (nats, out) = (broker.url(), place.results());
    let (code, _, said) = place.call(&["agent", "--nats", &nats, "--name", "a"]);
    assert!(code == 2 && said.contains("--insecure") && said.contains("tls://"), "{code} {said}");
    let mut agent = broker.agent_with(&place, "a", &["--insecure"]);
    let fixed = ["--nats", &nats, "--agents", "a", "--out", out.to_str().unwrap()];
    let (code, _, said) = place.call(&load("1s", &fixed));
    assert!(code == 2 && said.contains("--insecure"), "{code} {said}");
    let (code, text, said) = place.call(&load("1s", &[&fixed[..], &["--insecure"]].concat()));
    assert!(code == 0 || code == 11, "{code}: {said}");
    let remarks = Document::from_json(&text).unwrap().remarks;
    assert!(remarks.iter().any(|remark| remark.contains(&nats) && remark.contains("in clear text")), "{remarks:?}");
    agent.end();
    place.assert_nothing_is_left();
}
