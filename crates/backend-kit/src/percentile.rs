//! Percentiles that the client finds: of the datapoints, which it reads, as most databases have none, or only a sketch of them.

use crate::{answer::NOTHING_BY_CLIENT, ask::Ask, fold::Fold};
use iotbench_core::{Aggregate, Cause, Error, Percentile, Query, Reader, Reply, Sink};

/// The most values that are held to find percentiles of a device, or of one of its buckets: 128 MiB of them.
const MAX_HELD: usize = 1 << 24;

/// Whether a percentile is among these figures.
#[must_use]
pub fn is_among(aggregates: &[Aggregate]) -> bool {
    aggregates.iter().any(|figure| figure.is_percentile())
}

/// Answers [`Query::Aggregates`] and [`Query::Buckets`] with a percentile among their figures by asking for the datapoints: `None`
/// where something else is asked.
///
/// # Errors
/// The reader's own; Client where a device, or a bucket of it, has more values than are held.
pub async fn answer(reader: &mut dyn Reader, query: &Query, sink: &mut dyn Sink) -> Option<Result<Reply, Error>> {
    let datapoints = match query {
        Query::Aggregates { devices, signals, aggregates, range }
        | Query::Buckets { devices, signals, aggregates, range, .. }
            if is_among(aggregates) =>
        {
            Query::Range { devices: devices.clone(), signals: signals.clone(), range: *range }
        }
        _ => return None,
    };
    let Some(ask) = Ask::of(query, &[]) else { return Some(Ok(NOTHING_BY_CLIENT)) };
    let mut fold = Fold::new(&ask, sink);
    Some(match reader.query(&datapoints, &mut fold).await {
        Ok(reply) => fold.finish(reply),
        Err(error) => Err(error),
    })
}

/// What is said of a percentile where a server is asked for other figures only.
#[must_use]
pub fn not_by_server(percentile: Percentile) -> Error {
    Error::new(Cause::Client, format!("the server is not asked for {percentile}: it is found among the datapoints"))
}

/// The values of one group, signal by signal; none are held where no percentile is asked for.
#[derive(Debug)]
pub(crate) struct Held {
    values: Vec<Vec<f64>>,
    count: usize,
    most: usize,
}

impl Held {
    /// Of so many signals.
    pub(crate) fn new(signals: usize, aggregates: &[Aggregate]) -> Self {
        let signals = if is_among(aggregates) { signals } else { 0 };
        Self { values: vec![Vec::new(); signals], count: 0, most: MAX_HELD }
    }

    /// Takes a value of a signal.
    #[inline]
    pub(crate) fn take(&mut self, signal: usize, value: f64) -> Result<(), Error> {
        let Some(values) = self.values.get_mut(signal) else { return Ok(()) };
        if self.count == self.most {
            let most = self.most;
            let message = format!(
                "a percentile is found among all values of a device, and these are more than the {most} that are held: ask for a \
                 shorter window, for buckets or for fewer signals"
            );
            return Err(Error::new(Cause::Client, message));
        }
        self.count += 1;
        values.push(value);
        Ok(())
    }

    /// When all values of the group have come: puts them in order.
    pub(crate) fn sort(&mut self) {
        self.values.iter_mut().for_each(|values| values.sort_unstable_by(f64::total_cmp));
    }

    /// A percentile of a signal, when they are in order; none over nothing.
    pub(crate) fn of(&self, signal: usize, percentile: Percentile) -> Option<f64> {
        percentile.of(self.values.get(signal)?)
    }

    /// Makes room for the next group.
    pub(crate) fn clear(&mut self) {
        self.values.iter_mut().for_each(Vec::clear);
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percentile(text: &str) -> Percentile {
        Percentile::parse(text).unwrap()
    }

    #[test]
    fn values_are_held_group_by_group_and_no_more_than_so_many() {
        let p50 = percentile("p50");
        let mut held = Held { most: 4, ..Held::new(2, &[Aggregate::Mean, Aggregate::Percentile(p50)]) };
        for (signal, value) in [(0, 3.0), (1, 7.0), (0, -1.0), (0, 2.0)] {
            held.take(signal, value).unwrap();
        }
        held.sort();
        assert_eq!((held.of(0, p50), held.of(1, p50)), (Some(2.0), Some(7.0)));
        let error = held.take(1, 0.0).unwrap_err();
        assert!(error.cause == Cause::Client && error.to_string().contains("more than the 4 that are held"), "{error}");
        held.clear();
        held.take(1, 5.0).unwrap();
        assert_eq!((held.of(0, p50), held.of(1, p50)), (None, Some(5.0)));
    }

    #[test]
    fn nothing_is_held_without_a_percentile() {
        let mut held = Held { most: 0, ..Held::new(2, &Aggregate::ALL) };
        held.take(0, 1.0).unwrap();
        assert_eq!(held.of(0, percentile("p50")), None);
    }
}
