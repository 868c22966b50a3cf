//! In which hours there is something, and how much: the server has no limit for an answer, and holds it whole. So where it is
//! not known how much an answer would be, it is asked first, and then for pieces of bounded length.

use crate::opentsdb::{
    client::Client,
    document::{Document, count_of},
    question::{Asked, HOUR_MS},
};
use iotbench_backend_kit::{ask::Ask, metrics::Millis};
use iotbench_core::{Error, TableSpec};
use std::collections::BTreeMap;

/// The most values of a piece, unless one hour of one device has more: what a server holds is several times its answer.
pub(crate) const MAX_VALUES: u64 = 1 << 18;
/// The most devices of a piece.
const MAX_DEVICES: usize = 1000;

/// How many values there are in an hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Full {
    /// Of all signals.
    values: u64,
    /// Of the signal that has most: so many datapoints there are at least.
    points: u64,
}

/// The hours of each device, by their first millisecond.
#[derive(Debug, Default)]
pub(crate) struct Hours {
    devices: BTreeMap<u32, BTreeMap<i64, Full>>,
    /// The bytes of the answers.
    pub(crate) bytes: u64,
}

/// A part of what is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) devices: Vec<u32>,
    pub(crate) span: Millis,
}

impl Hours {
    /// Asks the server. The first and the last hour are told whole.
    pub(crate) async fn ask(
        client: &mut Client,
        table: &TableSpec,
        ask: &Ask<'_>,
        span: Millis,
    ) -> Result<Self, Error> {
        let mut hours = Self::default();
        let whole = Millis { first: span.first - span.first % HOUR_MS, ..span };
        for &signal in ask.signals {
            let take = |document: &Document<'_>| {
                for series in document.series() {
                    for value in series.values {
                        hours.note(series.device, value.ms, count_of(&value.cell)?);
                    }
                }
                Ok(())
            };
            let asked = [Asked::of(table, signal).count_by_hour()];
            let bytes = client.ask(whole, ask.devices.list(), &asked, take).await?.1;
            hours.bytes += bytes;
        }
        Ok(hours)
    }

    fn note(&mut self, device: u32, hour: i64, count: u64) {
        let full = self.devices.entry(device).or_default().entry(hour).or_default();
        full.values += count;
        full.points = full.points.max(count);
    }

    /// The pieces that have everything of `span`, by device and time.
    pub(crate) fn pieces(&self, span: Millis, most_values: u64) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let (mut together, mut values) = (Vec::new(), 0);
        for (&device, hours) in &self.devices {
            let of_device: u64 = hours.values().map(|full| full.values).sum();
            if values + of_device > most_values || together.len() == MAX_DEVICES {
                pieces.extend(piece(&mut together, span));
                values = 0;
            }
            if of_device > most_values {
                let stretches = stretches(hours, span, most_values);
                pieces.extend(stretches.map(|span| Piece { devices: vec![device], span }));
            } else {
                together.push(device);
                values += of_device;
            }
        }
        pieces.extend(piece(&mut together, span));
        pieces
    }

    /// The stretch of `span`, from its beginning, that has at least `limit` datapoints of the one device; all where there are
    /// fewer.
    pub(crate) fn first(&self, span: Millis, limit: u64) -> Millis {
        let mut points = 0;
        for (&hour, full) in self.devices.values().flatten() {
            // Of the hour in which the span begins, some may lie before it.
            points += if hour < span.first { 0 } else { full.points };
            if points >= limit {
                return Millis { last: span.last.min(hour + HOUR_MS - 1), ..span };
            }
        }
        span
    }

    /// The stretch of `span`, at its end, that has at least `limit` datapoints of all devices together.
    pub(crate) fn newest(&self, span: Millis, limit: u64) -> Millis {
        let mut by_hour: BTreeMap<i64, u64> = BTreeMap::new();
        for (&hour, full) in self.devices.values().flatten() {
            *by_hour.entry(hour).or_default() += full.points;
        }
        let mut points = 0;
        for (&hour, count) in by_hour.iter().rev() {
            points += count;
            if points >= limit {
                return Millis { first: span.first.max(hour), ..span };
            }
        }
        span
    }
}

fn piece(together: &mut Vec<u32>, span: Millis) -> Option<Piece> {
    (!together.is_empty()).then(|| Piece { devices: std::mem::take(together), span })
}

