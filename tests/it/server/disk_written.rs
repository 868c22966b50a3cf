//! What a run had its server's disk write, whenever the disk wrote it.

use crate::{
    server::{
        on_a_server::Ended,
        place::{Place, is_here},
    },
    soundness::is_looked_at_late,
};

/// PostgreSQL that never waits for the disk has it write nearly all after the run: 2.24 times what its tables grow by, once in
/// the tables and 1.24 times in its write-ahead log (as much for 50,000, 70,000 and 90,000 datapoints).
#[test]
fn who_never_waits_for_the_disk_is_told_with_all_that_it_writes() {
    if !is_here("postgres") {
        return;
    }
    let (place, settings) = (Place::on_disk(), ["fsync", "wal_init_zero"]);
    let settings = settings.map(|name| format!("backend.postgres.server.{name}=\"off\""));
    let load =
        ["run", "-p", "compressor_insert", "-b", "postgres", "--arrival", "closed", "--vus", "1", "--batch", "1000"];
    let length = ["--operations", "60", "-d", "60s", "--warmup", "0", "--set", &settings[0], "--set", &settings[1]];
    let results = place.results();
    let out = ["--output-format", "json", "--out", results.to_str().unwrap()];
    let ended = Ended::of(&place, &[&load[..], &length, &out].concat());
    ended.assert_sound("postgres");
    let growth = ended.count("/storage/bytes_after") - ended.count("/storage/bytes_before");
    let (server, expected) = (ended.of_role("server"), 2.24 * growth as f64);
    // Half a second is soon over on a busy machine.
    if is_looked_at_late(server) {
        return;
    }
    let most = server["disk_written_most_bytes"].as_f64().unwrap();
    assert!((most / expected - 1.0).abs() < 0.15, "{most} of {expected}: {server:#}");
    assert!(server["disk_written_least_bytes"].as_f64().unwrap() <= 1.15 * expected, "{server:#}");
    place.assert_nothing_is_left();
}
