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

/// When devices have ended, what a carrier does not promise to deliver is lost after a silence of this length.
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
    /// When devices have ended, what has not come after a silence of this length is lost.
    pub(crate) silence: Duration,
}

impl ArrivalsParts {
    /// How long a silence has to be so that what has not come is lost. A promise is broken only when half of the patience of
    /// a run has passed: a busy machine may stand still for seconds.
    pub(crate) fn silence(promises_delivery: bool, patience: Duration) -> Duration {
        if promises_delivery { SILENCE.max(patience / 2) } else { SILENCE }
    }
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
    let ArrivalsParts { control, subscriber, account, ends, silence, .. } = parts;
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
            if account.is_complete() || last.max(since).elapsed() >= *silence {
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

#[cfg(test)]
mod tests {
    use super::*;
    use async_channel::bounded;
    use async_trait::async_trait;
    use iotbench_core::{Schema, Signal, ValueType};

    /// Has nothing until so many looks have passed; then each message, and no more.
    #[derive(Debug)]
    struct Late(std::array::IntoIter<Label, 2>);

    #[async_trait]
    impl Subscriber for Late {
        async fn receive(&mut self, _batch: &mut Batch) -> Result<Label, Error> {
            tokio::time::sleep(3 * LOOK).await;
            match self.0.next() {
                Some(label) => Ok(label),
                None => std::future::pending().await,
            }
        }
    }

    /// Of three published messages two come, late.
    fn received(silence: Duration) -> (Carried, usize) {
        let (arrivals, taken) = bounded(8);
        let (_used, spare) = bounded(8);
        let account = Arc::new(Account::new(0, u64::MAX, 1));
        for _ in 0..3 {
            account.publishes();
        }
        account.end_devices();
        let labels =
            [0, 1].map(|sequence| Label { device: 0, sequence, intended_ns: 0, published_ns: 0, operation: 0 });
        let signal = Signal { name: "level".into(), value_type: ValueType::F64, max_text_bytes: 0 };
        let parts = ArrivalsParts {
            clock: RunClock::starting_at(Instant::now()),
            control: Arc::new(Control::new(1, None, 0, 1)),
            subscriber: Box::new(Late(labels.into_iter())),
            ends: Ends { arrivals, spare, of_sensors: false },
            account: Arc::clone(&account),
            batch: Batch::new(&Schema::new(vec![signal]).unwrap()),
            devices: 1,
            silence,
        };
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(receive(parts));
        (account.finish(), taken.len())
    }

    #[test]
    fn what_comes_after_a_silence_that_is_short_enough_is_no_loss() {
        let (carried, taken) = received(100 * LOOK);
        assert_eq!((carried.delivered, taken), (2, 2));
    }

    #[test]
    fn what_does_not_come_within_a_silence_is_not_waited_for() {
        let (carried, taken) = received(Duration::ZERO);
        assert_eq!((carried.delivered, taken), (0, 0));
    }

    #[test]
    fn a_promise_is_given_half_of_the_patience() {
        let minute = Duration::from_secs(60);
        assert_eq!(ArrivalsParts::silence(true, minute), minute / 2);
        assert_eq!(ArrivalsParts::silence(true, Duration::from_secs(1)), SILENCE);
        assert_eq!(ArrivalsParts::silence(false, minute), SILENCE);
    }
}
