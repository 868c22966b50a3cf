//! Figures pushed by OTLP to a collector that takes them, asks to wait, refuses, hangs or is gone: none of it changes a run.

mod collector;
mod shape;

use crate::{
    end_to_end::program::{document, iotbench, only_folder, said},
    soundness::assert_sound,
};
use collector::{Collector, Received, TAKEN};
use serde_json::Value;
use shape::Checked;
use std::{
    collections::BTreeSet,
    fs,
    net::TcpListener,
    path::Path,
    process::Output,
    time::{Duration, Instant},
};
use tempfile::TempDir;

const SECRET: &str = "c4n4ry-7f";
const RUN: &[&str] = &["run", "--output-format", "json", "-p", "pmu_write", "--vus", "5", "-d", "3s", "--warmup", "0"];

/// A sound run whose figures are pushed to this address.
fn pushed(out: &TempDir, url: &str) -> (Output, Value) {
    let output = iotbench(out.path(), &[RUN, &["--otlp", url]].concat()).output().unwrap();
    let document = document(&output);
    assert_sound(&document, output.status.code().unwrap(), said(&output));
    (output, document)
}

fn warnings(output: &Output) -> Vec<String> {
    said(output).lines().filter(|line| line.contains("warning: --otlp")).map(str::to_owned).collect()
}

/// Messages of seconds, and the last one: that of the result.
fn messages(received: &[Received]) -> (Vec<Checked>, Checked) {
    let mut messages: Vec<_> = received.iter().map(|request| Checked::of(&request.message())).collect();
    let result = messages.pop().unwrap();
    (messages, result)
}

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)).unwrap()
}

#[test]
fn a_collector_is_given_each_second_and_the_result_in_the_form_of_otlp() {
    let (out, collector) = (tempfile::tempdir().unwrap(), Collector::start(|_| Some(TAKEN)));
    let (output, document) = pushed(&out, &format!("{}/otlp/", collector.url));
    assert_eq!(warnings(&output), Vec::<String>::new());
    let received = collector.received();
    for request in &received {
        assert!(request.head.starts_with("POST /otlp/v1/metrics HTTP/1.1\r\n"), "{}", request.head);
        assert!(request.head.to_lowercase().contains("content-type: application/json\r\n"), "{}", request.head);
    }
    let (seconds, result) = messages(&received);
    assert!(seconds.len() >= 2, "{}", seconds.len());
    for message in seconds.iter().chain([&result]) {
        assert_eq!(message.resource["service.name"], "iotbench");
        assert_eq!(message.resource["iotbench.run.id"], document["run_id"].as_str().unwrap());
        assert_eq!(message.resource["service.instance.id"], document["run_id"].as_str().unwrap());
    }
    for pair in seconds.windows(2) {
        for (place, start) in &pair[0].sums {
            assert_eq!(pair[1].sums[place], *start, "one beginning for all of a run: {place:?}");
            assert!(pair[1].figures[place] >= pair[0].figures[place], "{place:?} fell");
        }
    }
    let last = seconds.last().unwrap();
    let ok = last.figure("iotbench_operations_total", Some(("outcome", "ok")));
    assert!(ok > 0.0 && ok <= document["load"]["ok"].as_f64().unwrap(), "{ok}");
    assert_eq!(last.figure("iotbench_response_seconds", None), ok);
    assert_eq!(last.figure("iotbench_users", None), 5.0);
    assert_eq!((&*last.units["iotbench_response_seconds"], &*last.units["iotbench_content_bytes_total"]), ("s", "By"));
    let (live, own) = (page("live.md"), page("howto/opentelemetry.md"));
    let unknown: Vec<_> = last.names().into_iter().filter(|name| !live.contains(&format!("`{name}`"))).collect();
    assert!(unknown.is_empty(), "no names of Prometheus: {unknown:?}");
    let unknown: Vec<_> = result.names().into_iter().filter(|name| !own.contains(&format!("`{name}`"))).collect();
    assert!(unknown.is_empty(), "not in the page: {unknown:?}");
    assert_eq!(result.figure("iotbench_result_valid", None), f64::from(document["verdict"]["status"] == "valid"));
    let rate = document["throughput"]["operations_per_s"].as_f64().unwrap();
    assert_eq!(result.figure("iotbench_result_operations_per_s", None), rate);
}

