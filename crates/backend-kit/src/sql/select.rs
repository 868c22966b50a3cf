//! What an [`Ask`] is in SQL, in the layouts wide and narrow: which statements answer it, and in whose rows.

use super::rows::{AskRows, SqlRows};
use crate::{
    answer::NOTHING,
    ask::{Ask, Order, What},
    total::{have_totals, known, no_first_of_all},
};
use iotbench_core::{Aggregate, BucketWidth, Error, Layout, Predicate, Reply, SignalId, Sink, TagId};

/// What figures are worked out over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// All datapoints of a device.
    All,
    /// Those of each of its buckets.
    Buckets(BucketWidth),
    /// Those of each bucket of all devices together, or of so many of the newest buckets.
    TotalBuckets(BucketWidth, Option<u64>),
    /// Those of all devices with the same value of a tag, or of each bucket of theirs.
    ByTag(TagId, Option<BucketWidth>),
}

/// Some devices and a stretch of time, of which statements ask in the words of a database.
pub trait SelectSql: Clone + Send + Sync {
    /// From a time on, besides.
    #[must_use]
    fn since(self, time_ns: i64) -> Self;

    /// Rows of time, device and the values of these signals; in layout narrow of time, device, signal and value.
    fn points(self, signals: &[SignalId], order: Order, limit: u64) -> String;

    /// The same of the newest datapoint of each device.
    fn latest(self, signals: &[SignalId]) -> String;

    /// The time of the earliest of the latest so many rows; null of none.
    fn reach(self, rows: u64) -> String;

    /// One row of time and value: the first or last that is there, of those that meet a predicate.
    fn nearest(self, signal: SignalId, predicate: Option<Predicate>, is_backward: bool) -> String;

    /// One row of time and value: the least, the earliest of equals.
    fn minimum(self, signal: SignalId) -> String;

    /// The greatest number among the first `limit` rows; null of none.
    fn max_of_first(self, signal: SignalId, limit: u64) -> String;

    /// A row of device and figure for each of the devices with the greatest figure of a signal.
    ///
    /// # Errors
    /// The database has no such figure.
    fn top(self, signal: SignalId, aggregate: Aggregate, limit: u64) -> Result<String, Error>;

    /// A row a device or value of a tag, or a bucket of one, in layout narrow one of each signal: device, bucket or 0, signal or
    /// nothing, how many rows, and the figures of each signal in turn.
    ///
    /// # Errors
    /// The database has no such figure.
    fn figures(self, signals: &[SignalId], aggregates: &[Aggregate], over: Over) -> Result<String, Error>;
}

impl<C: AskRows> SqlRows<'_, C> {
    /// Answers what is asked of the devices and times of `select`; counting is the database's own.
    ///
    /// # Errors
    /// As [`Self::points`], and those of `select`.
    pub async fn answer(&mut self, ask: &Ask<'_>, select: impl SelectSql, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let &Ask { signals, signal, limit, .. } = ask;
        match (ask.what, ask.order) {
            (What::FirstOfEach, _) => self.first_of_each(&select.latest(signals), signals, sink).await,
            (What::Figures(aggregates), _) => {
                let sql = select.figures(signals, aggregates, Over::All)?;
                self.figures(&sql, (signals, aggregates), None, sink).await
            }
            (What::Buckets(aggregates, width), _) => {
                let sql = select.figures(signals, aggregates, Over::Buckets(width))?;
                self.figures(&sql, (signals, aggregates), None, sink).await
            }
            (What::Top(aggregate), _) => self.devices_with_figures(&select.top(signal, aggregate, limit)?, sink).await,
            (What::TotalBuckets(aggregates, _) | What::ByTag(_, aggregates, _), _) if !have_totals(aggregates) => {
                Err(no_first_of_all())
            }
            (What::ByTag(tag, aggregates, width), _) => {
                known(self.table.schema.tags(), tag)?;
                let sql = select.figures(signals, aggregates, Over::ByTag(tag, width))?;
                self.figures_by_tag(&sql, (signals, aggregates), tag, sink).await
            }
            (What::TotalBuckets(aggregates, width), _) => {
                let sql = select.figures(signals, aggregates, Over::TotalBuckets(width, ask.newest()))?;
                self.figures(&sql, (signals, aggregates), ask.newest(), sink).await
            }
            (What::Greatest, _) => self.figure(&select.max_of_first(signal, limit), ask.device(), sink).await,
            (_, Order::Newest) => {
                let Some((select, most)) = self.reached(select, ask).await? else { return Ok(NOTHING) };
                let sql = select.points(signals, Order::Newest, most);
                self.points(&sql, (signals, Order::Newest, limit), sink).await
            }
            (_, Order::Stretch | Order::Oldest) => {
                let sql = select.points(signals, ask.order, self.rows_of(limit, signals));
                self.points(&sql, (signals, ask.order, limit), sink).await
            }
            (_, Order::Least) => self.value(&select.minimum(signal), (ask.device(), signal), sink).await,
            (_, order) => {
                let sql = select.nearest(signal, ask.predicate, order == Order::Before);
                self.value(&sql, (ask.device(), signal), sink).await
            }
        }
    }

    /// The newest rows, and how many: in layout narrow those of several devices are cut off by their time. `None`: there are none.
    async fn reached<S: SelectSql>(&mut self, select: S, ask: &Ask<'_>) -> Result<Option<(S, u64)>, Error> {
        let most = self.rows_of(ask.limit, ask.signals);
        if self.table.layout != Layout::Narrow || i64::try_from(most).is_err() {
            return Ok(Some((select, most)));
        }
        let earliest = self.time(&select.clone().reach(most)).await?;
        Ok(earliest.map(|earliest| (select.since(earliest), u64::MAX)))
    }
}
