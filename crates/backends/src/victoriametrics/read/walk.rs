//! Goes over datapoints in bounded memory: an export that is too large is asked for again in parts.

use super::gather::{Gathered, gather};
use crate::victoriametrics::{
    client::{Client, Figure, improper},
    series::{Millis, Own},
};
use iotbench_backend_kit::line_protocol::DEVICE;
use iotbench_core::{Devices, Error, SignalId, TableSpec};
use serde::Deserialize;
use std::cmp::Reverse;

/// In which order datapoints come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// By device, then time: all of them.
    ByDevice,
    /// Of one device, by time; the first ones will do.
    FirstOnes,
    /// The latest first, of all devices together; these will do.
    LatestFirst,
}

/// Which datapoints are wanted.
#[derive(Clone, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) devices: &'a Devices,
    /// Ascending.
    pub(crate) signals: &'a [SignalId],
    pub(crate) span: Millis,
    pub(crate) order: Order,
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

/// Gives every datapoint that is wanted to `take` until it has enough; returns the bytes of all answers.
pub(crate) async fn walk(
    client: &mut Client,
    own: &Own,
    table: &TableSpec,
    wanted: &Wanted<'_>,
    take: &mut Take<'_>,
) -> Result<u64, Error> {
    if wanted.order != Order::ByDevice {
        return by_stretches(client, own, table, wanted, FIRST_MS, take).await.map(|(bytes, _)| bytes);
    }
    let all = gather(client, own, table, (wanted.devices, wanted.signals), wanted.span).await?;
    let mut bytes = all.bytes;
    if !all.is_cut {
        give(&all, wanted.order, take)?;
        return Ok(bytes);
    }
    drop(all);
    let selector = own.of(table, wanted.devices, wanted.signals).unwrap_or_default();
    for device in devices(client, &selector, wanted).await? {
        let devices = Devices::Some(vec![device]);
        let of_device = Wanted { devices: &devices, ..wanted.clone() };
        let (more, go) = by_stretches(client, own, table, &of_device, i64::MAX / 2, take).await?;
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
    wanted: &Wanted<'_>,
    first_ms: i64,
    take: &mut Take<'_>,
) -> Result<(u64, Go), Error> {
    let Some(selector) = own.of(table, wanted.devices, wanted.signals) else { return Ok((0, Go::On)) };
    let (found, mut bytes) = reach(client, &selector, wanted.span).await?;
    let split = if wanted.order == Order::LatestFirst { Millis::split_back } else { Millis::split };
    let (mut left, mut width) = (found, first_ms);
    while let Some(span) = left {
        let (stretch, rest) = split(span, width);
        let gathered = gather(client, own, table, (wanted.devices, wanted.signals), stretch).await?;
        bytes += gathered.bytes;
        // A single millisecond is taken as it is: it cannot be divided.
        if gathered.is_cut {
            if stretch.count() == 1 {
                return Err(improper(&"one millisecond holds more values than can be held"));
            }
            width = (stretch.count() / GROWTH).max(1);
            continue;
        }
        if give(&gathered, wanted.order, take)? == Go::Stop {
            return Ok((bytes, Go::Stop));
        }
        if gathered.len() < FEW_VALUES {
            width = width.saturating_mul(GROWTH);
        }
        left = rest;
    }
    Ok((bytes, Go::On))
}

fn give(gathered: &Gathered, order: Order, take: &mut Take<'_>) -> Result<Go, Error> {
    let mut go = Go::On;
    if order != Order::LatestFirst {
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
    let window = format!("{selector}[{}ms]", span.count());
    let expression = format!(
        "union(label_set(min(tfirst_over_time({window})), \"end\", \"first\"), \
         label_set(max(tlast_over_time({window})), \"end\", \"last\"))"
    );
    let (figures, bytes) = client.figures(&expression, span).await?;
    let of = |end: &str| figures.iter().find(|figure| figure.label("end") == end).map(in_ms).transpose();
    let (Some(first), Some(last)) = (of("first")?, of("last")?) else { return Ok((None, bytes)) };
    Ok((Millis { first, last }.within(span), bytes))
}

/// A time in seconds, as milliseconds.
#[expect(clippy::cast_possible_truncation, reason = "the times that we ask for are far below 2^53 milliseconds")]
fn in_ms(figure: &Figure) -> Result<i64, Error> {
    Ok((figure.number()? * 1000.0).round() as i64)
}

/// The devices that are wanted and have samples, ascending.
async fn devices(client: &mut Client, selector: &str, wanted: &Wanted<'_>) -> Result<Vec<u32>, Error> {
    #[derive(Deserialize)]
    struct Answer {
        data: Vec<String>,
    }
    let Millis { first, last } = wanted.span;
    let (start, end) = (format!("{}", first / 1000), format!("{}", last / 1000 + 1));
    let fields = [("match[]", selector), ("start", &start), ("end", &end)];
    let text = client.form(&format!("/api/v1/label/{DEVICE}/values"), &fields).await?;
    let answer: Answer = serde_json::from_slice(&text).map_err(|e| improper(&e))?;
    if answer.data.is_empty() {
        return Ok(vec![0]);
    }
    let number = |text: &String| text.parse().map_err(|_| improper(&format!("the label {DEVICE} is {text:?}")));
    let mut devices = answer.data.iter().map(number).collect::<Result<Vec<u32>, Error>>()?;
    devices.retain(|&device| wanted.devices.contains(device));
    devices.sort_unstable();
    Ok(devices)
}
