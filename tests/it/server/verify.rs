//! A run that is over is read back from its server: from one that is started again on the folder that the run kept, and over a
//! transport that may lose what it carries.

use crate::{
    server::{
        client::http,
        on_a_server::sound,
        place::{Place, is_here},
    },
    soundness::is_looked_at_late,
};
use serde_json::Value;
use url::Url;

/// A load that leaves what it wrote: the document of the run.
fn run_and_keep(place: &Place, backend: &str, more: &[&str]) -> Value {
    let out = place.results();
    let load = ["run", "-p", "pmu_write", "--vus", "5", "-d", "2s", "--warmup", "0", "--keep", "-b", backend];
    let told = ["--output-format", "json", "--out", out.to_str().unwrap()];
    sound(place, &[&load[..], &told, more].concat())
}

/// `iotbench verify`: its exit code and what it found.
fn verify(place: &Place, run: &Value, more: &[&str]) -> (i32, Value) {
    let folder = place.results().join(run["run_id"].as_str().unwrap());
    let arguments = [&["verify", folder.to_str().unwrap(), "--full", "--json"], more].concat();
    let (code, out, err) = place.call(&arguments);
    (code, serde_json::from_str(&out).unwrap_or_else(|_| Value::from(err)))
}

#[test]
fn a_kept_server_is_started_again_to_be_verified_and_stopped_again() {
    for backend in ["postgres", "mariadb"].into_iter().filter(|backend| is_here(backend)) {
        let place = Place::new();
        let run = run_and_keep(&place, backend, &["--server-memory", "64MiB"]);
        let folders = place.folders();
        for _ in 0..2 {
            let (code, found) = verify(&place, &run, &[]);
            assert_eq!((code, &found["clean"]), (0, &true.into()), "{backend}: {found:#}");
            assert_eq!((&found["audit"]["right"], &found["audit"]["lost"]), (&run["points"]["acked"], &0.into()));
            assert!(found["audit"]["right"].as_u64() > Some(0), "{backend}: {found:#}");
            assert_eq!(
                (place.processes(), place.folders()),
                (Vec::new(), folders.clone()),
                "{backend}: only the folder is left"
            );
        }
        assert!(place.out(&["clean"]).starts_with("removed "));
        place.assert_nothing_is_left();
        let (code, said) = verify(&place, &run, &[]);
        assert!(code == 2 && said.to_string().contains("no server of"), "{backend}: {code} {said}");
    }
}

/// Nobody answers a datagram: what is missing is told as the part that was delivered, and is no fault of the run.
#[test]
fn of_datagrams_the_part_that_was_delivered_is_told() {
    if !is_here("influxdb") {
        return;
    }
    let place = Place::new();
    let address = place.started(&["server", "start", "influxdb"]).trim().to_owned();
    let run = run_and_keep(&place, "influxdb", &["--url", &address, "--set", "backend.influxdb.transport=udp"]);
    let (points, delivered) = (&run["points"], run["audit"]["delivered"].as_f64().unwrap());
    let [stored, generated] = ["stored", "generated"].map(|count| points[count].as_f64().unwrap());
    assert!(stored > 0.0 && (delivered - stored / generated).abs() < 2e-3, "{points:#} {:#}", run["audit"]);
    let sent = run["throughput"]["bytes_per_s"].as_f64().unwrap() * run["measured"]["length_s"].as_f64().unwrap();
    let client = run["resources"].as_array().unwrap().iter().find(|of| of["role"] == "client").unwrap();
    // On a busy machine the last counts of a connection that ended may be missed: then it is a bound.
    let told = client["net_tx_bytes"].as_f64().or(client["net_tx_least_bytes"].as_f64());
    assert!(sent > 0.0 && (told >= Some(0.999 * sent) || is_looked_at_late(client)), "{client:#}");

    let url: Url = address.parse().unwrap();
    let delete = "db=iotbench&q=DELETE+FROM+iotbench_pmu_write+WHERE+device+%3D+%270%27";
    http(&url, "POST", "/query", "application/x-www-form-urlencoded", delete);
    let (code, found) = verify(&place, &run, &["--url", &address]);
    assert_eq!((code, &found["clean"], &found["losses_declared"]), (0, &true.into(), &true.into()), "{found:#}");
    let left = found["audit"]["delivered"].as_f64().unwrap();
    assert!(found["audit"]["lost"].as_u64() > Some(0) && left < delivered, "{delivered} before: {found:#}");
    place.out(&["server", "stop", "influxdb"]);
    place.assert_nothing_is_left();
}
