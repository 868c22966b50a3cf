//! Statements that agents send: the result is that of one process.

use super::{of_the_page, profiles_of_the_page};
use crate::server::{
    agents::{are_here, broker::Broker},
    place::Place,
};
use iotbench_report::Document;
use std::fs;

fn run(place: &Place, profile: &str, more: &[&str]) -> (i32, Option<Document>, String) {
    let (file, out) = (place.root().join("means.toml"), place.results());
    fs::write(&file, profile).unwrap();
    let what = ["run", "-p", file.to_str().unwrap(), "-b", "postgres", "--out", out.to_str().unwrap(), "-d", "3s"];
    let how = ["--warmup", "0", "--verify", "full", "--output-format", "json"];
    let (code, text, err) = place.call(&[&what[..], &how, more].concat());
    (code, Document::from_json(&text).ok(), err)
}

#[test]
fn two_agents_send_statements_as_one_process_does_and_each_answer_is_compared() {
    if !are_here() {
        return;
    }
    for (profile, writes) in profiles_of_the_page().into_iter().zip([false, true]) {
        let place = Place::new();
        let (code, found, err) = run(&place, &profile, &["--agents", "2"]);
        // 11: a busy machine held a client up.
        assert!(matches!(code, 0 | 11), "{code}: {err}");
        let found = found.unwrap();
        let answers = found.answers.as_ref().unwrap();
        let ok = found.load.counts.ok;
        assert_eq!((answers.wrong, answers.not_judged, answers.skipped), (0, 0, 0), "{answers:?}");
        assert!(ok > 10 && answers.right == answers.requests && answers.right >= ok, "{ok} operations, {answers:?}");
        let changed = if writes { (answers.requests, 300 * answers.requests) } else { (0, 0) };
        assert_eq!((answers.changes, answers.rows_changed), changed, "{answers:?}");
        let by_agents: Vec<_> = found.agents.iter().map(|agent| agent.operations.ok).collect();
        assert!(by_agents.len() == 2 && by_agents.iter().all(|&ok| ok > 0), "{by_agents:?}");
        assert_eq!(by_agents.iter().sum::<u64>(), ok);
        assert_eq!(found.points.stored.is_none(), writes);
        place.assert_nothing_is_left();
    }
}

/// Who sends an agent a plan could ask its database for anything.
#[test]
fn an_agent_of_its_own_takes_statements_where_it_was_started_so() {
    if !are_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let url = broker.url();
    let with_agent = ["--nats", &url, "--agents", "1"];
    let mut bare = broker.agent(&place, "bare");
    let (code, found, err) = run(&place, &of_the_page(), &with_agent);
    let why = found.map(|found| found.verdict);
    assert!(code != 0 && format!("{why:?}").contains("start it with --allow-statements"), "{code}: {why:?} {err}");
    bare.end();
    let mut able = broker.agent_with(&place, "able", &["--allow-statements"]);
    let (code, found, err) = run(&place, &of_the_page(), &with_agent);
    assert!(matches!(code, 0 | 11), "{code}: {err}");
    assert!(found.unwrap().answers.is_some_and(|answers| answers.right > 0 && answers.wrong == 0));
    able.end();
    place.assert_nothing_is_left();
}
