//! Encrypted connections to servers with each kind of certificate, and to servers that do not encrypt.

use crate::server::{
    certificates::{Authority, Certificate, self_signed},
    encrypting::EncryptingProxy,
    on_a_server::{Ended, run},
    place::{Place, SERVERS, is_here, known_servers},
};
use std::net::TcpListener;
use url::Url;

/// This machine under a name that is not the loopback's: what holds here by default holds for every other machine.
const HOST: &str = "0.0.0.0";

/// What is said of a certificate whose authority nobody named.
const UNTRUSTED: &str = "name its authority by the setting ca";

/// A server with this certificate, its address for encrypted connections, and who encrypts for one that cannot.
fn start(place: &Place, backend: &str, certificate: &Certificate) -> (Url, Option<EncryptingProxy>) {
    match backend {
        "questdb" | "clickhouse" => {
            let proxy =
                EncryptingProxy::to(&place.started(&["server", "start", backend]).trim().parse().unwrap(), certificate);
            (encrypted(proxy.url().as_str()), Some(proxy))
        }
        "kairosdb" => (start_kairosdb(place, certificate), None),
        _ => (start_set(place, backend, certificate), None),
    }
}

/// KairosDB takes encrypted connections at a port of their own.
fn start_kairosdb(place: &Place, certificate: &Certificate) -> Url {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let store = certificate.key_store(place.root());
    let port_setting = format!("jetty.ssl.port={port}");
    let file = format!("jetty.ssl.keystore.path={}", store.file.display());
    let password = format!("jetty.ssl.keystore.password={}", store.password);
    let start = ["server", "start", "kairosdb", "--set", &port_setting, "--set", &file, "--set", &password];
    let mut url = encrypted(&place.started(&start));
    url.set_port(Some(port)).unwrap();
    url
}

/// A server whose settings name the certificate.
fn start_set(place: &Place, backend: &str, certificate: &Certificate) -> Url {
    let (file, key) = (certificate.file.display(), certificate.key.display());
    let settings = match backend {
        "mariadb" => vec![format!("ssl-cert={file}"), format!("ssl-key={key}")],
        "postgres" => vec!["ssl=on".into(), format!("ssl_cert_file={file}"), format!("ssl_key_file={key}")],
        // Readiness is asked in plain text.
        "mongodb" => vec!["tlsMode=preferTLS".into(), format!("tlsCertificateKeyFile={key}")],
        "victoriametrics" => vec!["tls=true".into(), format!("tlsCertFile={file}"), format!("tlsKeyFile={key}")],
        _ => vec![
            "http.https-enabled=true".into(),
            format!("http.https-certificate={file}"),
            format!("http.https-private-key={key}"),
        ],
    };
    let settings = settings.iter().flat_map(|setting| ["--set", setting]);
    let arguments: Vec<&str> = ["server", "start", backend].into_iter().chain(settings).collect();
    encrypted(&place.started(&arguments))
}

/// An address as printed, for encrypted connections to [`HOST`].
fn encrypted(address: &str) -> Url {
    let mut url: Url = address.trim().parse().unwrap();
    url.set_host(Some(HOST)).unwrap();
    if url.scheme() == "http" {
        url.set_scheme("https").unwrap();
    }
    url
}

/// KairosDB wants its key in a form that another program writes.
#[expect(clippy::print_stderr, reason = "who reads the tests' output sees what was not tested")]
fn can_be_encrypted(backend: &str) -> bool {
    let can = backend != "kairosdb" || Certificate::can_be_key_store();
    if !can {
        assert!(std::env::var_os("IOTBENCH_REQUIRE_SERVERS").is_none(), "openssl not found");
        eprintln!("skipped: openssl not found");
    }
    can
}

fn ca(backend: &str, authority: &Authority) -> String {
    format!("backend.{backend}.ca={}", authority.file.display())
}

