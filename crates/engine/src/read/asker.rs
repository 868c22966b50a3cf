//! The queries of a question: each is a function of the seed and the operation's number, and of nothing else.

use super::{
    History, TagGroups,
    spread::{Spread, evenly},
};
use crate::{
    plan::{Question, Whose},
    profile::DrawConfig,
    schedule::{mix, uniform},
};
use iotbench_core::{Aggregate, BucketWidth, Devices, Query, SignalId, TimeRange};
use std::ops::Bound;

/// A search for a machine cycle starts so far from the ends of the history.
const MARGIN_NS: i64 = 2_000_000_000;

/// Which request of which operation of which user is about to ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Draw {
    /// The virtual user.
    pub user: u32,
    /// The number of the user's operation.
    pub number: u64,
    /// The request of the operation.
    pub request: u32,
}

/// Draws the queries of a group's questions.
#[derive(Clone, Debug)]
pub struct Asker {
    history: History,
    /// How many signals a datapoint has.
    width: SignalId,
    seed: u64,
    spread: Spread,
    groups: TagGroups,
}

/// What is drawn for a request, in this order.
#[derive(Clone, Copy)]
enum Of {
    Device,
    Signal,
    Moment,
}

impl Asker {
    /// Questions about a history, of devices one after the other or by the tags of these groups.
    #[must_use]
    pub fn new(history: History, seed: u64, draw: DrawConfig, groups: TagGroups) -> Self {
        let width = SignalId::try_from(history.dataset.schema().width()).unwrap_or(SignalId::MAX);
        let spread = Spread::new(draw, history.devices, seed);
        Self { history, width, seed, spread, groups }
    }

    /// The device and the moment that a search for a machine cycle starts from: there is a cycle on either side.
    #[must_use]
    pub fn moment(&self, draw: Draw) -> (u32, i64) {
        let device = self.first(1, draw);
        let (first_ns, last_ns) = self.history.time_span_ns(device);
        let margin_ns = MARGIN_NS.min((last_ns - first_ns) / 4);
        let moments = last_ns.saturating_sub(first_ns).saturating_sub(2 * margin_ns).max(0).cast_unsigned() + 1;
        (device, first_ns + margin_ns + self.below(moments, Of::Moment, draw).cast_signed())
    }

