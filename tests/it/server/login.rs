//! Passwords that are wrong, and one that is changed during a run: said at once, and not tried again and again.

use crate::server::{
    client::say,
    on_a_server::{arguments, run},
    place::{Place, SERVERS, is_here, known_servers, wait_for_series},
    proxy::Proxy,
};
use serde_json::Value;
use std::fs;
use url::Url;

const USERS: usize = 5;
/// Wherever one is used, so often a wrong password may be tried.
const MAX_ATTEMPTS: usize = 2 * USERS;

/// A server, and its address for a user who is let in.
fn start(place: &Place, backend: &str) -> (Url, Url) {
    if ["kairosdb", "clickhouse"].contains(&backend) {
        // No setting gives it another user than its own.
        let server: Url = place.started(&["server", "start", backend]).parse().unwrap();
        return (server.clone(), server);
    }
    let server = start_with_sensor(place, backend);
    let mut user = server.clone();
    user.set_username("sensor").unwrap();
    (server, with_password(&user, "right"))
}

/// A server with the user `sensor`, whose password is `right`.
fn start_with_sensor(place: &Place, backend: &str) -> Url {
    match backend {
        "questdb" => return start_with(place, backend, ["http.user=sensor", "http.password=right"]),
        "victoriametrics" => {
            return start_with(place, backend, ["httpAuth.username=sensor", "httpAuth.password=right"]);
        }
        _ => {}
    }
    let rules = place.root().join("pg_hba.conf");
    fs::write(&rules, "host all sensor 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n").unwrap();
    let hba_file = format!("hba_file={}", rules.display());
    let settings: &[&str] = match backend {
        "mariadb" => &["--set", "skip-name-resolve=1"],
        "postgres" => &["--set", &hba_file],
        _ => &[],
    };
    let mut server: Url = place.started(&[&["server", "start", backend], settings].concat()).parse().unwrap();
    let create = match backend {
        "mariadb" => "CREATE USER sensor IDENTIFIED BY 'right'; GRANT ALL ON *.* TO sensor",
        "postgres" => "CREATE ROLE sensor LOGIN SUPERUSER PASSWORD 'right'",
        "mongodb" => r#"{"createUser": "sensor", "pwd": "right", "roles": ["root"]}"#,
        _ => "CREATE USER sensor WITH PASSWORD 'right' WITH ALL PRIVILEGES",
    };
    if backend == "mongodb" {
        server.set_path("/admin");
    }
    say(backend, &server, create);
    server
}

fn start_with(place: &Place, backend: &str, settings: [&str; 2]) -> Url {
    let [user, password] = settings;
    place.started(&["server", "start", backend, "--set", user, "--set", password]).trim().parse().unwrap()
}

fn with_password(url: &Url, password: &str) -> Url {
    let mut url = url.clone();
    url.set_password(Some(password)).unwrap();
    url
}

/// Gives the user another password, and ends what was opened with the old one.
fn change_password(backend: &str, server: &Url, user: &Url) {
    let change = match backend {
        "mariadb" => "SET PASSWORD FOR sensor = PASSWORD('changed'); KILL USER sensor",
        "postgres" => {
            "ALTER ROLE sensor PASSWORD 'changed'; \
             SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'sensor'"
        }
        // A connection outlives the password that it was opened with, and not the user.
        "mongodb" => r#"{"dropUser": "sensor"}"#,
        _ => "SET PASSWORD FOR sensor = 'changed'",
    };
    let who = if ["influxdb", "mongodb"].contains(&backend) { user } else { server };
    say(backend, who, change);
}

#[test]
fn a_wrong_password_is_told_at_once() {
    for backend in known_servers() {
        let place = Place::new();
        let (server, user) = start(&place, backend);
        let proxy = Proxy::to(&server);
        let wrong = run(&place, backend, &with_password(&proxy.url(&user), "wr0ng"), USERS, &[]);
        assert_eq!(wrong.code, 21, "{backend}: {} {}", wrong.reasons(), wrong.err);
        assert!(wrong.reasons().contains("auth: "), "{}", wrong.reasons());
        assert!(!wrong.document.to_string().contains("wr0ng") && !wrong.err.contains("wr0ng"));
        let attempts = proxy.take_count();
        assert!((1..=MAX_ATTEMPTS).contains(&attempts), "{backend}: {attempts}");
        let right = run(&place, backend, &proxy.url(&user), USERS, &[]);
        right.assert_sound(backend);
        assert!(proxy.take_count() > USERS);
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}

#[test]
fn a_password_that_is_changed_ends_the_run() {
    // The others' users and passwords are what they were at the server's start.
    for backend in SERVERS.into_iter().filter(|b| is_here(b)) {
        let place = Place::new();
        let (server, user) = start(&place, backend);
        let proxy = Proxy::to(&server);
        let (url, out, users) = (proxy.url(&user), place.results(), USERS.to_string());
        let load = ["--vus", &users, "--connections", &users, "-d", "1h", "--url", url.as_str()];
        let load = [&load[..], &["--out", out.to_str().unwrap()]].concat();
        let run = place.iotbench(&arguments(backend, &load)).spawn().unwrap();
        wait_for_series(&place);
        proxy.take_count();
        change_password(backend, &server, &user);
        let output = run.wait_with_output().unwrap();
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(21), "{backend}: {:#}", document["verdict"]);
        assert!(document["points"]["acked"].as_u64() > Some(0), "{backend}");
        let attempts = proxy.take_count();
        assert!(attempts <= MAX_ATTEMPTS, "{backend}: {attempts}");
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}
