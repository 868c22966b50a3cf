//! Goes through the datapoints of one device in the order of time. The server answers stream by stream, and a datapoint is a
//! value of each at one time: so many values of each stream are asked for as fit into memory, and those times that every
//! stream was asked about are put together.

use crate::databus::{
    client::Client,
    document::{Number, Sample},
    error::improper,
    names::stream,
};
use iotbench_backend_kit::millis::{Millis, NS_PER_MS};
use iotbench_core::{Error, SignalId};
use std::{collections::BTreeMap, ops::ControlFlow};

/// The most values that are asked of one stream at once.
const PAGE_ROWS: u64 = 1000;

/// Takes a datapoint: its time in nanoseconds, and for each signal what was found. It may have seen enough.
pub(crate) type Take<'t> = dyn FnMut(i64, &[Option<Number>]) -> Result<ControlFlow<()>, Error> + Send + 't;

/// Which datapoints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk<'w> {
    /// What the names of the streams begin with.
    pub(crate) stem: &'w str,
    pub(crate) device: u32,
    pub(crate) signals: &'w [SignalId],
    pub(crate) span: Millis,
    pub(crate) is_latest_first: bool,
    pub(crate) limit: u64,
}

/// Datapoints of a part of a span, and the part of it that is left.
struct Page {
    points: BTreeMap<i64, Vec<Option<Number>>>,
    rest: Option<Millis>,
    bytes: u64,
}

impl Walk<'_> {
    /// Gives each datapoint to `take`, until it has enough. Returns the bytes of all answers.
    pub(crate) async fn run(&self, client: &mut Client, take: &mut Take<'_>) -> Result<u64, Error> {
        let (mut rest, mut left, mut bytes) = (Some(self.span), self.limit, 0);
        while let (Some(span), 1..) = (rest, left) {
            let mut page = self.page(client, span, left.min(PAGE_ROWS)).await?;
            bytes += page.bytes;
            while let (1.., Some((ms, cells))) = (left, self.next_of(&mut page.points)) {
                if take(ms * NS_PER_MS, &cells)?.is_break() {
                    return Ok(bytes);
                }
                left -= 1;
            }
            rest = page.rest;
        }
        Ok(bytes)
    }

    fn next_of(&self, points: &mut BTreeMap<i64, Vec<Option<Number>>>) -> Option<(i64, Vec<Option<Number>>)> {
        if self.is_latest_first { points.pop_last() } else { points.pop_first() }
    }

    async fn page(&self, client: &mut Client, span: Millis, rows: u64) -> Result<Page, Error> {
        let mut points: BTreeMap<i64, Vec<Option<Number>>> = BTreeMap::new();
        let (mut known, mut bytes) = (span, 0);
        for (place, &signal) in self.signals.iter().enumerate() {
            let (samples, more) = client.ask::<Sample>(&self.modules(signal, span, rows)).await?;
            bytes += more;
            for sample in &samples {
                let ms = time_within(sample, span)?;
                points.entry(ms).or_insert_with(|| vec![None; self.signals.len()])[place] = sample.value;
            }
            // A full page may have more behind it: beyond its last time nothing is known of this stream.
            if let Some(last) = samples.last().filter(|_| samples.len() as u64 >= rows) {
                known = self.up_to(known, time_within(last, span)?);
            }
        }
        points.retain(|&ms, _| known.contains(ms));
        Ok(Page { points, rest: self.after(span, known), bytes })
    }

    fn modules(&self, signal: SignalId, Millis { first, last }: Millis, rows: u64) -> String {
        let (name, order) =
            (stream(self.stem, self.device, signal), if self.is_latest_first { "?reverse=true" } else { "" });
        format!("firstvaluesV1/{rows}/rawdataV1/{name}/{first}/{last}{order}")
    }

    /// The part of a span that is walked first, up to a time.
    fn up_to(&self, known: Millis, ms: i64) -> Millis {
        match self.is_latest_first {
            false => Millis { last: known.last.min(ms), ..known },
            true => Millis { first: known.first.max(ms), ..known },
        }
    }

    /// What is left of a span after its first part.
    fn after(&self, span: Millis, known: Millis) -> Option<Millis> {
        match self.is_latest_first {
            false => Millis::new(known.last + 1, span.last),
            true => Millis::new(span.first, known.first - 1),
        }
    }
}

/// The time of a row, which must be one that was asked for.
fn time_within(sample: &Sample, span: Millis) -> Result<i64, Error> {
    let ms = sample.time.as_i64().filter(|&ms| span.contains(ms));
    ms.ok_or_else(|| improper(format!("the time {:?} is none of {span:?}", sample.time)))
}