    /// What a request asks; of a search for a machine cycle, whose requests follow from the answers, nothing.
    #[must_use]
    pub fn query(&self, question: &Question, draw: Draw) -> Option<Query> {
        Some(match question {
            Question::Cycle { .. } => return None,
            Question::Signal { signals, devices, window_ns } => {
                let (devices, range) = self.stretch(devices, *window_ns, draw);
                Query::Range { devices, signals: vec![self.one_of(signals, draw)], range }
            }
            Question::Point { signals, devices } => {
                let (devices, moment_ns) = self.moment_of_a_record(devices, draw);
                let range = TimeRange { from: Bound::Included(moment_ns), to: Bound::Included(moment_ns) };
                Query::Range { devices, signals: vec![self.one_of(signals, draw)], range }
            }
            Question::Latest { signals } => {
                let device = self.first(1, draw);
                Query::NewestVisible { device, signal: self.one_of(signals, draw) }
            }
            Question::Filter { signals, predicate, devices, window_ns, records } => {
                let (devices, range) = self.stretch(devices, *window_ns, draw);
                let (signal, predicate, all_signals) = (self.one_of(signals, draw), *predicate, *records);
                Query::Filter { devices, signal, predicate, range, all_signals }
            }
            Question::Records { records } => {
                let (device, from_ns) = self.record(*records, draw);
                Query::Records { device, from_ns, limit: *records }
            }
            Question::LastPoints { devices } => Query::LastPoints { devices: self.devices(devices, draw) },
            Question::Newest { records } => Query::Newest { devices: Devices::All, limit: *records },
            Question::Device => {
                Query::Range { devices: self.device(draw), signals: (0..self.width).collect(), range: TimeRange::ALL }
            }
            Question::Max { signal, records } => {
                let (device, from_ns) = self.record(*records, draw);
                Query::MaxOfFirst { device, signal: *signal, from_ns, limit: *records }
            }
            Question::Mean { signals } => Query::Aggregates {
                devices: self.device(draw),
                signals: signals.clone(),
                aggregates: vec![Aggregate::Mean],
                range: TimeRange::ALL,
            },
            Question::Figures { signals, aggregates, devices, window_ns } => {
                let (devices, range) = self.stretch(devices, *window_ns, draw);
                Query::Aggregates { devices, signals: signals.clone(), aggregates: aggregates.clone(), range }
            }
            Question::CompareWindows { signals, aggregates, devices, window_ns } => {
                // Both requests are about the devices that the first one draws.
                let devices = self.devices(devices, Draw { request: 0, ..draw });
                let range = self.compared(first_of(&devices), *window_ns, draw);
                Query::Aggregates { devices, signals: signals.clone(), aggregates: aggregates.clone(), range }
            }
            Question::Buckets { signals, aggregates, devices, window_ns, width, together } => {
                let (devices, range) = self.stretch(devices, *window_ns, draw);
                let (signals, aggregates, width) = (signals.clone(), aggregates.clone(), *width);
                match together {
                    false => Query::Buckets { devices, signals, aggregates, range, width },
                    true => Query::TotalBuckets { devices, signals, aggregates, range, width, newest: None },
                }
            }
            Question::ByTag { tag, signals, aggregates, window_ns, width, .. } => {
                let (_, range) = self.stretch(&Whose::Consecutive(1), *window_ns, draw);
                let (signals, aggregates) = (signals.clone(), aggregates.clone());
                Query::TagFigures { tag: *tag, signals, aggregates, range, width: *width }
            }
            Question::Filled { of, fill } => Query::Filled { of: Box::new(self.query(of, draw)?), fill: *fill },
            Question::Having { of, signal, predicate, at_least, per } => {
                let (of, signal, predicate, at_least) =
                    (Box::new(self.query(of, draw)?), *signal, *predicate, *at_least);
                Query::Having { of, signal, predicate, at_least, per: per.as_ref().map(|(tag, _)| *tag) }
            }
            Question::Where { of, signal, predicate, indicator } => {
                let (of, signal, predicate) = (Box::new(self.query(of, draw)?), *signal, *predicate);
                Query::Where { of, signal, predicate, indicator: *indicator }
            }
            Question::Descending { of } => match self.query(of, draw)? {
                Query::TotalBuckets { devices, signals, aggregates, range, width, .. } => {
                    let newest = Some(buckets_in(range, width));
                    Query::TotalBuckets { devices, signals, aggregates, range, width, newest }
                }
                of => Query::Descending { of: Box::new(of) },
            },
            Question::Rollup { of, rollup, .. } => {
                Query::Rollup { of: Box::new(self.query(of, draw)?), rollup: rollup.clone() }
            }
            Question::NewestBuckets { signals, aggregates, devices, width, buckets } => {
                let (devices, range) = self.before(devices, draw);
                let (signals, aggregates, newest) = (signals.clone(), aggregates.clone(), Some(*buckets));
                Query::TotalBuckets { devices, signals, aggregates, range, width: *width, newest }
            }
            Question::TopDevices { signals, aggregate, count, devices, window_ns } => {
                let (devices, range) = self.stretch(devices, *window_ns, draw);
                let (signal, aggregate, limit) = (self.one_of(signals, draw), *aggregate, *count);
                Query::TopDevices { devices, signal, aggregate, range, limit }
            }
            Question::Consecutive { signals, what, devices, window_ns } => {
                let (devices, range) = self.stretch(devices, *window_ns, draw);
                Query::Consecutive { devices, signal: self.one_of(signals, draw), range, what: *what }
            }
            // What its answer can be held against.
            Question::Statement(own) => {
                let (devices, range) = self.stretch(&Whose::Consecutive(1), own.window_ns, draw);
                let (signals, figure) = (vec![self.one_of(&own.signals, draw)], own.expected.figure);
                let aggregates = vec![figure.unwrap_or(Aggregate::Count)];
                Query::Aggregates { devices, signals, aggregates, range }
            }
            Question::Dashboard { signals, window_ns } => Query::Aggregates {
                devices: Devices::All,
                signals: signals.clone(),
                aggregates: vec![Aggregate::Last, Aggregate::Min, Aggregate::Mean, Aggregate::Max],
                range: self.newest(*window_ns),
            },
        })
    }

    fn one_of(&self, signals: &[SignalId], draw: Draw) -> SignalId {
        let place = usize::try_from(self.below(signals.len() as u64, Of::Signal, draw));
        place.ok().and_then(|place| signals.get(place)).copied().unwrap_or(0)
    }

