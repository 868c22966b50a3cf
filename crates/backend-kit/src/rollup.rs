//! What the figures of devices come to together, where the client puts them together.

use crate::{
    answer::Answer,
    total::{have_totals, known, no_first_of_all},
};
use iotbench_core::{
    Aggregate, Cause, Chunk, ComputedBy, Error, Items, Predicate, Query, Reader, Reply, Rollup, Schema, Sink, Tags,
    ValueType,
};
use std::collections::BTreeMap;

/// Answers [`Query::Rollup`] by asking for the figures: `None` where something else is asked.
///
/// # Errors
/// The reader's own; the sink's; Client for what cannot come together, and for a tag that is none of the table's or is no number.
pub async fn answer(
    reader: &mut dyn Reader,
    query: &Query,
    schema: &Schema,
    sink: &mut dyn Sink,
) -> Option<Result<Reply, Error>> {
    let Query::Rollup { of, rollup } = query else { return None };
    if let Err(error) =
        refuse(query).and_then(|()| rollup.tags().try_for_each(|tag| known(schema.tags(), tag).map(drop)))
    {
        return Some(Err(error));
    }
    let mut groups = Groups::new(rollup, schema.tags());
    Some(match reader.query(of, &mut groups).await {
        Ok(reply) => groups.finish(reply.bytes, sink),
        Err(error) => Err(error),
    })
}

/// What cannot come together.
///
/// # Errors
/// Client for a query that is none of figures as the items need them, and for a figure that several items do not have.
pub fn refuse(query: &Query) -> Result<(), Error> {
    let Query::Rollup { of, rollup } = query else { return Ok(()) };
    let figures = if let Query::Where { of, .. } = &**of { of } else { of };
    let fits = match (&**figures, rollup.items) {
        (Query::Aggregates { signals, aggregates, .. }, Items::Figures { .. })
        | (Query::Buckets { signals, aggregates, .. }, Items::Counts { .. } | Items::Runs { .. }) => {
            (signals.len(), aggregates.len()) == (1, 1)
        }
        (Query::Aggregates { signals, aggregates, .. }, Items::Values { .. }) => {
            signals.len() == 1 && aggregates[..] == VALUES && rollup.figure == Aggregate::Mean && rollup.every.is_none()
        }
        _ => false,
    };
    if !fits {
        return Err(Error::new(
            Cause::Client,
            "what comes together is one figure of each device, or of each of its buckets",
        ));
    }
    if have_totals(&[rollup.figure]) { Ok(()) } else { Err(no_first_of_all()) }
}

/// What the means of values are put together from.
pub const VALUES: [Aggregate; 2] = [Aggregate::Sum, Aggregate::Count];

/// The group of an item and the beginning of its stretch of time.
type Group = (u32, i64);

/// A sink for the figures, which holds what the groups come to.
struct Groups<'a> {
    rollup: &'a Rollup,
    tags: &'a Tags,
    /// The figures of each group, of two columns.
    sums: BTreeMap<Group, [Sums; 2]>,
    /// The device whose rows come.
    present: Option<Present>,
}

/// What is known of the device whose rows come.
#[derive(Clone, Copy)]
struct Present {
    device: u32,
    /// The beginning of the stretch of time in which buckets are counted, and how many there are.
    counted: Option<(i64, u32)>,
    /// Whether the last bucket met the condition, and the beginning of the stretch of those that do, where it has one.
    run: Option<(bool, Option<i64>)>,
    /// The sum of its values, of which the count has not come.
    sum: Option<f64>,
}

#[derive(Clone, Copy, Default)]
struct Sums {
    sum: f64,
    /// How many items have a number.
    count: f64,
    /// How many items there are.
    items: f64,
    min: Option<f64>,
    max: Option<f64>,
}

impl Sums {
    fn take(&mut self, number: f64, times: f64) {
        self.sum += number;
        self.count += times;
        self.items += times;
        self.min = Some(self.min.map_or(number, |min| min.min(number)));
        self.max = Some(self.max.map_or(number, |max| max.max(number)));
    }