/// Stretches of whole hours, but for both ends of `span`, that hold these hours.
fn stretches(hours: &BTreeMap<i64, Full>, span: Millis, most_values: u64) -> impl Iterator<Item = Millis> {
    let mut stretches: Vec<Millis> = Vec::new();
    let mut values = 0;
    for (&hour, full) in hours {
        let (first, last) = (hour.max(span.first), span.last.min(hour + HOUR_MS - 1));
        match stretches.last_mut() {
            Some(stretch) if values + full.values <= most_values => stretch.last = last,
            _ => {
                stretches.push(Millis { first, last });
                values = 0;
            }
        }
        values += full.values;
    }
    stretches.into_iter().filter(|stretch| stretch.first <= stretch.last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opentsdb::question::ALL;
    use proptest::prelude::*;

    const START: i64 = 1_700_000_000_000 / HOUR_MS * HOUR_MS;

    /// Hours of devices, by their number from [`START`].
    fn hours(counts: &[(u32, i64, u64)]) -> Hours {
        let mut hours = Hours::default();
        for &(device, hour, count) in counts {
            hours.note(device, START + hour * HOUR_MS, count);
        }
        hours
    }

    fn span(first: i64, last: i64) -> Millis {
        Millis { first: START + first, last: START + last }
    }

    #[test]
    fn small_devices_are_asked_about_together_and_great_ones_in_parts() {
        let hours = hours(&[(0, 0, 2), (0, 5, 2), (1, 0, 3), (2, 0, 4), (2, 1, 4), (2, 7, 9), (3, 0, 1)]);
        let piece = |devices: &[u32], span| Piece { devices: devices.into(), span };
        let two = [span(0, 2 * HOUR_MS - 1), span(7 * HOUR_MS, 8 * HOUR_MS - 1)];
        let expected = [piece(&[0, 1], ALL), piece(&[2], two[0]), piece(&[2], two[1]), piece(&[3], ALL)];
        assert_eq!(hours.pieces(ALL, 8), expected);
        assert_eq!(hours.pieces(ALL, 1000), [piece(&[0, 1, 2, 3], ALL)]);
        assert!(Hours::default().pieces(ALL, 8).is_empty());
    }

    #[test]
    fn the_first_and_the_newest_are_in_these_hours() {
        let one = hours(&[(4, 0, 5), (4, 0, 3), (4, 1, 2), (4, 9, 2)]);
        assert_eq!(one.first(span(0, 99 * HOUR_MS), 5), span(0, HOUR_MS - 1));
        assert_eq!(one.first(span(7, 99 * HOUR_MS), 2), span(7, 2 * HOUR_MS - 1), "it begins within an hour");
        assert_eq!(one.first(span(0, 99 * HOUR_MS), 10), span(0, 99 * HOUR_MS));
        let all = hours(&[(4, 0, 5), (5, 3, 1), (4, 3, 1)]);
        assert_eq!(all.newest(ALL, 2), Millis { first: START + 3 * HOUR_MS, ..ALL });
        assert_eq!(all.newest(ALL, 3), Millis { first: START, ..ALL });
        assert_eq!(all.newest(ALL, 8), ALL);
    }

    proptest! {
        #[test]
        fn pieces_hold_everything_once(
            counts in prop::collection::vec((0..4_u32, 0..9_i64, 1..20_u64), 0..40),
            most in 1..60_u64,
            first in 0..3 * HOUR_MS,
        ) {
            let (hours, span) = (hours(&counts), span(first, 8 * HOUR_MS + 5));
            let pieces = hours.pieces(span, most);
            for (device, of_device) in &hours.devices {
                for &hour in of_device.keys() {
                    for ms in [hour, hour + HOUR_MS / 2, hour + HOUR_MS - 1] {
                        let holds = |p: &&Piece| p.devices.contains(device) && p.span.contains(ms);
                        prop_assert_eq!(pieces.iter().filter(holds).count(), usize::from(span.contains(ms)));
                    }
                }
            }
            let place = |p: &Piece| (p.devices.first().copied(), p.span.first);
            prop_assert!(pieces.is_sorted_by_key(place), "{:?}", pieces);
        }
    }
}
