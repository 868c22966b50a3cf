//! One connection that asks Flux. Questions in InfluxQL are asked by the reader of `influxdb`.

#[cfg(feature = "influxdb2-crate")]
use super::by_crate;
use super::{
    api::{escaped, improper},
    config::{Client, Config},
    csv::{Record, Records, Row, Tables},
    error,
    flux::{Flux, ONE_VALUE, TIME, signal_column, signal_name},
};
use async_trait::async_trait;
use hyper::{StatusCode, Uri, body::Bytes};
use iotbench_backend_kit::{
    answer::{Answer, NOTHING, counts_row, types},
    ask::{Ask, Asked, Order, What},
    by_client, each,
    figures::Collected,
    filter::Filter,
    fold::Fold,
    http::{
        Connection, Content,
        connection::{given_up, uri},
        limits::MAX_REFUSAL_BYTES,
    },
    line_protocol::DEVICE,
    refuse::refuse_unknown_signals,
    span::Span,
};
use iotbench_core::{
    Aggregate, ComputedBy, Counts, Error, Name, Query, Reader, Reply, ReplyColumn, SignalId, Sink, TableSpec, TagsKept,
    TakeTags, Value, ValueType,
};
use std::{collections::BTreeMap, ops::Range, sync::Arc};

const JSON: Content = Content { media_type: Some("application/json"), gzip: false };

/// A connection that answers queries.
pub(crate) struct FluxReader {
    asker: Asker,
    bucket: Name,
    table: Arc<TableSpec>,
    all_signals: Vec<SignalId>,
}

/// Who asks.
enum Asker {
    Own {
        /// `None` once an exchange was left in the middle.
        connection: Option<Connection>,
        query: Uri,
    },
    #[cfg(feature = "influxdb2-crate")]
    Crate(::influxdb2::Client),
}

impl Asker {
    async fn connect(config: &Config) -> Result<Self, Error> {
        match config.client {
            Client::Own => {
                let query = uri(&format!("{}/api/v2/query?org={}", config.server.base_path, escaped(&config.org)))?;
                Ok(Self::Own { connection: Some(config.server.connect().await?), query })
            }
            #[cfg(feature = "influxdb2-crate")]
            Client::Crate => by_crate::client(config).map(Self::Crate),
        }
    }
}

impl FluxReader {
    pub(crate) async fn connect(config: &Config, bucket: Name, table: Arc<TableSpec>) -> Result<Self, Error> {
        let all_signals = (0..).take(table.schema.width()).collect();
        Ok(Self { asker: Asker::connect(config).await?, bucket, table, all_signals })
    }

    /// Asks, and gives every row to `take`. Returns the bytes of the answer.
    async fn ask(
        &mut self,
        flux: &str,
        mut take: impl FnMut(&Row<'_>) -> Result<(), Error> + Send,
    ) -> Result<u64, Error> {
        let (kept, uri) = match &mut self.asker {
            Asker::Own { connection, query } => (connection, query),
            #[cfg(feature = "influxdb2-crate")]
            Asker::Crate(client) => return by_crate::ask(client, flux, take).await,
        };
        let mut connection = kept.take().ok_or_else(given_up)?;
        let dialect = serde_json::json!({ "header": true, "annotations": ["datatype"] });
        let body = serde_json::json!({ "query": flux, "type": "flux", "dialect": dialect });
        let response = connection.post(uri, JSON, Bytes::from(body.to_string())).await?;
        let (head, mut body) = response.into_parts();
        if head.status != StatusCode::OK {
            let text = connection.short_body(body, MAX_REFUSAL_BYTES).await?;
            *kept = Some(connection);
            return Err(error::of_status(head.status, &head.headers, &text));
        }
        let (mut records, mut tables, mut bytes) = (Records::default(), Tables::default(), 0);
        let mut note = |record: &Record| match tables.row(record)? {
            Some(row) => take(&row),
            None => Ok(()),
        };
        while let Some(piece) = connection.piece(&mut body).await? {
            bytes += piece.len() as u64;
            records.push(&piece, &mut note)?;
        }
        records.finish()?;
        *kept = Some(connection);
        Ok(bytes)
    }

    async fn points(&mut self, flux: Flux<'_>, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (table, signals) = (Arc::clone(&self.table), ask.signals);
        let types = types(&table.schema, signals);
        let names: Vec<&str> = signals.iter().map(|&signal| signal_name(&table, signal)).collect();
        let mut answer = Answer::new(sink, types.iter().copied());
        let take = |row: &Row<'_>| {
            answer.row(device_of(row)?, time_of(row)?, |columns| {
                let mut columns = columns.iter_mut().zip(names.iter().zip(&types));
                columns.try_for_each(|(column, (name, &value_type))| push(column, row.get(name), value_type))
            })
        };
        let bytes = self.ask(&flux.points(signals, ask.order == Order::Newest, ask.limit), take).await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    /// What meets a condition, of all.
    async fn filter(&mut self, flux: Flux<'_>, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        let mut filter = Filter::new(ask, &table.schema, sink);
        let reply = self.points(flux, ask, &mut filter).await?;
        filter.finish(reply, ComputedBy::Client)
    }

    async fn of_one_signal(&mut self, flux: Flux<'_>, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let is_figure = ask.what == What::Greatest;
        let text = match ask.order {
            _ if is_figure => flux.max_of_first(ask.limit),
            Order::Least => flux.minimum(),
            order => flux.nearest(ask.predicate, order == Order::Before),
        };
        let of_signal = self.table.schema.signals()[usize::from(ask.signal)].value_type;
        let value_type = if is_figure { ValueType::F64 } else { of_signal };
        let mut answer = Answer::new(sink, [value_type]);
        let take = |row: &Row<'_>| {
            let time = if is_figure { 0 } else { time_of(row)? };
            answer.row(ask.device(), time, |columns| push(&mut columns[0], row.get(ONE_VALUE), value_type))
        };
        let bytes = self.ask(&text, take).await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    /// A row a device and aggregate: one question an aggregate.
    async fn figures(
        &mut self,
        flux: Flux<'_>,
        signals: &[SignalId],
        aggregates: &[Aggregate],
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let (table, width) = (Arc::clone(&self.table), signals.len());
        let mut figures = Collected::default();
        let mut bytes = 0;
        for (number, &aggregate) in aggregates.iter().enumerate() {
            let take = |row: &Row<'_>| {
                let name = row.get(signal_column(&table));
                let Some(place) = signals.iter().position(|&signal| name == Some(signal_name(&table, signal))) else {
                    return Ok(());
                };
                let (device, figure) = (device_of(row)?, row.get(ONE_VALUE).map(parsed).transpose()?);
                figures.set((device, 0), number * width + place, width * aggregates.len(), figure);
                Ok(())
            };
            bytes += self.ask(&flux.clone().figure(aggregate)?, take).await?;
        }
        figures.answer(width, bytes, ComputedBy::Server, sink)
    }

