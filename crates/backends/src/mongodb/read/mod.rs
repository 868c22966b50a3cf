//! One connection that reads: every query as an aggregation pipeline, its answer as raw batches.

mod bulk;
mod count;
mod decode;
mod figures;
#[cfg(test)]
mod plans;
mod points;
mod shape;
mod wanted;

use super::{error::classify, layout::Table};
use async_trait::async_trait;
use bulk::BulkPoints;
use count::count_stages;
use decode::{integer, number};
use figures::{FigureRows, Figures};
use futures_util::TryStreamExt;
use iotbench_backend_kit::{
    answer::{Answer, NOTHING_BY_CLIENT, counts_row},
    span::Span,
};
use iotbench_core::{Cause, ComputedBy, Counts, Error, Layout, Query, Reader, Reply, SignalId, Sink, Value, ValueType};
use mongodb::{
    Collection, Database,
    bson::{Document, RawDocument},
};
use points::{NarrowPoints, Points, RowPoints};
use shape::Shape;
use std::{slice::from_ref, sync::Arc};
use wanted::Wanted;

/// A connection that answers queries.
pub(crate) struct MongoReader {
    collection: Collection<Document>,
    shape: Shape,
    all_signals: Arc<[SignalId]>,
}

impl MongoReader {
    pub(crate) fn new(database: &Database, table: Arc<Table>) -> Self {
        let all_signals = (0..).take(table.spec.schema.width()).collect();
        Self { collection: database.collection(table.name()), shape: Shape::new(table), all_signals }
    }

    async fn answer(&self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.refuse_unknown_signals(query)?;
        let all = Arc::clone(&self.all_signals);
        match query {
            Query::MaxOfFirst { device, signal, from_ns, limit } => {
                let wanted = Wanted::first(*device, from_ref(signal), *from_ns, *limit);
                self.max_of(wanted, *signal, sink).await
            }
            Query::Aggregates { devices, signals, aggregates, range } => {
                match (self.shape.asked(devices), Span::of(*range)) {
                    (Some(devices), Some(span)) => {
                        self.figures(&Figures { devices, signals, aggregates, span }, sink).await
                    }
                    _ => Ok(NOTHING_BY_CLIENT),
                }
            }
            Query::Count => self.count_row(sink).await,
            _ => match Wanted::of(query, &all) {
                Some(wanted) => self.datapoints(wanted, sink).await,
                None => Ok(NOTHING_BY_CLIENT),
            },
        }
    }

    fn refuse_unknown_signals(&self, query: &Query) -> Result<(), Error> {
        let asked: &[SignalId] = match query {
            Query::Range { signals, .. } | Query::Aggregates { signals, .. } => signals,
            Query::Nearest { signal, .. }
            | Query::Minimum { signal, .. }
            | Query::MaxOfFirst { signal, .. }
            | Query::NewestVisible { signal, .. } => from_ref(signal),
            Query::Records { .. } | Query::Newest { .. } | Query::Count | Query::Scan => &[],
        };
        let width = self.all_signals.len();
        match asked.iter().find(|&&signal| usize::from(signal) >= width) {
            Some(signal) => Err(Error::new(Cause::Client, format!("signal {signal} is none of the table's {width}"))),
            None => Ok(()),
        }
    }

    async fn datapoints(&self, wanted: Wanted<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let Some(wanted) = self.bounded(wanted).await? else { return Ok(NOTHING_BY_CLIENT) };
        let types = wanted.signals.iter().map(|&signal| self.shape.value_type(signal));
        let mut answer = Answer::new(sink, types);
        let is_united_here = self.shape.layout() == Layout::Bulk && wanted.is_whole_stretch();
        let (stages, mut points): (_, Box<dyn Points>) = match self.shape.layout() {
            Layout::Bulk if is_united_here => {
                let points = BulkPoints::new(&self.shape, wanted.signals, wanted.span);
                (self.shape.records(&wanted), Box::new(points))
            }
            Layout::Narrow => {
                let points = NarrowPoints::new(&self.shape, wanted.signals, wanted.limit);
                (self.shape.datapoints(&wanted), Box::new(points))
            }
            _ => (self.shape.datapoints(&wanted), Box::new(RowPoints::new(&self.shape, wanted.signals))),
        };
        let bytes = self.each(stages, |document| points.take(document, &mut answer)).await?;
        points.finish(&mut answer)?;
        answer.finish(bytes, if is_united_here { ComputedBy::Client } else { ComputedBy::Server })
    }

