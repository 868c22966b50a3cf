//! The thread of the devices: publishes what is due.

use super::Account;
use crate::{clock::RunClock, control::Control, slice::Slice, source::Feed};
use iotbench_core::{Action, Batch, Cause, Error, Label, Left, Next, Publisher};
use iotbench_recorder::{LatencyHistogram, Recorder};
use std::{
    sync::{Arc, mpsc::SyncSender},
    time::Duration,
};

/// What the thread has.
pub(crate) struct DevicesParts {
    pub(crate) clock: RunClock,
    pub(crate) control: Arc<Control>,
    /// What the devices have to publish.
    pub(crate) source: Box<dyn Feed>,
    pub(crate) publisher: Box<dyn Publisher>,
    pub(crate) account: Arc<Account>,
    /// An empty batch.
    pub(crate) batch: Batch,
    pub(crate) devices: u32,
    /// What the recorder knows the group's first operation as.
    pub(crate) first_kind: usize,
    pub(crate) recorder: Recorder,
    pub(crate) slices: SyncSender<Slice>,
    /// So long is waited for the acknowledgements of what was published last.
    pub(crate) patience: Duration,
    /// Whether the carrier acknowledges.
    pub(crate) is_acknowledged: bool,
    /// Whether they are sensors: then datapoints are due by the schedule, and operations are not.
    pub(crate) of_sensors: bool,
}

/// What the thread finds out.
#[derive(Default)]
struct Published {
    messages: u64,
    measured: u64,
    points: u64,
    /// Datapoints that came into being with their operation, and those of them that were lost.
    generated: u64,
    dropped: u64,
    held_back: u64,
    held_back_ns: u64,
    acknowledged: u64,
    acknowledgement: LatencyHistogram,
    pacing_error: LatencyHistogram,
}

/// Publishes until the schedule has ended and all is acknowledged, or the run gives up.
pub(crate) async fn publish(mut parts: DevicesParts) {
    let mut published = Published::default();
    if let Err(error) = publish_all(&mut parts, &mut published).await {
        parts.account.fail(error);
    }
    note_acknowledged(&mut parts, &mut published);
    parts.account.end_devices();
    tell(parts, published);
}

async fn publish_all(parts: &mut DevicesParts, published: &mut Published) -> Result<(), Error> {
    let mut sequences = vec![0_u64; parts.devices as usize];
    let mut changed = parts.control.subscribe();
    // Since when there has been nothing to do.
    let mut idle_since_ns = 0;
    while !parts.control.abandoned() && !parts.account.has_failed() {
        parts.batch.clear();
        let now_ns = parts.clock.now_ns();
        match parts.source.take(now_ns, &mut parts.batch) {
            Next::Due(due) => {
                let device = parts.batch.runs().first().map_or(0, |run| run.device);
                let Some(next) = sequences.get_mut(device as usize) else { continue };
                let operation = u32::try_from(parts.source.taken().place).unwrap_or(0);
                let published_ns = parts.clock.now_ns();
                let intended_ns = due.intended_ns;
                let label = Label { device, sequence: *next, intended_ns, published_ns, operation };
                *next += 1;
                if parts.account.is_measured(intended_ns) {
                    let could_ns = due.free_since_ns.max(idle_since_ns).max(intended_ns);
                    published.pacing_error.record(published_ns.saturating_sub(could_ns));
                }
                published.messages += 1;
                published.measured += u64::from(parts.account.is_measured(intended_ns));
                published.points += parts.batch.len() as u64;
                published.generated += due.generated;
                published.dropped += due.lost;
                parts.account.publishes();
                let waited = tokio::select! {
                    waited = parts.publisher.publish(&label, &parts.batch) => waited?,
                    () = abandoned(&parts.control) => return Ok(()),
                };
                let ended_ns = parts.clock.now_ns();
                if waited {
                    published.held_back += 1;
                    published.held_back_ns += ended_ns.saturating_sub(published_ns);
                }
                parts.source.complete(due, ended_ns);
                idle_since_ns = ended_ns;
                note_acknowledged(parts, published);
            }
            Next::Wait => tokio::select! {
                () = parts.source.ready() => {}
                _ = changed.changed() => {}
            },
            Next::Finished => break,
        }
    }
    let error = || Error::new(Cause::TimedOut, "the broker has not acknowledged all that was published");
    tokio::select! {
        ended = tokio::time::timeout(parts.patience, parts.publisher.finish()) => ended.map_err(|_| error().action(Action::Stop))?,
        () = abandoned(&parts.control) => Ok(()),
    }
}

/// Waits until the run gives up what is under way.
async fn abandoned(control: &Control) {
    let mut changed = control.subscribe();
    while !control.abandoned() {
        if changed.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

fn note_acknowledged(parts: &mut DevicesParts, published: &mut Published) {
    parts.publisher.acknowledged(&mut |took_ns| {
        published.acknowledged += 1;
        published.acknowledgement.record(took_ns);
    });
}

/// Adds what was found out, and hands over what was due and never published.
fn tell(parts: DevicesParts, published: Published) {
    let (first_kind, is_acknowledged, of_sensors) = (parts.first_kind, parts.is_acknowledged, parts.of_sensors);
    let DevicesParts { clock, control, mut source, account, mut recorder, slices, .. } = parts;
    account.add(|carried| {
        carried.published += published.messages;
        carried.published_points += published.points;
        carried.measured.published += published.measured;
        if of_sensors {
            carried.of_sensors.published += published.messages;
            carried.of_sensors_measured.published += published.measured;
        }
        carried.held_back += published.held_back;
        carried.held_back_ns += published.held_back_ns;
        carried.stages.acknowledgement.merge(&published.acknowledgement);
        if is_acknowledged {
            *carried.acknowledged.get_or_insert_default() += published.acknowledged;
        }
    });
    let generation = control.generation();
    let mut windows = recorder.begin_phase(generation.start_ns);
    let end_ns = clock.now_ns().min(control.stops_at_ns());
    recorder.generate_points(end_ns, published.generated, published.dropped);
    let mut pending = 0;
    source.left_with_place(end_ns, &mut |place, left| match left {
        Left::Operation { intended_ns } => {
            recorder.leave_pending(first_kind + place, intended_ns, end_ns);
            pending += 1;
        }
        Left::Points(points) => recorder.leave_points_pending(end_ns, points),
    });
    windows.extend(recorder.finish());
    let pacing_error = Some(Box::new(published.pacing_error));
    // Without a receiver the run is over.
    let _ = slices.send(Slice { generation: generation.number, windows, pending, pacing_error, ..Slice::default() });
}
