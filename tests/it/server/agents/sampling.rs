//! An agent beside the database tells what that uses.

use super::{are_here, broker::Broker, document, load, of_server, server};
use crate::server::place::{Place, wait_for_series};
use iotbench_report::Document;

fn remark(document: &Document) -> &str {
    document.remarks.iter().find(|remark| remark.contains("sampled by that agent")).unwrap()
}

#[test]
fn what_the_server_uses_is_told_by_an_agent_beside_it() {
    if !are_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let address = server(&place);
    let mut agent = broker.agent_with(&place, "db1", &["--offer", "sample"]);
    let (nats, out) = (broker.url(), place.results());
    let run = |more: &[&str]| {
        let fixed = ["--url", &address, "--nats", &nats, "--out", out.to_str().unwrap()];
        place.call(&[&load("3s", more)[..], &fixed].concat())
    };
    for (more, code, why) in [
        (["--agents", "db1"], 20, "db1 makes no load"),
        (["--sample", "db1:no-such-name"], 20, "no process of the name no-such-name"),
        (["--sample", "db2:postgres"], 20, "db2"),
        (["--sample", "db1"], 2, "AGENT:WHAT"),
    ] {
        let found = run(&more);
        assert!(found.0 == code && found.2.contains(why), "{more:?}: {found:?}");
    }
    assert_eq!(out.read_dir().unwrap().count(), 0, "refused before anything is made");

    let file = place.root().join("server.pid");
    std::fs::write(&file, format!("{}\n", place.server("postgres"))).unwrap();
    let wish = format!("db1:{}", file.display());
    let (code, text, said) = run(&["--sample", &wish]);
    // 11: a busy machine held the client up.
    assert!(code == 0 || code == 11, "{code}: {said}");
    assert!(said.contains("db1 samples process") && said.contains("(postgres)"), "{said}");
    let document = Document::from_json(&text).unwrap();
    let server = of_server(&document);
    assert!(server.cpu_s > Some(0.0) && server.rss_bytes_max > Some(1 << 20), "{server:#?}");
    assert!(server.samples >= 2 && server.processes_max > Some(3), "{server:#?}");
    assert!(remark(&document).contains("its clock known to ±"), "{:?}", document.remarks);
    // And by the second.
    let series = std::fs::read_to_string(out.join(&document.run_id).join("series.csv")).unwrap();
    let mut lines = series.lines();
    let column = lines.next().unwrap().split(',').position(|name| name == "server_cpu_pct").unwrap();
    assert!(lines.any(|line| line.split(',').nth(column).is_some_and(|cell| !cell.is_empty())), "{series}");
    agent.end();
    place.out(&["server", "stop", "postgres"]);
    place.assert_nothing_is_left();
}

#[test]
fn a_run_outlives_the_agent_that_samples_for_it() {
    if !are_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let address = server(&place);
    let mut agent = broker.agent(&place, "db1");
    let wish = format!("db1:{}", place.server("postgres"));
    let (nats, out) = (broker.url(), place.results());
    let more = ["--url", &address, "--nats", &nats, "--sample", &wish, "--out", out.to_str().unwrap()];
    let run = place.iotbench(&load("9s", &more)).spawn().unwrap();
    wait_for_series(&place);
    agent.kill();
    let (code, document) = document(run);
    assert!(code == Some(0) || code == Some(11), "{:?}", document.verdict);
    assert!(document.verdict.reasons.iter().all(|why| !why.contains("db1")), "{:?}", document.verdict);
    assert_eq!(document.points.stored, Some(document.points.counts.acked));
    assert!(remark(&document).contains("the agent was lost"), "{:?}", document.remarks);
    assert_eq!(of_server(&document).cpu_s, None, "what a part of the time took is not told as that of all");
    place.out(&["server", "stop", "postgres"]);
    place.assert_nothing_is_left();
}
