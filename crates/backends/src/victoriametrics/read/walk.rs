//! Goes over datapoints in bounded memory: an export that is too large is asked for again in parts.

use super::gather::{Gathered, gather};
use crate::victoriametrics::{
    client::{Client, Figure, improper, window_text},
    series::{Own, count, split, split_back},
};
use iotbench_backend_kit::{
    ask::{Ask, Asked, Order, What},
    line_protocol::DEVICE,
    millis::Millis,
};
use iotbench_core::{Error, TableSpec};
use serde::Deserialize;
use std::cmp::Reverse;

/// How far a walk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// By device, then time: all of them.
    All,
    /// Of one device, by time; the first ones will do.
    FirstOnes,
    /// The latest first, of all devices together; these will do.
    LatestFirst,
}

impl Course {
    fn of(ask: &Ask<'_>) -> Self {
        match (ask.order, ask.what) {
            (Order::Newest | Order::Before, _) => Self::LatestFirst,
            (Order::Stretch | Order::Least, _) => Self::All,
            (Order::Oldest, What::Datapoints) if ask.limit == u64::MAX => Self::All,
            (Order::Oldest | Order::After, _) => Self::FirstOnes,
        }
    }
}

/// Whether more is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Go {
    On,
    Stop,
}

/// Takes a datapoint: its device, its time in milliseconds, and a value a signal.
pub(crate) type Take<'t> = dyn FnMut(u32, i64, &[Option<f64>]) -> Result<Go, Error> + Send + 't;

/// How much of the time around the place where it begins a search looks at first.
const FIRST_MS: i64 = 10_000;
/// A stretch with fewer values is followed by one that is so many times as long.
const FEW_VALUES: usize = 1 << 14;
const GROWTH: i64 = 8;

/// Gives every datapoint of a stretch that is wanted to `take` until it has enough; returns the bytes of all answers.
pub(crate) async fn walk(
    client: &mut Client,
    own: &Own,
    table: &TableSpec,
    (ask, span): (&Ask<'_>, Millis),
    take: &mut Take<'_>,
) -> Result<u64, Error> {
    let course = Course::of(ask);
    if course != Course::All {
        return by_stretches(client, own, table, (ask, span, course), FIRST_MS, take).await.map(|(bytes, _)| bytes);
    }
    let all = gather(client, own, table, ask, span).await?;
    let mut bytes = all.bytes;
    if !all.is_cut {
        give(&all, course, take)?;
        return Ok(bytes);
    }
    drop(all);
    let selector = own.of(table, ask.devices, ask.signals).unwrap_or_default();
    for device in devices(client, &selector, ask.devices, span).await? {
        let of_device = Ask { devices: Asked::One(device), ..*ask };
        let (more, go) = by_stretches(client, own, table, (&of_device, span, course), i64::MAX / 2, take).await?;
        bytes += more;
        if go == Go::Stop {
            break;
        }
    }
    Ok(bytes)
}

/// The same for one device, or for the latest of several: stretch by stretch from where the first datapoint is, or the
/// last.
async fn by_stretches(
    client: &mut Client,
    own: &Own,
    table: &TableSpec,
    (ask, span, course): (&Ask<'_>, Millis, Course),
    first_ms: i64,
    take: &mut Take<'_>,
) -> Result<(u64, Go), Error> {
    let Some(selector) = own.of(table, ask.devices, ask.signals) else { return Ok((0, Go::On)) };
    let (found, mut bytes) = reach(client, &selector, span).await?;
    let split = if course == Course::LatestFirst { split_back } else { split };
    let (mut left, mut width) = (found, first_ms);
    while let Some(span) = left {
        let (stretch, rest) = split(span, width);
        let gathered = gather(client, own, table, ask, stretch).await?;
        bytes += gathered.bytes;
        // A single millisecond is taken as it is: it cannot be divided.
        if gathered.is_cut {
            if count(stretch) == 1 {
                return Err(improper(&"one millisecond holds more values than can be held"));
            }
            width = (count(stretch) / GROWTH).max(1);
            continue;
        }
        if give(&gathered, course, take)? == Go::Stop {
            return Ok((bytes, Go::Stop));
        }
        if gathered.len() < FEW_VALUES {
            width = width.saturating_mul(GROWTH);
        }
        left = rest;
    }
    Ok((bytes, Go::On))
}

fn give(gathered: &Gathered, course: Course, take: &mut Take<'_>) -> Result<Go, Error> {
    let mut go = Go::On;
    if course != Course::LatestFirst {
        gathered.for_each(|device, ms, values| {
            if go == Go::On {
                go = take(device, ms, values)?;
            }
            Ok(())
        })?;
        return Ok(go);
    }
    let mut rows = Vec::new();
    gathered.for_each(|device, ms, values| {
        rows.push((device, ms, values.to_vec()));
        Ok(())
    })?;
    rows.sort_by_key(|row| Reverse(row.1));
    for (device, ms, values) in rows {
        if take(device, ms, &values)? == Go::Stop {
            return Ok(Go::Stop);
        }
    }
    Ok(Go::On)
}

/// The times of the first and the last sample in a stretch of time.
async fn reach(client: &mut Client, selector: &str, span: Millis) -> Result<(Option<Millis>, u64), Error> {
    let window = format!("{selector}{}", window_text(count(span)));
    let expression = format!(
        "union(label_set(min(tfirst_over_time({window})), \"end\", \"first\"), \
         label_set(max(tlast_over_time({window})), \"end\", \"last\"))"
    );
    let (figures, bytes) = client.figures(&expression, span).await?;
    let of = |end: &str| figures.iter().find(|figure| figure.label("end") == end).map(in_ms).transpose();
    let (Some(first), Some(last)) = (of("first")?, of("last")?) else { return Ok((None, bytes)) };
    Ok((Millis { first, last }.and(span), bytes))
}

/// A time in seconds, as milliseconds.
#[expect(clippy::cast_possible_truncation, reason = "the times that we ask for are far below 2^53 milliseconds")]
fn in_ms(figure: &Figure) -> Result<i64, Error> {
    Ok((figure.number()? * 1000.0).round() as i64)
}

/// The devices that are wanted and have samples, ascending.
async fn devices(
    client: &mut Client,
    selector: &str,
    wanted: Asked<'_>,
    Millis { first, last }: Millis,
) -> Result<Vec<u32>, Error> {
    #[derive(Deserialize)]
    struct Answer {
        data: Vec<String>,
    }
    let (start, end) = (format!("{}", first / 1000), format!("{}", last / 1000 + 1));
    let fields = [("match[]", selector), ("start", &start), ("end", &end)];
    let text = client.form(&format!("/api/v1/label/{DEVICE}/values"), &fields).await?;
    let answer: Answer = serde_json::from_slice(&text).map_err(|e| improper(&e))?;
    if answer.data.is_empty() {
        return Ok(vec![0]);
    }
    let number = |text: &String| text.parse().map_err(|_| improper(&format!("the label {DEVICE} is {text:?}")));
    let mut devices = answer.data.iter().map(number).collect::<Result<Vec<u32>, Error>>()?;
    devices.retain(|&device| wanted.contains(device));
    devices.sort_unstable();
    Ok(devices)
}
