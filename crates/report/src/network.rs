//! What went over the network, in words: a figure, or its lower bound. Pure.

use crate::{
    document::Resources,
    terminal::figure::{NONE, bytes},
};

/// A figure, or `≥ 30.1 MiB`.
pub(crate) fn received(resources: &Resources) -> String {
    of(resources.net_rx_bytes, resources.net_rx_least_bytes)
}

/// The same of what was sent.
pub(crate) fn sent(resources: &Resources) -> String {
    of(resources.net_tx_bytes, resources.net_tx_least_bytes)
}

/// The same of several parts of a system together, as far as anything is known of them.
pub(crate) fn received_of_all(parts: &[&Resources]) -> String {
    together(parts, |part| (part.net_rx_bytes, part.net_rx_least_bytes))
}

/// The same of what was sent.
pub(crate) fn sent_of_all(parts: &[&Resources]) -> String {
    together(parts, |part| (part.net_tx_bytes, part.net_tx_least_bytes))
}

fn of(exact: Option<u64>, least: Option<u64>) -> String {
    match (exact, least) {
        (Some(exact), _) => bytes(exact),
        (None, Some(least)) => format!("≥ {}", bytes(least)),
        (None, None) => NONE.into(),
    }
}

fn together(parts: &[&Resources], figures: impl Fn(&Resources) -> (Option<u64>, Option<u64>)) -> String {
    let known = parts.iter().map(|part| figures(part)).filter(|(exact, least)| exact.or(*least).is_some());
    let sum = known.reduce(|(exact, least), (more, more_least)| {
        let least = least.or(exact).zip(more_least.or(more));
        (exact.zip(more).map(|(a, b)| a + b), least.map(|(a, b)| a + b))
    });
    sum.map_or_else(|| NONE.into(), |(exact, least)| of(exact, least))
}