#[test]
fn headers_of_the_environment_let_in_and_come_out_nowhere_even_where_a_collector_repeats_them() {
    const ECHO: &str = "HTTP/1.1 403 c4n4ry-7f\r\ncontent-length: 9\r\n\r\nc4n4ry-7f";
    let (out, collector) = (tempfile::tempdir().unwrap(), Collector::start(|_| Some(ECHO)));
    let mut command = iotbench(out.path(), RUN);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url);
    command.env("OTEL_EXPORTER_OTLP_HEADERS", format!("authorization=Basic%20{SECRET},x-scope=lab"));
    let output = command.output().unwrap();
    let (received, text) =
        (collector.received(), format!("{}{}", String::from_utf8_lossy(&output.stdout), said(&output)));
    assert!(received.len() >= 2, "{text}");
    for request in received {
        let head = request.head.to_lowercase();
        assert!(
            head.contains(&format!("authorization: basic {SECRET}\r\n")) && head.contains("x-scope: lab\r\n"),
            "{head}"
        );
    }
    assert!(text.contains("it answers 403") && !text.contains(SECRET), "{text}");
    for entry in only_folder(out.path()).read_dir().unwrap() {
        let file = entry.unwrap().path();
        assert!(!String::from_utf8_lossy(&fs::read(&file).unwrap()).contains(SECRET), "{}", file.display());
    }
}

#[test]
fn who_asks_to_wait_is_sent_the_same_again_when_he_said_and_nothing_is_lost() {
    const LATER: &str = "HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n";
    let (out, collector) =
        (tempfile::tempdir().unwrap(), Collector::start(|number| Some(if number == 0 { LATER } else { TAKEN })));
    let (output, document) = pushed(&out, &collector.url);
    let received = collector.received();
    assert_eq!(received[0].body, received[1].body);
    assert!(received[1].at - received[0].at >= Duration::from_secs(1));
    let distinct: BTreeSet<_> = received.iter().map(|request| &request.body).collect();
    assert_eq!(distinct.len(), received.len() - 1, "nothing else is sent twice");
    let (_, result) = messages(&received);
    assert_eq!(result.figure("iotbench_result_valid", None), f64::from(document["verdict"]["status"] == "valid"));
    let warnings = warnings(&output);
    assert!(warnings.len() == 1 && warnings[0].contains("it answers 503"), "{warnings:?}");
}

#[test]
fn what_is_refused_is_not_sent_again_and_its_number_is_told() {
    const NO: &str = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
    let (out, collector) =
        (tempfile::tempdir().unwrap(), Collector::start(|number| Some(if number == 0 { NO } else { TAKEN })));
    let (output, _) = pushed(&out, &collector.url);
    let received = collector.received();
    let distinct: BTreeSet<_> = received.iter().map(|request| &request.body).collect();
    assert_eq!(distinct.len(), received.len());
    let (warnings, told) = (warnings(&output), format!("1 of {} messages", received.len()));
    assert!(warnings.len() == 2 && warnings[0].contains("it answers 400"), "{warnings:?}");
    assert!(warnings[1].contains(&told) && warnings[1].contains("it answers 400"), "{warnings:?}");
}

#[test]
fn a_collector_that_hangs_changes_no_run_and_is_not_waited_for_long() {
    let (out, collector) = (tempfile::tempdir().unwrap(), Collector::start(|_| None));
    let begun = Instant::now();
    let (output, document) = pushed(&out, &collector.url);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert!(document["load"]["ok"].as_u64() > Some(0));
    assert_eq!(collector.received().len(), 1, "one message is under way at a time");
    let warnings = warnings(&output);
    assert!(warnings.last().unwrap().contains("had not answered when the command ended"), "{warnings:?}");
    let text = warnings.last().unwrap();
    let [dropped, all] = told(text);
    assert!(dropped == all && all >= 3, "{text}");
}

#[test]
fn a_collector_that_is_gone_is_told_once_and_what_was_dropped_at_the_end() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let out = tempfile::tempdir().unwrap();
    let (output, _) = pushed(&out, &format!("http://{nobody}"));
    let warnings = warnings(&output);
    assert!(warnings.len() == 2 && warnings[0].contains(&nobody.to_string()), "{warnings:?}");
    let [dropped, all] = told(&warnings[1]);
    assert!(dropped == all && all >= 3, "{warnings:?}");
}

/// How many of how many messages were dropped.
fn told(warning: &str) -> [u64; 2] {
    let (before, after) = warning.split_once(" of ").unwrap();
    let [dropped, all] = [before.rsplit(' ').next(), after.split(' ').next()];
    [dropped.unwrap().parse().unwrap(), all.unwrap().parse().unwrap()]
}

#[test]
fn an_address_that_cannot_be_pushed_to_is_refused_before_anything_is_run() {
    let out = tempfile::tempdir().unwrap();
    for address in [&format!("http://me:{SECRET}@h"), &format!("grpc://{SECRET}"), SECRET] {
        let output = iotbench(out.path(), &[RUN, &["--otlp", address]].concat()).output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("--otlp: ") && !said.contains(SECRET), "{said}");
    }
    assert_eq!(out.path().read_dir().unwrap().count(), 0);
}
