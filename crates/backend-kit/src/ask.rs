//! A query as what is asked of a database: of which datapoints, in which order, how many, and what of them. Pure.
//!
//! A query says what a person wants to know; a database is asked for rows. What lies between them is the same for all: the
//! times before and after one, the one newest datapoint, a limit. A backend says an [`Ask`] in its own language.

use crate::{percentile, span::Span};
use iotbench_core::{
    Aggregate, BucketWidth, Consecutive, Devices, Direction, Predicate, Query, SignalId, TableSpec, TagId, Tagged,
    Tags, TypedTag,
};
use std::slice::from_ref;

/// Which devices are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked<'a> {
    /// Every one.
    All,
    /// This one.
    One(u32),
    /// These, ascending: none, or several.
    Some(&'a [u32]),
    /// Those with one value of a tag.
    Tagged(&'a Tagged),
}

impl<'a> Asked<'a> {
    /// The same devices.
    #[must_use]
    pub fn of(devices: &'a Devices) -> Self {
        match devices {
            Devices::All => Self::All,
            Devices::Some(list) => match list.as_slice() {
                [device] => Self::One(*device),
                list => Self::Some(list),
            },
            Devices::Tagged(tagged) => Self::Tagged(tagged),
        }
    }

    /// These as far as a table may hold them: one without a column of devices holds the first alone. `None`: none of them.
    #[must_use]
    pub fn in_table(self, table: &TableSpec) -> Option<Self> {
        match self {
            Self::Some([]) => None,
            Self::Tagged(tagged) if tagged.devices.is_empty() => None,
            asked if table.has_device_column() => Some(asked),
            asked => asked.contains(0).then_some(Self::All),
        }
    }

    /// These, one after the other; `None` where it is every one.
    #[must_use]
    pub fn list(&self) -> Option<&[u32]> {
        match self {
            Self::All => None,
            Self::One(device) => Some(from_ref(device)),
            Self::Some(list) => Some(list),
            Self::Tagged(tagged) => Some(&tagged.devices),
        }
    }

    /// The name of the tag and the value that they have, where these are what is asked for.
    #[must_use]
    pub fn tagged<'t>(&self, tags: &'t Tags) -> Option<(&'t str, TypedTag<'t>)> {
        let Self::Tagged(tagged) = self else { return None };
        let tag = tags.as_slice().get(usize::from(tagged.tag))?;
        Some((&tag.name, tags.value(tagged.tag, tagged.choice)?.typed(tag.values.tag_type())))
    }

    /// Whether this device is asked for.
    #[must_use]
    pub fn contains(self, device: u32) -> bool {
        match self {
            Self::All => true,
            Self::One(one) => one == device,
            Self::Some(list) => list.contains(&device),
            Self::Tagged(tagged) => tagged.devices.binary_search(&device).is_ok(),
        }
    }
}

/// In which order datapoints come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By device, then time; equal times as they were stored.
    Stretch,
    /// By time; equal times as they were stored.
    Oldest,
    /// Newest first, whatever the device; equal times as they were stored, reversed.
    Newest,
    /// The time alone, ascending: of equal times any.
    After,
    /// The time alone, descending: of equal times any.
    Before,
    /// The least value of the signal, the earliest of equals.
    Least,
}

impl Order {
    /// Whether the last ones come first.
    #[must_use]
    pub fn is_descending(self) -> bool {
        matches!(self, Self::Newest | Self::Before)
    }
}

