//! Words of the command line and of profiles: units, limits, addresses, names. What is read, shown and read again is the same, and
//! no password is shown.

#![no_main]

use iotbench_broker::Via;
use iotbench_cluster::{AgentSelector, AllowedTarget, Broker, What, Wish};
use iotbench_core::{Endpoint, Layout, Name};
use iotbench_engine::{
    Bytes, Count, Criterion, Datapoints, RampState, Rate, ScenarioAction, Share, Span, Strategy, VerifyMode,
};
use iotbench_simulator::Format;
use libfuzzer_sys::fuzz_target;
use std::{
    fmt::{Debug, Display},
    str::FromStr,
};

fn comes_back<T: FromStr<Err: Debug + Display> + Display + PartialEq + Debug>(text: &str) {
    match text.parse::<T>() {
        Ok(read) => assert_eq!(read.to_string().parse::<T>().expect(text), read, "{text:?} is shown as {read}"),
        Err(error) => drop(error.to_string()),
    }
}

fn reads<T: FromStr<Err: Display>>(text: &str) {
    text.parse::<T>().map_err(|error| error.to_string()).ok();
}

/// Credentials of the URL are in no form that is shown, and to another process nothing is lost.
fn endpoint(text: &str) {
    let Ok(endpoint) = text.parse::<Endpoint>() else { return };
    // No database is there, and what looks like the letter of a drive has the library forget the host of what it wrote itself.
    if endpoint.expose().scheme() == "file" {
        return;
    }
    let again: Endpoint = endpoint.expose_text().parse().unwrap_or_else(|e| panic!("{e}: {}", endpoint.expose_text()));
    assert_eq!(again, endpoint);
    let shown = format!("{endpoint} {endpoint:?}");
    let url = endpoint.expose();
    if url.cannot_be_a_base() {
        // All of it is a path.
        assert!(!shown.contains('@'), "{shown}");
        return;
    }
    // What is long enough to be seen apart from the rest.
    for secret in [url.password(), url.query()].into_iter().flatten().filter(|secret| secret.len() >= 8) {
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let elsewhere = [url.scheme(), "://", url.host_str().unwrap_or_default(), &port, url.path()].concat();
        assert!(elsewhere.contains(secret) || !shown.contains(secret), "{shown}");
    }
}

fn broker(text: &str) {
    let Ok(broker) = Broker::new(text, None, None) else { return };
    let shown = broker.shown();
    let again = Broker::new(&shown, None, None).unwrap_or_else(|e| panic!("{shown}: {e}"));
    assert_eq!(again.shown(), shown);
}

fn via(text: &str) {
    match text.parse::<Via>() {
        Ok(via) => assert!(!via.to_string().is_empty()),
        // The address is never repeated.
        Err(error) => drop(error.to_string()),
    }
}

fuzz_target!(|text: &str| {
    comes_back::<Span>(text);
    comes_back::<Count>(text);
    comes_back::<Rate>(text);
    comes_back::<Bytes>(text);
    comes_back::<Share>(text);
    comes_back::<Datapoints>(text);
    comes_back::<RampState>(text);
    comes_back::<Strategy>(text);
    comes_back::<VerifyMode>(text);
    comes_back::<Layout>(text);
    comes_back::<AgentSelector>(text);
    comes_back::<What>(text);
    comes_back::<Wish>(text);
    reads::<Criterion>(text);
    reads::<ScenarioAction>(text);
    reads::<AllowedTarget>(text);
    reads::<Format>(text);
    if let Ok(name) = Name::new(text) {
        assert_eq!(name.as_str(), text);
    }
    endpoint(text);
    broker(text);
    via(text);
});
