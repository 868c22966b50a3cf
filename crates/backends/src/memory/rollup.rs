//! What figures of devices come to together, by plain code.

use iotbench_core::{Aggregate, Items, Predicate, Rollup, Tags};
use std::collections::BTreeMap;

/// A device, the beginning of a bucket or 0, and its figure.
pub(super) type Figure = (u32, i64, f64);
/// A device, when it begins, how many it stands for, and its number, if it has one; of values a second one.
type Item = (u32, i64, f64, Option<[f64; 2]>);

/// The rows of a rollup of these figures, which come by device, then time.
pub(super) fn rows(rollup: &Rollup, tags: &Tags, figures: &[Figure]) -> Vec<(u32, i64, Vec<f64>)> {
    let mut groups: BTreeMap<(u32, i64), Vec<Item>> = BTreeMap::new();
    for item in figures.chunk_by(|a, b| a.0 == b.0).flat_map(|of_device| items(rollup.items, tags, of_device)) {
        let start = rollup.every.map_or(0, |every| every.start_of(item.1));
        groups.entry((rollup.group(tags, item.0).unwrap_or(u32::MAX), start)).or_default().push(item);
    }
    let row = |((group, start), items): ((u32, i64), Vec<Item>)| {
        let columns: Option<Vec<f64>> =
            (0..rollup.columns()).map(|column| figure(&items, rollup.figure, column)).collect();
        columns.map(|columns| (group, start, columns))
    };
    groups.into_iter().filter_map(row).collect()
}

fn figure(items: &[Item], figure: Aggregate, column: usize) -> Option<f64> {
    let numbers: Vec<f64> = items.iter().filter_map(|item| item.3).map(|numbers| numbers[column]).collect();
    let with_number = items.iter().filter(|item| item.3.is_some());
    let sum = numbers.iter().copied().reduce(|a, b| a + b);
    match figure {
        Aggregate::Count => Some(items.iter().map(|item| item.2).sum()),
        Aggregate::Sum => sum,
        Aggregate::Mean => sum.map(|sum| sum / with_number.map(|item| item.2).sum::<f64>()),
        Aggregate::Min => numbers.into_iter().reduce(f64::min),
        Aggregate::Max => numbers.into_iter().reduce(f64::max),
        Aggregate::First | Aggregate::Last | Aggregate::Percentile(_) => None,
    }
}

/// What one device gives.
fn items(items: Items, tags: &Tags, of_device: &[Figure]) -> Vec<Item> {
    let number = |tag, device| tags.number(tag, device).unwrap_or(f64::NAN);
    match items {
        Items::Figures { per } => {
            let part = |&(device, time, figure): &Figure| {
                (device, time, 1.0, Some([per.map_or(figure, |tag| figure / number(tag, device)), 0.0]))
            };
            of_device.iter().map(part).collect()
        }
        Items::Counts { predicate, each } => {
            let holding = of_device.iter().filter(|row| predicate.holds(row.2));
            let starts: Vec<_> = holding.map(|row| (row.0, each.map_or(0, |each| each.start_of(row.1)))).collect();
            let of_each = starts.chunk_by(|a, b| a == b);
            #[expect(clippy::cast_precision_loss, reason = "fewer buckets than 2^53")]
            let counted = |all: &[(u32, i64)]| (all[0].0, all[0].1, 1.0, Some([all.len() as f64, 0.0]));
            of_each.map(counted).collect()
        }
        Items::Runs { predicate } => runs(predicate, of_device),
        Items::Values { beside } => match of_device {
            [(device, time, sum), (_, _, count)] => {
                vec![(*device, *time, *count, Some([*sum, number(beside, *device) * count]))]
            }
            _ => Vec::new(),
        },
    }
}

/// From each bucket that meets the condition after one that does not, to the next that does not.
fn runs(predicate: Predicate, of_device: &[Figure]) -> Vec<Item> {
    let begin = |pair: &&[Figure]| !predicate.holds(pair[0].2) && predicate.holds(pair[1].2);
    let run = |pair: &[Figure]| {
        let (device, begun, _) = pair[1];
        let end = of_device.iter().find(|row| row.1 > begun && !predicate.holds(row.2));
        #[expect(clippy::cast_precision_loss, reason = "a length of time is f64")]
        let length = end.map(|end| [(end.1 - begun) as f64 / 1e9, 0.0]);
        (device, begun, 1.0, length)
    };
    of_device.windows(2).filter(begin).map(run).collect()
}
