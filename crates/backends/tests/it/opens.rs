//! What a backend tells beforehand that it will open: an agent allows nothing else.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use iotbench_backends::BACKENDS;
use iotbench_core::{Backend, Endpoint, Opens, Settings, Target};
use serde_json::{Value, json};
use std::path::PathBuf;

fn backend(name: &str) -> &'static dyn Backend {
    *BACKENDS.iter().find(|backend| backend.info().name == name).unwrap()
}

fn of(name: &str, url: &str, settings: Value) -> Opens {
    let endpoints: Vec<Endpoint> = vec![url.parse().unwrap()];
    let settings = Settings(serde_json::from_value(settings).unwrap());
    backend(name).opens(&Target { endpoints, ..Target::default() }, &settings).unwrap()
}

/// An address as each backend takes it, with a user.
fn address(name: &str) -> &'static str {
    match name {
        "postgres" => "postgres://me@h/",
        "mariadb" => "mysql://me@h/",
        "mongodb" => "mongodb://me@h/",
        "influxdb2" => "https://h/",
        _ => "https://me@h/",
    }
}

/// By the words of its help: a new setting that names one is not forgotten.
#[test]
fn every_setting_that_names_a_file_or_an_address_is_told() {
    let mut found = 0;
    for backend in BACKENDS.iter().filter(|backend| !backend.info().capabilities.embedded) {
        for setting in backend.info().settings {
            let help = setting.help.to_lowercase();
            if help.contains("file") || help.contains("pem") || help.contains("path") || help.contains("folder") {
                let opens = of(backend.info().name, address(backend.info().name), json!({ setting.key: "/named" }));
                assert_eq!(opens.files, [PathBuf::from("/named")], "{}.{}", backend.info().name, setting.key);
                found += 1;
            }
            if setting.help.contains("HOST") || help.contains("port") && !help.contains("transport") {
                let over = match backend.info().name {
                    "influxdb" => json!({ "transport": "udp", setting.key: "named:77" }),
                    _ => json!({ "protocol": "telnet", setting.key: "named:77" }),
                };
                let opens = of(backend.info().name, address(backend.info().name), over);
                assert_eq!(
                    opens.addresses.last(),
                    Some(&("named".to_owned(), 77)),
                    "{}.{}",
                    backend.info().name,
                    setting.key
                );
                found += 1;
            }
        }
    }
    assert!(found >= 18, "{found}");
}

#[test]
fn ways_beside_the_address_are_told_where_they_are_used() {
    let h = |port| ("h".to_owned(), port);
    assert_eq!(of("influxdb", "http://h/", json!({})).addresses, [h(8086)]);
    assert_eq!(of("influxdb", "http://h/", json!({ "transport": "udp" })).addresses, [h(8086), h(8089)]);
    let udp = of("influxdb", "http://h/?udp=other:1", json!({ "transport": "udp" }));
    assert_eq!(udp.addresses, [h(8086), ("other".into(), 1)]);
    assert_eq!(of("kairosdb", "http://h/", json!({ "protocol": "telnet" })).addresses, [h(8080), h(4242)]);
    let telnet = of("kairosdb", "http://h/?telnet=other:1", json!({ "protocol": "telnet" }));
    assert_eq!(telnet.addresses, [h(8080), ("other".into(), 1)]);
    assert_eq!(of("mariadb", "mysql:///?socket=/run/s", json!({})).sockets, [PathBuf::from("/run/s")]);
    assert_eq!(of("postgres", "postgres:///d?host=/run/p", json!({})).sockets, [PathBuf::from("/run/p")]);
    let of_url = of("mongodb", "mongodb://me:p@h:1/?tls=true&tlsCAFile=/ca.pem", json!({}));
    assert_eq!((of_url.addresses, of_url.files), (vec![h(1)], vec![PathBuf::from("/ca.pem")]));
}

/// Its driver reads an address otherwise than others do: what it would connect to counts.
#[test]
fn of_an_address_that_can_be_read_in_two_ways_the_drivers_is_told() {
    let url = "mongodb://allowed:27017?x=@evil:27017/";
    let target = Target { endpoints: vec![url.parse().unwrap()], ..Target::default() };
    match backend("mongodb").opens(&target, &Settings::default()) {
        Ok(opens) => assert!(opens.addresses.iter().all(|(host, _)| host == "evil"), "{opens:?}"),
        Err(refused) => assert_eq!(refused.key, "url"),
    }
}

/// The token of a pod, which its driver reads by itself.
#[test]
fn what_would_be_read_where_nobody_named_it_is_refused() {
    let url = "mongodb://h/?authMechanism=MONGODB-OIDC&authMechanismProperties=ENVIRONMENT:k8s";
    let target = Target { endpoints: vec![url.parse().unwrap()], ..Target::default() };
    let refused = backend("mongodb").opens(&target, &Settings::default()).unwrap_err();
    assert!(refused.key == "url" && refused.message.contains("MONGODB-OIDC"), "{refused}");
}
