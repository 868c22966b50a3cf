//! What figures of devices come to together: between which bounds it lies, of figures that lie between bounds.

use super::{
    exactness::Exactness,
    figure::{Bounds, Figure},
    groups::ExpectedFigures,
    having::{Meets, meets},
    truth::Truth,
};
use iotbench_core::{Aggregate, Items, Predicate, Rollup, SignalId, TagId, Tags, TimeRange};
use std::{collections::BTreeMap, ops::ControlFlow};

/// What a device gives, or may give.
#[derive(Clone, Copy, Debug)]
struct Item {
    device: u32,
    /// When it begins.
    timestamp_ns: i64,
    /// Whether it certainly is there.
    certain: bool,
    /// Between which bounds its number lies; `None`: it has none.
    number: Option<Bounds>,
}

/// The rows of a rollup of these figures, which come by device, then time; of values there are none.
pub(super) fn expected(
    figures: &[ExpectedFigures],
    rollup: &Rollup,
    tags: &Tags,
    exactness: Exactness,
) -> Vec<ExpectedFigures> {
    let mut groups: BTreeMap<(u32, i64), Vec<Item>> = BTreeMap::new();
    for item in figures.chunk_by(|a, b| a.device == b.device).flat_map(|own| items(own, rollup.items, tags, exactness))
    {
        let Some(group) = rollup.group(tags, item.device) else { continue };
        let start = rollup.every.map_or(0, |every| every.start_of(item.timestamp_ns));
        groups.entry((group, start)).or_default().push(item);
    }
    let row = |((device, timestamp_ns), items): ((u32, i64), Vec<Item>)| {
        let (bounds, certain) = figure(&items, rollup.figure)?;
        Some(ExpectedFigures { device, timestamp_ns, certain, values: vec![bounds] })
    };
    groups.into_iter().filter_map(row).collect()
}

/// The mean of the values of each group, and of the numbers of a tag beside them.
pub(super) fn values(
    truth: &mut Truth,
    (devices, signal, range): (&[u32], SignalId, TimeRange),
    rollup: &Rollup,
    beside: TagId,
) -> Vec<ExpectedFigures> {
    let (tags, means) = (truth.tags(), &[Aggregate::Mean]);
    let mut groups: BTreeMap<u32, [Figure; 2]> = BTreeMap::new();
    let _ = truth.walk(devices, range, &mut |row| {
        let (number, of_tag) = (row.number(signal), tags.number(beside, row.device));
        if let (Some(group), Some(number)) = (rollup.group(&tags, row.device), number) {
            let [values, numbers] = groups.entry(group).or_insert_with(|| [Figure::new(means), Figure::new(means)]);
            values.add(Some(number), row.certain);
            numbers.add(of_tag, row.certain);
        }
        ControlFlow::Continue(())
    });
    let row = |(device, figures): (u32, [Figure; 2])| {
        let values: Option<Vec<_>> = figures.iter().map(|figure| figure.of(Aggregate::Mean)).collect();
        let certain = figures.iter().all(Figure::is_certain);
        values.map(|values| ExpectedFigures { device, timestamp_ns: 0, certain, values })
    };
    groups.into_iter().filter_map(row).collect()
}

/// A figure of items, and whether there certainly is one; `None`: there is none.
fn figure(items: &[Item], figure: Aggregate) -> Option<(Bounds, bool)> {
    let with_number: Vec<_> = items.iter().filter_map(|item| Some((item.certain, item.number?))).collect();
    let all = |of: fn(&Bounds) -> f64| with_number.iter().map(move |(_, bounds)| of(bounds));
    let sure = |of: fn(&Bounds) -> f64| with_number.iter().filter(|(certain, _)| *certain).map(move |(_, b)| of(b));
    let maybe = |of: fn(&Bounds) -> f64| with_number.iter().filter(|(certain, _)| !*certain).map(move |(_, b)| of(b));
    let (certain, possible) = (items.iter().filter(|item| item.certain).count(), items.len());
    let (least, greatest) = match figure {
        Aggregate::Count => (many(certain.max(1)), many(possible)),
        Aggregate::Mean if maybe(|b| b.least).next().is_none() => {
            let mean = |sum: f64| sum / many(with_number.len());
            (mean(all(|b| b.least).sum()), mean(all(|b| b.greatest).sum()))
        }
        Aggregate::Mean => (all(|b| b.least).reduce(f64::min)?, all(|b| b.greatest).reduce(f64::max)?),
        Aggregate::Sum => {
            let (below, above): (f64, f64) = (maybe(|b| b.least.min(0.0)).sum(), maybe(|b| b.greatest.max(0.0)).sum());
            (sure(|b| b.least).sum::<f64>() + below, sure(|b| b.greatest).sum::<f64>() + above)
        }
        Aggregate::Min => {
            let greatest = sure(|b| b.greatest).reduce(f64::min).or_else(|| all(|b| b.greatest).reduce(f64::max));
            (all(|b| b.least).reduce(f64::min)?, greatest?)
        }
        Aggregate::Max => {
            let least = sure(|b| b.least).reduce(f64::max).or_else(|| all(|b| b.least).reduce(f64::min));
            (least?, all(|b| b.greatest).reduce(f64::max)?)
        }
        Aggregate::First | Aggregate::Last | Aggregate::Percentile(_) => return None,
    };
    let is_there = figure == Aggregate::Count || !with_number.is_empty();
    let is_certain = if figure == Aggregate::Count { certain > 0 } else { sure(|b| b.count).next().is_some() };
    let magnitudes: f64 = all(|b| b.magnitude).sum();
    let magnitude = if figure == Aggregate::Sum { magnitudes } else { all(|b| b.magnitude).fold(0.0, f64::max) };
    let bounds = Bounds { least, greatest, magnitude, count: all(|b| b.count).sum() };
    is_there.then_some((bounds, is_certain))
}

