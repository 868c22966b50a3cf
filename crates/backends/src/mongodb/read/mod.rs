//! One connection that reads: every query as an aggregation pipeline, its answer as raw batches.

mod bulk;
mod count;
mod decode;
mod figures;
mod own_statement;
#[cfg(test)]
mod plans;
mod points;
mod seconds;
mod shape;

use super::{error::classify, layout::Table, write::tag_text};
use async_trait::async_trait;
use bulk::BulkPoints;
use count::count_stages;
use decode::{device, element, integer, number};
use figures::{Figures, Take};
use futures_util::TryStreamExt;
use iotbench_backend_kit::{
    answer::{Answer, NOTHING_BY_CLIENT, counts_row},
    ask::{Ask, Having, What},
    by_client, condition, consecutive, descending, each,
    figures::{Collected, Streamed},
    filter::Filter,
    having, percentile,
    refuse::refuse_signals_beyond,
    total::{have_totals, known, no_first_of_all},
};
use iotbench_core::{
    Cause, ComputedBy, Counts, Error, Layout, Query, Reader, Reply, SignalId, Sink, StatementCall, Tag, TagsKept,
    TakeTags, ValueType,
};
use mongodb::{
    Collection, Database,
    bson::{Document, RawDocument},
};
use own_statement::Known;
use points::{NarrowPoints, Points, RowPoints};
use seconds::within_second;
use shape::Shape;
use std::{ops::Range, sync::Arc};

/// A connection that answers queries.
pub(crate) struct MongoReader {
    collection: Collection<Document>,
    shape: Shape,
    all_signals: Arc<[SignalId]>,
    database: Database,
    /// The statement of a user that was asked last.
    known: Option<Known>,
    /// What such a statement says besides that changes the collection; `None`: it may not.
    besides: Option<Document>,
}

impl MongoReader {
    pub(crate) fn new(database: &Database, table: Arc<Table>) -> Self {
        let all_signals = (0..).take(table.spec.schema.width()).collect();
        let collection = database.collection(table.name());
        let (database, shape) = (database.clone(), Shape::new(table));
        Self { collection, shape, all_signals, database, known: None, besides: None }
    }

    /// One whose statements may change the collection, and what they say besides.
    pub(crate) fn that_changes(self, besides: Document) -> Self {
        Self { besides: Some(besides), ..self }
    }

    async fn answer(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        refuse_signals_beyond(query, self.all_signals.len())?;
        let table = self.shape.shared_table();
        let schema = &table.spec.schema;
        if !self.is_asked_whole(query)
            && let Some(answer) = by_client::of_others(self, query, schema, sink).await
        {
            return answer;
        }
        let all = Arc::clone(&self.all_signals);
        let asks = |ask: &Ask<'_>| ask.limit > 0 && !self.shape.has_none_of(ask.devices);
        let Some(ask) = Ask::of(query, &all).filter(asks) else { return Ok(NOTHING_BY_CLIENT) };
        // A pipeline looks which figures meet a condition; the client, which newest datapoints do, and counts.
        let is_found_here = ask.what == What::FirstOfEach || ask.has_percentile();
        let is_native = |having: Having| !is_found_here && having.at_least.is_none();
        if !ask.having.is_none_or(is_native) {
            return having::answer(self, query, schema, sink).await.unwrap_or(Ok(NOTHING_BY_CLIENT));
        }
        match ask.what {
            What::Datapoints if self.is_filtered_here(&ask) => {
                let mut filter = Filter::new(&ask, self.shape.schema(), sink);
                let reply = self.datapoints(ask.of_any_value(), &mut filter).await?;
                filter.finish(reply, ComputedBy::Client)
            }
            What::Datapoints => self.datapoints(ask, sink).await,
            What::FirstOfEach => match self.shape.first_of_each(&ask) {
                Some(stages) => self.of_each(stages, ask.signals, sink).await,
                None => {
                    let of_table = self.shape.devices();
                    each::last_points(self, ask.devices, of_table, sink).await
                }
            },
            What::Greatest => self.greatest(ask, sink).await,
            What::Figures(aggregates) => self.figures(&Figures::of(&ask, aggregates, None), sink).await,
            What::Buckets(aggregates, width) => self.figures(&Figures::of(&ask, aggregates, Some(width)), sink).await,
            What::TotalBuckets(aggregates, _) | What::ByTag(_, aggregates, _) if !have_totals(aggregates) => {
                Err(no_first_of_all())
            }
            What::ByTag(tag, aggregates, width) => {
                known(self.shape.schema().tags(), tag)?;
                self.figures_by_tag(&Figures::of(&ask, aggregates, width), sink).await
            }
            What::TotalBuckets(aggregates, width) => {
                self.figures(&Figures::of(&ask, aggregates, Some(width)), sink).await
            }
            What::Top(aggregate) => self.figures(&Figures::of(&ask, &[aggregate], None), sink).await,
            What::Consecutive(_) => consecutive::answer(self, query, sink).await.unwrap_or(Ok(NOTHING_BY_CLIENT)),
            What::Count => self.count_row(sink).await,
        }
    }

    /// Whether a pipeline answers what is asked of the answer to another: figures over the documents that meet a condition, but for what of
    /// those meets one, and the datapoints of one device from the newest on.
    fn is_asked_whole(&self, query: &Query) -> bool {
        match condition::on_rows(query, self.shape.layout() == Layout::Narrow) {
            Some((_, aggregates)) => !percentile::is_among(aggregates),
            None => descending::is_of_one(query),
        }
    }

