//! The writers' end: one connection that receives for all of a group.

use crate::{
    address::Via,
    connection::{connect, lost},
    payload::Codec,
    publisher::{qos, topic},
};
use async_trait::async_trait;
use iotbench_core::{Action, Batch, Cause, Error, Label, Subscriber, Way};
use rumqttc::{AsyncClient, Event, EventLoop, Incoming, SubscribeReasonCode};

/// See the module. A message is acknowledged to the broker when it is received, not when it is stored.
pub(crate) struct MqttSubscriber {
    /// Without it the connection would end.
    _client: AsyncClient,
    events: EventLoop,
    via: Via,
    codec: Codec,
}

impl MqttSubscriber {
    pub(crate) async fn open(via: &Via, way: &Way) -> Result<Self, Error> {
        let (client, mut events) = connect(via).await?;
        let gone = || Error::new(Cause::Connect, "the connection to the broker has ended").action(Action::Stop);
        client.subscribe(format!("{}/+", topic(way)), qos(via.qos)).await.map_err(|_| gone())?;
        loop {
            match events.poll().await.map_err(|error| lost(via, &error))? {
                Event::Incoming(Incoming::SubAck(answer)) => {
                    if answer.return_codes.contains(&SubscribeReasonCode::Failure) {
                        let what =
                            "the broker refuses the subscription to iotbench/#: allow this user to read and write it";
                        return Err(Error::new(Cause::Auth, what));
                    }
                    break;
                }
                _ => continue,
            }
        }
        let codec = Codec::new(via.payload, &way.schema);
        Ok(Self { _client: client, events, via: via.clone(), codec })
    }
}

#[async_trait]
impl Subscriber for MqttSubscriber {
    async fn receive(&mut self, batch: &mut Batch) -> Result<Label, Error> {
        loop {
            let event = self.events.poll().await.map_err(|error| lost(&self.via, &error))?;
            let Event::Incoming(Incoming::Publish(message)) = event else { continue };
            batch.clear();
            return self.codec.decode(&message.payload, batch).map_err(|error| Error::new(Cause::Data, error));
        }
    }
}