#[expect(clippy::cast_precision_loss, reason = "fewer items than 2^53")]
fn many(count: usize) -> f64 {
    count as f64
}

/// What the figures of one device give.
fn items(own: &[ExpectedFigures], items: Items, tags: &Tags, exactness: Exactness) -> Vec<Item> {
    match items {
        Items::Figures { per } => {
            let part = |figures: &ExpectedFigures| {
                let per = per.map_or(Some(1.0), |tag| tags.number(tag, figures.device))?;
                Some(Item { number: Some(divided(*figures.values.first()?, per)), ..Item::of(figures) })
            };
            own.iter().filter_map(part).collect()
        }
        Items::Counts { predicate, each } => {
            let start = |figures: &ExpectedFigures| each.map_or(0, |each| each.start_of(figures.timestamp_ns));
            let of_each = own.chunk_by(|a, b| start(a) == start(b));
            of_each.filter_map(|own| counted(own, start(&own[0]), predicate, exactness)).collect()
        }
        Items::Runs { predicate } => runs(own, predicate, exactness),
        Items::Values { .. } => Vec::new(),
    }
}

impl Item {
    fn of(figures: &ExpectedFigures) -> Self {
        let ExpectedFigures { device, timestamp_ns, certain, .. } = *figures;
        Self { device, timestamp_ns, certain, number: None }
    }
}

fn exactly(number: f64) -> Bounds {
    Bounds { least: number, greatest: number, magnitude: 0.0, count: 1.0 }
}

fn divided(bounds: Bounds, by: f64) -> Bounds {
    let (a, b) = (bounds.least / by, bounds.greatest / by);
    Bounds { least: a.min(b), greatest: a.max(b), magnitude: (bounds.magnitude / by).abs(), ..bounds }
}

/// Whether the only figure meets a condition: where it may not be there, it is not sure.
fn is_met(figures: &ExpectedFigures, predicate: Predicate, exactness: Exactness) -> Meets {
    match figures.values.first().map(|&bounds| meets(bounds, predicate, exactness)) {
        Some(Meets::Not) | None => Meets::Not,
        Some(Meets::Certainly) if figures.certain => Meets::Certainly,
        Some(_) => Meets::Maybe,
    }
}

/// How many buckets meet a condition, where one may.
fn counted(own: &[ExpectedFigures], start: i64, predicate: Predicate, exactness: Exactness) -> Option<Item> {
    let (mut certain, mut possible) = (0_u32, 0_u32);
    for figures in own {
        let met = is_met(figures, predicate, exactness);
        certain += u32::from(met == Meets::Certainly);
        possible += u32::from(met != Meets::Not);
    }
    let number = Bounds { least: certain.max(1).into(), greatest: possible.into(), magnitude: 0.0, count: 1.0 };
    let of = own.first().filter(|_| possible > 0)?;
    Some(Item { timestamp_ns: start, certain: certain > 0, number: Some(number), ..Item::of(of) })
}

/// The stretches of buckets that meet a condition. Where that is not known of each bucket, and of each whether it is there, there may be
/// any, of any length.
fn runs(own: &[ExpectedFigures], predicate: Predicate, exactness: Exactness) -> Vec<Item> {
    let is_known = |figures: &ExpectedFigures| figures.certain && is_met(figures, predicate, exactness) != Meets::Maybe;
    let (Some(first), Some(last)) = (own.first(), own.last()) else { return Vec::new() };
    if !own.iter().all(is_known) {
        let lengths = Bounds { least: 0.0, ..exactly(seconds(first.timestamp_ns, last.timestamp_ns)) };
        return own.iter().map(|figures| Item { certain: false, number: Some(lengths), ..Item::of(figures) }).collect();
    }
    let met: Vec<_> = own.iter().map(|figures| is_met(figures, predicate, exactness) == Meets::Certainly).collect();
    let begins = (1..own.len()).filter(|&place| met[place] && !met[place - 1]);
    let run = |place: usize| {
        let end = (place..own.len()).find(|&place| !met[place]);
        let number = end.map(|end| exactly(seconds(own[place].timestamp_ns, own[end].timestamp_ns)));
        Item { number, ..Item::of(&own[place]) }
    };
    begins.map(run).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a length of time is f64")]
fn seconds(from_ns: i64, to_ns: i64) -> f64 {
    to_ns.abs_diff(from_ns) as f64 / 1e9
}
