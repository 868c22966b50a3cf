//! A figure of runs at a place of a curve.

use super::{
    SuiteRun,
    evidence::nodes_of,
    figure::{JITTER, study_figure},
    mean,
};
use crate::{
    document::Document,
    query_jitter::{SizedQuery, query_jitter},
};
use iotbench_suite::{Curve, Over};

/// The mean of a contender's valid runs at a place.
pub(super) fn curve_figure(curve: &Curve, runs: &[SuiteRun<'_>], contender: &str, at: &str) -> Option<f64> {
    let profile = curve.profile.as_deref().unwrap_or(at);
    // What is sustained while a process is killed is another question.
    let is_undisturbed = |run: &SuiteRun<'_>| run.is_valid() && run.document.scenario.is_none();
    let is_own = |run: &&SuiteRun<'_>| is_undisturbed(run) && run.document.profile == profile;
    let own = runs.iter().filter(is_own);
    match curve.over {
        Over::Profile => {
            mean(own.filter(|run| run.contender == contender).map(|run| study_figure(run.document, &curve.figure)))
        }
        Over::Nodes => {
            let is_of_size = |run: &&SuiteRun<'_>| run.base() == contender && nodes_of(run.document).to_string() == at;
            mean(own.filter(is_of_size).map(|run| study_figure(run.document, &curve.figure)))
        }
        Over::Value | Over::Class => {
            let swept: Vec<&Document> = own.filter(|run| run.contender == contender).map(|run| run.document).collect();
            Sweep { documents: swept, figure: &curve.figure }.at(curve, at)
        }
    }
}

/// The runs of a contender's sweep.
struct Sweep<'a> {
    documents: Vec<&'a Document>,
    figure: &'a str,
}

impl Sweep<'_> {
    fn at(&self, curve: &Curve, at: &str) -> Option<f64> {
        let is_jitter = self.figure == JITTER;
        match curve.over {
            Over::Class => {
                let (from, to, holds_from) = curve.class(at)?;
                let is_in = |value: u64| value <= to && (value > from || holds_from && value == from);
                if is_jitter {
                    self.jitter_ms(from, to)
                } else {
                    self.mean_of(self.values().into_iter().filter(|v| is_in(*v)))
                }
            }
            _ => {
                let value = at.parse().ok()?;
                if !is_jitter {
                    return self.mean_of([value].into_iter());
                }
                // A jitter is of two sizes: of this one and the next smaller.
                let smaller = self.values().into_iter().filter(|other| *other < value).max()?;
                self.jitter_ms(smaller, value)
            }
        }
    }

    /// Its values, ascending.
    fn values(&self) -> Vec<u64> {
        let mut values: Vec<u64> = self.documents.iter().filter_map(|d| Some(d.sweep.as_ref()?.value)).collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    fn with(&self, value: u64) -> impl Iterator<Item = &Document> {
        let is_with = move |document: &&&Document| document.sweep.as_ref().is_some_and(|swept| swept.value == value);
        self.documents.iter().filter(is_with).copied()
    }

    /// The mean over values of the means of their runs.
    fn mean_of(&self, values: impl Iterator<Item = u64>) -> Option<f64> {
        mean(values.map(|value| mean(self.with(value).map(|document| study_figure(document, self.figure)))))
    }

    /// The mean query jitter of consecutive sizes from the one to the other.
    fn jitter_ms(&self, from: u64, to: u64) -> Option<f64> {
        let query = |value: u64| {
            let records = self.with(value).next()?.sweep.as_ref()?.records?;
            let time_us = mean(self.with(value).map(|document| study_figure(document, "time_mean_us")))?;
            Some(SizedQuery { value, records, time_us })
        };
        let queries: Vec<SizedQuery> = self.values().into_iter().filter_map(query).collect();
        let empty = self.documents.iter().filter_map(|document| document.empty_transaction_us);
        let empty_us = mean(empty.map(Some)).unwrap_or(0.0);
        query_jitter(&queries, &[from, to], empty_us).first()?.jitter_ms
    }
}