    /// A device has as many datapoints as its fullest signal has values.
    async fn count(&mut self, flux: Flux<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (mut points_of, mut values) = (BTreeMap::<u32, u64>::new(), 0);
        let take = |row: &Row<'_>| {
            let count: u64 = row.get(ONE_VALUE).map_or(Ok(0), parsed)?;
            let points = points_of.entry(device_of(row)?).or_default();
            (*points, values) = (count.max(*points), values + count);
            Ok(())
        };
        let bytes = self.ask(&flux.count(), take).await?;
        let counts = Counts { points: points_of.values().sum(), values };
        counts_row(counts, bytes, ComputedBy::Server, sink)
    }
}

fn parsed<T: std::str::FromStr>(text: &str) -> Result<T, Error> {
    text.parse().map_err(|_| improper(&format!("{text:?} stands where a number should")))
}

fn time_of(row: &Row<'_>) -> Result<i64, Error> {
    row.get(TIME).map(parsed).transpose()?.ok_or_else(|| improper(&"a row without its time"))
}

fn device_of(row: &Row<'_>) -> Result<u32, Error> {
    row.get(DEVICE).map_or(Ok(0), parsed)
}

/// Pushes a field as a value of this type.
fn push(column: &mut ReplyColumn, field: Option<&str>, value_type: ValueType) -> Result<(), Error> {
    let Some(text) = field else { return column.push(None) };
    column.push(Some(match value_type {
        #[expect(clippy::cast_possible_truncation, reason = "an f32 was stored as the f64 of the same value")]
        ValueType::F32 => Value::F32(parsed::<f64>(text)? as f32),
        ValueType::F64 => Value::F64(parsed(text)?),
        ValueType::I64 => Value::I64(parsed(text)?),
        ValueType::U16 => Value::U16(parsed(text)?),
        ValueType::Text => Value::Text(text),
    }))
}

#[async_trait]
impl Reader for FluxReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        if let Some(answer) = by_client::answer(self, query, &table.schema, sink).await {
            return answer;
        }
        refuse_unknown_signals(query, &self.table)?;
        let (table, bucket, all) = (Arc::clone(&self.table), self.bucket.clone(), self.all_signals.clone());
        let Some(ask) = Ask::of(query, &all).filter(Ask::wants_something) else { return Ok(NOTHING) };
        let flux = Flux::new(&bucket, &table, ask.devices, ask.signals, ask.span);
        let Some(flux) = flux else { return Ok(NOTHING) };
        match (ask.what, ask.order) {
            (What::FirstOfEach, _) => each::last_points(self, ask.devices, table.devices, sink).await,
            (What::Count, _) => self.count(flux, sink).await,
            (What::Figures(aggregates), _) => self.figures(flux, ask.signals, aggregates, sink).await,
            (What::Buckets(..), _) => {
                let mut fold = Fold::new(&ask, sink);
                let reply = self.points(flux, &ask.datapoints(), &mut fold).await?;
                fold.finish(reply)
            }
            (What::Datapoints, Order::Stretch) if ask.predicate.is_some() => self.filter(flux, &ask, sink).await,
            (What::Datapoints, Order::Stretch | Order::Oldest | Order::Newest) => self.points(flux, &ask, sink).await,
            _ => self.of_one_signal(flux, &ask, sink).await,
        }
    }

    async fn tags(&mut self, devices: Range<u32>, take: &mut TakeTags<'_>) -> Result<TagsKept, Error> {
        let (table, bucket, all) = (Arc::clone(&self.table), self.bucket.clone(), self.all_signals.clone());
        let devices: Vec<_> = devices.collect();
        if let Some(flux) = Flux::new(&bucket, &table, Asked::Some(&devices), &all, Span::ALL) {
            let tags = table.schema.tags().as_slice();
            let hand_over = |row: &Row<'_>| {
                let values: Vec<_> =
                    tags.iter().map(|tag| row.get(&tag.name).filter(|value| !value.is_empty())).collect();
                take(device_of(row)?, &values)
            };
            self.ask(&flux.tags(), hand_over).await?;
        }
        Ok(TagsKept::WithDatapoints)
    }
}