/// Refused before anything was asked of the server, with words that say why.
fn assert_refused(ended: &Ended, case: &str, words: &str) {
    let reasons = ended.reasons();
    assert_eq!(ended.code, 22, "{case}: {reasons} {}", ended.err);
    assert_eq!(ended.document["verdict"]["status"], "failed", "{case}");
    assert_eq!(ended.document["verdict"]["reasons"].as_array().unwrap().len(), 1, "{case}: {reasons}");
    assert_eq!(ended.count("/load/started"), 0, "{case}");
    assert!(reasons.contains(words), "{case}: {reasons}");
}

fn assert_accepted(ended: &Ended, case: &str) {
    ended.assert_sound(case);
    assert!(ended.count("/points/acked") > 0, "{case}");
}

#[test]
fn a_certificate_counts_for_its_host_and_under_its_authority() {
    for backend in known_servers().filter(|b| can_be_encrypted(b)) {
        let place = Place::new();
        let (ours, another) = (Authority::new(&place, "ours"), Authority::new(&place, "another"));
        let (url, _proxy) = start(&place, backend, &ours.issue(&place, backend, HOST));
        let trusted = ca(backend, &ours);
        assert_refused(&run(&place, backend, &url, 2, &[]), backend, UNTRUSTED);
        let other = run(&place, backend, &url, 2, &["--set", &ca(backend, &another)]);
        assert_refused(&other, backend, UNTRUSTED);
        let mut elsewhere = url.clone();
        elsewhere.set_host(Some("127.0.0.1")).unwrap();
        match backend {
            "mongodb" => elsewhere.set_query(Some("tls=true")),
            "mariadb" | "postgres" => elsewhere.set_query(Some("sslmode=verify-full")),
            _ => {}
        }
        assert_refused(
            &run(&place, backend, &elsewhere, 2, &["--set", &trusted]),
            backend,
            "a host name that the certificate holds",
        );
        assert_accepted(&run(&place, backend, &url, 2, &["--set", &trusted]), backend);
        let insecure = run(&place, backend, &url, 2, &["--insecure"]);
        assert_accepted(&insecure, backend);
        let remarks = insecure.document.to_string();
        assert!(remarks.contains("certificates were not checked"), "{remarks}");
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}

#[test]
fn expired_and_self_signed_certificates_are_refused() {
    // MongoDB does not even start with a certificate that has expired; what speaks HTTP has one client for all.
    for backend in SERVERS.into_iter().filter(|&b| b != "mongodb" && is_here(b)) {
        let place = Place::new();
        let authority = Authority::new(&place, "ours");
        let trusted = ca(backend, &authority);
        let (expired, _) = start(&place, backend, &authority.issue_expired(&place, backend, HOST));
        assert_refused(&run(&place, backend, &expired, 2, &["--set", &trusted]), backend, "needs a new certificate");
        place.out(&["server", "stop", backend]);
        let (alone, _) = start(&place, backend, &self_signed(&place, backend, HOST));
        for more in [&[][..], &["--set", &trusted]] {
            assert_refused(&run(&place, backend, &alone, 2, more), backend, UNTRUSTED);
        }
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}

#[test]
fn a_server_that_does_not_encrypt_is_refused_and_gets_no_data() {
    for backend in known_servers() {
        let place = Place::new();
        let plain = encrypted(&place.started(&["server", "start", backend]));
        // Who does not check whom he talks to still talks to nobody else.
        for more in [&[][..], &["--insecure"]] {
            let ended = run(&place, backend, &plain, 2, more);
            let reasons = ended.reasons();
            if ["questdb", "clickhouse"].contains(&backend) && reasons.contains("no answer within 5 s") {
                // By what is random in a handshake it refuses it, ends the connection, or waits for the rest of a request.
                assert_eq!((ended.code, ended.count("/load/started")), (20, 0), "{reasons}");
            } else if reasons.contains("handshake eof") {
                assert_refused(&ended, backend, "it may not encrypt");
            } else {
                assert_refused(&ended, backend, "the server does not encrypt");
            }
        }
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}
