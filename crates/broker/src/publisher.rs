//! The devices' end: one connection that publishes for all of a group, a topic a device.

use crate::{
    address::{QosLevel, Via},
    connection::{connect, lost},
    payload::Codec,
};
use async_trait::async_trait;
use iotbench_core::{Action, Batch, Cause, Error, Label, Publisher, Way};
use rumqttc::{AsyncClient, Event, EventLoop, Incoming, Outgoing, QoS};
use std::{
    collections::{HashMap, VecDeque},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::{sync::Notify, task::JoinHandle};

/// A broker that does not take our leave is left all the same.
const LEAVE: Duration = Duration::from_secs(1);

/// The topic of a way, on which that of each device follows.
pub(crate) fn topic(way: &Way) -> String {
    // What means something in a topic (MQTT 3.1.1, section 4.7) has no place in a level of it.
    let run: String = way.run.chars().map(|c| if matches!(c, '/' | '+' | '#') { '_' } else { c }).collect();
    format!("iotbench/{run}/{}", way.group)
}

pub(crate) fn qos(level: QosLevel) -> QoS {
    match level {
        QosLevel::AtMostOnce => QoS::AtMostOnce,
        QosLevel::AtLeastOnce => QoS::AtLeastOnce,
        QosLevel::ExactlyOnce => QoS::ExactlyOnce,
    }
}

/// See the module.
pub(crate) struct MqttPublisher {
    client: AsyncClient,
    codec: Codec,
    topic: String,
    qos: QoS,
    progress: Arc<Progress>,
    connection: JoinHandle<()>,
}

/// How far the connection has come: shared with the task that drives it.
#[derive(Debug, Default)]
struct Progress {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// When each message was handed over that is not sent yet, the first one first.
    waiting: VecDeque<Instant>,
    /// When each message was handed over that is sent and not acknowledged, by its packet identifier.
    unacknowledged: HashMap<u16, Instant>,
    /// How long messages took, since it was asked last: there are never more than were under way at once and one.
    acknowledged_ns: Vec<u64>,
    /// Why the connection has ended.
    failure: Option<Error>,
}

impl Progress {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failure(&self) -> Error {
        let gone = || Error::new(Cause::Connect, "the connection to the broker has ended").action(Action::Stop);
        self.state().failure.clone().unwrap_or_else(gone)
    }
}

impl MqttPublisher {
    pub(crate) async fn open(via: &Via, way: &Way) -> Result<Self, Error> {
        let (client, events) = connect(via).await?;
        let progress = Arc::new(Progress::default());
        let connection = tokio::spawn(drive(events, via.clone(), Arc::clone(&progress)));
        let codec = Codec::new(via.payload, &way.schema);
        Ok(Self { client, codec, topic: topic(way), qos: qos(via.qos), progress, connection })
    }

    /// Whether all is sent, and acknowledged where it will be.
    fn is_done(&self) -> bool {
        let state = self.progress.state();
        state.waiting.is_empty() && state.unacknowledged.is_empty()
    }
}

/// Drives a connection until it ends.
async fn drive(mut events: EventLoop, via: Via, progress: Arc<Progress>) {
    loop {
        match events.poll().await {
            Ok(Event::Outgoing(Outgoing::Disconnect)) => break,
            Ok(event) => {
                if progress.state().note(&event) {
                    progress.changed.notify_one();
                }
            }
            Err(error) => {
                progress.state().failure = Some(lost(&via, &error));
                break;
            }
        }
    }
    // Whoever waits for room in it, or for its end, finds it gone.
    drop(events);
    progress.changed.notify_one();
}

impl State {
    /// Takes in what has happened; true: whoever waits should look.
    fn note(&mut self, event: &Event) -> bool {
        match event {
            // Messages leave in the order in which they were handed over.
            Event::Outgoing(Outgoing::Publish(identifier)) => {
                let handed = self.waiting.pop_front();
                if let Some(handed) = handed.filter(|_| *identifier != 0) {
                    self.unacknowledged.insert(*identifier, handed);
                }
                self.waiting.is_empty()
            }
            Event::Incoming(Incoming::PubAck(answer)) => self.acknowledge(answer.pkid),
            Event::Incoming(Incoming::PubComp(answer)) => self.acknowledge(answer.pkid),
            _ => false,
        }
    }

    fn acknowledge(&mut self, identifier: u16) -> bool {
        if let Some(handed) = self.unacknowledged.remove(&identifier) {
            self.acknowledged_ns.push(u64::try_from(handed.elapsed().as_nanos()).unwrap_or(u64::MAX));
        }
        self.unacknowledged.is_empty()
    }
}

#[async_trait]
impl Publisher for MqttPublisher {
    async fn publish(&mut self, label: &Label, batch: &Batch) -> Result<bool, Error> {
        let message = self.codec.encode(label, batch);
        let topic = format!("{}/{}", self.topic, label.device);
        self.progress.state().waiting.push_back(Instant::now());
        let mut handing = pin!(self.client.publish(topic, self.qos, false, message));
        let at_once = tokio::select! {
            biased;
            handed = &mut handing => Some(handed),
            () = std::future::ready(()) => None,
        };
        let has_waited = at_once.is_none();
        let handed = match at_once {
            Some(handed) => handed,
            None => handing.await,
        };
        handed.map_err(|_| self.progress.failure())?;
        // The connection is driven by the same thread: a message is sent before the next one is made.
        tokio::task::yield_now().await;
        Ok(has_waited)
    }

    async fn finish(&mut self) -> Result<(), Error> {
        while !self.is_done() {
            if self.connection.is_finished() {
                return Err(self.progress.failure());
            }
            self.progress.changed.notified().await;
        }
        // Refused when the connection has ended meanwhile: then there is no leave to take.
        let _ = self.client.disconnect().await;
        let _ = tokio::time::timeout(LEAVE, &mut self.connection).await;
        Ok(())
    }

    fn acknowledged(&mut self, tell: &mut dyn FnMut(u64)) {
        self.progress.state().acknowledged_ns.drain(..).for_each(tell);
    }
}

impl Drop for MqttPublisher {
    fn drop(&mut self) {
        self.connection.abort();
    }
}