    fn figure(&self, figure: Aggregate) -> Option<f64> {
        let any = (self.count > 0.0).then_some(());
        match figure {
            Aggregate::Count => (self.items > 0.0).then_some(self.items),
            Aggregate::Mean => any.map(|()| self.sum / self.count),
            Aggregate::Sum => any.map(|()| self.sum),
            Aggregate::Min => self.min,
            Aggregate::Max => self.max,
            Aggregate::First | Aggregate::Last | Aggregate::Percentile(_) => None,
        }
    }
}

impl<'a> Groups<'a> {
    fn new(rollup: &'a Rollup, tags: &'a Tags) -> Self {
        Self { rollup, tags, sums: BTreeMap::new(), present: None }
    }

    /// The sums of the group of a device's item that begins at this time.
    fn of(&mut self, device: u32, time: i64) -> Result<&mut [Sums; 2], Error> {
        let group = self.rollup.group(self.tags, device);
        let group = group
            .ok_or_else(|| Error::new(Cause::Client, "these tags have more values together than there are groups"))?;
        let start = self.rollup.every.map_or(0, |every| every.start_of(time));
        Ok(self.sums.entry((group, start)).or_default())
    }

    fn number_of(&self, tag: u16, device: u32) -> Result<f64, Error> {
        self.tags.number(tag, device).ok_or_else(|| {
            let name = self.tags.as_slice().get(usize::from(tag)).map_or("?", |tag| &tag.name);
            Error::new(Cause::Client, format!("the value of tag {name} of device {device} is no number"))
        })
    }

    /// A row of the figures.
    fn row(&mut self, device: u32, time: i64, figure: Option<f64>) -> Result<(), Error> {
        if self.present.is_none_or(|present| present.device != device) {
            self.end_of_device()?;
            self.present = Some(Present { device, counted: None, run: None, sum: None });
        }
        let (Some(mut present), Some(figure)) = (self.present, figure) else { return Ok(()) };
        match self.rollup.items {
            Items::Figures { per } => {
                let per = per.map_or(Ok(1.0), |tag| self.number_of(tag, device))?;
                self.of(device, time)?[0].take(figure / per, 1.0);
            }
            Items::Counts { predicate, each } => {
                let start = each.map_or(0, |each| each.start_of(time));
                if present.counted.is_some_and(|(counted, _)| counted != start) {
                    self.end_of_count(&mut present)?;
                }
                let (_, count) = present.counted.unwrap_or_default();
                present.counted = Some((start, count + u32::from(predicate.holds(figure))));
            }
            Items::Runs { predicate } => self.bucket(&mut present, predicate, time, figure)?,
            Items::Values { beside } => match present.sum.take() {
                None => present.sum = Some(figure),
                Some(sum) => {
                    let number = self.number_of(beside, device)?;
                    let [values, numbers] = self.of(device, time)?;
                    values.take(sum, figure);
                    numbers.take(number * figure, figure);
                }
            },
        }
        self.present = Some(present);
        Ok(())
    }

    /// A bucket of those of which stretches are looked for.
    fn bucket(&mut self, present: &mut Present, predicate: Predicate, time: i64, figure: f64) -> Result<(), Error> {
        let holds = predicate.holds(figure);
        let begun = match present.run {
            // The stretch that the first bucket lies in may have begun before.
            None => None,
            Some((false, _)) if holds => {
                self.of(present.device, time)?[0].items += 1.0;
                Some(time)
            }
            Some((true, Some(begun))) if !holds => {
                let sums = &mut self.of(present.device, begun)?[0];
                sums.items -= 1.0;
                sums.take(seconds(time.abs_diff(begun)), 1.0);
                None
            }
            Some((_, begun)) => begun,
        };
        present.run = Some((holds, begun));
        Ok(())
    }

    fn end_of_device(&mut self) -> Result<(), Error> {
        match self.present.take() {
            Some(Present { sum: Some(_), .. }) => Err(Error::new(Cause::Protocol, "a device has a sum and no count")),
            Some(mut present) => self.end_of_count(&mut present),
            None => Ok(()),
        }
    }

