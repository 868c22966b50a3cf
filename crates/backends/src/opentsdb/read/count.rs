//! Counts what is stored.

use crate::opentsdb::{
    client::Client,
    document::{Document, count_of},
    question::{ALL, Asked},
};
use iotbench_backend_kit::metrics::counts;
use iotbench_core::{Counts, Error, SignalId, TableSpec};

/// So many metrics are counted at once: the server holds what it counts.
const METRICS_AT_ONCE: usize = 4;

/// Datapoints and values of the first `signals` signals, and the bytes of the answers.
pub(crate) async fn count(client: &mut Client, table: &TableSpec, signals: usize) -> Result<(Counts, u64), Error> {
    let (mut series, mut bytes) = (Vec::new(), 0);
    let signals: Vec<SignalId> = (0..).take(signals).collect();
    for at_once in signals.chunks(METRICS_AT_ONCE) {
        let take = |document: &Document<'_>| {
            for found in document.series() {
                for value in found.values {
                    series.push((usize::from(at_once[found.place]), found.device, count_of(&value.cell)?));
                }
            }
            Ok(())
        };
        let asked: Vec<_> = at_once.iter().map(|&signal| Asked::of(table, signal).count()).collect();
        bytes += client.ask(ALL, None, &asked, take).await?.1;
    }
    Ok((counts(series), bytes))
}
