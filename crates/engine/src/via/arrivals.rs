//! The thread of the subscriber: hands what is delivered to the loops.

use super::{Account, Carried, Ends, Seen, Sequences, delivered::Arrival};
use crate::{clock::RunClock, control::Control};
use async_channel::TrySendError;
use iotbench_core::{Batch, Cause, Error, Label, Subscriber};
use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

/// When devices have ended, what has not come after a silence of this length is lost.
const SILENCE: Duration = Duration::from_secs(3);
/// How often is looked whether it is over.
const LOOK: Duration = Duration::from_millis(20);

/// What the thread has.
pub(crate) struct ArrivalsParts {
    pub(crate) clock: RunClock,
    pub(crate) control: Arc<Control>,
    pub(crate) subscriber: Box<dyn Subscriber>,
    pub(crate) ends: Ends,
    pub(crate) account: Arc<Account>,
    /// An empty batch.
    pub(crate) batch: Batch,
    pub(crate) devices: u32,
}

/// Receives until all that was published is delivered, or nothing comes any more, or the run gives up.
pub(crate) async fn receive(mut parts: ArrivalsParts) {
    let mut sequences = Sequences::new(parts.devices);
    let mut counted = Carried::default();
    let mut last = Instant::now();
    loop {
        let mut batch = parts.ends.spare.try_recv().unwrap_or_else(|_| parts.batch.clone());
        batch.clear();
        match next(&mut parts, &mut batch, last).await {
            None => break,
            Some(Ok(label)) => {
                let received_ns = parts.clock.now_ns();
                if !take_in(&parts, &mut sequences, &mut counted, Arrival { label, received_ns, batch }).await {
                    break;
                }
            }
            Some(Err(error)) if error.cause == Cause::Data => counted.foreign += 1,
            Some(Err(error)) => {
                parts.account.fail(error);
                break;
            }
        }
        last = Instant::now();
    }
    if parts.control.abandoned() || parts.ends.arrivals.is_closed() {
        parts.account.cut_short();
    }
    parts.account.add(|carried| {
        carried.delivered += counted.delivered;
        carried.delivered_points += counted.delivered_points;
        carried.measured.delivered += counted.measured.delivered;
        if parts.ends.of_sensors {
            carried.of_sensors.delivered += counted.delivered;
            carried.of_sensors_measured.delivered += counted.measured.delivered;
        }
        carried.duplicates += counted.duplicates;
        carried.reordered += counted.reordered;
        carried.too_late += counted.too_late;
        carried.foreign += counted.foreign;
        carried.backlogged += counted.backlogged;
        carried.backlogged_ns += counted.backlogged_ns;
    });
}

/// Waits for the next message; `None`: it is over. `last` is when there was something to do.
async fn next(parts: &mut ArrivalsParts, batch: &mut Batch, last: Instant) -> Option<Result<Label, Error>> {
    let ArrivalsParts { control, subscriber, account, ends, .. } = parts;
    // Waiting for a message must not be broken off: half of one may have been read.
    let mut receiving = pin!(subscriber.receive(batch));
    let mut devices_ended = None;
    loop {
        tokio::select! {
            biased;
            received = &mut receiving => return Some(received),
            () = tokio::time::sleep(LOOK) => {}
        }
        if account.devices_have_ended() {
            let since = *devices_ended.get_or_insert_with(Instant::now);
            if account.is_complete() || last.max(since).elapsed() >= SILENCE {
                return None;
            }
        }
        if control.abandoned() || ends.arrivals.is_closed() {
            return None;
        }
    }
}

/// Hands a message on, unless it came before; false: nobody takes any more.
async fn take_in(parts: &ArrivalsParts, sequences: &mut Sequences, counted: &mut Carried, arrival: Arrival) -> bool {
    let label = arrival.label;
    match sequences.note(label.device, label.sequence) {
        None => counted.foreign += 1,
        Some(Seen::Duplicate) => counted.duplicates += 1,
        Some(Seen::TooLate) => counted.too_late += 1,
        Some(seen @ (Seen::InOrder | Seen::Reordered)) => {
            let points = arrival.batch.len() as u64;
            let arrival = match parts.ends.arrivals.try_send(arrival) {
                Ok(()) => None,
                Err(TrySendError::Full(arrival)) => Some(arrival),
                Err(TrySendError::Closed(_)) => return false,
            };
            if let Some(arrival) = arrival {
                let began = Instant::now();
                let sent = parts.ends.arrivals.send(arrival).await;
                counted.backlogged += 1;
                counted.backlogged_ns += u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
                if sent.is_err() {
                    return false;
                }
            }
            counted.reordered += u64::from(seen == Seen::Reordered);
            counted.delivered += 1;
            counted.delivered_points += points;
            counted.measured.delivered += u64::from(parts.account.is_measured(label.intended_ns));
            parts.account.delivers();
        }
    }
    true
}
