//! Query jitter, the measure by which the weather station study (Asiminidis, Kokkonis, Kontogiannis 2018) tells databases
//! apart: by how much time a query changes for each record by which it differs from another. Pure.

use serde::{Deserialize, Serialize};

/// What queries of one size took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizedQuery {
    /// Its size: the value of a sweep.
    pub value: u64,
    /// Records that it reads, writes or aggregates.
    pub records: u64,
    /// Its mean time in microseconds.
    pub time_us: f64,
}

/// The mean query jitter of the queries of a class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JitterClass {
    /// The least size in it.
    pub from: u64,
    /// The greatest.
    pub to: u64,
    /// Pairs of consecutive sizes in it.
    pub pairs: usize,
    /// The mean jitter of those in milliseconds; `None`: there are none.
    pub jitter_ms: Option<f64>,
}

/// Query jitter by classes of sizes, between the limits given in ascending order:
///
/// Qj = `TDB_init` + |(dT₁ − dT₂) / (ΣR₁ − ΣR₂)|
///
/// where `TDB_init` is the time of an empty transaction in microseconds, dT the times and ΣR the records of two
/// consecutive sizes. A class has the pairs whose sizes both lie in it, its limits included. Pairs of equally many records
/// have no jitter.
///
/// ```
/// use iotbench_report::{SizedQuery, query_jitter};
///
/// let query = |n, time_us| SizedQuery { value: n, records: n, time_us };
/// let classes = query_jitter(&[query(2, 1_000.0), query(4, 1_400.0)], &[2, 10], 100.0);
/// // 0.1 ms + 0.4 ms for two records more
/// assert!((classes[0].jitter_ms.unwrap() - 0.3).abs() < 1e-9);
/// ```
#[must_use]
pub fn query_jitter(queries: &[SizedQuery], limits: &[u64], empty_transaction_us: f64) -> Vec<JitterClass> {
    let mut queries = queries.to_vec();
    queries.sort_unstable_by_key(|query| query.value);
    let class = |(&from, &to): (&u64, &u64)| {
        let inside: Vec<_> = queries.iter().filter(|query| (from..=to).contains(&query.value)).collect();
        let jitters: Vec<f64> = inside.windows(2).filter_map(slope_us).collect();
        let mean_us = jitters.iter().sum::<f64>() / jitters.len() as f64;
        let jitter_ms = (!jitters.is_empty()).then_some((empty_transaction_us + mean_us) / 1e3);
        JitterClass { from, to, pairs: jitters.len(), jitter_ms }
    };
    limits.iter().zip(limits.iter().skip(1)).map(class).collect()
}

/// The microseconds that each record of difference makes.
fn slope_us(pair: &[&SizedQuery]) -> Option<f64> {
    let [one, other] = pair else { return None };
    let records = one.records.abs_diff(other.records);
    (records > 0).then(|| (one.time_us - other.time_us).abs() / records as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn query(value: u64, time_us: f64) -> SizedQuery {
        SizedQuery { value, records: value, time_us }
    }

    #[test]
    fn classes_average_the_pairs_within_their_limits() {
        // 100, 50, 20 and 200 µs for each record more; the first time falls.
        let queries = [query(50, 5_600.0), query(2, 500.0), query(4, 300.0), query(10, 600.0), query(30, 1_000.0)];
        let queries = [&queries[..], &[query(500, 7_000.0)]].concat();
        let classes = query_jitter(&queries, &[2, 10, 100, 500], 1_000.0);
        let figures: Vec<_> = classes.iter().map(|c| (c.from, c.to, c.pairs, c.jitter_ms)).collect();
        // (100 + 50) / 2, (20 + 230) / 2, and 1 ms of the empty transaction.
        assert_eq!(figures, [(2, 10, 2, Some(1.075)), (10, 100, 2, Some(1.125)), (100, 500, 0, None)]);
    }

    #[test]
    fn equally_many_records_have_no_jitter() {
        let queries = [SizedQuery { records: 7, ..query(2, 1.0) }, SizedQuery { records: 7, ..query(3, 2.0) }];
        assert_eq!(query_jitter(&queries, &[2, 10], 0.0)[0].jitter_ms, None);
        assert!(query_jitter(&queries, &[], 0.0).is_empty());
    }

    proptest! {
        #[test]
        fn a_constant_price_of_a_record_is_the_jitter(
            values in prop::collection::btree_set(1_u64..1000, 2..20), price_us in 0.1_f64..1e4, offset_us in 0.0_f64..1e6,
        ) {
            let queries: Vec<_> = values.iter().map(|&n| query(n, offset_us + n as f64 * price_us)).collect();
            let class = query_jitter(&queries, &[1, 1000], 2_000.0)[0];
            prop_assert!((class.jitter_ms.unwrap() - 2.0 - price_us / 1e3).abs() < 1e-6 * (1.0 + price_us));
        }
    }
}
