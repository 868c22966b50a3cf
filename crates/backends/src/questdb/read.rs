//! One connection that reads: every query is one or two of SQL, and the server's work.

mod own_statement;

use super::{
    client::Client,
    marker::has_added,
    sql::{Select, count},
};
use async_trait::async_trait;
use iotbench_backend_kit::{
    answer::NOTHING,
    ask::{Ask, Asked, Order, What},
    by_client, condition, consecutive, descending, each,
    filter::Filter,
    having, percentile,
    refuse::refuse_unknown_signals,
    span::Span,
    sql::SqlRows,
};
use iotbench_core::{
    ComputedBy, Error, Layout, Query, Reader, Reply, SignalId, Sink, StatementCall, TableSpec, TagsKept, TakeTags,
};
use std::{ops::Range, sync::Arc};

/// A connection that answers queries.
pub(crate) struct QuestReader {
    client: Client,
    table: Arc<TableSpec>,
    all_signals: Vec<SignalId>,
}

impl QuestReader {
    pub(crate) fn new(client: Client, table: Arc<TableSpec>) -> Self {
        let all_signals = (0..).take(table.schema.width()).collect();
        Self { client, table, all_signals }
    }

    fn is_narrow(&self) -> bool {
        self.table.layout == Layout::Narrow
    }

    /// Whether SQL has a question for what is asked of the answer to another: figures over the rows that meet a condition, and what of
    /// those meets one, and the rows of one device from the newest on.
    fn is_asked_whole(&self, query: &Query) -> bool {
        let of = if let Query::Having { of, .. } = query { of } else { query };
        match condition::on_rows(of, self.is_narrow()) {
            Some((_, aggregates)) => !percentile::is_among(aggregates),
            None => descending::is_of_one(query),
        }
    }

    async fn answer(
        &mut self,
        ask: &Ask<'_>,
        select: Select<'_>,
        table: &TableSpec,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let mut rows = SqlRows { client: &mut self.client, table };
        if ask.what == What::Count {
            let has_added = has_added(rows.client, table).await?;
            return rows.count(&count(table, has_added), sink).await;
        }
        rows.answer(ask, select, sink).await
    }
}

#[async_trait]
impl Reader for QuestReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        refuse_unknown_signals(query, &self.table)?;
        let table = Arc::clone(&self.table);
        if !self.is_asked_whole(query)
            && let Some(answer) = by_client::of_others(self, query, &table.schema, sink).await
        {
            return answer;
        }
        // The server only estimates them (approx_percentile), and none of values below 0.
        if let Some(found) = percentile::answer(self, query, sink).await {
            return found;
        }
        let all = self.all_signals.clone();
        let Some(ask) = Ask::of(query, &all).filter(Ask::wants_something) else { return Ok(NOTHING) };
        let Some(select) = Select::new(&table, ask.devices, ask.span) else { return Ok(NOTHING) };
        // SQL looks which figures meet a condition; the client, which newest datapoints do.
        if ask.having.is_some() && (ask.what == What::FirstOfEach || ask.has_percentile()) {
            return having::answer(self, query, &table.schema, sink).await.unwrap_or(Ok(NOTHING));
        }
        match ask.what {
            What::Consecutive(_) => return consecutive::answer(self, query, sink).await.unwrap_or(Ok(NOTHING)),
            What::FirstOfEach if self.is_narrow() || !table.has_device_column() => {
                return each::last_points(self, ask.devices, table.devices, sink).await;
            }
            _ => {}
        }
        let select = select.having(ask.having);
        // Each value is a row: no condition on rows finds those beside it.
        if self.is_narrow() && ask.is_of_records() && ask.what == What::Datapoints {
            let mut filter = Filter::new(&ask, &table.schema, sink);
            let reply = self.answer(&ask, select, &table, &mut filter).await?;
            return filter.finish(reply, ComputedBy::Client);
        }
        let select = match (ask.order, ask.predicate) {
            (Order::Stretch | Order::Newest, Some(predicate)) => select.holds(ask.signal, predicate),
            _ => select,
        };
        self.answer(&ask, select, &table, sink).await
    }

    async fn statement(&mut self, call: &StatementCall<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.answer_statement(call, sink).await
    }

    async fn tags(&mut self, devices: Range<u32>, take: &mut TakeTags<'_>) -> Result<TagsKept, Error> {
        let (table, devices) = (Arc::clone(&self.table), devices.collect::<Vec<_>>());
        if let Some(select) = Select::new(&table, Asked::Some(&devices), Span::ALL) {
            SqlRows { client: &mut self.client, table: &table }.tags(&select.tags(), take).await?;
        }
        Ok(TagsKept::WithDatapoints)
    }
}
