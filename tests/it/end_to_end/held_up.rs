//! A client that was really held up: what it did to the figures is told, and the other figures are as good as before.

use crate::{
    end_to_end::{
        compare::influxdb,
        interruption::wait_for,
        program::{document, iotbench, said},
    },
    soundness::at_most_us,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{fs, time::Duration};

/// For how long the client is stopped.
const STOP: Duration = Duration::from_millis(400);
/// What a response of which that is no part may take on a machine that others use.
const LONG_US: f64 = 150_000.0;

/// An open loop of 1,600 operations that a server answers within 5 ms each, on so few connections that what became due while the
/// client was stopped has to wait for each other afterwards.
fn stopped_once() -> Value {
    let results = tempfile::tempdir().unwrap();
    let server = influxdb(Duration::from_millis(5));
    let url = format!("http://{}", server.address());
    let load = ["-p", "machine_write", "--arrival", "constant", "-r", "200", "-d", "8s", "--warmup", "0", "-c", "4"];
    let target = ["-b", "influxdb", "--url", &url, "--verify", "none"];
    let arguments = [&["run", "--output-format", "json"], &load[..], &target].concat();
    let run = iotbench(results.path(), &arguments).spawn().unwrap();
    wait_for("a second of the load", || {
        let folder = results.path().read_dir().ok().and_then(|mut entries| entries.next()).and_then(Result::ok);
        let series = folder.and_then(|folder| fs::read_to_string(folder.path().join("series.csv")).ok());
        series.is_some_and(|text| text.lines().count() > 1)
    });
    let pid = Pid::from_child(&run);
    kill_process(pid, Signal::STOP).unwrap();
    std::thread::sleep(STOP);
    kill_process(pid, Signal::CONT).unwrap();
    let output = run.wait_with_output().unwrap();
    let document = document(&output);
    assert_eq!(document["load"]["ok"], 1_600, "{}", said(&output));
    document
}

/// Eighty operations of 1,600 became due in the stop: the 99th percentile is made of them, and neither the median nor p90 is. A
/// machine that stands still by itself makes more figures the client's; then it is tried anew, ten times at most.
#[test]
fn a_stop_of_the_client_is_in_the_ranges_of_the_figures_that_it_made() {
    let is_its_own = |document: &Value| {
        let response = &document["latency"]["by_operation"]["response"];
        response["ranges"]["p99"]["low"].as_f64().is_some_and(|us| us < LONG_US)
            && at_most_us(response, "p90").is_some_and(|us| us < LONG_US)
            // At the end the server that keeps nothing is told to have lost it.
            && !document["verdict"]["reasons"].to_string().contains("the client was the limit")
    };
    let (mut tries, mut found) = (1, stopped_once());
    while !is_its_own(&found) && tries < 10 {
        (tries, found) = (tries + 1, stopped_once());
    }
    let response = &found["latency"]["by_operation"]["response"];
    assert!(is_its_own(&found), "{response:#} {:#}", found["verdict"]);
    let [with_us, p50_us] = ["p99", "p50"].map(|name| at_most_us(response, name).unwrap());
    // 16 are above it, 80 ms of the schedule.
    assert!(with_us >= 320_000.0, "{response:#}");
    assert!(response["p99"].is_null() && p50_us < LONG_US, "{response:#}");
    let remarks = found["remarks"].to_string();
    assert!(remarks.contains("it could not run for") && remarks.contains("told as ranges"), "{remarks}");
}
