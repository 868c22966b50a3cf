//! Figures of several devices together, of all or of those with each value of a tag, merged from those of each of them by the client.

use crate::{
    answer::{Answer, NOTHING_BY_CLIENT},
    figures::Group,
};
use iotbench_core::{
    Aggregate, BucketWidth, Cause, Chunk, ComputedBy, Devices, Error, Query, Reader, Reply, SignalId, Sink, Tag, TagId,
    Tags, TimeRange, ValueType,
};
use std::collections::BTreeMap;

/// What a signal's figures are put together from.
pub const PARTS: [Aggregate; 4] = [Aggregate::Sum, Aggregate::Count, Aggregate::Min, Aggregate::Max];

/// How many times as many buckets are asked for where the newest ones have gaps between them.
const FURTHER_BACK: u64 = 16;

/// Answers [`Query::TotalBuckets`] and [`Query::TagFigures`] by asking the same of each device: `None` where something else is
/// asked. `tags` are those of the table.
///
/// # Errors
/// The reader's own; Client for the first and the last value, of which several devices have several, and for a tag that is none
/// of the table's.
pub async fn answer(
    reader: &mut dyn Reader,
    query: &Query,
    tags: &Tags,
    sink: &mut dyn Sink,
) -> Option<Result<Reply, Error>> {
    match query {
        Query::TotalBuckets { .. } => Some(of_all(reader, query, sink).await),
        Query::TagFigures { .. } => Some(by_tag(reader, query, tags, sink).await),
        _ => None,
    }
}

async fn of_all(reader: &mut dyn Reader, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
    let Query::TotalBuckets { devices, signals, aggregates, range, width, newest } = query else {
        return Ok(NOTHING_BY_CLIENT);
    };
    let mut bytes = 0;
    for (range, is_all) in stretches(*range, *width, *newest) {
        let of_each = of_each(devices, signals, aggregates, range, Some(*width));
        let mut total = Total::new(signals.len(), *newest);
        bytes += reader.query(&of_each, &mut total).await?.bytes;
        if is_all || total.has_newest() {
            return total.finish(aggregates, bytes, sink);
        }
    }
    Ok(NOTHING_BY_CLIENT)
}

async fn by_tag(reader: &mut dyn Reader, query: &Query, tags: &Tags, sink: &mut dyn Sink) -> Result<Reply, Error> {
    let Query::TagFigures { tag, signals, aggregates, range, width } = query else { return Ok(NOTHING_BY_CLIENT) };
    known(tags, *tag)?;
    let mut total = Total::by_tag(signals.len(), tags, *tag);
    let reply = reader.query(&of_each(&Devices::All, signals, aggregates, *range, *width), &mut total).await?;
    total.finish(aggregates, reply.bytes, sink)
}

/// What the figures of devices together are put together from.
fn of_each(
    devices: &Devices,
    signals: &[SignalId],
    aggregates: &[Aggregate],
    range: TimeRange,
    width: Option<BucketWidth>,
) -> Query {
    let aggregates = if aggregates.is_empty() { Vec::new() } else { PARTS.to_vec() };
    let (devices, signals) = (devices.clone(), signals.to_vec());
    match width {
        Some(width) => Query::Buckets { devices, signals, aggregates, range, width },
        None => Query::Aggregates { devices, signals, aggregates, range },
    }
}

/// A tag by its place.
///
/// # Errors
/// Client where there is no such tag.
pub fn known(tags: &Tags, tag: TagId) -> Result<&Tag, Error> {
    let of = tags.as_slice().get(usize::from(tag));
    of.ok_or_else(|| Error::new(Cause::Client, format!("tag {tag} is none of the table's {}", tags.len())))
}

/// Where the newest buckets are looked for: first where as many would lie without a gap, then further back, then everywhere; and
/// whether it is everywhere.
fn stretches(range: TimeRange, width: BucketWidth, newest: Option<u64>) -> impl Iterator<Item = (TimeRange, bool)> {
    let counts = newest.into_iter().flat_map(|newest| [newest, newest.saturating_mul(FURTHER_BACK)]);
    let ends = counts.filter_map(move |buckets| width.last_of(range, buckets));
    ends.map(|end| (end, false)).chain([(range, true)])
}

/// Whether figures of several devices together are merged from those of each, or asked for: of first and last values they have several,
/// and percentiles of each tell none of all.
#[must_use]
pub fn have_totals(aggregates: &[Aggregate]) -> bool {
    let has_none = |figure: &Aggregate| matches!(figure, Aggregate::First | Aggregate::Last | Aggregate::Percentile(_));
    !aggregates.iter().any(has_none)
}

/// What is said of the first and the last value, and of percentiles.
#[must_use]
pub fn no_first_of_all() -> Error {
    Error::new(Cause::Client, "several devices together have no first and no last value, and no percentiles")
}

