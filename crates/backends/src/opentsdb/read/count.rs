//! Counts what is stored.

use crate::{
    metrics::counts,
    opentsdb::{
        client::Client,
        document::{Document, count_of},
        question::{ALL, Asked},
    },
};
use iotbench_core::{Counts, Devices, Error, TableSpec};

/// Datapoints and values, and the bytes of the answers. The server holds what it counts: so it is asked metric by metric.
pub(crate) async fn count(client: &mut Client, table: &TableSpec) -> Result<(Counts, u64), Error> {
    let (mut series, mut bytes) = (Vec::new(), 0);
    for (signal, place) in (0..).take(table.schema.width()).zip(0..) {
        let take = |document: &Document<'_>| {
            for found in document.series() {
                for value in found.values {
                    series.push((place, found.device, count_of(&value.cell)?));
                }
            }
            Ok(())
        };
        let asked = [Asked::of(table, signal).count()];
        bytes += client.ask(ALL, &Devices::All, &asked, take).await?.1;
    }
    Ok((counts(series), bytes))
}