    /// Some devices, and a stretch of time of the first one's history.
    fn stretch(&self, whose: &Whose, window_ns: u64, draw: Draw) -> (Devices, TimeRange) {
        let devices = self.devices(whose, draw);
        let (from_ns, last_ns) = self.history.time_span_ns(first_of(&devices));
        let window_ns = i64::try_from(window_ns).unwrap_or(i64::MAX);
        let moments = last_ns.saturating_sub(from_ns).saturating_sub(window_ns).max(0).cast_unsigned() + 1;
        let start_ns = from_ns + self.below(moments, Of::Moment, draw).cast_signed();
        (devices, TimeRange::half_open(start_ns, start_ns.saturating_add(window_ns)))
    }

    /// Some devices, and the time of one of the first one's records.
    fn moment_of_a_record(&self, whose: &Whose, draw: Draw) -> (Devices, i64) {
        let devices = self.devices(whose, draw);
        let first = first_of(&devices);
        let index = self.below(self.history.span(first).max(1), Of::Moment, draw);
        (devices, self.history.dataset.timestamp_ns(first, index))
    }

    /// The newest stretch of a device's history, and for every second request another of its length.
    fn compared(&self, device: u32, window_ns: u64, draw: Draw) -> TimeRange {
        let (first_ns, last_ns) = self.history.time_span_ns(device);
        let newest_ns = last_ns.saturating_add(1).saturating_sub_unsigned(window_ns);
        let moments = u64::try_from(newest_ns.saturating_sub(first_ns)).unwrap_or(0) + 1;
        let start_ns = match draw.request % 2 {
            0 => newest_ns,
            _ => first_ns.min(newest_ns).saturating_add_unsigned(self.below(moments, Of::Moment, draw)),
        };
        TimeRange::half_open(start_ns, start_ns.saturating_add_unsigned(window_ns))
    }

    /// Some devices, and all time before a moment of the first one's history: one of its datapoints at least.
    fn before(&self, whose: &Whose, draw: Draw) -> (Devices, TimeRange) {
        let devices = self.devices(whose, draw);
        let (first_ns, last_ns) = self.history.time_span_ns(first_of(&devices));
        let moments = last_ns.saturating_sub(first_ns).max(0).cast_unsigned() + 1;
        let last_seen_ns = first_ns + self.below(moments, Of::Moment, draw).cast_signed();
        (devices, TimeRange { from: Bound::Unbounded, to: Bound::Included(last_seen_ns) })
    }

    fn devices(&self, whose: &Whose, draw: Draw) -> Devices {
        match whose {
            Whose::All => Devices::All,
            Whose::Consecutive(count) => {
                let first = self.first(*count, draw);
                Devices::Some((first..first + count).collect())
            }
            Whose::Tagged { tag, .. } => self.groups.like(*tag, self.first(1, draw)),
        }
    }

    /// The first of so many consecutive devices.
    fn first(&self, devices: u32, draw: Draw) -> u32 {
        let starts = u64::from(self.history.devices.saturating_sub(devices)) + 1;
        u32::try_from(self.below(starts, Of::Device, draw)).unwrap_or(0)
    }

    /// A device, and the time of one of its records after which there are enough.
    fn record(&self, records: u64, draw: Draw) -> (u32, i64) {
        let device = self.first(1, draw);
        let starts = self.history.span(device).saturating_sub(records) + 1;
        (device, self.history.dataset.timestamp_ns(device, self.below(starts, Of::Moment, draw)))
    }

    fn device(&self, draw: Draw) -> Devices {
        Devices::Some(vec![self.first(1, draw)])
    }

    /// The newest stretch of the history.
    fn newest(&self, window_ns: u64) -> TimeRange {
        let lasts = (0..self.history.devices).map(|device| self.history.time_span_ns(device).1);
        let end_ns = lasts.max().unwrap_or(0).saturating_add(1);
        TimeRange::half_open(end_ns.saturating_sub(i64::try_from(window_ns).unwrap_or(i64::MAX)), end_ns)
    }

    /// A number from 0 up to, but without, `limit`.
    fn below(&self, limit: u64, what: Of, draw: Draw) -> u64 {
        let of_user = mix(mix(self.seed, what as u64), draw.user.into());
        let number = draw.number.wrapping_mul(1 << 20).wrapping_add(draw.request.into());
        let variate = uniform(of_user, number);
        match what {
            Of::Device => self.spread.device(limit, variate),
            Of::Signal => evenly(limit, variate),
            Of::Moment => self.spread.moment(limit, variate),
        }
    }
}