/// What is wanted of the datapoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What<'a> {
    /// They themselves.
    Datapoints,
    /// Of each device the first, in the order asked for; by device.
    FirstOfEach,
    /// The greatest number of the signal.
    Greatest,
    /// These figures of each device and signal.
    Figures(&'a [Aggregate]),
    /// These figures of each device, bucket and signal.
    Buckets(&'a [Aggregate], BucketWidth),
    /// These figures of each bucket and signal, of all devices together; order and limit are those of the buckets.
    TotalBuckets(&'a [Aggregate], BucketWidth),
    /// These figures of each signal, of all devices with the same value of a tag together, or of each bucket of theirs.
    ByTag(TagId, &'a [Aggregate], Option<BucketWidth>),
    /// The devices with the greatest figure of the signal, greatest first; the limit is theirs.
    Top(Aggregate),
    /// What lies between consecutive values of the signal, device by device.
    Consecutive(Consecutive),
    /// How many they are, and how many values.
    Count,
}

/// Which of the rows of an answer are wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Having {
    /// The condition on their only figure, or on the value of the signal.
    pub predicate: Predicate,
    /// How many buckets of each device or value meet it is wanted instead, where at least so many do.
    pub at_least: Option<u64>,
}

/// What is asked of a database.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ask<'a> {
    /// What is wanted of the datapoints.
    pub what: What<'a>,
    /// Of these devices.
    pub devices: Asked<'a>,
    /// Of these signals, ascending.
    pub signals: &'a [SignalId],
    /// At these times.
    pub span: Span,
    /// The signal whose values are compared: the one that it is about, or the first.
    pub signal: SignalId,
    /// With a value of that signal that fulfils it.
    pub predicate: Option<Predicate>,
    /// In this order.
    pub order: Order,
    /// The first so many.
    pub limit: u64,
    /// Of the rows that come of it, these.
    pub having: Option<Having>,
}

impl<'a> Ask<'a> {
    /// Every datapoint of a stretch of time.
    #[must_use]
    pub fn stretch(devices: Asked<'a>, signals: &'a [SignalId], span: Span) -> Self {
        let (what, order) = (What::Datapoints, Order::Stretch);
        let signal = signals.first().copied().unwrap_or_default();
        Self { what, devices, signals, span, signal, predicate: None, order, limit: u64::MAX, having: None }
    }

    /// The first so many in an order.
    #[must_use]
    pub fn first(self, limit: u64, order: Order) -> Self {
        Self { order, limit, ..self }
    }

    /// What a query asks of a table with these signals; `None` where there is no time that it asks about.
    #[must_use]
    pub fn of(query: &'a Query, all: &'a [SignalId]) -> Option<Self> {
        let of_one = |&device, signal, span| Self::stretch(Asked::One(device), from_ref(signal), span);
        Some(match query {
            Query::Range { devices, signals, range } => Self::stretch(Asked::of(devices), signals, Span::of(*range)?),
            Query::Filter { devices, signal, predicate, range, all_signals } => {
                let signals = if *all_signals { all } else { from_ref(signal) };
                let stretch = Self::stretch(Asked::of(devices), signals, Span::of(*range)?);
                Self { signal: *signal, predicate: Some(*predicate), ..stretch }
            }
            Query::Scan => Self::stretch(Asked::All, all, Span::ALL),
            Query::Records { device, from_ns, limit } => {
                Self::stretch(Asked::One(*device), all, Span::from(*from_ns)).first(*limit, Order::Oldest)
            }
            Query::Nearest { device, signal, predicate, direction } => {
                let (span, order) = beside(*direction)?;
                Self { predicate: Some(*predicate), ..of_one(device, signal, span).first(1, order) }
            }
            Query::Minimum { device, signal, range } => {
                of_one(device, signal, Span::of(*range)?).first(1, Order::Least)
            }
            Query::Newest { devices, limit } => {
                Self::stretch(Asked::of(devices), all, Span::ALL).first(*limit, Order::Newest)
            }
            Query::LastPoints { devices } => {
                let newest = Self::stretch(Asked::of(devices), all, Span::ALL).first(1, Order::Newest);
                Self { what: What::FirstOfEach, ..newest }
            }
            Query::NewestVisible { device, signal } => of_one(device, signal, Span::ALL).first(1, Order::Before),
            Query::MaxOfFirst { device, signal, from_ns, limit } => {
                let first = of_one(device, signal, Span::from(*from_ns)).first(*limit, Order::Oldest);
                Self { what: What::Greatest, ..first }
            }
            Query::Aggregates { devices, signals, aggregates, range } => {
                let stretch = Self::stretch(Asked::of(devices), signals, Span::of(*range)?);
                Self { what: What::Figures(aggregates), ..stretch }
            }
            Query::Buckets { devices, signals, aggregates, range, width } => {
                let stretch = Self::stretch(Asked::of(devices), signals, Span::of(*range)?);
                Self { what: What::Buckets(aggregates, *width), ..stretch }
            }
            Query::TotalBuckets { devices, signals, aggregates, range, width, newest } => {
                let stretch = Self::stretch(Asked::of(devices), signals, Span::of(*range)?);
                let asked = newest.map_or(stretch, |newest| stretch.first(newest, Order::Newest));
                Self { what: What::TotalBuckets(aggregates, *width), ..asked }
            }
            Query::TagFigures { tag, signals, aggregates, range, width } => {
                let stretch = Self::stretch(Asked::All, signals, Span::of(*range)?);
                Self { what: What::ByTag(*tag, aggregates, *width), ..stretch }
            }
            Query::TopDevices { devices, signal, aggregate, range, limit } => {
                let stretch = Self::stretch(Asked::of(devices), from_ref(signal), Span::of(*range)?);
                Self { what: What::Top(*aggregate), limit: *limit, ..stretch }
            }
            Query::Having { of, signal, predicate, at_least, .. } => {
                let having = Having { predicate: *predicate, at_least: *at_least };
                Self { signal: *signal, having: Some(having), ..Self::of(of, all)? }
            }
            Query::Consecutive { devices, signal, range, what } => {
                let stretch = Self::stretch(Asked::of(devices), from_ref(signal), Span::of(*range)?);
                Self { what: What::Consecutive(*what), ..stretch }
            }
            // The client fills, and puts together: a database is asked for the figures that it has.
            Query::Filled { of, .. } | Query::Rollup { of, .. } => Self::of(of, all)?,
            Query::Where { of, signal, predicate, .. } => {
                Self { signal: *signal, predicate: Some(*predicate), ..Self::of(of, all)? }
            }
            Query::Descending { of } => Self::of(of, all)?.first(u64::MAX, Order::Newest),
            Query::Count => Self { what: What::Count, ..Self::stretch(Asked::All, all, Span::ALL) },
        })
    }

    /// Whether anything at all is wanted: a datapoint of a device, or a figure.
    #[must_use]
    pub fn wants_something(&self) -> bool {
        let is_of_no_figure = matches!(
            self.what,
            What::Figures([]) | What::Buckets([], _) | What::TotalBuckets([], _) | What::ByTag(_, [], _)
        );
        self.limit > 0 && self.devices.list() != Some(&[]) && !is_of_no_figure
    }

    /// Whether a percentile is among the figures that are wanted of each device or bucket.
    #[must_use]
    pub fn has_percentile(&self) -> bool {
        matches!(self.what, What::Figures(figures) | What::Buckets(figures, _) if percentile::is_among(figures))
    }

    /// How many of the newest are asked for; `None`: all, or others.
    #[must_use]
    pub fn newest(&self) -> Option<u64> {
        (self.order == Order::Newest).then_some(self.limit)
    }

    /// The datapoints that it is about, themselves.
    #[must_use]
    pub fn datapoints(self) -> Self {
        Self { what: What::Datapoints, ..self }
    }

    /// Those of one of the devices, themselves.
    #[must_use]
    pub fn of_one(self, device: u32) -> Self {
        Self { devices: Asked::One(device), ..self.datapoints() }
    }

    /// The same of the times that a database can hold; `None` where it can hold none of them.
    #[must_use]
    pub fn within(self, times: Span) -> Option<Self> {
        Some(Self { span: self.span.and(times)?, ..self })
    }

    /// Whether values of other signals come with the one that fulfils the predicate: where each value is a row of its own, a
    /// condition on rows does not find them.
    #[must_use]
    pub fn is_of_records(&self) -> bool {
        self.predicate.is_some() && self.signals.len() > 1
    }

    /// The same without its predicate.
    #[must_use]
    pub fn of_any_value(self) -> Self {
        Self { predicate: None, ..self }
    }

    /// The one device that it is about, or the first of all.
    #[must_use]
    pub fn device(&self) -> u32 {
        if let Asked::One(device) = self.devices { device } else { 0 }
    }
}

/// The times before or after one, and the order in which the nearest comes first.
fn beside(direction: Direction) -> Option<(Span, Order)> {
    match direction {
        Direction::FirstAfter(time) => Some((Span::from(time.checked_add(1)?), Order::After)),
        Direction::LastBefore(time) => Some((Span { last: time.checked_sub(1)?, ..Span::ALL }, Order::Before)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Layout, Marker, Name, Schema, Signal, Tag, TagValues, TimeRange, ValueType};
    use std::ops::Bound;

    const ALL: &[SignalId] = &[0, 1, 2];

    fn nearest(direction: Direction) -> Query {
        Query::Nearest { device: 4, signal: 1, predicate: Predicate::Above(1.5), direction }
    }

    #[test]
    fn the_nearest_is_the_first_of_the_times_beside_one() {
        let asked = |direction| {
            let query = nearest(direction);
            let ask = Ask::of(&query, ALL)?;
            assert_eq!((ask.what, ask.devices, ask.limit), (What::Datapoints, Asked::One(4), 1));
            assert_eq!((ask.signals, ask.predicate), (&[1][..], Some(Predicate::Above(1.5))));
            Some((ask.span, ask.order))
        };
        assert_eq!(asked(Direction::FirstAfter(7)), Some((Span::from(8), Order::After)));
        assert_eq!(asked(Direction::LastBefore(7)), Some((Span { last: 6, ..Span::ALL }, Order::Before)));
        assert_eq!(asked(Direction::FirstAfter(i64::MAX)), None);
        assert_eq!(asked(Direction::LastBefore(i64::MIN)), None);
    }

    #[test]
    fn the_newest_are_the_first_from_the_end() {
        let ask = |query| Ask::of(&query, ALL).map(|ask| (ask.signals.to_vec(), ask.span, ask.order, ask.limit));
        let newest = Query::Newest { devices: Devices::All, limit: 3 };
        assert_eq!(ask(newest), Some((ALL.to_vec(), Span::ALL, Order::Newest, 3)));
        let last = Query::LastPoints { devices: Devices::Some(vec![3, 4]) };
        let each = Ask::of(&last, ALL).unwrap();
        assert_eq!((each.what, each.devices, each.signals), (What::FirstOfEach, Asked::Some(&[3, 4]), ALL));
        let one = Query::Newest { devices: Devices::Some(vec![4]), limit: 1 };
        assert_eq!(Some(each.of_one(4)), Ask::of(&one, ALL), "of one of them it is the newest");
        let visible = Query::NewestVisible { device: 4, signal: 1 };
        assert_eq!(ask(visible), Some((vec![1], Span::ALL, Order::Before, 1)));
        assert!([Order::Newest, Order::Before].iter().all(|order| order.is_descending()));
        assert!(![Order::Stretch, Order::Oldest, Order::After, Order::Least].iter().any(|order| order.is_descending()));
    }

    #[test]
    fn the_greatest_is_one_of_the_first_and_the_least_of_all() {
        let query = Query::MaxOfFirst { device: 4, signal: 1, from_ns: 7, limit: 9 };
        let expected = Ask::stretch(Asked::One(4), &[1], Span::from(7)).first(9, Order::Oldest);
        assert_eq!(Ask::of(&query, ALL), Some(Ask { what: What::Greatest, ..expected }));
        let range = TimeRange { from: Bound::Included(2), to: Bound::Excluded(5) };
        let query = Query::Minimum { device: 4, signal: 1, range };
        let of_range = Ask::stretch(Asked::One(4), &[1], Span { first: 2, last: 4 });
        assert_eq!(Ask::of(&query, ALL), Some(of_range.first(1, Order::Least)));
    }

    #[test]
    fn a_stretch_is_all_of_it_and_records_are_the_first_of_it() {
        let range = TimeRange { from: Bound::Excluded(2), to: Bound::Included(5) };
        let (devices, signals) = (Devices::Some(vec![3, 4]), vec![1]);
        let of_range = Ask::stretch(Asked::Some(&[3, 4]), &[1], Span { first: 3, last: 5 });
        let query = Query::Range { devices: devices.clone(), signals: signals.clone(), range };
        assert_eq!(Ask::of(&query, ALL), Some(of_range));
        assert_eq!((of_range.order, of_range.limit, of_range.predicate), (Order::Stretch, u64::MAX, None));
        let (signal, predicate) = (1, Predicate::Above(2.5));
        let filter = |all_signals| Query::Filter { devices: devices.clone(), signal, predicate, range, all_signals };
        let values = Ask { predicate: Some(predicate), ..of_range };
        assert_eq!(Ask::of(&filter(false), ALL), Some(values));
        let records = Ask { signals: ALL, ..values };
        assert_eq!((Ask::of(&filter(true), ALL), records.signal), (Some(records), 1));
        assert!(records.is_of_records() && !values.is_of_records() && !records.of_any_value().is_of_records());
        let aggregates = vec![Aggregate::Max, Aggregate::Last];
        let query = Query::Aggregates { devices, signals, aggregates, range };
        let figures = What::Figures(&[Aggregate::Max, Aggregate::Last]);
        assert_eq!(Ask::of(&query, ALL), Some(Ask { what: figures, ..of_range }));
        let Query::Aggregates { devices, signals, aggregates, range } = query else { unreachable!() };
        let width = BucketWidth::from_ns(7).unwrap();
        let query = Query::Buckets { devices, signals, aggregates, range, width };
        let buckets = What::Buckets(&[Aggregate::Max, Aggregate::Last], width);
        let ask = Ask::of(&query, ALL);
        assert_eq!(ask, Some(Ask { what: buckets, ..of_range }));
        assert_eq!(ask.map(Ask::datapoints), Some(of_range));
        let Query::Buckets { devices, signals, aggregates, range, width } = query else { unreachable!() };
        let query = Query::TotalBuckets { devices, signals, aggregates, range, width, newest: Some(3) };
        let what = What::TotalBuckets(&[Aggregate::Max, Aggregate::Last], width);
        let newest = Ask { what, ..of_range.first(3, Order::Newest) };
        assert_eq!((Ask::of(&query, ALL), newest.newest(), of_range.newest()), (Some(newest), Some(3), None));
        let (devices, aggregate) = (Devices::Some(vec![3, 4]), Aggregate::Max);
        let query = Query::TopDevices { devices, signal: 1, aggregate, range, limit: 9 };
        let top = Ask { what: What::Top(aggregate), ..of_range.first(9, Order::Stretch) };
        assert_eq!(Ask::of(&query, ALL), Some(top));
        let all = Ask::stretch(Asked::All, ALL, Span::ALL);
        assert_eq!(Ask::of(&Query::Scan, ALL), Some(all));
        assert_eq!(Ask::of(&Query::Count, ALL), Some(Ask { what: What::Count, ..all }));
        let query = Query::Records { device: 4, from_ns: 7, limit: 9 };
        let of_one = Ask { devices: Asked::One(4), span: Span::from(7), ..all };
        assert_eq!(Ask::of(&query, ALL), Some(of_one.first(9, Order::Oldest)));
    }

    #[test]
    fn nothing_is_wanted_of_no_device_no_figure_and_no_datapoint() {
        let ask = Ask::stretch(Asked::All, ALL, Span::ALL);
        assert!(ask.wants_something() && Ask { what: What::Count, ..ask }.wants_something());
        let of_none = Ask { devices: Asked::Some(&[]), ..ask };
        let no_figure = What::Buckets(&[], BucketWidth::from_ns(7).unwrap());
        let of_no_figure = [What::Figures(&[]), no_figure].map(|what| Ask { what, ..ask });
        for nothing in [ask.first(0, Order::Newest), of_none].into_iter().chain(of_no_figure) {
            assert!(!nothing.wants_something(), "{nothing:?}");
        }
    }

    #[test]
    fn of_times_those_are_asked_for_that_a_database_can_hold() {
        let (held, ask) = (Span { first: 0, last: 9 }, |span| Ask::stretch(Asked::All, ALL, span));
        assert_eq!(ask(Span::ALL).within(held), Some(ask(held)));
        assert_eq!(ask(Span::from(3)).within(held), Some(ask(Span { first: 3, last: 9 })));
        assert_eq!(ask(Span::from(10)).within(held), None);
    }

    #[test]
    fn what_is_about_no_time_asks_for_nothing() {
        let range = TimeRange { from: Bound::Included(5), to: Bound::Excluded(5) };
        let (devices, signals) = (Devices::All, vec![1]);
        let aggregates = vec![Aggregate::Max];
        for query in [
            Query::Range { devices: devices.clone(), signals: signals.clone(), range },
            Query::Minimum { device: 0, signal: 1, range },
            Query::Aggregates {
                devices: devices.clone(),
                signals: signals.clone(),
                aggregates: aggregates.clone(),
                range,
            },
            Query::Buckets { devices, signals, aggregates, range, width: BucketWidth::from_ns(7).unwrap() },
        ] {
            assert_eq!(Ask::of(&query, ALL), None, "{query:?}");
        }
    }

    #[test]
    fn a_table_without_a_column_of_devices_holds_the_first_alone() {
        let signal = Signal { name: "a".into(), value_type: ValueType::F64, max_text_bytes: 0 };
        let table = |devices| TableSpec {
            name: Name::new("t").unwrap(),
            layout: Layout::Wide,
            schema: Schema::new(vec![signal.clone()]).unwrap(),
            devices,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        };
        let several = [Asked::All, Asked::One(1), Asked::Some(&[0, 1]), Asked::Some(&[])];
        let within = |devices| several.map(|asked| asked.in_table(&table(devices)));
        assert_eq!(within(2), [Some(Asked::All), Some(Asked::One(1)), Some(Asked::Some(&[0, 1])), None]);
        assert_eq!(within(1), [Some(Asked::All), None, Some(Asked::All), None]);
        assert_eq!(Asked::One(3).list(), Some(&[3][..]));
        assert_eq!((Asked::Some(&[3, 4]).list(), Asked::All.list()), (Some(&[3, 4][..]), None));
    }

    #[test]
    fn devices_of_a_tag_are_a_list_with_a_name() {
        let values = TagValues::OneOf(["x", "y"].map(Into::into).to_vec());
        let tags = Tags::new(0, vec![Tag { name: "site".into(), values }]).unwrap();
        let tagged = |devices: &[u32]| Devices::Tagged(Tagged { tag: 0, choice: 1, devices: devices.to_vec() });
        let (some, none) = (tagged(&[3, 9]), tagged(&[]));
        let asked = Asked::of(&some);
        assert_eq!(asked.tagged(&tags).map(|(name, value)| (name, value.to_string())), Some(("site", "y".into())));
        assert_eq!((asked.list(), asked.contains(9), asked.contains(4)), (Some(&[3, 9][..]), true, false));
        assert_eq!((Asked::All.tagged(&tags), Asked::Some(&[3]).tagged(&tags)), (None, None));
        assert!(!Ask::stretch(Asked::of(&none), ALL, Span::ALL).wants_something());
    }

    #[test]
    fn a_list_of_one_device_is_that_device() {
        assert_eq!(Asked::of(&Devices::Some(vec![3])), Asked::One(3));
        assert_eq!(Asked::of(&Devices::Some(vec![3, 4])), Asked::Some(&[3, 4]));
        assert_eq!(Asked::of(&Devices::Some(Vec::new())), Asked::Some(&[]));
        for (asked, expected) in [(Asked::All, true), (Asked::One(3), true), (Asked::One(2), false)] {
            assert_eq!(asked.contains(3), expected, "{asked:?}");
        }
        assert!(Asked::Some(&[2, 3]).contains(3) && !Asked::Some(&[2, 4]).contains(3));
    }
}
