//! The two threads of a group's way, connected and waiting for the start.

use super::{
    Account, Ends,
    arrivals::{ArrivalsParts, receive},
    devices::{DevicesParts, publish},
};
use crate::{clock::RunClock, control::Control, slice::Slice, source::MakeSource, threads::spawn};
use iotbench_core::{Batch, Carrier, Cause, Error, Way};
use iotbench_recorder::{OperationKind, Recorder};
use std::{
    future::Future,
    sync::{Arc, mpsc::SyncSender},
    thread::JoinHandle,
    time::Duration,
};
use tokio::sync::watch;

/// A group's way before it has threads.
pub(crate) struct WayPlan {
    /// The group's number.
    pub(crate) group: u16,
    /// What the recorder knows the group's first operation as.
    pub(crate) first_kind: usize,
    /// What its devices have to publish.
    pub(crate) source: MakeSource,
    /// Where what is delivered goes.
    pub(crate) ends: Ends,
}

/// What the threads of all ways share.
#[derive(Clone)]
pub(crate) struct WayThreads {
    pub(crate) carrier: Arc<dyn Carrier>,
    pub(crate) account: Arc<Account>,
    pub(crate) control: Arc<Control>,
    pub(crate) start: watch::Receiver<Option<RunClock>>,
    pub(crate) slices: SyncSender<Slice>,
    pub(crate) kinds: Arc<[OperationKind]>,
    /// An empty batch.
    pub(crate) batch: Batch,
    pub(crate) devices: u32,
    /// So long is waited for the acknowledgements of what was published last, and half of it for what was promised.
    pub(crate) patience: Duration,
}

/// Tells whether a thread is connected.
type Ready = SyncSender<Result<(), Error>>;

impl WayThreads {
    /// Starts both threads; each tells once whether it is connected, and begins with the clock.
    pub(crate) fn spawn(&self, plan: WayPlan, way: Way, ready: &Ready) -> Result<[JoinHandle<()>; 2], Error> {
        let WayPlan { first_kind, source, ends, .. } = plan;
        let of_sensors = ends.of_sensors;
        let (this, of_devices, on_ready) = (self.clone(), way.clone(), ready.clone());
        let devices = spawn("devices", move || {
            run(&on_ready, this.devices(of_devices, first_kind, source, of_sensors, &on_ready));
        })?;
        let (this, on_ready) = (self.clone(), ready.clone());
        let subscriber = spawn("subscriber", move || run(&on_ready, this.subscriber(way, ends, &on_ready)))?;
        Ok([devices, subscriber])
    }

    async fn devices(mut self, way: Way, first_kind: usize, source: MakeSource, of_sensors: bool, ready: &Ready) {
        let publisher = match self.carrier.publisher(&way).await {
            Ok(publisher) => publisher,
            Err(error) => return drop(ready.send(Err(error))),
        };
        let _ = ready.send(Ok(()));
        let Some(clock) = self.clock().await else { return };
        publish(DevicesParts {
            clock,
            source: source(clock),
            publisher,
            is_acknowledged: self.carrier.facts().promises_delivery,
            recorder: Recorder::new(self.kinds),
            control: self.control,
            account: self.account,
            batch: self.batch,
            devices: self.devices,
            first_kind,
            slices: self.slices,
            patience: self.patience,
            of_sensors,
        })
        .await;
    }

    async fn subscriber(mut self, way: Way, ends: Ends, ready: &Ready) {
        let subscriber = match self.carrier.subscriber(&way).await {
            Ok(subscriber) => subscriber,
            Err(error) => return drop(ready.send(Err(error))),
        };
        let _ = ready.send(Ok(()));
        let Some(clock) = self.clock().await else { return };
        let promises_delivery = self.carrier.facts().promises_delivery;
        receive(ArrivalsParts {
            clock,
            silence: ArrivalsParts::silence(promises_delivery, self.patience),
            control: self.control,
            subscriber,
            ends,
            account: self.account,
            batch: self.batch,
            devices: self.devices,
        })
        .await;
    }

    /// Waits for the start; `None`: there will be none.
    async fn clock(&mut self) -> Option<RunClock> {
        self.start.wait_for(Option::is_some).await.ok().and_then(|clock| *clock)
    }
}

/// Runs a thread's work on a runtime of its own.
fn run(ready: &Ready, work: impl Future<Output = ()>) {
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(work),
        Err(e) => drop(ready.send(Err(Error::new(Cause::Client, format!("cannot start a runtime: {e}"))))),
    }
}