/// How many buckets of this length a stretch of time may have a part of.
fn buckets_in(range: TimeRange, width: BucketWidth) -> u64 {
    let ends = width.ends(range);
    ends.map_or(1, |(first, last)| last.abs_diff(first) / width.as_ns().unsigned_abs() + 1)
}

fn first_of(devices: &Devices) -> u32 {
    devices.list().and_then(|list| list.first()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{DeviceDraw, MomentDraw};
    use iotbench_core::{Tag, TagValues, Tags};
    use iotbench_simulator::DatasetConfig;
    use proptest::prelude::*;
    use std::path::Path;

    fn history(devices: u32, positions: u64) -> History {
        let config: DatasetConfig = serde_json::from_value(serde_json::json!({ "name": "pmu", "rate": 50.0 })).unwrap();
        History { dataset: config.open(1, 0, devices, Path::new(".")).unwrap(), devices, positions }
    }

    proptest! {
        #[test]
        fn what_is_asked_lies_in_the_history(
            devices in 1_u32..9, positions in 1_u64..500, seed: u64, user: u32, number: u64, request in 0_u32..99,
            zipf: bool, recent: bool,
        ) {
            let history = history(devices, positions);
            let config = DrawConfig {
                devices: if zipf { DeviceDraw::Zipf } else { DeviceDraw::Uniform },
                moments: if recent { MomentDraw::Recent } else { MomentDraw::Uniform },
            };
            let asker = Asker::new(history.clone(), seed, config, TagGroups::default());
            let draw = Draw { user, number, request };
            let records = 1 + positions / 2;
            let question = Question::Records { records };
            let Query::Records { device, from_ns, limit } = asker.query(&question, draw).unwrap() else { panic!() };
            prop_assert!(device < devices && limit == records);
            prop_assert!(history.dataset.index_at(device, from_ns) + records <= positions);
            let of = devices.div_ceil(2);
            let question = Question::Signal { signals: vec![3, 5], devices: Whose::Consecutive(of), window_ns: 200_000_000 };
            let Query::Range { devices: asked, signals, range } = asker.query(&question, draw).unwrap() else { panic!() };
            let Devices::Some(list) = asked else { panic!() };
            prop_assert_eq!(list.len(), of as usize);
            prop_assert!(list.iter().all(|&d| d < devices));
            prop_assert!(signals == [3] || signals == [5]);
            let Bound::Included(from_ns) = range.from else { panic!() };
            prop_assert!(history.dataset.index_at(list[0], from_ns) < positions);
            let (signals, aggregates, width) = (vec![3, 5], vec![Aggregate::Sum], BucketWidth::SECOND);
            let window_ns = 200_000_000;
            let question = Question::Buckets { signals, aggregates, devices: Whose::Consecutive(of), window_ns, width, together: false };
            let Query::Buckets { devices: asked, range: same, .. } = asker.query(&question, draw).unwrap() else { panic!() };
            prop_assert_eq!((asked, same), (Devices::Some(list.clone()), range), "drawn as a signal's");
            let (signals, aggregates) = (vec![3, 5], vec![Aggregate::Sum]);
            let devices = Whose::Consecutive(of);
            let question = Question::NewestBuckets { signals, aggregates, devices, width, buckets: 4 };
            let query = asker.query(&question, draw).unwrap();
            let Query::TotalBuckets { devices: asked, range, newest: Some(4), .. } = query else { panic!() };
            let Bound::Included(last_ns) = range.to else { panic!() };
            prop_assert_eq!((asked, range.from), (Devices::Some(list.clone()), Bound::Unbounded));
            let (first_ns, newest_ns) = history.time_span_ns(list[0]);
            prop_assert!((first_ns..=newest_ns).contains(&last_ns));
            let last = asker.query(&Question::LastPoints { devices: Whose::Consecutive(of) }, draw);
            prop_assert_eq!(last, Some(Query::LastPoints { devices: Devices::Some(list) }));
            prop_assert_eq!(asker.query(&Question::Device, draw), asker.query(&Question::Device, draw));
            let question = Question::Point { signals: vec![3, 5], devices: Whose::Consecutive(1) };
            let Query::Range { devices: Devices::Some(one), range, .. } = asker.query(&question, draw).unwrap() else { panic!() };
            let Bound::Included(at_ns) = range.from else { panic!() };
            prop_assert_eq!(range.from, range.to);
            prop_assert_eq!(history.dataset.timestamp_ns(one[0], history.dataset.index_at(one[0], at_ns)), at_ns);
            prop_assert!(history.dataset.index_at(one[0], at_ns) < positions);
        }
    }

    #[test]
    fn devices_of_a_tag_are_those_that_have_the_value_of_a_drawn_one() {
        let sites = TagValues::OneOf(["a", "b", "c"].map(Into::into).to_vec());
        let tags = Tags::new(9, vec![Tag { name: "site".into(), values: sites }]).unwrap();
        let (history, draw) = (history(40, 500), |number| Draw { user: 0, number, request: 0 });
        let asker = Asker::new(history, 7, DrawConfig::default(), TagGroups::new(&tags, 40, [0]));
        let devices = Whose::Tagged { tag: 0, name: "site".into() };
        let question = Question::Signal { signals: vec![1], devices, window_ns: 1_000_000_000 };
        let mut seen = std::collections::BTreeSet::new();
        for number in 0..100 {
            let Some(Query::Range { devices: Devices::Tagged(tagged), .. }) = asker.query(&question, draw(number))
            else {
                panic!("{question}")
            };
            let having: Vec<_> = (0..40).filter(|&device| tags.choice(0, device) == tagged.choice).collect();
            assert_eq!(tagged.devices, having);
            seen.insert(tagged.choice);
        }
        assert_eq!(seen.len(), 3, "each value is asked for");
        let all = Question::LastPoints { devices: Whose::All };
        assert_eq!(asker.query(&all, draw(0)), Some(Query::LastPoints { devices: Devices::All }));
    }

    #[test]
    fn draws_reach_every_device_and_differ_by_request() {
        let asker = Asker::new(history(5, 10), 7, DrawConfig::default(), TagGroups::default());
        let draw = |number, request| Draw { user: 1, number, request };
        let mut seen = std::collections::HashMap::new();
        for number in 0..1000 {
            *seen.entry(format!("{:?}", asker.query(&Question::Device, draw(number, 0)))).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 5);
        assert!(seen.values().all(|&n| (150..250).contains(&n)), "{seen:?}");
        let question = Question::Max { signal: 0, records: 2 };
        let asked: Vec<_> = (0..20).map(|request| asker.query(&question, draw(0, request))).collect();
        assert!(asked.windows(2).any(|pair| pair[0] != pair[1]));
    }

    /// Of a history of 10 s the newest second and another, of one device.
    #[test]
    fn windows_that_are_compared_are_of_one_device() {
        let history = history(9, 500);
        let asker = Asker::new(history.clone(), 3, DrawConfig::default(), TagGroups::default());
        let question = Question::CompareWindows {
            signals: vec![1],
            aggregates: vec![Aggregate::Max],
            devices: Whose::Consecutive(1),
            window_ns: 1_000_000_000,
        };
        let mut starts = std::collections::BTreeSet::new();
        for number in 0..200 {
            let asked = |request| {
                let query = asker.query(&question, Draw { user: 0, number, request }).unwrap();
                let Query::Aggregates { devices: Devices::Some(devices), range, .. } = query else { panic!() };
                let (Bound::Included(from), Bound::Excluded(to)) = (range.from, range.to) else { panic!() };
                assert_eq!(to - from, 1_000_000_000);
                (devices, from, to)
            };
            let ((device, newest, end), (same, other, _)) = (asked(0), asked(1));
            assert_eq!(device, same);
            assert_eq!(end, history.time_span_ns(device[0]).1 + 1);
            assert!((history.time_span_ns(device[0]).0..=newest).contains(&other), "{other}");
            starts.insert(end - other);
        }
        assert!(starts.first() < Some(&1_300_000_000) && starts.last() > Some(&9_700_000_000), "{starts:?}");
    }

    #[test]
    fn a_dashboard_ends_with_the_newest_datapoint() {
        let history = history(2, 100);
        let newest_ns = (0..2).map(|d| history.time_span_ns(d).1).max().unwrap();
        let question = Question::Dashboard { signals: vec![1], window_ns: 1_000_000_000 };
        let Query::Aggregates { range, .. } = Asker::new(history, 1, DrawConfig::default(), TagGroups::default())
            .query(&question, Draw::default())
            .unwrap()
        else {
            panic!()
        };
        assert!(range.contains(newest_ns) && !range.contains(newest_ns + 1));
        assert!(!range.contains(newest_ns - 1_000_000_000));
    }
}