/// Takes the figures of each device, as rows of [`PARTS`], and holds those of all, or the newest of them.
#[derive(Debug)]
pub struct Total<'a> {
    signals: usize,
    newest: Option<u64>,
    /// By whose values devices are put together; all are one without.
    tag: Option<(&'a Tags, TagId)>,
    /// How many rows of the present bucket have come.
    rows: usize,
    /// By the place of the tag's value and the beginning of the bucket.
    groups: BTreeMap<Group, Vec<Sums>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    sum: f64,
    count: f64,
    min: Option<f64>,
    max: Option<f64>,
}

impl<'a> Total<'a> {
    /// Of so many signals; of all buckets, or of so many of the newest.
    #[must_use]
    pub fn new(signals: usize, newest: Option<u64>) -> Self {
        Self { signals, newest, tag: None, rows: 0, groups: BTreeMap::new() }
    }

    /// Of so many signals, of the devices with each value of a tag.
    #[must_use]
    pub fn by_tag(signals: usize, tags: &'a Tags, tag: TagId) -> Self {
        Self { tag: Some((tags, tag)), ..Self::new(signals, None) }
    }

    /// Whether it holds as many of the newest buckets as are asked for.
    fn has_newest(&self) -> bool {
        self.newest.is_some_and(|newest| self.groups.len() as u64 >= newest)
    }

    /// Answers with a row a bucket and aggregate, by time, or value by value of the tag; of the newest alone, newest first.
    ///
    /// # Errors
    /// The sink's own; Client for the first and the last value.
    pub fn finish(self, aggregates: &[Aggregate], bytes: u64, sink: &mut dyn Sink) -> Result<Reply, Error> {
        if !have_totals(aggregates) {
            return Err(no_first_of_all());
        }
        let mut answer = Answer::new(sink, vec![ValueType::F64; self.signals]);
        let mut answer_with = |(&(group, start), sums): (&Group, &Vec<Sums>)| {
            let mut rows = aggregates.iter().map(|&aggregate| sums.iter().map(move |sums| sums.figure(aggregate)));
            rows.try_for_each(|figures| answer.figures_at(group, start, figures))
        };
        match self.newest {
            None => self.groups.iter().try_for_each(&mut answer_with)?,
            Some(_) => self.groups.iter().rev().try_for_each(&mut answer_with)?,
        }
        answer.finish(bytes, ComputedBy::Client)
    }
}

impl Sums {
    fn take(&mut self, part: Aggregate, figure: f64) {
        match part {
            Aggregate::Sum => self.sum += figure,
            Aggregate::Count => self.count += figure,
            Aggregate::Min => self.min = Some(self.min.map_or(figure, |min| min.min(figure))),
            _ => self.max = Some(self.max.map_or(figure, |max| max.max(figure))),
        }
    }

    fn figure(&self, aggregate: Aggregate) -> Option<f64> {
        let any = (self.count > 0.0).then_some(());
        any.and(match aggregate {
            Aggregate::Sum => Some(self.sum),
            Aggregate::Count => Some(self.count),
            Aggregate::Mean => Some(self.sum / self.count),
            Aggregate::Min => self.min,
            Aggregate::Max => self.max,
            Aggregate::First | Aggregate::Last | Aggregate::Percentile(_) => None,
        })
    }
}

