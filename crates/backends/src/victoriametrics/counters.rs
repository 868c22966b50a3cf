//! What the server counts of itself: its page of metrics.

use super::client::Client;
use async_trait::async_trait;
use iotbench_core::{Counted, Counter, CounterReader, CounterSource, Error};
use std::collections::BTreeMap;

/// Where each is from; of those with a label `type`, all types together, or those that are named.
pub(crate) const SOURCES: &[CounterSource] = &[
    CounterSource::new(Counter::RowsWritten, "vm_rows_inserted_total"),
    CounterSource::new(Counter::CacheHits, "vm_cache_requests_total - vm_cache_misses_total of the blocks below"),
    CounterSource::new(
        Counter::CacheMisses,
        "vm_cache_misses_total of storage/indexBlocks, indexdb/indexBlocks and indexdb/dataBlocks",
    ),
    CounterSource::new(Counter::Compactions, "vm_merges_total"),
];

const BLOCKS: [&str; 3] = ["storage/indexBlocks", "indexdb/indexBlocks", "indexdb/dataBlocks"];

/// A connection that reads them.
pub(crate) struct VictoriaCounters {
    client: Client,
}

impl VictoriaCounters {
    pub(crate) fn new(client: Client) -> Self {
        Self { client }
    }
}

#[async_trait]
impl CounterReader for VictoriaCounters {
    async fn read(&mut self) -> Result<Vec<Counted>, Error> {
        let page = self.client.form("/metrics", &[]).await?;
        Ok(counted(&String::from_utf8_lossy(&page)))
    }
}

fn counted(page: &str) -> Vec<Counted> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, labels, value) in page.lines().filter_map(series) {
        let is_block = || BLOCKS.iter().any(|block| labels.contains(&format!("type=\"{block}\"")));
        let counts = match name {
            "vm_rows_inserted_total" | "vm_merges_total" => true,
            "vm_cache_requests_total" | "vm_cache_misses_total" => is_block(),
            _ => false,
        };
        if counts {
            let sum = sums.entry(name).or_default();
            *sum = sum.saturating_add(value);
        }
    }
    let sum = |name| sums.get(name).copied();
    let misses = sum("vm_cache_misses_total");
    // The two are not read at one instant.
    let hits = sum("vm_cache_requests_total").zip(misses).map(|(all, misses)| all.saturating_sub(misses));
    let counters = [
        (Counter::RowsWritten, sum("vm_rows_inserted_total")),
        (Counter::CacheHits, hits),
        (Counter::CacheMisses, misses),
        (Counter::Compactions, sum("vm_merges_total")),
    ];
    counters.into_iter().filter_map(|(counter, value)| Some((counter, value?))).collect()
}

/// Name, labels and value of a line; `None` for what is no count.
fn series(line: &str) -> Option<(&str, &str, u64)> {
    let (series, value) = line.rsplit_once(' ')?;
    let (name, labels) = series.split_once('{').unwrap_or((series, ""));
    Some((name, labels, value.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_added_up_and_what_is_no_count_is_left_out() {
        let page = "vm_rows_inserted_total{type=\"influx\"} 200\nvm_rows_inserted_total{type=\"native\"} 5\n\
                    vm_rows_inserted_totals 9\nvm_cache_requests_total{type=\"indexdb/dataBlocks\"} 10\n\
                    vm_cache_requests_total{type=\"promql/parse\"} 90\nvm_cache_misses_total{type=\"indexdb/dataBlocks\"} 4\n\
                    vm_merges_total{type=\"storage/small\"} x\n# vm_merges_total 7\n";
        let expected = [(Counter::RowsWritten, 205), (Counter::CacheHits, 6), (Counter::CacheMisses, 4)];
        assert_eq!(counted(page), expected);
        assert_eq!(counted("<html>"), []);
    }
}
