//! Which datapoints a query is about. Pure.

use iotbench_backend_kit::{
    second::{join, split},
    span::Span,
};
use iotbench_core::{Devices, Direction, Predicate, Query, SignalId};
use std::slice::from_ref;

/// Which devices are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked<'a> {
    All,
    One(u32),
    Some(&'a [u32]),
}

impl<'a> Asked<'a> {
    pub(crate) fn of(devices: &'a Devices) -> Self {
        match devices {
            Devices::All => Self::All,
            Devices::Some(list) => match list.as_slice() {
                [device] => Self::One(*device),
                list => Self::Some(list),
            },
        }
    }
}

/// The order of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// By device, then time.
    Ascending,
    /// By descending time.
    Descending,
    /// By the value of the signal, then time.
    ByValue(SignalId),
}

/// Datapoints in an order, some of them or all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wanted<'a> {
    pub(crate) devices: Asked<'a>,
    /// Which of their signals, ascending.
    pub(crate) signals: &'a [SignalId],
    pub(crate) span: Span,
    pub(crate) condition: Option<(SignalId, Predicate)>,
    pub(crate) order: Order,
    pub(crate) limit: u64,
}

impl<'a> Wanted<'a> {
    /// The datapoints that a query wants; `None` where it can find none.
    pub(crate) fn of(query: &'a Query, all_signals: &'a [SignalId]) -> Option<Self> {
        let all = |devices, signals, span| Self {
            devices,
            signals,
            span,
            condition: None,
            order: Order::Ascending,
            limit: u64::MAX,
        };
        let wanted = match query {
            Query::Range { devices, signals, range } => all(Asked::of(devices), signals, Span::of(*range)?),
            Query::Records { device, from_ns, limit } => return Self::first(*device, all_signals, *from_ns, *limit),
            Query::Nearest { device, signal, predicate, direction } => {
                let (span, order) = match *direction {
                    Direction::FirstAfter(time) => (Span::from(time.checked_add(1)?), Order::Ascending),
                    Direction::LastBefore(time) => {
                        (Span { last: time.checked_sub(1)?, ..Span::ALL }, Order::Descending)
                    }
                };
                let condition = Some((*signal, *predicate));
                Self { condition, order, limit: 1, ..all(Asked::One(*device), from_ref(signal), span) }
            }
            Query::Minimum { device, signal, range } => {
                let of_range = all(Asked::One(*device), from_ref(signal), Span::of(*range)?);
                Self { order: Order::ByValue(*signal), limit: 1, ..of_range }
            }
            Query::Newest { devices, limit } => {
                let of_devices = all(Asked::of(devices), all_signals, Span::ALL);
                Self { order: Order::Descending, limit: *limit, ..of_devices }
            }
            Query::NewestVisible { device, signal } => {
                let of_device = all(Asked::One(*device), from_ref(signal), Span::ALL);
                Self { order: Order::Descending, limit: 1, ..of_device }
            }
            Query::Scan => all(Asked::All, all_signals, Span::ALL),
            Query::MaxOfFirst { .. } | Query::Aggregates { .. } | Query::Count => return None,
        };
        (wanted.limit > 0).then_some(wanted)
    }

    /// The first so many datapoints of one device from a time on.
    pub(crate) fn first(device: u32, signals: &'a [SignalId], from_ns: i64, limit: u64) -> Option<Self> {
        let (devices, span) = (Asked::One(device), Span::from(from_ns));
        (limit > 0).then_some(Self { devices, signals, span, condition: None, order: Order::Ascending, limit })
    }

    /// The one device that it is about, or the first of all.
    pub(crate) fn device(&self) -> u32 {
        if let Asked::One(device) = self.devices { device } else { 0 }
    }

    /// Whether it is every datapoint of a stretch of time, in order.
    pub(crate) fn is_whole_stretch(&self) -> bool {
        self.condition.is_none() && self.order == Order::Ascending && self.limit == u64::MAX
    }

    /// The same, of those up to the end of this second, or from its beginning on where the last are wanted.
    pub(crate) fn within_second(self, second: i64) -> Self {
        let Span { first, last } = self.span;
        let span = if self.order == Order::Descending {
            Span { first: first.max(join(second, 0).unwrap_or(i64::MIN)), last }
        } else {
            Span { first, last: last.min(join(second, 999_999_999).unwrap_or(i64::MAX)) }
        };
        Self { span, ..self }
    }

    /// Its stretch, widened to whole seconds.
    pub(crate) fn whole_seconds(span: Span) -> Span {
        let first = if span.first == i64::MIN { i64::MIN } else { join(split(span.first).0, 0).unwrap_or(i64::MIN) };
        Span { first, last: span.last }
    }
}