impl Sink for Total<'_> {
    fn push(&mut self, chunk: &Chunk) -> Result<(), Error> {
        for (row, (&device, &start)) in chunk.devices.iter().zip(&chunk.timestamps_ns).enumerate() {
            let part = PARTS[self.rows % PARTS.len()];
            self.rows += 1;
            let group = self.tag.map_or(0, |(tags, tag)| tags.choice(tag, device));
            let sums = self.groups.entry((group, start)).or_insert_with(|| vec![Sums::default(); self.signals]);
            for (sums, column) in sums.iter_mut().zip(&chunk.columns) {
                if let Some(figure) = column.get(row).and_then(|value| value.as_f64()) {
                    sums.take(part, figure);
                }
            }
            // The oldest is none of the newest, whatever is still to come.
            if self.newest.is_some_and(|newest| self.groups.len() as u64 > newest) {
                self.groups.pop_first();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Value;

    /// Takes sum, count, least and greatest of each bucket, in chunks that end anywhere.
    fn take(total: &mut Total<'_>, rows: &[(i64, [f64; 4])]) {
        let rows: Vec<(i64, f64)> =
            rows.iter().flat_map(|&(start, parts)| parts.map(|figure| (start, figure))).collect();
        for rows in rows.chunks(3) {
            let mut chunk = Chunk::new([ValueType::F64]);
            for &(start, figure) in rows {
                chunk.devices.push(4);
                chunk.timestamps_ns.push(start);
                chunk.columns[0].push(Some(Value::F64(figure))).unwrap();
            }
            total.push(&chunk).unwrap();
        }
    }

    #[test]
    fn only_the_newest_buckets_are_held_and_they_come_newest_first() {
        let mut total = Total::new(1, Some(2));
        let count = |start, count: f64| (start, [0.0, count, 0.0, 0.0]);
        take(&mut total, &[count(0, 1.0), count(10, 1.0)]);
        assert!(total.has_newest());
        // Another device has older ones, the same, and a newer one.
        take(&mut total, &[count(-10, 4.0), count(0, 4.0), count(10, 4.0), count(20, 4.0)]);
        assert_eq!(total.groups.keys().copied().collect::<Vec<_>>(), [(0, 10), (0, 20)]);
        let mut seen = Vec::new();
        let mut sink = |chunk: &Chunk| {
            let figure = |row| chunk.columns[0].get(row).and_then(|value| value.as_f64());
            seen.extend((0..chunk.len()).map(|row| (chunk.timestamps_ns[row], figure(row))));
            Ok(())
        };
        total.finish(&[Aggregate::Count, Aggregate::Sum], 0, &mut sink).unwrap();
        assert_eq!(seen, [(20, Some(4.0)), (20, Some(0.0)), (10, Some(5.0)), (10, Some(0.0))]);
    }

    #[test]
    fn the_newest_are_looked_for_at_the_end_then_further_back_then_everywhere() {
        let (range, width) = (TimeRange::half_open(0, 100), BucketWidth::from_ns(2).unwrap());
        let stretches = |newest| stretches(range, width, newest).collect::<Vec<_>>();
        let end = |from| (TimeRange::half_open(from, 100), false);
        assert_eq!(stretches(None), [(range, true)]);
        assert_eq!(stretches(Some(3)), [end(94), end(4), (range, true)]);
        assert_eq!(stretches(Some(4)), [end(92), (range, true)]);
    }

    #[test]
    fn buckets_of_devices_are_merged_by_time() {
        let mut total = Total::new(1, None);
        take(&mut total, &[(0, [3.0, 2.0, 1.0, 2.0]), (10, [5.0, 1.0, 5.0, 5.0]), (0, [-4.0, 1.0, -4.0, -4.0])]);
        let mut seen = Vec::new();
        let mut sink = |chunk: &Chunk| {
            let figure = |row| chunk.columns[0].get(row).and_then(|value| value.as_f64());
            seen.extend((0..chunk.len()).map(|row| (chunk.devices[row], chunk.timestamps_ns[row], figure(row))));
            Ok(())
        };
        let aggregates = [Aggregate::Mean, Aggregate::Min, Aggregate::Max, Aggregate::Sum, Aggregate::Count];
        let reply = total.finish(&aggregates, 9, &mut sink).unwrap();
        assert_eq!(reply, Reply { rows: 10, bytes: 9, computed_by: ComputedBy::Client });
        let first = [-1.0 / 3.0, -4.0, 2.0, -1.0, 3.0].map(|figure| (0, 0, Some(figure)));
        let second = [5.0, 5.0, 5.0, 5.0, 1.0].map(|figure| (0, 10, Some(figure)));
        assert_eq!(seen, [first, second].concat());
    }

    #[test]
    fn devices_are_put_together_by_the_value_of_their_tag() {
        let values = iotbench_core::TagValues::OneOf(["x", "y"].map(Into::into).to_vec());
        let tags = Tags::new(0, vec![Tag { name: "site".into(), values }]).unwrap();
        let (tags, devices) = (&tags, 9);
        let mut total = Total::by_tag(1, tags, 0);
        for device in 0..devices {
            let mut chunk = Chunk::new([ValueType::F64]);
            for figure in [f64::from(device), 1.0, f64::from(device), f64::from(device)] {
                chunk.devices.push(device);
                chunk.timestamps_ns.push(10);
                chunk.columns[0].push(Some(Value::F64(figure))).unwrap();
            }
            total.push(&chunk).unwrap();
        }
        let mut seen = Vec::new();
        let mut sink = |chunk: &Chunk| {
            let figure = |row| chunk.columns[0].get(row).and_then(|value| value.as_f64()).unwrap();
            seen.extend((0..chunk.len()).map(|row| (chunk.devices[row], chunk.timestamps_ns[row], figure(row))));
            Ok(())
        };
        total.finish(&[Aggregate::Sum, Aggregate::Count], 0, &mut sink).unwrap();
        let with = |choice| (0..devices).filter(move |&device| tags.choice(0, device) == choice).map(f64::from);
        let of = |choice| [(choice, 10, with(choice).sum()), (choice, 10, with(choice).map(|_| 1.0).sum())];
        assert_eq!(seen, [of(0), of(1)].concat());
        assert!(with(0).count() > 0 && with(1).count() > 0);
        assert_eq!(known(tags, 1).unwrap_err().cause, Cause::Client);
    }

    #[test]
    fn several_devices_have_no_last_value() {
        let error = Total::new(1, None).finish(&[Aggregate::Last], 0, &mut |_: &Chunk| Ok(())).unwrap_err();
        assert_eq!(error.cause, Cause::Client);
    }
}