    /// The same with its stretch of time cut to what must be looked at: of records of many datapoints, those that hold the
    /// first or last so many that are wanted. `None`: there are none.
    async fn bounded<'a>(&self, wanted: Wanted<'a>) -> Result<Option<Wanted<'a>>, Error> {
        if self.shape.has_none(&wanted) {
            return Ok(None);
        }
        let Some(stages) = self.shape.bound(&wanted) else { return Ok(Some(wanted)) };
        let mut bound = None;
        self.each(stages, |document| {
            bound = Some(document.get_datetime("bound").map_err(|e| Error::new(Cause::Protocol, e))?);
            Ok(())
        })
        .await?;
        Ok(bound.map(|second| wanted.within_second(second.timestamp_millis().div_euclid(1000))))
    }

    /// Runs a pipeline and gives each document of its answer; the bytes of the answer are returned.
    async fn each(
        &self,
        stages: Vec<Document>,
        mut take: impl FnMut(&RawDocument) -> Result<(), Error> + Send,
    ) -> Result<u64, Error> {
        let aggregate = self.collection.aggregate(stages).allow_disk_use(true);
        let mut batches = aggregate.batch().await.map_err(|e| classify(&e))?;
        let mut bytes = 0;
        while let Some(batch) = batches.try_next().await.map_err(|e| classify(&e))? {
            bytes += batch.as_raw_document().as_bytes().len() as u64;
            for document in batch.doc_slices().map_err(|e| classify(&e))? {
                let document = document.map_err(|e| Error::new(Cause::Protocol, e))?;
                let document = document.as_document();
                take(document.ok_or_else(|| Error::new(Cause::Protocol, "an answer holds no document"))?)?;
            }
        }
        Ok(bytes)
    }

    async fn max_of(&self, wanted: Option<Wanted<'_>>, signal: SignalId, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let Some(wanted) = wanted else { return Ok(NOTHING_BY_CLIENT) };
        let device = wanted.device();
        let Some(wanted) = self.bounded(wanted).await? else { return Ok(NOTHING_BY_CLIENT) };
        let mut answer = Answer::new(sink, [ValueType::F64]);
        let bytes = self
            .each(self.shape.greatest(&wanted, signal), |document| match number(document, "greatest")? {
                Some(greatest) => answer.row(device, 0, |columns| columns[0].push(Some(Value::F64(greatest)))),
                None => Ok(()),
            })
            .await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    async fn figures(&self, figures: &Figures<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, vec![ValueType::F64; figures.signals.len()]);
        let mut rows = FigureRows::new(figures);
        let stages = figures.stages(&self.shape);
        let bytes = self.each(stages, |document| rows.take(document, &mut answer)).await?;
        rows.finish(&mut answer)?;
        answer.finish(bytes, ComputedBy::Server)
    }

    async fn count_row(&self, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let counts = self.count().await?;
        counts_row(counts, 16, ComputedBy::Server, sink)
    }

    /// Counts what is stored: by the server in every layout.
    pub(crate) async fn count(&self) -> Result<Counts, Error> {
        let mut counts = Counts::default();
        self.each(count_stages(&self.shape), |document| {
            counts = Counts { points: integer(document, "points")?, values: integer(document, "values")? };
            Ok(())
        })
        .await?;
        Ok(counts)
    }
}

#[async_trait]
impl Reader for MongoReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.answer(query, sink).await
    }
}
