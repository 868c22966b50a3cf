//! How late the server is on this machine. Ignored by default because the answer is the machine's, not the code's:
//! `cargo test -p iotbench-oracle-server --release --test it -- --ignored --nocapture accuracy::`, on an idle machine.

use std::time::{Duration, Instant};

use iotbench_oracle_server::{
    Discipline, Program, Server, ServiceTime, Settings,
    wire::{Client, Request},
};

#[test]
#[ignore = "measures the machine"]
fn service_times_are_not_quantised_by_a_millisecond_timer() {
    let service = Duration::from_micros(1_300);
    let program = Program { service: ServiceTime::Constant(service), discipline: Discipline::Parallel, faults: vec![] };
    let server = Server::start(Settings::new(program, Instant::now())).unwrap();
    let mut client = Client::connect(server.address()).unwrap();
    for id in 0..2_000 {
        client.call(&Request { id, points: 1, payload: &[0; 100] }).unwrap();
    }
    let mut late_ns: Vec<u64> = server.ledger().service_ns().map(|service_ns| service_ns - 1_300_000).collect();
    late_ns.sort_unstable();
    let [p50_us, p99_us, max_us] = [1_000, 1_980, 1_999].map(|rank| late_ns[rank] / 1_000);
    println!("late by p50 {p50_us} us, p99 {p99_us} us, max {max_us} us");
    assert!(p50_us <= 200, "p50 {p50_us} us");
    assert!(p99_us <= 1_000, "p99 {p99_us} us");
}
