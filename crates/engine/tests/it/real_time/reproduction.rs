//! The same seed sends the same bytes.

use crate::real_time::oracle::{OPEN, Request, parallel};
use iotbench_oracle_server::{Entry, backend::identity};
use std::collections::BTreeMap;

fn sent(set: &[&str]) -> Vec<Entry> {
    let server = parallel(0);
    let mut all = vec!["operations=600", "rate=1000", "seed=7", "phases.duration=20s", "devices=3"];
    all.extend_from_slice(set);
    let account = Request::new(OPEN, &all).run(server.address());
    assert_eq!(account.outcome.load.ok, 600);
    server.ledger().entries
}

/// What was sent, whatever the order.
fn content(entries: &[Entry]) -> Vec<(u64, u64, u32)> {
    let mut content: Vec<_> = entries.iter().map(|e| (e.id, e.payload_hash, e.points)).collect();
    content.sort_unstable();
    content
}

#[test]
fn runs_of_one_seed_send_the_same_datapoints() {
    let one = content(&sent(&["arrival=poisson"]));
    assert_eq!(one.len(), 600);
    assert_eq!(one, content(&sent(&["arrival=poisson"])));
    assert_eq!(one, content(&sent(&["arrival=constant", "connections=8"])), "the pace does not change the data");
    let other = content(&sent(&["seed=8"]));
    assert!(one.iter().zip(&other).all(|(a, b)| a.0 == b.0 && a.1 != b.1), "another seed is other data");
}

#[test]
fn on_one_connection_every_device_sends_in_the_same_order() {
    let by_device = |entries: &[Entry]| {
        let mut orders: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
        for entry in entries {
            let (device, index) = identity(entry.id);
            orders.entry(device).or_default().push((index, entry.payload_hash));
        }
        orders
    };
    let one = by_device(&sent(&["connections=1"]));
    assert_eq!(one.len(), 3);
    assert_eq!(one, by_device(&sent(&["connections=1"])));
}
