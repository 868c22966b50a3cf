//! A server of the user's on this machine is no stranger.

use crate::{
    server::{
        on_a_server::Ended,
        place::{Place, is_here},
    },
    soundness::is_looked_at_late,
};

#[test]
fn a_server_at_an_address_of_this_machine_is_found_and_sampled() {
    if !is_here("postgres") {
        return;
    }
    let place = Place::new();
    let url = place.started(&["server", "start", "postgres"]).trim().to_owned();
    let results = place.results();
    let load =
        ["run", "-p", "compressor_insert", "-b", "postgres", "--arrival", "closed", "--vus", "4", "--batch", "100"];
    let rest = ["--warmup", "0", "--output-format", "json", "--out", results.to_str().unwrap(), "--url", &url];
    // Some seconds of work for the server, however few processors it is left.
    let length = ["--operations", "3000", "-d", "120s"];
    let ended = Ended::of(&place, &[&load[..], &length, &rest].concat());
    ended.assert_sound("postgres");
    if ["client", "server", "machine"].into_iter().any(|role| is_looked_at_late(ended.of_role(role))) {
        place.call(&["server", "stop", "postgres"]);
        return;
    }
    let cpu_s = |role| ended.of_role(role)["cpu_s"].as_f64().unwrap();
    let (client, server, machine) = (cpu_s("client"), cpu_s("server"), cpu_s("machine"));
    assert!(server > 0.1, "{:#}", ended.document["resources"]);
    let others = &ended.document["others"];
    assert!(others["not_judged"].is_null(), "{others:#}");
    // Others are what is left of the machine, or less: kernel threads are nobody's. Had the server been a stranger, it were more.
    let processors = std::thread::available_parallelism().unwrap().get() as f64;
    let by_share = others["cpu_pct_mean"].as_f64().unwrap() / 100.0 * processors * others["seconds"].as_f64().unwrap();
    // Where others are busy, what they did between two looks is more than all of the server's.
    let is_quiet = machine - client - server < server;
    assert!(
        !is_quiet || by_share < machine - client - server / 2.0,
        "{by_share} s of {machine} s: {:#}",
        ended.document["resources"]
    );
    place.call(&["server", "stop", "postgres"]);
    place.assert_nothing_is_left();
}
