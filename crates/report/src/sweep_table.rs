//! The runs of a sweep as figures, for `sweep.json` and for people. Pure.

use crate::{
    document::{Document, LatencySummary, Swept},
    query_jitter::{JitterClass, SizedQuery, query_jitter},
};
use serde::{Deserialize, Serialize};

/// Name and version of the format.
pub const SWEEP_SCHEMA: &str = "iotbench-sweep/1.0";

/// What a sweep found: a row a value, and the query jitter where it asks for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepTable {
    /// [`SWEEP_SCHEMA`].
    pub schema: String,
    /// The profile's name.
    pub profile: String,
    /// Which of the profile's variants it is; null: it has none.
    pub variant: Option<String>,
    /// The backend's name.
    pub backend: String,
    /// How datapoints become records.
    pub layout: String,
    /// The field of the profile that differs from run to run.
    pub field: String,
    /// How many bytes a record counts as; null: the profile does not say.
    pub record_bytes: Option<u64>,
    /// The time of a transaction without a request, in microseconds; null where the load has no transactions.
    pub empty_transaction_us: Option<f64>,
    /// A row for each run, by value.
    pub rows: Vec<SweepRow>,
    /// The query jitter of each class of values, without `empty_transaction_us` where that is null; empty: none was asked
    /// for.
    pub jitter: Vec<JitterClass>,
}

/// One run of a sweep. Its time T is that of an operation's requests, begin and commit, without the pauses between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepRow {
    /// The run's name: that of its folder.
    pub run_id: String,
    /// How the run stands: `valid`, or why it is not to be believed.
    pub status: String,
    /// The field's value.
    pub value: u64,
    /// Operations that succeeded.
    pub ok: u64,
    /// Operations that failed, or nobody knows.
    pub failed: u64,
    /// The mean of T, in microseconds.
    pub mean_us: Option<f64>,
    /// The least T, in microseconds.
    pub min_us: Option<f64>,
    /// The greatest T, in microseconds.
    pub max_us: Option<f64>,
    /// Queries of an operation, by the mean of T.
    pub queries_per_s: Option<f64>,
    /// Bytes of an operation's records, as the profile counts them, by the mean of T.
    pub kb_per_s: Option<f64>,
    /// The mean response time in microseconds.
    pub response_mean_us: Option<f64>,
}

impl SweepTable {
    /// The table of these runs; those that are in no sweep are left out. `None`: all are.
    #[must_use]
    pub fn new(documents: &[Document]) -> Option<Self> {
        let mut runs: Vec<(&Document, &Swept)> =
            documents.iter().filter_map(|document| Some((document, document.sweep.as_ref()?))).collect();
        runs.sort_by_key(|(_, swept)| swept.value);
        let &(first, swept) = runs.first()?;
        let empty: Vec<_> = runs.iter().filter_map(|(document, _)| document.empty_transaction_us).collect();
        let empty_us = (!empty.is_empty()).then(|| empty.iter().sum::<f64>() / empty.len() as f64);
        let rows: Vec<SweepRow> = runs.iter().map(|(document, swept)| SweepRow::new(document, swept)).collect();
        let query = |(row, (_, swept)): (&SweepRow, &(&Document, &Swept))| {
            let time_us = row.mean_us.filter(|&us| us > 0.0)?;
            Some(SizedQuery { value: swept.value, records: swept.records?, time_us })
        };
        let queries: Vec<_> = rows.iter().zip(&runs).filter_map(query).collect();
        Some(Self {
            schema: SWEEP_SCHEMA.into(),
            profile: first.profile.clone(),
            variant: first.variant.clone(),
            backend: first.target.backend.clone(),
            layout: first.target.layout.clone(),
            field: swept.field.clone(),
            record_bytes: swept.record_bytes,
            empty_transaction_us: empty_us,
            jitter: query_jitter(&queries, &swept.classes, empty_us.unwrap_or(0.0)),
            rows,
        })
    }
}

impl SweepRow {
    fn new(document: &Document, swept: &Swept) -> Self {
        let kind = document.latency.as_ref().and_then(|latency| latency.kinds.first());
        let time = kind.map(|kind| kind.busy.as_ref().unwrap_or(&kind.by_operation.service));
        let figure = |figure: fn(&LatencySummary) -> Option<f64>| time.and_then(figure);
        let mean_us = figure(|time| time.mean);
        let load = &document.load;
        let operation = load.groups.first().and_then(|group| group.operations.first());
        // So many of something in an operation as so many a second of its time.
        let rate = |in_an_operation: u64| mean_us.filter(|&us| us > 0.0).map(|us| in_an_operation as f64 * 1e6 / us);
        let bytes = swept.records.zip(swept.record_bytes).map(|(records, bytes)| records * bytes);
        Self {
            run_id: document.run_id.clone(),
            status: document.verdict.status.name().into(),
            value: swept.value,
            ok: load.counts.ok,
            failed: load.counts.fail + load.counts.unknown,
            mean_us,
            min_us: figure(|time| time.min),
            max_us: figure(|time| time.max),
            queries_per_s: operation.and_then(|operation| rate(operation.requests.into())),
            kb_per_s: bytes.and_then(rate).map(|rate| rate / 1e3),
            response_mean_us: kind.and_then(|kind| kind.by_operation.response.mean),
        }
    }
}