    /// Whether no condition on documents finds the datapoints: records of layout bulk are united here, and in layout narrow each
    /// value is a document.
    fn is_filtered_here(&self, ask: &Ask<'_>) -> bool {
        match self.shape.layout() {
            Layout::Bulk => ask.predicate.is_some() && Shape::is_whole_stretch(ask),
            Layout::Narrow => ask.is_of_records(),
            Layout::Wide | Layout::Document => false,
        }
    }

    async fn datapoints(&self, ask: Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let Some(ask) = self.bounded(ask).await? else { return Ok(NOTHING_BY_CLIENT) };
        let types = ask.signals.iter().map(|&signal| self.shape.value_type(signal));
        let mut answer = Answer::new(sink, types);
        let is_united_here = self.shape.layout() == Layout::Bulk && Shape::is_whole_stretch(&ask);
        let (stages, mut points): (_, Box<dyn Points>) = match self.shape.layout() {
            Layout::Bulk if is_united_here => {
                let points = BulkPoints::new(&self.shape, ask.signals, ask.span);
                (self.shape.records(&ask), Box::new(points))
            }
            Layout::Narrow => {
                let points = NarrowPoints::new(&self.shape, ask.signals, ask.limit);
                (self.shape.datapoints(&ask), Box::new(points))
            }
            _ => (self.shape.datapoints(&ask), Box::new(RowPoints::new(&self.shape, ask.signals))),
        };
        let bytes = self.each(stages, |document| points.take(document, &mut answer)).await?;
        points.finish(&mut answer)?;
        answer.finish(bytes, if is_united_here { ComputedBy::Client } else { ComputedBy::Server })
    }

    /// Datapoints that are a document each.
    async fn of_each(&self, stages: Vec<Document>, signals: &[SignalId], sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, signals.iter().map(|&signal| self.shape.value_type(signal)));
        let mut points = RowPoints::new(&self.shape, signals);
        let bytes = self.each(stages, |document| points.take(document, &mut answer)).await?;
        points.finish(&mut answer)?;
        answer.finish(bytes, ComputedBy::Server)
    }

    /// The same with its stretch of time cut to what must be looked at: of records of many datapoints, those that hold the
    /// first or last so many that are asked for. `None`: there are none.
    async fn bounded<'a>(&self, ask: Ask<'a>) -> Result<Option<Ask<'a>>, Error> {
        let Some(stages) = self.shape.bound(&ask) else { return Ok(Some(ask)) };
        let mut bound = None;
        self.each(stages, |document| {
            bound = Some(document.get_datetime("bound").map_err(|e| Error::new(Cause::Protocol, e))?);
            Ok(())
        })
        .await?;
        Ok(bound.map(|second| within_second(ask, second.timestamp_millis().div_euclid(1000))))
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

    async fn greatest(&self, ask: Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let Some(ask) = self.bounded(ask).await? else { return Ok(NOTHING_BY_CLIENT) };
        let mut answer = Answer::new(sink, [ValueType::F64]);
        let bytes = self
            .each(self.shape.greatest(&ask), |document| match number(document, "greatest")? {
                Some(greatest) => answer.figures(ask.device(), [Some(greatest)]),
                None => Ok(()),
            })
            .await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    async fn figures(&self, figures: &Figures<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let rows = Streamed::new(sink, figures.signals.len(), figures.aggregates.len());
        let mut rows = rows.first(figures.newest.unwrap_or(u64::MAX));
        let mut take = |group, aggregate, signal, figure| {
            rows.begin(group)?;
            rows.set(aggregate, signal, figure);
            Ok(())
        };
        let bytes = self.each_figure(figures, &mut take).await?;
        rows.finish(bytes, ComputedBy::Server)
    }

    /// The values of a tag come by the alphabet.
    async fn figures_by_tag(&self, figures: &Figures<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (mut rows, signals) = (Collected::default(), figures.signals.len());
        let width = signals * figures.aggregates.len();
        let mut take = |group, aggregate, signal, figure| {
            rows.set(group, aggregate * signals + signal, width, figure);
            Ok(())
        };
        let bytes = self.each_figure(figures, &mut take).await?;
        rows.answer(signals, bytes, ComputedBy::Server, sink)
    }

    async fn each_figure(&self, figures: &Figures<'_>, take: &mut Take<'_>) -> Result<u64, Error> {
        let fields = figures.fields();
        self.each(figures.stages(&self.shape)?, |document| figures.take(&self.shape, document, &fields, take)).await
    }

    /// The tags beside what is stored of these devices, each combination once.
    async fn stored_tags(&self, devices: Range<u32>, take: &mut TakeTags<'_>) -> Result<(), Error> {
        let tags = self.shape.schema().tags().as_slice();
        self.each(self.shape.tags(&devices), |document| {
            let value = |tag: &Tag| {
                let Some(stored) = element(document, &tag.name)? else { return Ok(None) };
                let (name, tag_type) = (&tag.name, tag.values.tag_type());
                let improper = || format!("what is stored of tag {name} is of another type than {}", tag_type.name());
                tag_text(stored, tag_type).map(Some).ok_or_else(|| Error::new(Cause::Protocol, improper()))
            };
            let values = tags.iter().map(value).collect::<Result<Vec<_>, _>>()?;
            take(device(document)?, &values.iter().map(Option::as_deref).collect::<Vec<_>>())
        })
        .await
        .map(drop)
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
        // The server only estimates them ($percentile, since 7.0), and says of no estimate how far it may be off.
        if let Some(found) = percentile::answer(self, query, sink).await {
            return found;
        }
        self.answer(query, sink).await
    }

    async fn statement(&mut self, call: &StatementCall<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.answer_statement(call, sink).await
    }

    async fn tags(&mut self, devices: Range<u32>, take: &mut TakeTags<'_>) -> Result<TagsKept, Error> {
        self.stored_tags(devices, take).await?;
        Ok(TagsKept::WithDatapoints)
    }
}
