//! Figures of time buckets: those that lie wholly in the stretch that is asked for are one question, step by step, and the ones
//! at its ends one each, of the part that lies within.

use super::figures::Wish;
use crate::victoriametrics::{client::Client, series, series::Own};
use iotbench_backend_kit::{
    figures::Collected,
    millis::{Millis, NS_PER_MS, ns},
};
use iotbench_core::{BucketWidth, ComputedBy, Error, Reply, Sink, TableSpec};

/// The most buckets of one question: the server gives up to 30,000 figures of a series.
const MAX_STEPS: i64 = 10_000;
/// The most buckets that are asked for; of more the client works them out of the datapoints.
const MAX_BUCKETS: i64 = 100_000;

/// The buckets of a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buckets {
    span: Millis,
    width_ms: i64,
}

impl Buckets {
    /// `None` where the server has no such buckets: they are parts of milliseconds, or too many.
    pub(crate) fn new(span: Millis, width: BucketWidth) -> Option<Self> {
        let width_ms = width.as_ns() / NS_PER_MS;
        let is_whole = width_ms > 0 && width.as_ns() % NS_PER_MS == 0;
        (is_whole && (span.last - span.first) / width_ms < MAX_BUCKETS).then_some(Self { span, width_ms })
    }

    fn start_of(self, ms: i64) -> i64 {
        ms - ms.rem_euclid(self.width_ms)
    }

    /// The part that is asked for of the bucket at an end, with the bucket's beginning; `None` where that is all of it.
    fn part(self, ms: i64) -> Option<(i64, Millis)> {
        let start = self.start_of(ms);
        let whole = Millis { first: start, last: start + self.width_ms - 1 };
        let part = whole.and(self.span)?;
        (part != whole).then_some((start, part))
    }

    /// The parts of buckets at the two ends.
    fn parts(self) -> impl Iterator<Item = (i64, Millis)> {
        let (first, last) = (self.part(self.span.first), self.part(self.span.last));
        first.into_iter().chain(last.filter(|_| first != last))
    }

    /// The last milliseconds of the buckets that are asked for as a whole, in pieces: the first of them, and the last.
    fn whole(self) -> impl Iterator<Item = Millis> {
        let Self { span, width_ms } = self;
        let first = self.start_of(span.first + width_ms - 1) + width_ms - 1;
        let last = self.start_of(span.last + 1) - 1;
        let step = (MAX_STEPS * width_ms).cast_unsigned();
        let step = usize::try_from(step).unwrap_or(usize::MAX);
        (first..=last)
            .step_by(step)
            .map(move |from| Millis { first: from, last: last.min(from + (MAX_STEPS - 1) * width_ms) })
    }
}

impl Wish<'_> {
    /// Answers with a row a bucket and aggregate.
    pub(crate) async fn answer_buckets(
        &self,
        buckets: Buckets,
        client: &mut Client,
        own: &Own,
        table: &TableSpec,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let width = self.ask.signals.len();
        let mut collected = Collected::default();
        let mut bytes = 0;
        let selector = own.of(table, self.ask.devices, self.ask.signals).filter(|_| !self.aggregates.is_empty());
        let Some(selector) = selector else { return collected.answer(width, 0, ComputedBy::Server, sink) };
        for (start, part) in buckets.parts() {
            let expression = self.expression(&selector, series::count(part));
            let (figures, of_part) = client.figures(&expression, part).await?;
            bytes += of_part;
            for figure in &figures {
                let Some((device, place)) = self.place(table, &figure.metric)? else { continue };
                collected.set((device, ns(start)), place, width * self.aggregates.len(), Some(figure.number()?));
            }
        }
        let of_one = Millis { first: 0, last: buckets.width_ms - 1 };
        let expression = self.expression(&selector, series::count(of_one));
        for ends in buckets.whole() {
            let (all, of_piece) = client.steps(&expression, ends, buckets.width_ms).await?;
            bytes += of_piece;
            for steps in &all {
                let Some((device, place)) = self.place(table, &steps.metric)? else { continue };
                for figure in steps.figures() {
                    let (end, number) = figure?;
                    let group = (device, ns(buckets.start_of(end)));
                    collected.set(group, place, width * self.aggregates.len(), Some(number));
                }
            }
        }
        collected.answer(width, bytes, ComputedBy::Server, sink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn buckets(first: i64, last: i64, width_ms: i64) -> Buckets {
        let width = BucketWidth::from_ns(ns(width_ms).cast_unsigned()).unwrap();
        Buckets::new(Millis { first, last }, width).unwrap()
    }

    proptest! {
        /// Each millisecond that is asked for is in one window, and no other millisecond is in any.
        #[test]
        fn windows_hold_every_millisecond_once(first in 100_000..100_100_i64, length in 0..60_i64, width_ms in 1..25_i64) {
            let buckets = buckets(first, first + length, width_ms);
            let mut windows: Vec<Millis> = buckets.parts().map(|(_, part)| part).collect();
            for ends in buckets.whole() {
                let step = usize::try_from(width_ms).unwrap();
                windows.extend((ends.first..=ends.last).step_by(step).map(|last| Millis { first: last - width_ms + 1, last }));
            }
            let mut held: Vec<i64> = windows.iter().flat_map(|window| window.first..=window.last).collect();
            held.sort_unstable();
            prop_assert_eq!(held, (first..=first + length).collect::<Vec<_>>());
        }
    }

    #[test]
    fn one_bucket_may_be_cut_at_both_ends() {
        let parts: Vec<_> = buckets(103, 107, 10).parts().collect();
        assert_eq!(parts, [(100, Millis { first: 103, last: 107 })]);
        assert_eq!(buckets(103, 107, 10).whole().count(), 0);
    }

    #[test]
    fn a_question_has_no_more_steps_than_the_server_gives() {
        let pieces: Vec<_> = buckets(0, 24_999, 1).whole().collect();
        let ends: Vec<_> = pieces.iter().map(|piece| (piece.first, piece.last)).collect();
        assert_eq!(ends, [(0, 9_999), (10_000, 19_999), (20_000, 24_999)]);
    }

    #[test]
    fn buckets_of_parts_of_milliseconds_and_too_many_are_not_the_servers() {
        let span = Millis { first: 0, last: 1_000_000 };
        let of = |ns| Buckets::new(span, BucketWidth::from_ns(ns).unwrap());
        assert_eq!((of(1), of(1_500_000), of(1_000_000)), (None, None, None));
        assert!(of(20_000_000).is_some());
    }
}