    fn end_of_count(&mut self, present: &mut Present) -> Result<(), Error> {
        match present.counted.take() {
            Some((start, count)) if count > 0 => {
                self.of(present.device, start)?[0].take(count.into(), 1.0);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn finish(mut self, bytes: u64, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.end_of_device()?;
        let (figure, columns) = (self.rollup.figure, self.rollup.columns());
        let mut answer = Answer::new(sink, vec![ValueType::F64; columns]);
        for (&(group, start), sums) in &self.sums {
            let figures: Vec<_> = sums.iter().take(columns).map(|sums| sums.figure(figure)).collect();
            if figures.iter().all(Option::is_some) {
                answer.figures_at(group, start, figures)?;
            }
        }
        answer.finish(bytes, ComputedBy::Client)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a length of time is f64")]
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl Sink for Groups<'_> {
    fn push(&mut self, chunk: &Chunk) -> Result<(), Error> {
        for (row, (&device, &time)) in chunk.devices.iter().zip(&chunk.timestamps_ns).enumerate() {
            let figure = chunk.columns.first().and_then(|column| column.get(row)).and_then(|value| value.as_f64());
            self.row(device, time, figure)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{BucketWidth, Devices, Tag, TagValues, TimeRange, Value};

    const MINUTE: i64 = 60_000_000_000;

    fn tags() -> Tags {
        let values = TagValues::OneOf(["2", "4"].map(Into::into).to_vec());
        Tags::new(0, vec![Tag { name: "capacity".into(), values }]).unwrap()
    }

    fn rollup(items: Items, by: &[u16], every: Option<BucketWidth>, figure: Aggregate) -> Rollup {
        Rollup { items, by: by.to_vec(), every, figure }
    }

    /// What these rows come to, in chunks of two.
    fn come_to(rollup: &Rollup, figures: &[(u32, i64, f64)]) -> Vec<(u32, i64, Vec<f64>)> {
        let (tags, mut seen) = (tags(), Vec::new());
        let mut groups = Groups::new(rollup, &tags);
        for figures in figures.chunks(2) {
            let mut chunk = Chunk::new([ValueType::F64]);
            for &(device, time, figure) in figures {
                chunk.devices.push(device);
                chunk.timestamps_ns.push(time);
                chunk.columns[0].push(Some(Value::F64(figure))).unwrap();
            }
            groups.push(&chunk).unwrap();
        }
        let mut sink = |chunk: &Chunk| {
            let cells = |row| chunk.columns.iter().map(|c| c.get(row).and_then(|v| v.as_f64()).unwrap()).collect();
            seen.extend((0..chunk.len()).map(|row| (chunk.devices[row], chunk.timestamps_ns[row], cells(row))));
            Ok(())
        };
        let reply = groups.finish(9, &mut sink).unwrap();
        assert_eq!(reply, Reply { rows: seen.len() as u64, bytes: 9, computed_by: ComputedBy::Client });
        seen
    }

    #[test]
    fn figures_come_together_by_tag_as_parts_of_its_number() {
        let tags = tags();
        let figures: Vec<_> = (0..6).map(|device| (device, 0, f64::from(device))).collect();
        let means = come_to(&rollup(Items::Figures { per: Some(0) }, &[0], None, Aggregate::Mean), &figures);
        for (choice, size) in [(0, 2.0), (1, 4.0)] {
            let of: Vec<f64> =
                (0..6).filter(|&device| tags.choice(0, device) == choice).map(|d| f64::from(d) / size).collect();
            assert_eq!(means[choice as usize], (choice, 0, vec![of.iter().sum::<f64>() / of.len() as f64]));
        }
        let alone = come_to(&rollup(Items::Figures { per: None }, &[], None, Aggregate::Sum), &figures);
        assert_eq!(alone[3], (3, 0, vec![3.0]));
    }

    #[test]
    fn buckets_are_counted_in_each_stretch_and_none_where_there_is_none() {
        let hour = BucketWidth::from_ns(3600 * 1_000_000_000);
        let at = |minute: i64, figure| (1, minute * MINUTE, figure);
        let figures = [at(0, 2.0), at(10, 0.0), at(20, 3.0), at(70, 5.0), at(130, 0.0), (2, 0, 1.0)];
        let items = Items::Counts { predicate: Predicate::Above(1.0), each: hour };
        assert_eq!(come_to(&rollup(items, &[], None, Aggregate::Mean), &figures), [(1, 0, vec![1.5])]);
        let of_each = come_to(&rollup(items, &[], hour, Aggregate::Sum), &figures);
        assert_eq!(of_each, [(1, 0, vec![2.0]), (1, 60 * MINUTE, vec![1.0])]);
        let all = Items::Counts { predicate: Predicate::Above(1.0), each: None };
        assert_eq!(come_to(&rollup(all, &[], None, Aggregate::Max), &figures), [(1, 0, vec![3.0])]);
    }

    #[test]
    fn a_stretch_lasts_until_the_next_bucket_that_does_not() {
        let at = |device, minute: i64, figure| (device, minute * MINUTE, figure);
        let figures = [
            // The first has no beginning; the second lasts 20 minutes, the third, 30, over a gap; the last one has no end.
            at(1, 0, 9.0),
            at(1, 10, 0.0),
            at(1, 20, 9.0),
            at(1, 30, 9.0),
            at(1, 40, 0.0),
            at(1, 50, 9.0),
            at(1, 80, 0.0),
            at(1, 90, 9.0),
            at(3, 0, 0.0),
            at(3, 10, 9.0),
        ];
        let items = Items::Runs { predicate: Predicate::Above(5.0) };
        assert_eq!(come_to(&rollup(items, &[], None, Aggregate::Mean), &figures), [(1, 0, vec![1500.0])]);
        let counts = come_to(&rollup(items, &[], None, Aggregate::Count), &figures);
        assert_eq!(counts, [(1, 0, vec![3.0]), (3, 0, vec![1.0])]);
        let hour = BucketWidth::from_ns(3600 * 1_000_000_000);
        let by_hour = come_to(&rollup(items, &[], hour, Aggregate::Count), &figures);
        assert_eq!(by_hour, [(1, 0, vec![2.0]), (1, 60 * MINUTE, vec![1.0]), (3, 0, vec![1.0])]);
    }

    #[test]
    fn the_number_of_a_tag_counts_as_often_as_there_are_values() {
        let tags = tags();
        let size = |device| tags.number(0, device).unwrap();
        let figures = [(0, 0, 10.0), (0, 0, 4.0), (5, 0, 6.0), (5, 0, 1.0)];
        let means = come_to(&rollup(Items::Values { beside: 0 }, &[], None, Aggregate::Mean), &figures);
        assert_eq!(means, [(0, 0, vec![2.5, size(0)]), (5, 0, vec![6.0, size(5)])]);
    }

    #[test]
    fn only_figures_that_fit_the_items_come_together() {
        let of = |aggregates: &[Aggregate]| {
            let (devices, aggregates) = (Devices::All, aggregates.to_vec());
            Box::new(Query::Aggregates { devices, signals: vec![1], aggregates, range: TimeRange::ALL })
        };
        let refused =
            |of, items, figure| refuse(&Query::Rollup { of, rollup: rollup(items, &[], None, figure) }).is_err();
        let (figures, values) = (Items::Figures { per: None }, Items::Values { beside: 0 });
        assert!(
            !refused(of(&[Aggregate::Last]), figures, Aggregate::Max) && !refused(of(&VALUES), values, Aggregate::Mean)
        );
        assert!(refused(of(&VALUES), figures, Aggregate::Max) && refused(of(&VALUES), values, Aggregate::Sum));
        assert!(refused(of(&[Aggregate::Last]), figures, Aggregate::Last));
        let runs = Items::Runs { predicate: Predicate::Above(0.0) };
        assert!(
            refused(of(&[Aggregate::Mean]), runs, Aggregate::Mean)
                && refused(Box::new(Query::Count), runs, Aggregate::Sum)
        );
    }
}
